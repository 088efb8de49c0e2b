/* Are the processes of the steps doing nothing, nor will by themselves? Asked
 * before a deadlock is believed: the rules know calls that wait, not processes
 * that sleep or compute. */
#include "daemon/client.h"
#include "daemon/steps.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define MAX_DEPTH 64

/* Calls that end only when another process or thread acts. */
static bool is_passive(long number)
{
	static const long calls[] = {SYS_wait4, SYS_waitid, SYS_futex,  SYS_read,
				     SYS_readv, SYS_write,  SYS_writev, SYS_rt_sigsuspend,
				     SYS_fcntl, SYS_flock};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (number == calls[i])
			return true;
	return false;
}

/* A thread that cannot be looked at is not idle, one that has ended is. */
static bool thread_is_idle(pid_t pid, const char *tid)
{
	char path[64 + NAME_MAX];
	char *text = NULL;
	bool idle;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/syscall", (int)pid, tid);
	rc = leat_read_file(path, 4096, &text, NULL);
	if (rc)
		return rc == -ESRCH || rc == -ENOENT;
	/* proc(5): number and arguments; -1, stack and program counter outside a call.
	 * A zombie has neither. */
	idle = strcmp(text, "-1 0x0 0x0\n") == 0 ||
	       (*text >= '0' && *text <= '9' && is_passive(strtol(text, NULL, 10)));
	free(text);
	return idle;
}

static bool is_idle(pid_t pid, int depth);

static bool children_are_idle(pid_t pid, const char *tid, int depth)
{
	char path[64 + NAME_MAX];
	char *text = NULL, *at, *end;
	bool idle = true;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, tid);
	rc = leat_read_file(path, 1 << 20, &text, NULL);
	if (rc)
		return rc == -ESRCH || rc == -ENOENT;
	for (at = text; idle; at = end) {
		long child = strtol(at, &end, 10);

		if (end == at)
			break;
		idle = is_idle((pid_t)child, depth + 1);
	}
	free(text);
	return idle;
}

/* The process with all its threads and descendants. */
static bool is_idle(pid_t pid, int depth)
{
	char path[32];
	struct dirent *e;
	bool idle = depth < MAX_DEPTH;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return true; /* it has ended */
	while (idle && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			idle = thread_is_idle(pid, e->d_name) &&
			       children_are_idle(pid, e->d_name, depth);
	closedir(dir);
	return idle;
}

bool leat_steps_are_idle(struct leat_daemon *d)
{
	const struct leat_proc *p;

	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->steps[i].running && d->steps[i].pid > 0 && !is_idle(d->steps[i].pid, 0))
			return false;
	for (p = d->procs; p; p = p->hh.next)
		if (p->step >= 0 && !is_idle(p->pid, 0))
			return false;
	return true;
}
