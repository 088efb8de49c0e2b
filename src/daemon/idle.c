#include "daemon/idle.h"

#include "base/fd.h"
#include "base/hash.h"
#include "base/pidstat.h"
#include "base/str.h"
#include "daemon/client.h"
#include "daemon/files.h"
#include "daemon/keep.h"
#include "daemon/steps.h"

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MAX_DEPTH = 64, PATH_SIZE = 96 };

struct look {
	struct leat_daemon *d;
	int step;
	pid_t outside;      /* the parent of the step's first process; 0 unknown */
	uint64_t signature; /* of how often threads have run */
	char *why;
};

/* The call a thread is in. */
struct in_call {
	long number;
	uint64_t args[6];
};

static bool acts(const struct look *l, pid_t pid, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Note that the process may act; false. */
static bool acts(const struct look *l, pid_t pid, const char *format, ...)
{
	size_t used = (size_t)snprintf(l->why, LEAT_IDLE_WHY, "process %d of step %s ", (int)pid,
				       l->d->wf->steps[l->step].name);
	va_list ap;

	va_start(ap, format);
	if (used < LEAT_IDLE_WHY)
		vsnprintf(l->why + used, LEAT_IDLE_WHY - used, format, ap);
	va_end(ap);
	return false;
}

/* ---- what a thread waits for ---- */

/* The line of /proc/PID/maps that holds `address`: is it memory of this process alone (1), leat's
 * (2), or shared with others (0)? */
static int memory_kind(const struct look *l, pid_t pid, uint64_t address)
{
	char path[PATH_SIZE], *text = NULL, *line, *rest;
	struct stat shm;
	int kind = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (fstat(l->d->shm_fd, &shm) < 0 || leat_read_file(path, 16 << 20, &text, NULL) < 0)
		return 0;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		unsigned long begin, end, inode;
		unsigned major, minor;
		char flags[5];

		if (sscanf(line, "%lx-%lx %4s %*x %x:%x %lu", &begin, &end, flags, &major, &minor,
			   &inode) != 6 ||
		    address < begin || address >= end)
			continue;
		if (inode == shm.st_ino && makedev(major, minor) == shm.st_dev)
			kind = 2;
		else if (flags[3] == 'p')
			kind = 1;
		break;
	}
	free(text);
	return kind;
}

static bool futex_is_idle(const struct look *l, pid_t pid, const struct in_call *call)
{
	int operation = (int)call->args[1] & FUTEX_CMD_MASK;
	int kind = memory_kind(l, pid, call->args[0]);

	if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)
		return acts(l, pid, "may get a lock");
	if (kind == 2)
		return true;
	if (call->args[3])
		return acts(l, pid, "waits for a time only");
	return kind == 1 || acts(l, pid, "waits for memory it shares with others");
}

static bool has_open(pid_t pid, const char *target)
{
	char path[PATH_SIZE], at[PATH_SIZE];
	bool found = false;
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return true; /* who knows */
	while (!found && (e = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, at, sizeof(at) - 1);

		at[n > 0 ? n : 0] = 0;
		found = n > 0 && strcmp(at, target) == 0;
	}
	closedir(dir);
	return found;
}

/* A pipe that was made inside the step has both its ends there. */
static bool pipe_is_idle(const struct look *l, pid_t pid, const struct in_call *call)
{
	char path[PATH_SIZE], target[PATH_SIZE];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, (int)call->args[0]);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	if (strcmp(target, "/dev/fuse") == 0)
		return true; /* the server of a mount, when nobody asks */
	if (!leat_str_begins(target, "pipe:"))
		return acts(l, pid, "reads or writes %s", *target ? target : "something");
	if (l->outside <= 0 || has_open(l->outside, target))
		return acts(l, pid, "reads or writes a pipe from outside the step");
	return true;
}

/* Does the server of a mount wait, for this step? */
static bool mount_waits(const struct look *l)
{
	const struct leat_conn *c;

	DL_FOREACH(l->d->conns, c)
	if (c->step == l->step && c->proc && c->proc->mount && leat_conn_waits(c))
		return true;
	return false;
}

