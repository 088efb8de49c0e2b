/* Hooks for testing the engine: every call that reaches them is counted and made unchanged. All
 * descriptors are marked, so that every site of libc is driven through its slow way.
 *
 * LEAT_TEST_REPORT=FILE: at a normal end a line "program hooked reads execs in-vfork forks" is
 * appended. LEAT_TEST_MARK=0: no descriptor is marked. LEAT_TEST_ACTIVE=0: hooks inactive. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/connection/client.h"
#include "preload/connection/roll_call.h"
#include "preload/connection/session.h"
#include "preload/connection/handed.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "preload/exec/exec.h"
#include "preload/fd/lifecycle.h"
#include "preload/hooks/hooks.h"
#include "preload/path/program.h"

#include "counts.h"

uint8_t leat_fd_kinds[LEAT_MAX_FD];

static const char *report_path;
static struct test_counts counts;

static void report(void)
{
	char line[256], name[64];
	struct leat_text text = leat_text_in(line, sizeof line);
	const unsigned long numbers[] = {counts.all, counts.calls[SYS_read],
					 counts.calls[SYS_execve], counts.in_vfork, counts.forks};
	long fd = leat_raw(SYS_openat, AT_FDCWD, (long)report_path, O_WRONLY | O_APPEND | O_CREAT,
			   0666, 0, 0);
	long comm = leat_raw(SYS_openat, AT_FDCWD, (long)"/proc/self/comm", O_RDONLY, 0, 0, 0);
	long length = leat_raw(SYS_read, comm, (long)name, sizeof name, 0, 0, 0);

	leat_text_add_n(&text, name, length > 0 ? (size_t)length - 1 : 0);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		leat_text_add(&text, " ");
		leat_text_add_number(&text, numbers[i]);
	}
	leat_text_add(&text, "\n");
	leat_raw(SYS_write, fd, (long)line, (long)text.used, 0, 0, 0);
	leat_raw(SYS_close, fd, 0, 0, 0, 0, 0);
	leat_raw(SYS_close, comm, 0, 0, 0, 0, 0);
}

/* By turns in each of the three ways in which a call can be made. One that can be cancelled while
 * it waits (glibc 2.41) is made by its site. */
static long make(struct leat_syscall *c)
{
	if (leat_cancel_word)
		return LEAT_PASS;
	switch (counts.all % 3) {
	case 0:
		return LEAT_PASS;
	case 1:
		return LEAT_TRY;
	default:
		return leat_raw(c->nr, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
	}
}

long leat_hook_end(struct leat_syscall *c, long result)
{
	(void)c;
	return result;
}

long leat_hook_begin(struct leat_syscall *c)
{
	const long *a = c->a;
	long nr = c->nr;

	if (nr == TEST_COUNTS_CALL && a[0] == TEST_COUNTS_MAGIC) {
		*(struct test_counts **)a[1] = &counts;
		return 0;
	}
	counts.all++;
	counts.calls[nr]++;
	counts.in_vfork += leat_in_vfork();
	switch (nr) {
	case SYS_execve:
		return leat_exec(AT_FDCWD, (const char *)a[0], (char *const *)a[1],
				 (char *const *)a[2], 0);
	case SYS_execveat:
		return leat_exec((int)a[0], (const char *)a[1], (char *const *)a[2],
				 (char *const *)a[3], (int)a[4]);
	case SYS_exit_group:
		if (report_path && !leat_in_vfork())
			report();
		break;
	case SYS_clone:
	case SYS_clone3:
	case SYS_vfork:
		return LEAT_PASS; /* told of only */
	default:
		break;
	}
	return make(c);
}

void leat_fd_before_exec(char *variable, size_t size)
{
	(void)size;
	*variable = 0;
}

bool leat_hand_over(char *variable, size_t size)
{
	(void)variable;
	(void)size;
	return false;
}

void leat_hand_over_failed(void)
{
}

bool leat_handed_over(char *variable, size_t size)
{
	(void)variable;
	(void)size;
	return false;
}

void leat_handed_failed(void)
{
}

void leat_fork_child(void)
{
	counts.forks++;
}

void leat_vfork_parent(long child)
{
	(void)child;
}

void leat_hooks_init(char **envp)
{
	const char *mark = leat_environment_get(envp, "LEAT_TEST_MARK");
	const char *active = leat_environment_get(envp, "LEAT_TEST_ACTIVE");

	if (!mark || *mark != '0')
		memset(leat_fd_kinds, 1, sizeof leat_fd_kinds);
	leat_active = !active || *active != '0';
	report_path = leat_environment_get(envp, "LEAT_TEST_REPORT");
}

long leat_exec_name(int dirfd, const char *path, int flags, char *out)
{
	struct leat_text text = leat_text_in(out, 4096);

	(void)dirfd;
	(void)flags;
	leat_text_add(&text, path);
	return 0;
}

bool leat_session_is_confined(void)
{
	return false;
}

void leat_roll_call_exec(const char *program, struct leat_roll_entry *before)
{
	(void)program;
	(void)before;
}

void leat_roll_call_failed(const struct leat_roll_entry *before)
{
	(void)before;
}

void leat_roll_call_exit(void)
{
}

enum leat_sight leat_exec_look(const char *path, bool waits, char *capacity)
{
	(void)path;
	(void)waits;
	(void)capacity;
	return LEAT_SIGHT_SAME;
}

bool leat_exec_is_inside(const char *path, char *capacity)
{
	(void)path;
	(void)capacity;
	return false;
}

bool leat_session_in_sight(void)
{
	return true;
}

void leat_client_refused(const char *program, const char *why, bool fatal)
{
	(void)fatal;
	char line[512];
	struct leat_text text = leat_text_in(line, sizeof line);

	leat_text_add(&text, "refused: ");
	leat_text_add(&text, program);
	leat_text_add(&text, ": ");
	leat_text_add(&text, why);
	leat_text_add(&text, "\n");
	leat_raw(SYS_write, 2, (long)line, (long)text.used, 0, 0, 0);
}
