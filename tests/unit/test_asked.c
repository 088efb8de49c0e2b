/* What the server of a mount learns of a caller's system call. */
#include <fcntl.h>
#include <linux/openat2.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "mount/callers/lookup.h"

/* A process that waits in an open of a FIFO until it is killed. */
static pid_t opener(const char *path, int flags, bool by_how)
{
	struct open_how how = {.flags = (uint64_t)flags};
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (by_how)
		syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	else
		open(path, flags);
	_exit(1);
}

static void await_open(pid_t pid, bool by_how)
{
	char path[64], *text, *end;
	bool waits = false;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	for (unsigned i = 0; !waits && i < 1000; i++, usleep(10000)) {
		assert_int_equal(leat_read_file(path, 4096, &text, NULL), 0);
		waits = strtol(text, &end, 10) == (by_how ? SYS_openat2 : SYS_openat) && end > text;
		free(text);
	}
	assert_true(waits);
}

static void test_how_a_call_asks(void **state)
{
	static const struct {
		const char *path;
		int flags;
		bool by_how;
		const char *name;
		enum leat_asked asked;
		bool looks;
	} cases[] = {
		{"d/fifo", O_RDONLY, false, "fifo", LEAT_ASKED_ANY, true},
		{"d/fifo", O_RDONLY | O_NOFOLLOW, false, "fifo", LEAT_ASKED_FILE, true},
		{"d/fifo", O_RDONLY | O_NOFOLLOW, true, "fifo", LEAT_ASKED_FILE, true},
		{"d/fifo", O_RDONLY, true, "fifo", LEAT_ASKED_ANY, true},
		{"./d//fifo", O_WRONLY | O_NOFOLLOW, false, "fifo", LEAT_ASKED_FILE, true},
		/* It goes on from there, or may. */
		{"d/fifo", O_RDONLY | O_NOFOLLOW, false, "d", LEAT_ASKED_ANY, false},
		{"d/fifo", O_RDONLY | O_NOFOLLOW, false, "fif", LEAT_ASKED_ANY, false},
		{"fifo/../d/fifo", O_RDONLY | O_NOFOLLOW, false, "fifo", LEAT_ASKED_ANY, false},
		{"d/./fifo", O_RDONLY, false, "d", LEAT_ASKED_ANY, false},
	};
	char dir[] = "/tmp/leat-mount-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("d", 0700) | mkdir("fifo", 0700) | mkfifo("d/fifo", 0600), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_caller_aim aim;
		pid_t pid = opener(cases[i].path, cases[i].flags, cases[i].by_how);

		await_open(pid, cases[i].by_how);
		aim = leat_caller_aim_of(pid, cases[i].name);
		assert_int_equal(aim.asked, cases[i].asked);
		assert_int_equal(aim.looks, cases[i].looks);
		assert_false(aim.makes);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		/* Of who is gone nothing is known. */
		aim = leat_caller_aim_of(pid, cases[i].name);
		assert_int_equal(aim.asked, LEAT_ASKED_ANY);
		assert_true(aim.looks);
		assert_false(aim.makes);
	}
	assert_int_equal(unlink("d/fifo") | rmdir("d") | rmdir("fifo"), 0);
	assert_int_equal(chdir("/") | rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_how_a_call_asks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