/* In a call on a mount, until its server answers? */
static bool waits_for_mount(const struct look *l, pid_t pid, const char *tid)
{
	char path[PATH_SIZE], *text = NULL;
	bool yes;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/wchan", (int)pid, tid);
	if (leat_read_file(path, 256, &text, NULL) < 0)
		return false;
	yes = strcmp(text, "request_wait_answer") == 0 && mount_waits(l);
	free(text);
	return yes;
}

static bool call_is_idle(const struct look *l, pid_t pid, const char *tid,
			 const struct in_call *call)
{
	switch (call->number) {
	case SYS_wait4:
	case SYS_waitid:
		return true; /* its children are looked at, too */
	case SYS_futex:
		return futex_is_idle(l, pid, call);
	case SYS_read:
	case SYS_readv:
	case SYS_write:
	case SYS_writev:
		return waits_for_mount(l, pid, tid) || pipe_is_idle(l, pid, call);
	default:
		return waits_for_mount(l, pid, tid) ||
		       acts(l, pid, "is in system call %ld", call->number);
	}
}

/* How often it has run goes into the signature, unless it waits for leat: such a thread wakes now
 * and then to ask again, and the rules know whether it goes on. */
static void note_runs(struct look *l, pid_t pid, const char *tid, const struct in_call *call)
{
	char path[PATH_SIZE], *text = NULL;
	const char *at;

	if (call->number == SYS_futex && memory_kind(l, pid, call->args[0]) == 2)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/status", (int)pid, tid);
	if (leat_read_file(path, 1 << 16, &text, NULL) < 0)
		return;
	at = strstr(text, "voluntary_ctxt_switches:");
	if (at)
		l->signature = leat_hash_add(l->signature + strtoull(tid, NULL, 10),
					     strtoull(strchr(at, ':') + 1, NULL, 10));
	free(text);
}

/* proc(5): number and arguments; "running"; -1, stack and program counter outside a call. A
 * zombie has neither. */
static bool thread_is_idle(struct look *l, pid_t pid, const char *tid)
{
	char path[PATH_SIZE], *text = NULL;
	struct in_call call;
	bool idle;
	int rc, n;
	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/syscall", (int)pid, tid);
	rc = leat_read_file(path, 4096, &text, NULL);
	if (rc)
		return rc == -ESRCH || rc == -ENOENT ||
		       acts(l, pid, "cannot be looked at: %s", strerror(-rc));
	n = sscanf(text, "%ld 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx", &call.number, &call.args[0],
		   &call.args[1], &call.args[2], &call.args[3], &call.args[4], &call.args[5]);
	if (strcmp(text, "-1 0x0 0x0\n") == 0)
		idle = true;
	else
		idle = n == 7 ? call_is_idle(l, pid, tid, &call) : acts(l, pid, "is running");
	if (idle && n == 7)
		note_runs(l, pid, tid, &call);
	free(text);
	return idle;
}

/* ---- processes ---- */

/* A number in hexadecimal behind `key` in /proc/PID/status. */
static bool read_mask(pid_t pid, const char *key, uint64_t *mask)
{
	char path[PATH_SIZE], *text = NULL;
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (leat_read_file(path, 1 << 16, &text, NULL) < 0)
		return false;
	at = strstr(text, key);
	*mask = at ? strtoull(at + strlen(key), NULL, 16) : 0;
	free(text);
	return at;
}

/* Has it set an alarm? The kernel shows the timers of POSIX; of others only the handler: of one
 * signal, since who cleans up (sort) handles all that could kill it. An alarm that is to kill
 * leaves no trace. */
static bool has_alarm(pid_t pid)
{
	const uint64_t alarms = UINT64_C(1) << (SIGALRM - 1) | UINT64_C(1) << (SIGVTALRM - 1) |
				UINT64_C(1) << (SIGPROF - 1);
	char path[PATH_SIZE], *text = NULL;
	size_t size = 0;
	uint64_t caught;

	if (!read_mask(pid, "SigCgt:", &caught))
		return false; /* it is gone */
	snprintf(path, sizeof(path), "/proc/%d/timers", (int)pid);
	if (leat_read_file(path, 1 << 16, &text, &size) == 0)
		free(text);
	caught &= alarms;
	return (caught && caught != alarms) || size;
}

