/* Which descriptors of this process are of which handles: what opens, copies and closes them. */
#include "iotrace/trace.h"
#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/trace/calls.h"
#include "preload/trace/trace.h"
#include "shm/tracebuf.h"

#include <limits.h>
#include <linux/close_range.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint32_t leat_trace_handle(int fd)
{
	const struct leat_trace_self *me = leat_trace_me();

	return me->process == LEAT_TRACEBUF_NONE
		       ? 0
		       : leat_tracebuf_fd(leat_trace_buffer, me->process, fd);
}

/* The descriptor is taken off before it is closed: its number may be another's right after. */
static uint32_t take_off(const struct leat_trace_self *me, int fd)
{
	if (!leat_tracebuf_fd(leat_trace_buffer, me->process, fd))
		return 0;
	return leat_tracebuf_fd_set(leat_trace_buffer, me->process, fd, 0);
}

void leat_trace_drop(const struct leat_trace_self *me, uint32_t handle, const struct leat_traced *t)
{
	struct leat_tracebuf_record *r;
	uint32_t flags;
	uint64_t id;

	if (!handle || !leat_tracebuf_handle_drop(leat_trace_buffer, handle, &id, &flags) ||
	    flags & LEAT_TRACEBUF_OPEN_LOST)
		return;
	r = leat_trace_record(me, LEAT_TRACE_CLOSE, t, 0);
	if (!r)
		return;
	r->handle = id;
	leat_trace_done(r, NULL);
}

void leat_trace_close_all(const struct leat_trace_self *me, bool replaced)
{
	int end = leat_tracebuf_fd_end(leat_trace_buffer, me->process);

	for (int fd = 0; fd < end; fd++) {
		if (!leat_tracebuf_fd(leat_trace_buffer, me->process, fd) ||
		    (replaced && raw(SYS_fcntl, fd, F_GETFD) >= 0))
			continue;
		leat_trace_drop(me, take_off(me, fd), NULL);
	}
}

/* --- opens --- */

struct opening {
	int dirfd;
	const char *path;
	uint64_t flags;
};

static void opening_of(const struct leat_syscall *c, struct opening *o)
{
	*o = (struct opening){.dirfd = AT_FDCWD, .path = (const char *)c->a[0]};
	switch (c->nr) {
	case SYS_openat:
		*o = (struct opening){(int)c->a[0], (const char *)c->a[1], (unsigned)c->a[2]};
		break;
	case SYS_openat2: /* struct open_how: the flags come first */
		*o = (struct opening){(int)c->a[0], (const char *)c->a[1],
				      c->a[2] ? *(const uint64_t *)c->a[2] : 0};
		break;
#ifdef SYS_open
	case SYS_open:
		o->flags = (unsigned)c->a[1];
		break;
	case SYS_creat:
		o->flags = O_CREAT | O_WRONLY | O_TRUNC;
		break;
#endif
	default:
		break;
	}
}

bool leat_trace_open_begin(struct leat_traced *t)
{
	struct opening o;

	opening_of(&t->call, &o);
	t->absent = false;
	if (!o.path)
		return false;
	if (o.flags & O_CREAT && o.flags & O_EXCL)
		t->absent = true;
	/* A file of the store is not there by its name. */
	else if (o.flags & O_CREAT)
		t->absent = raw(SYS_faccessat, o.dirfd, o.path, F_OK) == -ENOENT;
	return true;
}

/* The tmpfs of the store and others tell when a file was made, by the coarse clock. */
static bool is_new(const struct leat_trace_file *file, const struct leat_traced *t, int64_t end_ns)
{
	struct timespec now;
	int64_t began;

	if (!file->birth_ns)
		return false;
	raw(SYS_clock_gettime, CLOCK_REALTIME_COARSE, &now);
	began = now.tv_sec * INT64_C(1000000000) + now.tv_nsec - (end_ns - t->start_ns);
	return file->birth_ns >= began - 4000000;
}

/* The handle is as the file is: others than plain ones have no offset. */
static void note_kind(uint32_t handle, const struct leat_trace_file *file)
{
	if (file->inode && !S_ISREG(file->mode) && !S_ISBLK(file->mode))
		leat_tracebuf_handle_flag(leat_trace_buffer, handle, LEAT_TRACEBUF_STREAM, 0);
}

static void put_opened(struct leat_tracebuf_record *r, const struct leat_traced *t,
		       const struct opening *o, int fd, uint32_t handle)
{
	bool served = leat_active && fd < LEAT_MAX_FD && leat_fd_kinds[fd];
	struct leat_trace_file file;

	leat_trace_identify(&file, fd, "", AT_EMPTY_PATH);
	r->device = file.device;
	r->inode = file.inode;
	r->birth_ns = file.birth_ns;
	if (o->flags & O_CREAT && (served ? is_new(&file, t, r->end_ns) : t->absent))
		r->type = LEAT_TRACE_CREATE;
	if (handle) {
		r->handle = leat_tracebuf_handle_id(leat_trace_buffer, handle);
		leat_tracebuf_handle_of(leat_trace_buffer, handle, file.device, file.inode);
		note_kind(handle, &file);
	}
	leat_trace_done(
		r, served ? leat_trace_put_path(r->text, o->dirfd, o->path)
			  : leat_trace_put_name(r->text, fd, !file.has_names, o->dirfd, o->path));
}

