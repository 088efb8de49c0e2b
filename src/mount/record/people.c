/* Whose the records are: each process behind the mount has a place in the trace buffer, too, so
 * that the tracer sees it end. */
#include "mount/record/people.h"
#include "mount/callers/caller.h"
#include "mount/record/recorder.h"
#include "mount/record/tracebuf.h"

#include "base/log.h"
#include "base/pidstat.h"
#include "iotrace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FEW = 64 };

/* --- processes; the lock is held --- */

static bool read_link(pid_t pid, const char *what, char out[PATH_MAX])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	n = readlink(path, out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = 0;
	return n > 0;
}

static bool is_above(void *context, pid_t pid)
{
	(void)context;
	return !leat_caller_is_inside(pid);
}

/* What the library has recorded of the program's process goes on. Nobody else behind the mount
 * has it. */
static void meet(void *context, struct leat_person *p)
{
	struct leat_recorder *r = context;
	struct leat_tracebuf_record *record;
	uint32_t process;

	/* Whether it has ended is to be asked of the kernel each time. */
	p->has_ended = true;
	if (p->pid == r->m->program && r->is_known)
		return;
	process = leat_tracebuf_process_new(r->tracebuf, 0);
	if (process == LEAT_TRACEBUF_NONE) {
		leat_tracebuf_lose(r->tracebuf, LEAT_TRACE_LOST_MEMORY, 1);
		return;
	}
	leat_tracebuf_process_flag(r->tracebuf, process, LEAT_TRACEBUF_MOUNTED);
	leat_tracebuf_process_adopt(r->tracebuf, process, p->pid);
	record = leat_record_begin(r, LEAT_TRACEBUF_FORKED, p->pid, NULL, 0);
	if (!record)
		return;
	record->handle = (uint64_t)p->ppid;
	leat_record_done(r, record, NULL);
}

static void record_started(struct leat_recorder *r, pid_t pid, const char *program)
{
	char path[64], dir[PATH_MAX];
	struct leat_tracebuf_record *record;
	struct stat st = {0};
	char *end;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) < 0 || !read_link(pid, "cwd", dir))
		*dir = 0;
	record = leat_record_begin(r, LEAT_TRACEBUF_STARTED, pid, NULL,
				   strlen(program) + strlen(dir) + 2 +
					   leat_tracebuf_labels_size(environ));
	if (!record)
		return;
	record->by = (uint16_t)r->by;
	record->flags = st.st_uid;
	record->offset = st.st_gid;
	end = leat_record_put(record, record->text, program);
	end = leat_record_put(record, end, dir);
	/* The program's own environment says nothing of the step. */
	leat_record_done(r, record, leat_tracebuf_put_labels(record, end, environ));
	/* That is said once. */
	if (r->by == LEAT_TRACEBUF_BY_MOUNT_PARTLY)
		r->by = LEAT_TRACEBUF_BY_MOUNT;
}

static void note_program(void *context, struct leat_person *p)
{
	struct leat_recorder *r = context;
	char program[PATH_MAX];

	if (!read_link(p->pid, "exe", program))
		return;
	if (p->pid == r->m->program && *r->program) {
		/* It is said when the process comes, so that one that asks for nothing is not
		 * missed. */
		if (strcmp(program, r->self) == 0)
			return;
		if (strcmp(program, r->program) == 0) {
			*r->program = 0;
			return;
		}
		*r->program = 0;
	}
	record_started(r, p->pid, program);
}

static void purge(struct leat_recorder *r)
{
	struct leat_person *p, *next;

	if (HASH_COUNT(r->people.all) < r->purge_at)
		return;
	HASH_ITER(hh, r->people.all, p, next)
	if (leat_person_has_gone(p))
		leat_people_forget(&r->people, p);
	r->purge_at = 2 * HASH_COUNT(r->people.all) + FEW;
}

pid_t leat_record_caller(struct leat_mount_call *call, bool opens)
{
	struct leat_recorder *r = call->m->recorder;
	pid_t pid;

	if (call->tid <= 0)
		return 0;
	pthread_mutex_lock(&r->lock);
	pid = leat_people_process(&r->people, call->tid, opens);
	purge(r);
	pthread_mutex_unlock(&r->lock);
	return pid;
}

