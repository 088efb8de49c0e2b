#include "base/people.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A chain of parents that were not met is no longer than this. */
enum { MAX_DEPTH = 32 };

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

pid_t leat_process_of(pid_t tid)
{
	pid_t pid, ppid;

	return look(tid, &pid, &ppid) ? pid : 0;
}

int64_t leat_thread_cpu_ns(pid_t tid)
{
	char path[64], text[64];
	long n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = leat_read_all(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strtoll(text, NULL, 10);
}

void leat_people_forget(struct leat_people *people, struct leat_person *p)
{
	HASH_DEL(people->all, p);
	leat_close(&p->fd);
	free(p);
}

void leat_people_release(struct leat_people *people)
{
	struct leat_person *p, *next;

	HASH_ITER(hh, people->all, p, next)
	leat_people_forget(people, p);
}

bool leat_person_has_gone(const struct leat_person *p)
{
	return p->has_ended &&
	       (p->fd < 0 ||
		(syscall(SYS_pidfd_send_signal, p->fd, 0, NULL, 0) < 0 && errno == ESRCH));
}

struct leat_person *leat_people_find(struct leat_people *people, pid_t pid)
{
	struct leat_person *p;

	HASH_FIND(hh, people->all, &pid, sizeof(pid), p);
	if (p && leat_person_has_gone(p)) {
		leat_people_forget(people, p);
		return NULL;
	}
	return p;
}

/* Has it started another program since it was last asked? */
static bool runs_another(struct leat_person *p)
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

static struct leat_person *meet(struct leat_people *people, pid_t pid, pid_t ppid, int depth);

/* Who made it, as far up as the command. */
static void meet_parent(struct leat_people *people, pid_t ppid, int depth)
{
	pid_t pid, above;

	if (ppid <= 1 || leat_people_find(people, ppid) || depth == MAX_DEPTH ||
	    people->is_above(people->context, ppid))
		return;
	if (look(ppid, &pid, &above) && pid == ppid)
		meet(people, pid, above, depth + 1);
}

static struct leat_person *meet(struct leat_people *people, pid_t pid, pid_t ppid, int depth)
{
	struct leat_person *p;

	meet_parent(people, ppid, depth);
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->ppid = ppid;
	HASH_ADD(hh, people->all, pid, sizeof(p->pid), p);
	if (!p->hh.tbl) {
		free(p);
		return NULL;
	}
	p->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	people->met(people->context, p);
	if (runs_another(p))
		people->runs(people->context, p);
	return p;
}

struct leat_person *leat_people_meet(struct leat_people *people, pid_t pid, pid_t ppid)
{
	return meet(people, pid, ppid, 0);
}

pid_t leat_people_process(struct leat_people *people, pid_t tid, bool opens)
{
	struct leat_person *p = leat_people_find(people, tid);
	pid_t pid = tid, ppid;

	/* A thread's number is no process's: the first thread's is. */
	if (!p) {
		if (!look(tid, &pid, &ppid))
			return tid;
		p = leat_people_find(people, pid);
		if (!p) {
			meet(people, pid, ppid, 0);
			return pid;
		}
	}
	if (opens && runs_another(p))
		people->runs(people->context, p);
	return pid;
}
