#include "trace/preload/internal.h"

#include "base/log.h"
#include "base/pidstat.h"
#include "trace/preload/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A program that has not said by then that it can be seen cannot be. */
#define LONGEST_START_NS LEAT_SECOND_NS
/* A child that has not come so long after its parent died never will. */
#define LONGEST_BIRTH_NS LEAT_SECOND_NS
enum { EVENTS = 64 };

struct traced {
	int32_t pid;       /* 0: nobody is known here */
	int pidfd;         /* -1: none */
	int64_t died_ns;   /* 0: it lives */
	int64_t orphan_ns; /* its parent died before it came; 0: did not */
	int32_t ppid;
	bool filtered;  /* a filter keeps it out */
	bool has_ended; /* its end is in the trace */
	bool knows_status;
	int status;
	uint64_t cgroup;
	struct leat_trace_start start; /* an exec of which nothing has been heard yet */
};

struct leat_trace_processes {
	struct leat_tracebuf *tracebuf;     /* borrowed */
	struct leat_trace_emitter *emitter; /* borrowed */
	struct traced v[LEAT_TRACEBUF_PROCESSES];
	struct leat_trace_programs programs; /* that were not seen */
	int epoll;
	uint64_t root;  /* the mount of our own root */
	unsigned rings; /* processes with io_uring or kernel AIO */
};

/* The mount of our own root: processes with another one see other mounts. */
static uint64_t own_root(void)
{
	struct statx st;

	return statx(AT_FDCWD, "/", 0, STATX_MNT_ID, &st) == 0 ? st.stx_mnt_id : 0;
}

static uint64_t mounts_of(int32_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

struct leat_trace_processes *leat_trace_processes_new(struct leat_tracebuf *tracebuf,
						      struct leat_trace_emitter *emitter)
{
	struct leat_trace_processes *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->tracebuf = tracebuf;
	l->emitter = emitter;
	l->root = own_root();
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (uint32_t i = 0; i < LEAT_TRACEBUF_PROCESSES; i++)
		l->v[i].pidfd = -1;
	if (l->epoll >= 0)
		return l;
	free(l);
	return NULL;
}

static void forget(struct leat_trace_processes *l, uint32_t process)
{
	struct traced *p = &l->v[process];

	if (p->pidfd >= 0)
		close(p->pidfd);
	leat_trace_start_clear(&p->start);
	*p = (struct traced){.pidfd = -1};
}

void leat_trace_processes_free(struct leat_trace_processes *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < LEAT_TRACEBUF_PROCESSES; i++)
		forget(l, i);
	leat_trace_programs_release(&l->programs);
	close(l->epoll);
	free(l);
}

/* --- records --- */

static struct traced *find_traced(struct leat_trace_processes *l, int32_t pid)
{
	uint32_t i = leat_tracebuf_process_of(l->tracebuf, pid);

	return i == LEAT_TRACEBUF_NONE || l->v[i].pid != pid ? NULL : &l->v[i];
}

static void note_fork(struct leat_trace_processes *l, struct traced *p,
		      const struct leat_tracebuf_record *r)
{
	const struct traced *parent = find_traced(l, (int32_t)r->handle);

	p->pid = r->pid;
	p->ppid = (int32_t)r->handle;
	if (parent) {
		p->cgroup = p->cgroup ? p->cgroup : parent->cgroup;
		p->filtered = parent->filtered;
	}
	leat_trace_emit_process(l->emitter, &(struct leat_trace_process){.time_ns = r->end_ns,
									 .change = LEAT_TRACE_FORK,
									 .ppid = p->ppid,
									 .pid = r->pid,
									 .cgroup = p->cgroup});
}

/* A program behind a mount, whose server does not see all of it. */
static void note_past(struct leat_trace_processes *l, const char *program, unsigned by)
{
	leat_trace_programs_add(
		&l->programs, program, 1,
		by == LEAT_TRACEBUF_BY_MOUNT_PARTLY
			? leat_trace_past_mount
			: "it is behind a mount, and this kernel reads some files of "
			  "that by itself (Linux 6.6 does not)");
	leat_trace_sink_lost(&l->emitter->sink, LEAT_TRACE_LOST_UNSEEN, 1);
}