/* --- beginning and end --- */

/* The library has told that it starts a program, and awaits no more of it: setting up the mount may
 * take long. */
static void note_mount(struct leat_recorder *r)
{
	struct ucred who = {0};
	socklen_t size = sizeof(who);
	uint32_t process;

	getsockopt(r->m->peer, SOL_SOCKET, SO_PEERCRED, &who, &size);
	process = who.pid > 0 ? leat_tracebuf_process_of(r->tracebuf, who.pid) : LEAT_TRACEBUF_NONE;
	r->is_known = process != LEAT_TRACEBUF_NONE;
	if (r->is_known)
		leat_tracebuf_process_flag(r->tracebuf, process, LEAT_TRACEBUF_MOUNTED);
}

/* 0 or -errno; -EEXIST: the library records this process. */
static int find_tracebuf(struct leat_recorder *r, const char *path)
{
	int rc = leat_tracebuf_open(path, &r->tracebuf);
	uint64_t space;

	if (rc)
		return rc;
	space = leat_pid_namespace();
	if (r->tracebuf->pid_namespace && space != r->tracebuf->pid_namespace) {
		leat_tracebuf_note_foreign(r->tracebuf, r->m->spec->program, true);
		return -EEXIST;
	}
	if (leat_tracebuf_process_of(r->tracebuf, getpid()) != LEAT_TRACEBUF_NONE)
		return -EEXIST;
	r->process = leat_tracebuf_process_new(r->tracebuf, 0);
	if (r->process == LEAT_TRACEBUF_NONE)
		return -ENFILE;
	leat_tracebuf_process_flag(r->tracebuf, r->process, LEAT_TRACEBUF_SERVER);
	leat_tracebuf_process_adopt(r->tracebuf, r->process, getpid());
	note_mount(r);
	return 0;
}

static void free_recorder(struct leat_recorder *r)
{
	leat_people_release(&r->people);
	leat_tracebuf_unmap(r->tracebuf);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

void leat_record_init(struct leat_mount *m)
{
	const char *path = getenv(LEAT_TRACEBUF_VARIABLE);
	struct leat_recorder *r;
	int rc;

	if (!path || !*path)
		return;
	r = calloc(1, sizeof(*r));
	if (!r) {
		leat_warn("the trace lacks what %s does: out of memory", m->spec->program);
		return;
	}
	r->m = m;
	r->purge_at = FEW;
	r->people = (struct leat_people){
		.is_above = is_above, .met = meet, .runs = note_program, .context = r};
	pthread_mutex_init(&r->lock, NULL);
	if (!read_link(getpid(), "exe", r->self) || !realpath(m->spec->program, r->program))
		*r->program = 0;
	rc = find_tracebuf(r, path);
	if (!rc) {
		m->recorder = r;
		return;
	}
	if (rc != -EEXIST)
		leat_warn("the trace lacks what %s does: the server of its mount cannot record it "
			  "(%s: %s)",
			  m->spec->program, path, strerror(-rc));
	free_recorder(r);
}

void leat_record_release(struct leat_mount *m)
{
	if (m->recorder)
		free_recorder(m->recorder);
	m->recorder = NULL;
}

void leat_record_inherited(struct leat_mount *m)
{
	if (m->recorder)
		m->recorder->inherited = true;
}

void leat_record_program(struct leat_mount *m)
{
	struct leat_recorder *r = m->recorder;
	char program[PATH_MAX];

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->by = !leat_fuse_has(m->session, LEAT_FUSE_DIRECT_MMAP) ? LEAT_TRACEBUF_BY_MOUNT_BLIND
		: r->inherited                                    ? LEAT_TRACEBUF_BY_MOUNT_PARTLY
								  : LEAT_TRACEBUF_BY_MOUNT;
	leat_people_process(&r->people, m->program, false);
	strcpy(program, r->program);
	if (*program)
		record_started(r, m->program, program);
	pthread_mutex_unlock(&r->lock);
}

bool leat_record_wants_calls(const struct leat_mount *m)
{
	return m->recorder && (m->recorder->by == LEAT_TRACEBUF_BY_MOUNT ||
			       m->recorder->by == LEAT_TRACEBUF_BY_MOUNT_PARTLY);
}
