/* Recording for a trace of the run. The records lie in lanes of the server's own, and name the
 * process whose call it was. */
#include "mount/record_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

enum { FIRST_NAP_NS = 50000, LAST_NAP_NS = 1000000 };

static __thread uint32_t lane;

/* --- records --- */

static struct leat_tape_record *wait_for_room(struct leat_recorder *r, size_t size)
{
	int64_t since = (int64_t)leat_errand_now_ns(), now = since;
	struct timespec nap = {.tv_nsec = FIRST_NAP_NS};
	struct leat_tape_record *record = NULL;

	while (!record && now - since < LEAT_TAPE_LONGEST_WAIT_NS &&
	       now - (int64_t)leat_tape_last_beat(r->tape) < LEAT_TAPE_LONGEST_SILENCE_NS) {
		nanosleep(&nap, NULL);
		nap.tv_nsec = nap.tv_nsec < LAST_NAP_NS ? 2 * nap.tv_nsec : nap.tv_nsec;
		record = leat_tape_begin(r->tape, r->process, size, &lane);
		now = (int64_t)leat_errand_now_ns();
	}
	if (!record)
		leat_tape_lose(r->tape, LEAT_TRACE_LOST_BUFFER, 1);
	return record;
}

struct leat_tape_record *leat_record_begin(struct leat_recorder *r, uint8_t type, pid_t pid,
					   const struct leat_errand *call, size_t text)
{
	size_t size = (sizeof(struct leat_tape_record) + text + 7) / 8 * 8;
	struct leat_tape_record *record = leat_tape_begin(r->tape, r->process, size, &lane);

	if (!record)
		record = wait_for_room(r, size);
	if (!record)
		return NULL;
	*record = (struct leat_tape_record){.size = sizeof(*record),
					    .type = type,
					    .by = LEAT_TAPE_BY_MOUNT,
					    .pid = (int32_t)pid,
					    .end_ns = (int64_t)leat_errand_now_ns()};
	record->start_ns = call ? call->began_ns : record->end_ns;
	if (call)
		record->utime_start_ns = record->utime_end_ns = call->cpu_ns;
	return record;
}

void leat_record_done(struct leat_recorder *r, struct leat_tape_record *record, const char *end)
{
	if (end)
		record->size = (uint32_t)((size_t)(end - (const char *)record) + 7) / 8 * 8;
	leat_tape_end(r->tape, record);
}

char *leat_record_put(struct leat_tape_record *record, char *at, const char *text)
{
	size_t n = strlen(text) + 1;

	memcpy(at, text, n);
	record->texts++;
	return at + n;
}

/* The name by which all know it, of a path below the workflow's directory. */
static char *put_path(const struct leat_recorder *r, struct leat_tape_record *record, char *at,
		      const char *path)
{
	char name[2 * PATH_MAX];

	snprintf(name, sizeof(name), "%s%s%s", r->m->spec->dir, *path ? "/" : "", path);
	return leat_record_put(record, at, name);
}

static size_t path_room(const struct leat_recorder *r, const char *path)
{
	return strlen(r->m->spec->dir) + strlen(path) + 2;
}

/* --- calls --- */

void leat_record_arrived(struct leat_errand *call)
{
	call->began_ns = (int64_t)leat_errand_now_ns();
	call->cpu_ns = call->tid > 0 ? leat_thread_cpu_ns(call->tid) : 0;
}

/* A disk's file that was there has an earlier time of birth, by the coarse clock. */
static bool is_new(const struct statx *x, const struct leat_errand *call)
{
	struct timespec now;
	int64_t born = x->stx_btime.tv_sec * INT64_C(1000000000) + x->stx_btime.tv_nsec;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return x->stx_mask & STATX_BTIME &&
	       born >= now.tv_sec * INT64_C(1000000000) + now.tv_nsec -
			       ((int64_t)leat_errand_now_ns() - call->began_ns) - 4000000;
}

/* Which file it is, as the library says it of the same file. */
static void put_file(struct leat_tape_record *record, const struct statx *x)
{
	record->device = makedev(x->stx_dev_major, x->stx_dev_minor);
	record->inode = x->stx_ino;
	if (x->stx_mask & STATX_BTIME)
		record->birth_ns = x->stx_btime.tv_sec * INT64_C(1000000000) + x->stx_btime.tv_nsec;
}

static bool look(int fd, struct statx *x)
{
	*x = (struct statx){0};
	return fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, x) == 0;
}

/* A number of its own. 0: there is no room. */
static uint64_t new_handle(struct leat_recorder *r)
{
	uint32_t flags, h = leat_tape_handle_new(r->tape, 0);
	uint64_t id = h ? leat_tape_handle_id(r->tape, h) : 0;

	if (h)
		leat_tape_handle_drop(r->tape, h, &id, &flags);
	else
		leat_tape_lose(r->tape, LEAT_TRACE_LOST_MEMORY, 1);
	return id;
}