/* A program that has the library and yet goes past it. */
static void note_unheard(struct leat_trace_processes *l, const char *program)
{
	leat_trace_programs_add(&l->programs, program, 1, NULL);
	leat_trace_sink_lost(&l->emitter->sink, LEAT_TRACE_LOST_UNSEEN, 1);
}

static void note_started(struct leat_trace_processes *l, struct traced *p,
			 const struct leat_tracebuf_record *r, const char *const *texts)
{
	struct leat_trace_emitter *e = l->emitter;
	bool elsewhere = r->inode && r->inode != l->root, unheard = false;
	const char *labels, *end = (const char *)r + r->size;
	const char *program;
	char *line;

	if (r->texts < 2)
		return;
	p->pid = r->pid;
	leat_trace_start_clear(&p->start);
	labels = texts[1] + strlen(texts[1]) + 1;
	line = leat_trace_labels(labels, (size_t)(end - labels));
	program = elsewhere || r->by ? NULL
				     : leat_trace_programs_run(&l->programs, texts[0], &unheard);
	p->filtered = !leat_trace_sink_wants_user(&e->sink, r->flags, (gid_t)r->offset);
	if (elsewhere)
		leat_trace_who_mounts(e->who, r->pid);
	leat_trace_emit_process(
		e, &(struct leat_trace_process){.time_ns = r->end_ns,
						.change = LEAT_TRACE_EXEC,
						.ppid = p->ppid,
						.pid = p->pid,
						.cgroup = p->cgroup,
						.mounts = elsewhere ? mounts_of(r->pid) : 0,
						.program = program ? program : texts[0],
						.dir = *texts[1] ? texts[1] : NULL,
						.labels = line});
	if (unheard && !p->filtered)
		note_unheard(l, program);
	if (r->by > LEAT_TRACEBUF_BY_MOUNT && !p->filtered)
		note_past(l, texts[0], r->by);
	free(line);
}

/* A program of which nothing has been heard. */
static void emit_unseen(struct leat_trace_processes *l, const struct traced *p, int64_t now_ns)
{
	leat_trace_emit_process(l->emitter,
				&(struct leat_trace_process){.time_ns = now_ns,
							     .change = LEAT_TRACE_EXEC,
							     .ppid = p->ppid,
							     .pid = p->pid,
							     .cgroup = p->cgroup,
							     .program = p->start.program,
							     .dir = p->start.dir});
}

static void emit_exit(struct leat_trace_processes *l, struct traced *p, int64_t time_ns, int status)
{
	if (p->has_ended)
		return;
	p->has_ended = true;
	leat_trace_emit_process(l->emitter, &(struct leat_trace_process){.time_ns = time_ns,
									 .change = LEAT_TRACE_EXIT,
									 .ppid = p->ppid,
									 .pid = p->pid,
									 .cgroup = p->cgroup,
									 .status = status});
}

void leat_trace_processes_note(struct leat_trace_processes *l, uint32_t process,
			       const struct leat_tracebuf_record *r, const char *const *texts)
{
	struct traced *p = process < LEAT_TRACEBUF_PROCESSES ? &l->v[process] : NULL;

	if (!p)
		return;
	switch (r->type) {
	case LEAT_TRACEBUF_FORKED:
		note_fork(l, p, r);
		break;
	case LEAT_TRACEBUF_STARTED:
		note_started(l, p, r, texts);
		break;
	case LEAT_TRACEBUF_EXEC_BEGINS:
		if (r->texts >= 2)
			leat_trace_start_set(&p->start, r->end_ns, texts[0], texts[1],
					     r->inode && r->inode != l->root);
		break;
	case LEAT_TRACEBUF_EXEC_FAILED:
		leat_trace_start_clear(&p->start);
		break;
	case LEAT_TRACEBUF_EXITS:
		emit_exit(l, p, r->end_ns, (int)r->result);
		break;
	default:
		break;
	}
}

bool leat_trace_processes_kept(const struct leat_trace_processes *l, uint32_t process)
{
	return process >= LEAT_TRACEBUF_PROCESSES || !l->v[process].filtered;
}

/* --- births and deaths --- */

