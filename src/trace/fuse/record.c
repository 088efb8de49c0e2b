#include "trace/fuse/internal.h"

#include <time.h>
#include <unistd.h>

int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct moment moment_of(fuse_req_t req)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	struct moment m = {.start_ns = now_ns(), .tid = ctx->pid, .uid = ctx->uid, .gid = ctx->gid};

	if (m.tid > 0)
		m.cpu_ns = leat_thread_cpu_ns(m.tid);
	return m;
}

struct leat_trace_call record_begin(struct overlay *o, const struct moment *m,
				    enum leat_trace_type type, int64_t result)
{
	struct leat_trace_call call = {.start_ns = m->start_ns,
				       .type = type,
				       .utime_start_ns = m->cpu_ns,
				       .utime_end_ns = m->cpu_ns,
				       .result = result};

	pthread_mutex_lock(&o->lock);
	/* Under the lock, so that records are in the order of their ends. */
	call.end_ns = now_ns();
	return call;
}

void record_end(struct overlay *o, const struct moment *m, const struct leat_trace_call *call)
{
	struct leat_trace_call c = *call;

	if (!c.pid)
		c.pid = (int32_t)leat_people_process(&o->people, m->tid,
						     c.type == LEAT_TRACE_OPEN ||
							     c.type == LEAT_TRACE_CREATE);
	leat_trace_sink_call(&o->sink, &c);
	pthread_mutex_unlock(&o->lock);
}

bool record_wants(struct overlay *o, const struct moment *m, const char *path, int fd)
{
	const char *filesystem = NULL;
	struct statx x;

	if (!leat_trace_sink_wants_user(&o->sink, m->uid, m->gid))
		return false;
	if (o->request->filter.n_filesystems && fd >= 0 &&
	    statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &x) == 0 && x.stx_mask & STATX_MNT_ID)
		filesystem = leat_trace_who_filesystem(o->who, getpid(), x.stx_mnt_id);
	return leat_trace_sink_wants_file(&o->sink, path, filesystem);
}

void record_data(struct overlay *o, const struct moment *m, const struct handle *h,
		 enum leat_trace_type type, int64_t result, uint64_t offset, uint64_t size,
		 uint32_t flags)
{
	struct leat_trace_call call;

	if (!h->id)
		return;
	call = record_begin(o, m, type, result);
	call.handle = h->id;
	call.inode = h->inode;
	call.offset = offset;
	call.size = size;
	call.flags = flags;
	if (!m->tid)
		call.pid = (int32_t)(h->closer ? h->closer : h->opener);
	record_end(o, m, &call);
}

void record_name(struct overlay *o, const struct moment *m, enum leat_trace_type type, int result,
		 uint64_t file, const char *path, const char *to, uint64_t size)
{
	struct leat_trace_call call = record_begin(o, m, type, result);

	bool wanted = (path && record_wants(o, m, path, -1)) || (to && record_wants(o, m, to, -1));

	if (!path)
		leat_trace_sink_lost(&o->sink, LEAT_TRACE_LOST_PATH, 1);
	if (!path || !wanted) {
		pthread_mutex_unlock(&o->lock);
		return;
	}
	call.inode = file;
	call.path = type == LEAT_TRACE_TRUNCATE ? NULL : path;
	call.to = to;
	call.size = size;
	record_end(o, m, &call);
}
