/* What /proc says of who is about to be gone. */
#include "base/procstatus.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MASKS(pending, shared, blocked, ignored, caught)                                           \
	"Name:\tSigCgt:\nState:\tS (sleeping)\nVmSize:\t 100 kB\nSigPnd:\t" pending                \
	"\nShdPnd:\t" shared "\nSigBlk:\t" blocked "\nSigIgn:\t" ignored "\nSigCgt:\t" caught "\n"

static void test_masks(void **state)
{
	static const struct {
		const char *text;
		uint64_t pending, fatal;
	} cases[] = {
		{MASKS("0", "0", "0", "0", "0"), 0, 0},
		/* KILL of the thread, of the process */
		{MASKS("100", "0", "0", "0", "0"), 0x100, 0x100},
		{MASKS("0", "0000000000000100", "0", "0", "0"), 0x100, 0x100},
		/* TERM: blocked, ignored, handled, none of these */
		{MASKS("0", "4000", "4000", "0", "0"), 0, 0},
		{MASKS("0", "4000", "0", "4000", "0"), 0, 0},
		{MASKS("0", "4000", "0", "0", "4000"), 0x4000, 0},
		{MASKS("0", "4000", "0", "0", "0"), 0x4000, 0x4000},
		/* CHLD, STOP: nobody ends of them */
		{MASKS("0", "50000", "0", "0", "0"), 0x50000, 0},
		{"", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(leat_procstatus_pending(cases[i].text), cases[i].pending);
		assert_int_equal(leat_procstatus_fatal(cases[i].text), cases[i].fatal);
	}
	assert_int_equal(leat_procstatus_mask("A:\t1\nB:\tff\n", "B:"), 255);
	assert_int_equal(leat_procstatus_mask("AB:\t1\n", "B:"), 0);
}

/* It lives, it is killed and not gone, it is gone but not waited for, it is gone. */
static void test_dying(void **state)
{
	int status, fds[2];
	pid_t child;
	char byte;

	(void)state;
	assert_false(leat_process_is_dying(getpid()));
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		close(fds[0]);
		for (;;)
			pause();
	}
	close(fds[1]);
	assert_false(leat_process_is_dying(child));
	if (ptrace(PTRACE_SEIZE, child, NULL, (void *)PTRACE_O_TRACEEXIT) < 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		skip();
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
	assert_true(leat_process_is_dying(child));
	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	assert_false(leat_process_is_dying(child));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(leat_process_is_dying(child));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_masks),
					   cmocka_unit_test(test_dying)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