static void note_death(struct traced *p, int64_t now_ns)
{
	struct leat_pidstat stat;

	p->died_ns = now_ns;
	if (p->knows_status)
		return;
	if (leat_pidstat_read(p->pid, &stat) && stat.exiting) {
		p->status = stat.status;
		p->knows_status = true;
	} else if (p->pidfd >= 0) {
		p->knows_status = leat_pidfd_status(p->pidfd, &p->status);
	}
}

static void note_birth(struct leat_trace_processes *l, uint32_t process, int32_t pid,
		       int64_t now_ns)
{
	struct traced *p = &l->v[process];
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = process};

	uint64_t cgroup;

	p->pid = pid;
	/* Who is gone already is taken to have been where its parent was. */
	cgroup = leat_trace_who_cgroup(l->emitter->who, pid);
	if (cgroup)
		p->cgroup = cgroup;
	p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p->pidfd < 0 && errno == ESRCH)
		note_death(p, now_ns);
	else if (p->pidfd >= 0)
		epoll_ctl(l->epoll, EPOLL_CTL_ADD, p->pidfd, &e);
}

/* A place for a child whose parent is dead: it comes soon, or never. */
static void look_at_orphan(struct leat_trace_processes *l, uint32_t process, int64_t now_ns)
{
	struct traced *p = &l->v[process];
	int32_t parent = leat_tracebuf_process_parent(l->tracebuf, process);

	if (!parent || kill(parent, 0) == 0 || errno != ESRCH)
		p->orphan_ns = 0;
	else if (!p->orphan_ns)
		p->orphan_ns = now_ns;
}

/* Who started a program long ago that said nothing runs one that cannot be seen. */
static void look_at_start(struct leat_trace_processes *l, uint32_t process, int64_t now_ns)
{
	struct traced *p = &l->v[process];

	/* If its mount cannot be made it is not started. */
	if (!p->start.program || now_ns - p->start.time_ns < LONGEST_START_NS ||
	    leat_tracebuf_process_flags(l->tracebuf, process) & LEAT_TRACEBUF_MOUNTED)
		return;
	leat_trace_programs_add(&l->programs, p->start.program, 1,
				p->start.elsewhere
					? "it is in a container (another root directory or other "
					  "mounts), where it did not load the library"
					: NULL);
	leat_trace_sink_lost(&l->emitter->sink, LEAT_TRACE_LOST_UNSEEN, 1);
	emit_unseen(l, p, now_ns);
	leat_trace_start_clear(&p->start);
}

void leat_trace_processes_watch(struct leat_trace_processes *l, int64_t now_ns)
{
	struct epoll_event events[EVENTS];
	int n;

	for (uint32_t i = leat_tracebuf_process_next(l->tracebuf, 0); i != LEAT_TRACEBUF_NONE;
	     i = leat_tracebuf_process_next(l->tracebuf, i + 1)) {
		struct traced *p = &l->v[i];
		int32_t pid = leat_tracebuf_process_pid(l->tracebuf, i);

		if (leat_tracebuf_process_state(l->tracebuf, i) == LEAT_TRACEBUF_FORKING)
			look_at_orphan(l, i, now_ns);
		else if (pid > 0 && p->pidfd < 0 && !p->died_ns)
			note_birth(l, i, pid, now_ns);
		else if (pid < 0 && !p->died_ns)
			p->died_ns = now_ns; /* its status is not to be had any more */
		if (p->pidfd < 0 && p->pid && !p->died_ns && kill(p->pid, 0) < 0 && errno == ESRCH)
			note_death(p, now_ns);
		look_at_start(l, i, now_ns);
	}
	do {
		n = epoll_wait(l->epoll, events, EVENTS, 0);
		for (int i = 0; i < n; i++) {
			struct traced *p = &l->v[events[i].data.u32];

			epoll_ctl(l->epoll, EPOLL_CTL_DEL, p->pidfd, NULL);
			if (!p->died_ns)
				note_death(p, now_ns);
		}
	} while (n == EVENTS);
}

void leat_trace_processes_reaped(struct leat_trace_processes *l, int32_t pid, int status)
{
	struct traced *p = find_traced(l, pid);

	if (!p)
		return;
	p->status = status;
	p->knows_status = true;
}

