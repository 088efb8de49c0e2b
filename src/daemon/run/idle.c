#include "daemon/run/idle.h"

#include "base/fd.h"
#include "base/hash.h"
#include "base/pidstat.h"
#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/processes.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/files/moving.h"
#include "daemon/files/persist.h"
#include "daemon/run/children.h"
#include "daemon/run/ending.h"
#include "daemon/run/mpi.h"
#include "daemon/run/peek.h"

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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
	bool polls;         /* a launcher was seen */
	pid_t launcher;     /* below which is looked at the moment, 0: none, */
	bool in_rank;       /* at what it has launched */
	unsigned waits;     /* threads that wait for leat */
	char *why;
};

/* The call a thread is in. */
struct in_call {
	long number;
	uint64_t args[6], stack;
	bool on_leat; /* it waits for memory of leat's to change */
	bool served;  /* or for a mount to answer */
	bool polls;   /* it only passes messages of MPI on */
};

enum memory { MEMORY_SHARED, MEMORY_PRIVATE, MEMORY_OF_LEAT };

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

/* Whose memory is it, by the line of /proc/PID/maps that holds `address`? */
static enum memory memory_at(const struct look *l, pid_t pid, uint64_t address)
{
	char path[PATH_SIZE], *text = NULL, *line, *rest;
	struct stat shm;
	enum memory kind = MEMORY_SHARED;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (fstat(l->d->shm_fd, &shm) < 0 || leat_read_file(path, 16 << 20, &text, NULL) < 0)
		return MEMORY_SHARED;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		unsigned long begin, end, inode;
		unsigned major, minor;
		char flags[5];

		if (sscanf(line, "%lx-%lx %4s %*x %x:%x %lu", &begin, &end, flags, &major, &minor,
			   &inode) != 6 ||
		    address < begin || address >= end)
			continue;
		if (inode == shm.st_ino && makedev(major, minor) == shm.st_dev)
			kind = MEMORY_OF_LEAT;
		else if (flags[3] == 'p')
			kind = MEMORY_PRIVATE;
		break;
	}
	free(text);
	return kind;
}

static bool futex_is_idle(const struct look *l, pid_t pid, struct in_call *call)
{
	int operation = (int)call->args[1] & FUTEX_CMD_MASK;
	enum memory memory;

	if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)
		return acts(l, pid, "may get a lock");
	memory = memory_at(l, pid, call->args[0]);
	call->on_leat = memory == MEMORY_OF_LEAT;
	if (call->on_leat)
		return true;
	if (call->args[3])
		return acts(l, pid, "waits for a time only");
	return memory == MEMORY_PRIVATE || acts(l, pid, "waits for memory it shares with others");
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
	if (l->outside <= 0 || leat_peek_has_open(l->outside, target))
		return acts(l, pid, "reads or writes a pipe from outside the step");
	if (l->launcher > 0 && leat_peek_has_open(l->launcher, target))
		return acts(l, pid, "reads or writes a pipe of its MPI launcher");
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
	char *text = NULL;
	bool yes;

	if (leat_peek_task(pid, tid, "wchan", 256, &text) < 0)
		return false;
	yes = strcmp(text, "request_wait_answer") == 0 && mount_waits(l);
	free(text);
	return yes;
}

/* The server of a mount, until a program behind it makes a call that is asked about? */
static bool is_asked_by_calls(const struct look *l, pid_t pid, const struct in_call *call)
{
	const struct leat_conn *c;

	if (call->number != SYS_ioctl || call->args[1] != SECCOMP_IOCTL_NOTIF_RECV)
		return false;
	DL_FOREACH(l->d->conns, c)
	if (c->proc && c->proc->mount && c->proc->pid == pid)
		return true;
	return false;
}

/* In a launcher only its first thread decides when to end. */
static bool passes_messages(const struct look *l, pid_t pid, const char *tid,
			    const struct in_call *call)
{
	bool timed;

	if (!l->polls || !leat_mpi_polls(call->number, call->args, &timed))
		return false;
	if (pid == l->launcher)
		return !timed || strtol(tid, NULL, 10) != pid;
	return leat_mpi_owns(pid, tid, call->stack);
}

static bool other_call_is_idle(const struct look *l, pid_t pid, const char *tid,
			       struct in_call *call)
{
	call->served = waits_for_mount(l, pid, tid);
	call->polls = !call->served && passes_messages(l, pid, tid, call);
	return call->served || call->polls || is_asked_by_calls(l, pid, call) ||
	       acts(l, pid, "is in system call %ld", call->number);
}

static bool call_is_idle(const struct look *l, pid_t pid, const char *tid, struct in_call *call)
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
		call->served = waits_for_mount(l, pid, tid);
		return call->served || pipe_is_idle(l, pid, call);
	default:
		return other_call_is_idle(l, pid, tid, call);
	}
}

/* Who only passes messages on may wake now and then: a hundredth of a second of CPU time is more
 * than that. Source: sched-stats(5) of the kernel's documentation. */
static void note_cpu(struct look *l, pid_t pid, const char *tid)
{
	char *text = NULL;

	if (leat_peek_task(pid, tid, "schedstat", 256, &text) == 0)
		l->signature = leat_hash_add(l->signature + strtoull(tid, NULL, 10),
					     strtoull(text, NULL, 10) / 10000000);
	free(text);
}

/* How often it has run goes into the signature, unless it waits for leat: such a thread wakes now
 * and then to ask again, and the rules know whether it goes on. */
static void note_runs(struct look *l, pid_t pid, const char *tid, const struct in_call *call)
{
	uint64_t runs;

	l->waits += call->on_leat || call->served;
	if (call->polls)
		note_cpu(l, pid, tid);
	else if (!call->on_leat &&
		 leat_peek_status(pid, tid, "voluntary_ctxt_switches:", 10, &runs))
		l->signature = leat_hash_add(l->signature + strtoull(tid, NULL, 10), runs);
}

