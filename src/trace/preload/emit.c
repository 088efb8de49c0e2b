#include "trace/preload/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A wall clock that was set by less goes its own way. */
#define SET_NS (LEAT_SECOND_NS / 1000)

int leat_trace_emitter_init(struct leat_trace_emitter *e, const struct leat_trace_request *request)
{
	*e = (struct leat_trace_emitter){0};
	leat_trace_sink_init(&e->sink, request);
	e->files = leat_trace_files_new(&e->sink);
	e->who = leat_trace_who_new(&e->sink);
	leat_trace_emitter_tick(e);
	return e->files && e->who ? 0 : -ENOMEM;
}

void leat_trace_emitter_release(struct leat_trace_emitter *e)
{
	leat_trace_files_free(e->files);
	leat_trace_who_free(e->who);
	for (unsigned i = 0; i < sizeof(e->text) / sizeof(*e->text); i++)
		free(e->text[i]);
	*e = (struct leat_trace_emitter){0};
}

static int64_t ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * LEAT_SECOND_NS + t.tv_nsec;
}

void leat_trace_emitter_tick(struct leat_trace_emitter *e)
{
	int64_t wall = ns_of(CLOCK_REALTIME) - ns_of(CLOCK_MONOTONIC);

	if (llabs(wall - e->wall_ns) > SET_NS)
		e->wall_ns = wall;
}

/* --- names --- */

static char *reserve(struct leat_trace_emitter *e, unsigned which, size_t size)
{
	if (size > e->capacity) {
		for (unsigned i = 0; i < sizeof(e->text) / sizeof(*e->text); i++) {
			char *bigger = realloc(e->text[i], size * 2);

			if (!bigger)
				return NULL;
			e->text[i] = bigger;
		}
		e->capacity = size * 2;
	}
	return e->text[which];
}

/* Without "." and empty components. */
static const char *plain_name(struct leat_trace_emitter *e, const char *path)
{
	char *to, *out;

	if (!strstr(path, "//") && !strstr(path, "/."))
		return path;
	to = out = reserve(e, 0, strlen(path) + 2);
	for (size_t n; out && *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (!n || (n == 1 && *path == '.'))
			continue;
		*to++ = '/';
		memcpy(to, path, n);
		to += n;
	}
	if (!out)
		return path;
	if (to == out)
		*to++ = '/';
	*to = 0;
	return out;
}

/* The directory's real path, if it can still be asked for, and the last component as it is: what is
 * renamed or removed may be a symlink itself. */
static const char *real_name(struct leat_trace_emitter *e, unsigned which, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX], *real, *out;
	size_t length;

	if (!slash || slash == path || slash - path >= PATH_MAX)
		return path;
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = 0;
	real = realpath(dir, NULL);
	if (!real)
		return which ? path : plain_name(e, path);
	length = strlen(real) == 1 ? 0 : strlen(real);
	out = reserve(e, which, length + strlen(slash) + 1);
	if (out) {
		memcpy(out, real, length);
		memcpy(out + length, slash, strlen(slash) + 1);
	}
	free(real);
	return out ? out : path;
}

/* --- calls --- */

static struct leat_trace_call call_of(const struct leat_trace_emitter *e,
				      const struct leat_tracebuf_record *r)
{
	return (struct leat_trace_call){.start_ns = r->start_ns + e->wall_ns,
					.end_ns = r->end_ns + e->wall_ns,
					.pid = r->pid,
					.type = (enum leat_trace_type)r->type,
					.utime_start_ns = r->utime_start_ns,
					.utime_end_ns = r->utime_end_ns,
					.stime_start_ns = r->stime_start_ns,
					.stime_end_ns = r->stime_end_ns,
					.handle = r->handle,
					.result = r->result,
					.offset = r->offset,
					.size = r->length,
					.flags = r->flags};
}

/* Opens, and calls on names. */
static bool is_wanted(struct leat_trace_emitter *e, const char *path, uint64_t device)
{
	return leat_trace_files_kept(e->files, path, device);
}

/* Opens, and calls on names. */
static void emit_named(struct leat_trace_emitter *e, const struct leat_tracebuf_record *r,
		       const char *const *texts)
{
	bool is_open = r->type == LEAT_TRACE_OPEN || r->type == LEAT_TRACE_CREATE, wanted;
	struct leat_trace_call call = call_of(e, r);

	call.offset = 0;
	if (r->texts > 0)
		call.path = !is_open        ? real_name(e, 0, texts[0])
			    : r->result < 0 ? plain_name(e, texts[0])
					    : texts[0];
	if (r->texts > 1)
		call.to = real_name(e, 1, texts[1]);
	if (r->result == 0)
		call.inode = leat_trace_files_inode(e->files, r, r->type == LEAT_TRACE_CREATE);
	if (r->type == LEAT_TRACE_UNLINK && r->result == 0 && !r->offset)
		leat_trace_files_gone(e->files, r);
	wanted =
		is_wanted(e, call.path, r->device) || (call.to && is_wanted(e, call.to, r->device));
	if (r->handle) {
		struct leat_trace_handle h = {call.inode, r->flags, wanted};

		if (leat_trace_files_open(e->files, r->handle, &h))
			leat_trace_sink_lost(&e->sink, LEAT_TRACE_LOST_MEMORY, 1);
	}
	if (r->type == LEAT_TRACE_TRUNCATE)
		call.path = NULL;
	if (wanted)
		leat_trace_sink_call(&e->sink, &call);
}

static void emit_by_handle(struct leat_trace_emitter *e, const struct leat_tracebuf_record *r)
{
	const struct leat_trace_handle *h = leat_trace_files_find(e->files, r->handle);
	struct leat_trace_call call = call_of(e, r);

	if (h && h->kept) {
		call.inode = h->inode;
		if (call.type != LEAT_TRACE_MAP)
			call.flags = h->flags;
		leat_trace_sink_call(&e->sink, &call);
	}
	if (call.type == LEAT_TRACE_CLOSE)
		leat_trace_files_close(e->files, r->handle);
}

void leat_trace_emit_call(struct leat_trace_emitter *e, const struct leat_tracebuf_record *r,
			  const char *const *texts)
{
	switch (r->type) {
	case LEAT_TRACE_OPEN:
	case LEAT_TRACE_CREATE:
	case LEAT_TRACE_UNLINK:
	case LEAT_TRACE_RENAME:
		emit_named(e, r, texts);
		break;
	case LEAT_TRACE_TRUNCATE:
		if (r->handle)
			emit_by_handle(e, r);
		else
			emit_named(e, r, texts);
		break;
	default:
		emit_by_handle(e, r);
	}
}

void leat_trace_emit_close(struct leat_trace_emitter *e, int32_t pid, uint64_t handle,
			   int64_t time_ns)
{
	emit_by_handle(e, &(struct leat_tracebuf_record){.type = LEAT_TRACE_CLOSE,
							 .pid = pid,
							 .handle = handle,
							 .start_ns = time_ns,
							 .end_ns = time_ns});
}

/* --- processes --- */

void leat_trace_emit_process(struct leat_trace_emitter *e, const struct leat_trace_process *p)
{
	struct leat_trace_process process = *p;

	process.time_ns += e->wall_ns;
	leat_trace_sink_process(&e->sink, &process);
}
