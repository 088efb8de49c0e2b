/* Recording for a trace of the run. The records lie in lanes of the server's own, and name the
 * process whose call it was. */
#include "mount/record/record.h"
#include "mount/callers/caller.h"
#include "mount/names/handle.h"
#include "mount/names/node.h"
#include "mount/record/people.h"
#include "mount/record/recorder.h"
#include "mount/record/tracebuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

/* --- records --- */

/* The name by which all know it, of a path below the workflow's directory. */
static char *put_path(const struct leat_recorder *r, struct leat_tracebuf_record *record, char *at,
		      const char *path)
{
	char name[2 * PATH_MAX];

	snprintf(name, sizeof(name), "%s%s%s", r->m->spec->dir, *path ? "/" : "", path);
	return leat_record_put(record, at, name);
}

static size_t path_space(const struct leat_recorder *r, const char *path)
{
	return strlen(r->m->spec->dir) + strlen(path) + 2;
}

/* --- calls --- */

/* A disk's file that was there has an earlier time of birth, by the coarse clock. */
static bool is_new(const struct statx *x, const struct leat_mount_call *call)
{
	struct timespec now;
	int64_t born = x->stx_btime.tv_sec * INT64_C(1000000000) + x->stx_btime.tv_nsec;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return x->stx_mask & STATX_BTIME &&
	       born >= now.tv_sec * INT64_C(1000000000) + now.tv_nsec -
			       ((int64_t)leat_mount_now_ns() - call->began_ns) - 4000000;
}

/* Which file it is, as the library says it of the same file. */
static void put_file(struct leat_tracebuf_record *record, const struct statx *x)
{
	record->device = makedev(x->stx_dev_major, x->stx_dev_minor);
	record->inode = x->stx_ino;
	if (x->stx_mask & STATX_BTIME)
		record->birth_ns = x->stx_btime.tv_sec * INT64_C(1000000000) + x->stx_btime.tv_nsec;
}

static bool stat_fd(int fd, struct statx *x)
{
	*x = (struct statx){0};
	return fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, x) == 0;
}

/* A number of its own. 0: there is no space. */
static uint64_t new_handle(struct leat_recorder *r)
{
	uint32_t flags, h = leat_tracebuf_handle_new(r->tracebuf, 0);
	uint64_t id = h ? leat_tracebuf_handle_id(r->tracebuf, h) : 0;

	if (h)
		leat_tracebuf_handle_drop(r->tracebuf, h, &id, &flags);
	else
		leat_tracebuf_lose(r->tracebuf, LEAT_TRACE_LOST_MEMORY, 1);
	return id;
}

void leat_record_opened(struct leat_mount_call *call, struct leat_handle *h, fuse_ino_t ino,
			const char *name, int flags, int rc)
{
	struct leat_recorder *r = call->m->recorder;
	struct leat_tracebuf_record *record;
	char path[PATH_MAX];
	struct statx x;
	uint64_t id;
	pid_t pid;

	/* What is looked up again is not over. */
	if (!leat_record_wants_calls(call->m) || rc == -ESTALE)
		return;
	if (leat_node_path(call->m, ino, name, path)) {
		leat_tracebuf_lose(r->tracebuf, LEAT_TRACE_LOST_PATH, 1);
		return;
	}
	pid = leat_record_caller(call, true);
	stat_fd(h ? h->fd : -1, &x);
	id = h ? new_handle(r) : 0;
	record = h && !id ? NULL
			  : leat_record_begin(r, LEAT_TRACE_OPEN, pid, call, path_space(r, path));
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

void leat_record_moved(struct leat_mount_call *call, const struct leat_handle *h,
		       enum leat_trace_type type, ssize_t n, uint64_t offset, uint64_t size,
		       uint32_t flags)
{
	struct leat_recorder *r = call->m->recorder;
	struct leat_tracebuf_record *record;
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

void leat_record_cut(struct leat_mount_call *call, const struct leat_handle *h, fuse_ino_t ino,
		     int fd, uint64_t length, int rc)
{
	struct leat_recorder *r = call->m->recorder;
	struct leat_tracebuf_record *record;
	char path[PATH_MAX] = "";
	struct statx x;
	pid_t pid;

	if (!leat_record_wants_calls(call->m) || (h && !h->record_id))
		return;
	if (!h && leat_node_path(call->m, ino, NULL, path)) {
		leat_tracebuf_lose(r->tracebuf, LEAT_TRACE_LOST_PATH, 1);
		return;
	}
	pid = leat_record_caller(call, false);
	stat_fd(fd, &x);
	record = leat_record_begin(r, LEAT_TRACE_TRUNCATE, pid, call, path_space(r, path));
	if (!record)
		return;
	record->handle = h ? h->record_id : 0;
	record->result = rc;
	record->length = length;
	if (fd >= 0)
		put_file(record, &x);
	leat_record_done(r, record, h ? NULL : put_path(r, record, record->text, path));
}

void leat_record_named(struct leat_mount_call *call, enum leat_trace_type type, const char *path,
		       const char *to, int rc)
{
	struct leat_recorder *r = call->m->recorder;
	struct leat_tracebuf_record *record;
	pid_t pid;
	char *end;

	if (!leat_record_wants_calls(call->m) || !*path)
		return;
	pid = leat_record_caller(call, false);
	record = leat_record_begin(r, (uint8_t)type, pid, call,
				   path_space(r, path) + path_space(r, to ? to : ""));
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
	struct leat_tracebuf_record *record;
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
	if (!ends || leat_tracebuf_process_of(r->tracebuf, process) == LEAT_TRACEBUF_NONE)
		return;
	record = leat_record_begin(r, LEAT_TRACEBUF_EXITS, process, NULL, 0);
	if (!record)
		return;
	record->result = status;
	leat_record_done(r, record, NULL);
}

void leat_record_closed(struct leat_mount_call *call, const struct leat_handle *h)
{
	struct leat_recorder *r = h->m->recorder;
	struct leat_tracebuf_record *record;

	if (!r || !h->record_id)
		return;
	record = leat_record_begin(r, LEAT_TRACE_CLOSE, h->record_pid, call->req ? call : NULL, 0);
	if (!record)
		return;
	record->handle = h->record_id;
	leat_record_done(r, record, NULL);
}
