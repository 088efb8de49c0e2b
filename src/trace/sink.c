#include "trace/sink.h"

#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

void leat_trace_sink_init(struct leat_trace_sink *s, const struct leat_trace_request *request)
{
	const char *types = request->filter.types;

	*s = (struct leat_trace_sink){.request = request};
	s->progress = request->progress ? request->progress : &s->own;
	memset(s->types, !types || !*types, sizeof(s->types));
	for (; types && *types; types++)
		s->types[*types & 127] = true;
}

static bool is_among(const char *text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return n == 0;
}

bool leat_trace_sink_wants_file(const struct leat_trace_sink *s, const char *path,
				const char *filesystem)
{
	const struct leat_trace_filter *f = &s->request->filter;
	bool below = f->n_dirs == 0;

	for (size_t i = 0; i < f->n_dirs && !below; i++)
		below = strcmp(f->dirs[i], "/") == 0 || leat_path_is_below(path, f->dirs[i]);
	return below && (!filesystem || is_among(filesystem, f->filesystems, f->n_filesystems));
}

bool leat_trace_sink_wants_user(const struct leat_trace_sink *s, uid_t uid, gid_t gid)
{
	const struct leat_trace_filter *f = &s->request->filter;

	return (!f->by_uid || f->uid == uid) && (!f->by_gid || f->gid == gid);
}

void leat_trace_sink_lost(struct leat_trace_sink *s, enum leat_trace_loss why, uint64_t count)
{
	s->progress->lost[why] += count;
	leat_trace_writer_lost(s->request->out, why, count);
}

static bool put(struct leat_trace_sink *s, const struct leat_trace_record *record)
{
	int rc = leat_trace_write(s->request->out, record);

	if (!rc)
		return true;
	/* The writer counts it, too. */
	if (rc == -EMSGSIZE) {
		s->progress->lost[LEAT_TRACE_LOST_PATH]++;
		return false;
	}
	if (!s->error)
		leat_error("the trace cannot be written: %s; the command goes on without",
			   strerror(-rc));
	s->error = rc;
	s->progress->lost[LEAT_TRACE_LOST_WRITE]++;
	return false;
}

void leat_trace_sink_call(struct leat_trace_sink *s, const struct leat_trace_call *call)
{
	struct leat_trace_record record = {.kind = LEAT_TRACE_CALL, .call = *call};

	if (!s->types[call->type & 127] || !put(s, &record))
		return;
	s->progress->calls[call->type & 127]++;
	if (call->type == LEAT_TRACE_READ && call->result > 0)
		s->progress->bytes_read += (uint64_t)call->result;
	if (call->type == LEAT_TRACE_WRITE && call->result > 0)
		s->progress->bytes_written += (uint64_t)call->result;
}

void leat_trace_sink_process(struct leat_trace_sink *s, const struct leat_trace_process *process)
{
	struct leat_trace_record record = {.kind = LEAT_TRACE_PROCESS, .process = *process};

	if (put(s, &record) && process->change == LEAT_TRACE_FORK)
		s->progress->processes++;
}

void leat_trace_sink_cgroup(struct leat_trace_sink *s, const struct leat_trace_cgroup *cgroup)
{
	struct leat_trace_record record = {.kind = LEAT_TRACE_CGROUP, .cgroup = *cgroup};

	put(s, &record);
}

void leat_trace_sink_mount(struct leat_trace_sink *s, const struct leat_trace_mount *mount)
{
	struct leat_trace_record record = {.kind = LEAT_TRACE_MOUNT, .mount = *mount};

	put(s, &record);
}

void leat_trace_sink_unseen(struct leat_trace_sink *s, const struct leat_trace_unseen *unseen)
{
	struct leat_trace_record record = {.kind = LEAT_TRACE_UNSEEN, .unseen = *unseen};

	put(s, &record);
}