static bool runs(const struct look *l, pid_t pid)
{
	if (!l->in_rank)
		return acts(l, pid, "is running");
	return acts(l, pid,
		    "(rank %ld) is running: it computes, or waits in a call of MPI that asks again "
		    "and again, which cannot be told apart",
		    leat_mpi_rank(pid));
}

/* proc(5): number and arguments, stack and program counter; "running"; -1, stack and program
 * counter outside a call. A zombie has neither. */
static bool thread_is_idle(struct look *l, pid_t pid, const char *tid)
{
	struct in_call call = {0};
	char *text = NULL;
	bool idle;
	int rc, n;

	rc = leat_peek_task(pid, tid, "syscall", 4096, &text);
	if (rc)
		return rc == -ESRCH || rc == -ENOENT ||
		       acts(l, pid, "cannot be looked at: %s", strerror(-rc));
	n = sscanf(text, "%ld 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx", &call.number,
		   &call.args[0], &call.args[1], &call.args[2], &call.args[3], &call.args[4],
		   &call.args[5], &call.stack);
	if (strcmp(text, "-1 0x0 0x0\n") == 0)
		idle = true;
	else
		idle = n == 8 ? call_is_idle(l, pid, tid, &call) : runs(l, pid);
	if (idle && n == 8)
		note_runs(l, pid, tid, &call);
	free(text);
	return idle;
}

/* ---- processes ---- */

static bool process_is_idle(struct look *l, pid_t pid, int depth);

/* A child, or an orphan. */
struct visit {
	struct look *l;
	int depth;
};

static bool child_is_idle(void *ctx, pid_t pid)
{
	const struct visit *v = ctx;

	return process_is_idle(v->l, pid, v->depth);
}

static bool children_are_idle(struct look *l, pid_t pid, const char *tid, int depth)
{
	struct visit v = {l, depth + 1};
	int rc = leat_children_each(pid, tid, child_is_idle, &v);

	if (rc < 0)
		return rc == -ESRCH || rc == -ENOENT ||
		       acts(l, pid, "cannot be looked at: %s", strerror(-rc));
	return !rc;
}

static bool threads_are_idle(struct look *l, pid_t pid, int depth)
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
	return idle;
}

/* Launchers handle alarms whether they set one or not. */
static bool launcher_is_idle(struct look *l, pid_t pid, int depth)
{
	pid_t above = l->launcher;
	bool idle;

	l->polls = true;
	l->launcher = pid;
	idle = threads_are_idle(l, pid, depth) &&
	       (!leat_mpi_ends_in_time(pid) || acts(l, pid, "is to end after a time"));
	l->launcher = above;
	return idle;
}

/* What a launcher has begun. The rank may wait for a message of another unless it waits for leat.
 */
static bool rank_is_idle(struct look *l, pid_t pid, int depth)
{
	unsigned before = l->waits;
	bool idle;

	l->in_rank = true;
	idle = process_is_idle(l, pid, depth);
	l->in_rank = false;
	return idle &&
	       (l->waits > before ||
		acts(l, pid, "(rank %ld) has no thread that waits for a file", leat_mpi_rank(pid)));
}

/* The process with all its threads and descendants. */
static bool process_is_idle(struct look *l, pid_t pid, int depth)
{
	if (!l->in_rank && leat_mpi_launches(pid))
		return launcher_is_idle(l, pid, depth);
	if (!l->in_rank && l->launcher > 0)
		return rank_is_idle(l, pid, depth);
	return threads_are_idle(l, pid, depth) &&
	       (!leat_peek_has_alarm(pid) || acts(l, pid, "may have set an alarm"));
}

static bool orphans_are_idle(struct look *l)
{
	struct visit v = {l, 0};
	int rc = leat_orphans_each(l->d, child_is_idle, &v);

	return rc < 0 ? acts(l, l->d->driver, "cannot be looked at") : !rc;
}

/* ---- what leat itself is doing ---- */

/* A file that moves or is copied, space that is being made, a wait that the rules do not know. */
static bool is_served(const struct look *l)
{
	const struct leat_daemon *d = l->d;
	const struct leat_move *m;
	const struct leat_conn *c;

	DL_FOREACH(d->conns, c)
	if (c->step == l->step &&
	    (c->cramped || (leat_conn_waits(c) && !leat_stream_waits(d->stream, c->id))))
		return acts(l, c->pid, "is about to be answered");
	DL_FOREACH(d->files->moves, m)
	if (m->f)
		return acts(l, getpid(), "is moving %s", m->f->name);
	if (d->files->n_copies)
		return acts(l, getpid(), "is copying files to where they are written");
	return leat_files_persist_idle(d) || acts(l, getpid(), "is writing files to disk");
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

bool leat_step_is_idle(struct leat_daemon *d, int step, struct leat_idle *seen,
		       char why[LEAT_IDLE_WHY])
{
	const struct leat_step_run *s = &d->steps[step];
	struct look l = {.d = d, .step = step, .why = why};

	*seen = (struct leat_idle){0};
	if (!is_served(&l))
		return false;
	if (leat_ending_of(d, step))
		return acts(&l, s->pid, "has ended, and others of it are being killed");
	if (!s->running)
		return true; /* it waits for its launch */
	if (s->state == LEAT_RUN_FOUND || !leat_peek_sees_children())
		return acts(&l, s->pid, "is not looked after by leat: others of the step may come");
	if (!processes_are_idle(&l))
		return false;
	*seen = (struct leat_idle){l.signature, l.polls};
	return true;
}