static bool process_is_idle(struct look *l, pid_t pid, int depth);

static bool children_are_idle(struct look *l, pid_t pid, const char *tid, int depth)
{
	char path[PATH_SIZE], *text = NULL, *at, *end;
	bool idle = true;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid, tid);
	rc = leat_read_file(path, 1 << 20, &text, NULL);
	if (rc)
		return rc == -ESRCH || rc == -ENOENT;
	for (at = text; idle; at = end) {
		long child = strtol(at, &end, 10);

		if (end == at)
			break;
		idle = process_is_idle(l, (pid_t)child, depth + 1);
	}
	free(text);
	return idle;
}

/* The process with all its threads and descendants. */
static bool process_is_idle(struct look *l, pid_t pid, int depth)
{
	char path[PATH_SIZE];
	bool idle = depth < MAX_DEPTH;
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return true; /* it has ended */
	while (idle && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			idle = thread_is_idle(l, pid, e->d_name) &&
			       children_are_idle(l, pid, e->d_name, depth);
	closedir(dir);
	return idle && (!has_alarm(pid) || acts(l, pid, "may have set an alarm"));
}

/* The kernel may be built without the list of children: then nobody can be trusted to be idle. */
static bool can_see_children(void)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	return access(path, R_OK) == 0;
}

static bool is_root(const struct leat_daemon *d, pid_t pid)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->steps[i].running && d->steps[i].pid == pid)
			return true;
	return false;
}

/* Orphans come to the driver, and may be anybody's. */
static bool orphans_are_idle(struct look *l)
{
	char path[PATH_SIZE], *text = NULL, *at, *end;
	bool idle = true;

	if (l->d->driver <= 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)l->d->driver,
		 (int)l->d->driver);
	if (leat_read_file(path, 1 << 20, &text, NULL) < 0)
		return acts(l, l->d->driver, "cannot be looked at");
	for (at = text; idle; at = end) {
		pid_t child = (pid_t)strtol(at, &end, 10);

		if (end == at)
			break;
		idle = child == getpid() || is_root(l->d, child) || process_is_idle(l, child, 0);
	}
	free(text);
	return idle;
}

/* ---- what leat itself is doing ---- */

/* A file that moves or is copied, room that is being made, a wait that the rules do not know. */
static bool is_served(const struct look *l)
{
	const struct leat_daemon *d = l->d;
	const struct leat_file *f;
	const struct leat_conn *c;

	DL_FOREACH(d->conns, c)
	if (c->step == l->step &&
	    (c->cramped || (leat_conn_waits(c) && !leat_stream_waits(d->stream, c->id))))
		return acts(l, c->pid, "is about to be answered");
	for (f = d->files; f; f = f->hh.next)
		if (f->move || f->copying)
			return acts(l, getpid(), "is moving %s", f->name);
	return leat_keep_idle(d) || acts(l, getpid(), "is writing files to disk");
}

static bool processes_are_idle(struct look *l)
{
	const struct leat_step_run *s = &l->d->steps[l->step];
	struct leat_pidstat root;
	const struct leat_proc *p;

	l->outside = s->pid > 0 && leat_pidstat_read(s->pid, &root) ? root.parent : 0;
	if (s->pid > 0 && !process_is_idle(l, s->pid, 0))
		return false;
	for (p = l->d->procs; p; p = p->hh.next)
		if (p->step == l->step && !process_is_idle(l, p->pid, 0))
			return false;
	return orphans_are_idle(l);
}

bool leat_step_is_idle(struct leat_daemon *d, int step, uint64_t *signature,
		       char why[LEAT_IDLE_WHY])
{
	const struct leat_step_run *s = &d->steps[step];
	struct look l = {.d = d, .step = step, .why = why};

	*signature = 0;
	if (!is_served(&l))
		return false;
	if (!s->running)
		return true; /* it waits for its launch */
	if (s->implicit || !can_see_children())
		return acts(&l, s->pid, "is not looked after by leat: others of the step may come");
	if (!processes_are_idle(&l))
		return false;
	*signature = l.signature;
	return true;
}
