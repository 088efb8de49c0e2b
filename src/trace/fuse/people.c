/* The processes behind the calls. FUSE tells a thread's number with each request; the rest is asked
 * of /proc when a process is met, and their ends are told by descriptors of them. */
#include "base/fd.h"
#include "base/pidstat.h"
#include "trace/fuse/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A chain of parents that were not met is no longer than this. */
enum { MAX_DEPTH = 32, AT_ONCE = 64 };

struct person {
	UT_hash_handle hh;
	pid_t pid;
	pid_t ppid;
	int fd; /* owned; of the process; -1 unknown when it ends */
	uint64_t cgroup;
	char program[256]; /* to see that it runs another */
};

static pid_t number_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? (pid_t)atoi(at + strlen(name)) : 0;
}

/* Not by "stat", which waits for a program that starts, as that may for us. */
static bool look(pid_t tid, pid_t *pid, pid_t *ppid)
{
	char path[64], *text = NULL;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (tid <= 0 || leat_read_file(path, 65536, &text, NULL))
		return false;
	*pid = number_after(text, "\nTgid:");
	*ppid = number_after(text, "\nPPid:");
	free(text);
	return *pid > 0;
}

pid_t process_of(pid_t tid)
{
	pid_t pid, ppid;

	return look(tid, &pid, &ppid) ? pid : 0;
}

static struct person *find(struct overlay *o, pid_t pid)
{
	struct person *p;

	HASH_FIND(hh, o->people, &pid, sizeof(pid), p);
	return p;
}

/* Has it started another program since it was last asked? */
static bool runs_another(struct person *p)
{
	char path[64], program[sizeof(p->program)] = "";
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)p->pid);
	n = readlink(path, program, sizeof(program) - 1);
	if (n <= 0)
		return false;
	program[n] = '\0';
	if (strcmp(program, p->program) == 0)
		return false;
	strcpy(p->program, program);
	return true;
}

static struct person *meet(struct overlay *o, pid_t pid, pid_t ppid, int depth);

/* Who made it, as far up as the command. */
static void meet_parent(struct overlay *o, pid_t ppid, int depth)
{
	pid_t pid, above;

	if (ppid <= 1 || ppid == getpid() || find(o, ppid) || depth == MAX_DEPTH)
		return;
	if (look(ppid, &pid, &above) && pid == ppid)
		meet(o, pid, above, depth + 1);
}

static struct person *meet(struct overlay *o, pid_t pid, pid_t ppid, int depth)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = pid};
	struct person *p;

	meet_parent(o, ppid, depth);
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->ppid = ppid;
	HASH_ADD(hh, o->people, pid, sizeof(p->pid), p);
	if (!p->hh.tbl) {
		free(p);
		return NULL;
	}
	p->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p->fd >= 0)
		epoll_ctl(o->epoll_fd, EPOLL_CTL_ADD, p->fd, &event);
	p->cgroup = leat_trace_who_cgroup(o->who, pid);
	leat_trace_sink_process(&o->sink, &(struct leat_trace_process){.time_ns = now_ns(),
								       .change = LEAT_TRACE_FORK,
								       .ppid = ppid,
								       .pid = pid,
								       .cgroup = p->cgroup});
	if (runs_another(p))
		leat_trace_who_exec(o->who, ppid, pid, now_ns());
	return p;
}

pid_t person_of(struct overlay *o, pid_t tid, bool opens)
{
	struct person *p = find(o, tid);
	pid_t pid = tid, ppid;

	/* A thread's number is no process's: the first thread's is. */
	if (!p) {
		if (!look(tid, &pid, &ppid))
			return tid;
		p = find(o, pid);
		if (!p) {
			meet(o, pid, ppid, 0);
			return pid;
		}
	}
	if (opens && runs_another(p))
		leat_trace_who_exec(o->who, p->ppid, p->pid, now_ns());
	return pid;
}

/* What the mount shows is the directory that it covers: whose names the records have. */
static void say_mount(struct overlay *o, pid_t command)
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
	if (!find(o, command))
		meet(o, command, getpid(), 0);
	say_mount(o, command);
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

static void end(struct overlay *o, pid_t pid)
{
	struct person *p = find(o, pid);
	struct leat_pidstat stat;
	int status = 0;

	if (!reap(o, pid, &status) && leat_pidstat_read(pid, &stat) && stat.state == 'Z')
		status = stat.status;
	if (!p)
		return;
	leat_trace_sink_process(&o->sink, &(struct leat_trace_process){.time_ns = now_ns(),
								       .change = LEAT_TRACE_EXIT,
								       .ppid = p->ppid,
								       .pid = pid,
								       .cgroup = p->cgroup,
								       .status = status});
	HASH_DEL(o->people, p);
	leat_close(&p->fd);
	free(p);
}

/* Children of processes that have ended, which nobody met. */
static void reap_others(struct overlay *o)
{
	siginfo_t info = {0};
	int status;

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid) {
		if (find(o, info.si_pid))
			end(o, info.si_pid);
		else
			reap(o, info.si_pid, &status);
		info.si_pid = 0;
	}
}

void people_wait(struct overlay *o, int timeout_ms)
{
	struct epoll_event events[AT_ONCE];
	int n = epoll_wait(o->epoll_fd, events, AT_ONCE, timeout_ms);

	pthread_mutex_lock(&o->lock);
	for (int i = 0; i < n; i++)
		if (events[i].data.fd > 0)
			end(o, events[i].data.fd);
	reap_others(o);
	pthread_mutex_unlock(&o->lock);
}

void people_stop(struct overlay *o)
{
	struct person *p, *next;

	pthread_mutex_lock(&o->lock);
	if (!o->has_ended)
		kill(o->command, SIGTERM);
	HASH_ITER(hh, o->people, p, next)
	if (o->has_ended && p->fd >= 0)
		syscall(SYS_pidfd_send_signal, p->fd, SIGTERM, NULL, 0);
	pthread_mutex_unlock(&o->lock);
}

void people_release(struct overlay *o)
{
	struct person *p, *next;

	HASH_ITER(hh, o->people, p, next)
	{
		HASH_DEL(o->people, p);
		leat_close(&p->fd);
		free(p);
	}
}