static void record_open(const struct leat_trace_self *me, const struct leat_traced *t,
			const struct opening *o, long result, uint32_t handle)
{
	size_t size = strlen(o->path) + 2 + PATH_MAX;
	struct leat_tracebuf_record *r = leat_trace_record(me, LEAT_TRACE_OPEN, t, size);

	if (!r) {
		if (handle)
			leat_tracebuf_handle_flag(leat_trace_buffer, handle,
						  LEAT_TRACEBUF_OPEN_LOST, 0);
		return;
	}
	r->flags = (uint32_t)o->flags;
	r->texts = 1;
	if (result >= 0) {
		put_opened(r, t, o, (int)result, handle);
		return;
	}
	r->result = result;
	leat_trace_done(r, leat_trace_put_path(r->text, o->dirfd, o->path));
}

void leat_trace_open_end(struct leat_traced *t, long result)
{
	const struct leat_trace_self *me = leat_trace_me();
	struct opening o;
	uint32_t handle = 0, flags;

	if (result == -EFAULT)
		return;
	opening_of(&t->call, &o);
	flags = o.flags & O_APPEND && (o.flags & O_ACCMODE) != O_RDONLY ? LEAT_TRACEBUF_APPEND : 0;
	if (result >= 0 && result < (long)LEAT_TRACEBUF_FDS)
		handle = leat_tracebuf_handle_new(leat_trace_buffer, flags);
	if (result >= 0 && !handle)
		leat_tracebuf_lose(leat_trace_buffer, LEAT_TRACE_LOST_MEMORY, 1);
	record_open(me, t, &o, result, handle);
	if (handle)
		leat_trace_drop(
			me,
			leat_tracebuf_fd_set(leat_trace_buffer, me->process, (int)result, handle),
			t);
}

/* --- copies --- */

/* `copy` is of the same description as what `handle` stands for. */
static void note_copy(const struct leat_trace_self *me, uint32_t handle, long copy,
		      const struct leat_traced *t)
{
	uint32_t old;

	if (copy >= (long)LEAT_TRACEBUF_FDS) {
		leat_tracebuf_lose(leat_trace_buffer, LEAT_TRACE_LOST_MEMORY, 1);
		return;
	}
	if (handle && !leat_tracebuf_handle_hold(leat_trace_buffer, handle))
		handle = 0;
	old = leat_tracebuf_fd_set(leat_trace_buffer, me->process, (int)copy, handle);
	leat_trace_drop(me, old, t);
}

bool leat_trace_dup_begin(struct leat_traced *t)
{
	t->handle = leat_trace_handle((int)t->call.a[0]);
	return t->handle != 0;
}

void leat_trace_dup_end(struct leat_traced *t, long result)
{
	if (result >= 0)
		note_copy(leat_trace_me(), t->handle, result, t);
}

/* dup2 and dup3: what had the number is closed by the same call. */
bool leat_trace_dup2_begin(struct leat_traced *t)
{
	t->handle = leat_trace_handle((int)t->call.a[0]);
	t->other = leat_trace_handle((int)t->call.a[1]);
	return (t->handle || t->other) && t->call.a[0] != t->call.a[1];
}

bool leat_trace_fcntl_begin(struct leat_traced *t)
{
	int command = (int)t->call.a[1];

	t->handle = leat_trace_handle((int)t->call.a[0]);
	return t->handle &&
	       (command == F_DUPFD || command == F_DUPFD_CLOEXEC || command == F_SETFL);
}

void leat_trace_fcntl_end(struct leat_traced *t, long result)
{
	if (result < 0)
		return;
	if ((int)t->call.a[1] != F_SETFL)
		note_copy(leat_trace_me(), t->handle, result, t);
	else if (t->call.a[2] & O_APPEND)
		leat_tracebuf_handle_flag(leat_trace_buffer, t->handle, LEAT_TRACEBUF_APPEND, 0);
	else /* where it is now only the kernel knows */
		leat_tracebuf_handle_flag(leat_trace_buffer, t->handle, LEAT_TRACEBUF_UNSURE,
					  LEAT_TRACEBUF_APPEND);
}

/* --- closes --- */

bool leat_trace_close_begin(struct leat_traced *t)
{
	const struct leat_trace_self *me = leat_trace_me();

	t->handle = me->process == LEAT_TRACEBUF_NONE ? 0 : take_off(me, (int)t->call.a[0]);
	return t->handle != 0;
}

void leat_trace_close_end(struct leat_traced *t, long result)
{
	(void)result; /* the descriptor is gone in any case */
	leat_trace_drop(leat_trace_me(), t->handle, t);
}

bool leat_trace_close_range_begin(struct leat_traced *t)
{
	unsigned flags = (unsigned)t->call.a[2];

	return (unsigned)t->call.a[0] <= (unsigned)t->call.a[1] && !(flags & CLOSE_RANGE_CLOEXEC);
}

/* Who opens files in another thread while all are closed does not know either which it gets. */
void leat_trace_close_range_end(struct leat_traced *t, long result)
{
	const struct leat_trace_self *me = leat_trace_me();
	unsigned first = (unsigned)t->call.a[0], last = (unsigned)t->call.a[1];
	unsigned end = (unsigned)leat_tracebuf_fd_end(leat_trace_buffer, me->process);

	for (unsigned fd = first; !result && fd < end && fd <= last; fd++)
		leat_trace_drop(me, take_off(me, (int)fd), t);
}
