/* The processes behind the calls. FUSE tells a thread's number with each request; the rest is asked
 * of /proc when a process is met, and their ends are told by descriptors of them. */
#include "base/fd.h"
#include "base/pidstat.h"
#include "trace/fuse/internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 64 };

static bool is_above(void *context, pid_t pid)
{
	(void)context;
	return pid == getpid();
}

static void note_process(void *context, struct leat_person *p)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = p->pid};
	struct overlay *o = context;

	if (p->fd >= 0)
		epoll_ctl(o->epoll_fd, EPOLL_CTL_ADD, p->fd, &event);
	p->cgroup = leat_trace_who_cgroup(o->who, p->pid);
	leat_trace_sink_process(&o->sink, &(struct leat_trace_process){.time_ns = now_ns(),
								       .change = LEAT_TRACE_FORK,
								       .ppid = p->ppid,
								       .pid = p->pid,
								       .cgroup = p->cgroup});
}

static void note_program(void *context, struct leat_person *p)
{
	struct overlay *o = context;

	leat_trace_who_exec(o->who, p->ppid, p->pid, now_ns());
}

void people_init(struct overlay *o)
{
	o->people = (struct leat_people){
		.is_above = is_above, .met = note_process, .runs = note_program, .context = o};
}

/* What the mount shows is the directory that it covers: whose names the records have. */
static void report_mount(struct overlay *o, pid_t command)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)command);
	if (stat(path, &st) < 0)
		return;
	leat_trace_sink_mount(&o->sink, &(struct leat_trace_mount){.namespace_id = st.st_ino,
								   .at = o->dir,
								   .from = o->dir,
								   .type = "fuse.leat-trace"});
}

void people_begin(struct overlay *o, pid_t command)
{
	pthread_mutex_lock(&o->lock);
	o->command = command;
	if (!leat_people_find(&o->people, command))
		leat_people_meet(&o->people, command, getpid());
	report_mount(o, command);
	pthread_mutex_unlock(&o->lock);
}

/* ---- they end ---- */

/* Ours: the command, and those whose parents have ended. The status as of wait(2), or false. */
static bool reap(struct overlay *o, pid_t pid, int *status)
{
	if (waitpid(pid, status, WNOHANG) != pid)
		return false;
	if (pid == o->command) {
		o->status = *status;
		o->has_ended = true;
	}
	return true;
}

static void record_end_of(struct overlay *o, struct leat_person *p, int status)
{
	if (p->has_ended)
		return;
	p->has_ended = true;
	if (p->fd >= 0)
		epoll_ctl(o->epoll_fd, EPOLL_CTL_DEL, p->fd, NULL);
	leat_trace_sink_process(&o->sink, &(struct leat_trace_process){.time_ns = now_ns(),
								       .change = LEAT_TRACE_EXIT,
								       .ppid = p->ppid,
								       .pid = p->pid,
								       .cgroup = p->cgroup,
								       .status = status});
}

static void end(struct overlay *o, pid_t pid)
{
	struct leat_person *p = leat_people_find(&o->people, pid);
	struct leat_pidstat stat;
	int status = 0;
	bool reaped = reap(o, pid, &status);

	if (!reaped && leat_pidstat_read(pid, &stat) && stat.state == 'Z')
		status = stat.status;
	if (p)
		record_end_of(o, p, status);
	if (p && (reaped || leat_person_has_gone(p)))
		leat_people_forget(&o->people, p);
}

/* Children of processes that have ended, which nobody met. */
static void reap_others(struct overlay *o)
{
	siginfo_t info = {0};
	int status;

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid) {
		if (leat_people_find(&o->people, info.si_pid))
			end(o, info.si_pid);
		else
			reap(o, info.si_pid, &status);
		info.si_pid = 0;
	}
}

void people_wait(struct overlay *o, int timeout_ms)
{
	struct epoll_event events[AT_ONCE];
	struct leat_person *p, *next;
	int n = epoll_wait(o->epoll_fd, events, AT_ONCE, timeout_ms);

	pthread_mutex_lock(&o->lock);
	for (int i = 0; i < n; i++)
		if (events[i].data.fd > 0)
			end(o, events[i].data.fd);
	reap_others(o);
	HASH_ITER(hh, o->people.all, p, next)
	if (leat_person_has_gone(p))
		leat_people_forget(&o->people, p);
	pthread_mutex_unlock(&o->lock);
}

bool people_are_left(struct overlay *o)
{
	struct leat_person *p;
	bool left = false;

	pthread_mutex_lock(&o->lock);
	for (p = o->people.all; p && !left; p = p->hh.next)
		left = !p->has_ended;
	pthread_mutex_unlock(&o->lock);
	return left;
}

void people_stop(struct overlay *o)
{
	struct leat_person *p, *next;

	pthread_mutex_lock(&o->lock);
	if (!o->has_ended)
		kill(o->command, SIGTERM);
	HASH_ITER(hh, o->people.all, p, next)
	if (o->has_ended && p->fd >= 0)
		syscall(SYS_pidfd_send_signal, p->fd, SIGTERM, NULL, 0);
	pthread_mutex_unlock(&o->lock);
}