void leat_record_opened(struct leat_errand *call, struct leat_handle *h, fuse_ino_t ino,
			const char *name, int flags, int rc)
{
	struct leat_recorder *r = call->m->recorder;
	struct leat_tape_record *record;
	char path[PATH_MAX];
	struct statx x;
	uint64_t id;
	pid_t pid;

	/* What is looked up again is not over. */
	if (!leat_record_wants_calls(call->m) || rc == -ESTALE)
		return;
	if (leat_node_path(call->m, ino, name, path)) {
		leat_tape_lose(r->tape, LEAT_TRACE_LOST_PATH, 1);
		return;
	}
	pid = leat_record_caller(call, true);
	look(h ? h->fd : -1, &x);
	id = h ? new_handle(r) : 0;
	record = h && !id ? NULL
			  : leat_record_begin(r, LEAT_TRACE_OPEN, pid, call, path_room(r, path));
	if (!record)
		return;
	if (h) {
		h->record_id = id;
		h->record_pid = pid;
		put_file(record, &x);
		if (flags & O_CREAT && is_new(&x, call))
			record->type = LEAT_TRACE_CREATE;
	}
	record->handle = id;
	record->flags = (uint32_t)flags;
	record->result = rc;
	leat_record_done(r, record, put_path(r, record, record->text, path));
}

void leat_record_moved(struct leat_errand *call, const struct leat_handle *h,
		       enum leat_trace_type type, ssize_t n, uint64_t offset, uint64_t size,
		       uint32_t flags)
{
	struct leat_recorder *r = call->m->recorder;
	struct leat_tape_record *record;
	pid_t pid;

	if (!r || !h->record_id)
		return;
	pid = leat_record_caller(call, false);
	record = leat_record_begin(r, (uint8_t)type, pid ? pid : h->record_pid, call, 0);
	if (!record)
		return;
	record->handle = h->record_id;
	record->result = type == LEAT_TRACE_MAP && n > 0 ? 0 : n;
	record->offset = offset;
	record->length = size;
	record->flags = flags;
	leat_record_done(r, record, NULL);
}

void leat_record_cut(struct leat_errand *call, const struct leat_handle *h, fuse_ino_t ino, int fd,
		     uint64_t length, int rc)
{
	struct leat_recorder *r = call->m->recorder;
	struct leat_tape_record *record;
	char path[PATH_MAX] = "";
	struct statx x;
	pid_t pid;

	if (!leat_record_wants_calls(call->m) || (h && !h->record_id))
		return;
	if (!h && leat_node_path(call->m, ino, NULL, path)) {
		leat_tape_lose(r->tape, LEAT_TRACE_LOST_PATH, 1);
		return;
	}
	pid = leat_record_caller(call, false);
	look(fd, &x);
	record = leat_record_begin(r, LEAT_TRACE_TRUNCATE, pid, call, path_room(r, path));
	if (!record)
		return;
	record->handle = h ? h->record_id : 0;
	record->result = rc;
	record->length = length;
	if (fd >= 0)
		put_file(record, &x);
	leat_record_done(r, record, h ? NULL : put_path(r, record, record->text, path));
}

void leat_record_named(struct leat_errand *call, enum leat_trace_type type, const char *path,
		       const char *to, int rc)
{
	struct leat_recorder *r = call->m->recorder;
	struct leat_tape_record *record;
	pid_t pid;
	char *end;

	if (!leat_record_wants_calls(call->m) || !*path)
		return;
	pid = leat_record_caller(call, false);
	record = leat_record_begin(r, (uint8_t)type, pid, call,
				   path_room(r, path) + path_room(r, to ? to : ""));
	if (!record)
		return;
	record->result = rc;
	end = put_path(r, record, record->text, path);
	leat_record_done(r, record, to ? put_path(r, record, end, to) : end);
}

/* Without the lock: during an execve, of which this may be a part, /proc may have whoever holds it
 * wait. How it ended must be there before the tracer finds it dead; of several the first counts. */
void leat_record_flushed(struct leat_mount *m, struct leat_handle *h, pid_t tid)
{
	struct leat_recorder *r = m->recorder;
	struct leat_tape_record *record;
	pid_t process;
	int status;
	bool ends;

	if (!r)
		return;
	ends = leat_caller_ending(tid, &process, &status);
	if (h && process) {
		pthread_mutex_lock(&m->lock);
		h->record_pid = process;
		pthread_mutex_unlock(&m->lock);
	}
	if (!ends || leat_tape_process_of(r->tape, process) == LEAT_TAPE_NONE)
		return;
	record = leat_record_begin(r, LEAT_TAPE_EXITS, process, NULL, 0);
	if (!record)
		return;
	record->result = status;
	leat_record_done(r, record, NULL);
}

void leat_record_closed(struct leat_errand *call, const struct leat_handle *h)
{
	struct leat_recorder *r = h->m->recorder;
	struct leat_tape_record *record;

	if (!r || !h->record_id)
		return;
	record = leat_record_begin(r, LEAT_TRACE_CLOSE, h->record_pid, call->req ? call : NULL, 0);
	if (!record)
		return;
	record->handle = h->record_id;
	leat_record_done(r, record, NULL);
}