bool leat_trace_processes_serve(const struct leat_trace_processes *l)
{
	for (uint32_t i = leat_tracebuf_process_next(l->tracebuf, 0); i != LEAT_TRACEBUF_NONE;
	     i = leat_tracebuf_process_next(l->tracebuf, i + 1))
		if (leat_tracebuf_process_flags(l->tracebuf, i) & LEAT_TRACEBUF_SERVER &&
		    !l->v[i].died_ns)
			return true;
	return false;
}

bool leat_trace_processes_dead(const struct leat_trace_processes *l, uint32_t process,
			       int64_t before_ns)
{
	const struct traced *p = &l->v[process];

	if (p->orphan_ns && !p->pid)
		return p->orphan_ns < before_ns - LONGEST_BIRTH_NS;
	return p->died_ns && p->died_ns < before_ns;
}

/* Who is killed says nothing, and who waited for it knows; mostly it was SIGKILL. Of a mount the
 * kernel tells that, too, unless it had nothing open there: then it will have ended by itself. */
static int guess(uint32_t flags)
{
	return flags & LEAT_TRACEBUF_MOUNTED ? 0 : SIGKILL;
}

void leat_trace_processes_bury(struct leat_trace_processes *l, uint32_t process)
{
	const uint32_t flags = leat_tracebuf_process_flags(l->tracebuf, process);
	struct traced *p = &l->v[process];
	int end = leat_tracebuf_fd_end(l->tracebuf, process);

	if (p->start.program) {
		p->start.time_ns = p->died_ns - LONGEST_START_NS;
		look_at_start(l, process, p->died_ns);
	}
	for (int fd = 0; fd < end; fd++) {
		uint32_t unused, h = leat_tracebuf_fd_set(l->tracebuf, process, fd, 0);
		uint64_t id;

		if (h && leat_tracebuf_handle_drop(l->tracebuf, h, &id, &unused))
			leat_trace_emit_close(l->emitter, p->pid, id, p->died_ns);
	}
	if (flags & LEAT_TRACEBUF_RINGS) {
		l->rings++;
		leat_trace_sink_lost(&l->emitter->sink, LEAT_TRACE_LOST_UNSEEN, 1);
	}
	if (p->pid && !(flags & LEAT_TRACEBUF_SERVER))
		emit_exit(l, p, p->died_ns, p->knows_status ? p->status : guess(flags));
	forget(l, process);
	leat_tracebuf_process_free(l->tracebuf, process);
}

void leat_trace_processes_end(struct leat_trace_processes *l)
{
	struct timespec t;
	uint32_t flags;
	uint64_t id;

	clock_gettime(CLOCK_MONOTONIC, &t);
	for (uint32_t i = 0; i < LEAT_TRACEBUF_IN_FLIGHT; i++) {
		uint32_t h = leat_tracebuf_in_flight(l->tracebuf, i);

		if (h && leat_tracebuf_in_flight_claim(l->tracebuf, i, h) &&
		    leat_tracebuf_handle_drop(l->tracebuf, h, &id, &flags))
			leat_trace_emit_close(l->emitter, 0, id,
					      t.tv_sec * LEAT_SECOND_NS + t.tv_nsec);
	}
}

static void note_foreigners(struct leat_trace_processes *l)
{
	static const char why[] = "it is in a namespace of processes of its own (a container)";
	uint64_t others = leat_tracebuf_foreign_others(l->tracebuf), times, sum = others;
	const char *program;

	for (unsigned i = 0; (program = leat_tracebuf_foreign(l->tracebuf, i, &times)); i++) {
		if (times)
			leat_trace_programs_add(&l->programs, program, times, why);
		sum += times;
	}
	if (others)
		leat_trace_programs_add(&l->programs, "(other programs)", others, why);
	if (sum)
		leat_trace_sink_lost(&l->emitter->sink, LEAT_TRACE_LOST_UNSEEN, sum);
}

void leat_trace_processes_report(struct leat_trace_processes *l)
{
	note_foreigners(l);
	leat_trace_programs_report(&l->programs, &l->emitter->sink);
	if (l->rings)
		leat_warn("%u process%s used io_uring or kernel AIO: what was read and written by "
			  "it is not in the trace; --tracer ebpf sees it",
			  l->rings, l->rings == 1 ? "" : "es");
}
