/* What shows whose a process is: the names of files it opens, where it starts, its environment. */
#include "associate/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* ---- paths ---- */

/* The path as the tracer's machine sees it: a new string where that differs, else NULL. */
static char *translate(const struct leat_associate_map *m, const struct leat_associate_image *l,
		       const char *path)
{
	const struct leat_associate_mount *best = NULL;
	size_t best_length = 0;

	for (size_t i = 0; l->mounts && i < m->n_mounts; i++) {
		const struct leat_associate_mount *mount = &m->mounts[i];
		size_t n = leat_associate_path_length(mount->at);

		if (mount->node != l->node || mount->space != l->mounts || n < best_length)
			continue;
		if (n == 1)
			n = 0; /* "/" */
		if (strncmp(path, mount->at, n) != 0 || (path[n] && path[n] != '/'))
			continue;
		best = mount;
		best_length = n;
	}
	if (!best || !best->from)
		return NULL;
	return leat_strf("%.*s%s",
			 strcmp(best->from, "/") == 0 ? 0
						      : (int)leat_associate_path_length(best->from),
			 best->from, path + best_length);
}

/* A touch of a task of one log. 0 or -ENOMEM. */
static int add_touch(struct leat_associate_map *m, struct leat_associate_image *l, size_t task,
		     int64_t time_ns, bool output)
{
	size_t source = m->tasks[task]->source, at = l->touches;
	struct leat_associate_touch *t;

	while (at != LEAT_ASSOCIATE_NONE && m->touches[at].source != source)
		at = m->touches[at].next;
	if (at == LEAT_ASSOCIATE_NONE) {
		if (leat_associate_grow(&m->touches, m->n_touches, &m->space_touches,
					sizeof(*m->touches)))
			return -ENOMEM;
		m->touches[m->n_touches] =
			(struct leat_associate_touch){.image = (size_t)(l - m->images),
						      .source = source,
						      .task = task,
						      .ns = time_ns,
						      .other = LEAT_ASSOCIATE_NONE,
						      .outputs = output,
						      .next = l->touches};
		l->touches = m->n_touches++;
		return 0;
	}
	t = &m->touches[at];
	if (t->task != task && t->other == LEAT_ASSOCIATE_NONE) {
		t->other = task;
		t->other_ns = time_ns;
	}
	return 0;
}

/* The name's task in each log. */
static void claim(struct leat_associate_map *m, struct leat_associate_image *l,
		  const struct leat_associate_name *name, int64_t time_ns, bool output)
{
	for (; name; name = name->also)
		if (add_touch(m, l, name->task, time_ns, output))
			m->failed = true;
}

/* By the first format that knows such a file. */
static enum leat_associate_role role_of(const char *name, bool writes)
{
	enum leat_associate_role role = LEAT_ASSOCIATE_ROLE_NONE;

	for (size_t i = 0; leat_associate_formats[i] && role == LEAT_ASSOCIATE_ROLE_NONE; i++)
		if (leat_associate_formats[i]->claim)
			role = leat_associate_formats[i]->claim(name, writes);
	return role;
}

static bool is_log(const struct leat_associate_map *m, const char *path, const char *name)
{
	for (size_t i = 0; i < m->n_sources; i++) {
		const struct leat_associate_source *s = &m->sources[i];
		const char *own = strrchr(s->path, '/');

		if (s->real && strcmp(s->real, path) == 0)
			return true;
		/* A copy of it was read. */
		if (s->format->unique_name && strcmp(own ? own + 1 : s->path, name) == 0)
			return true;
	}
	return false;
}

/* An output, or what is in a directory that is one. */
static const struct leat_associate_name *output_of(const struct leat_associate_map *m,
						   const char *path)
{
	const struct leat_associate_name *name = NULL;

	if (!m->names[LEAT_ASSOCIATE_NAME_OUTPUT])
		return NULL;
	for (size_t n = strlen(path); n && !name; n--)
		if (!path[n] || path[n] == '/')
			name = leat_associate_name_of(m, LEAT_ASSOCIATE_NAME_OUTPUT, path, n);
	return name;
}

static bool claim_path(struct leat_associate_map *m, struct leat_associate_image *l,
		       const char *path, bool writes, int64_t time_ns)
{
	const char *slash = strrchr(path, '/');
	const struct leat_associate_name *name;
	enum leat_associate_role role;

	if (!slash)
		return false;
	role = role_of(slash + 1, writes);
	if (role != LEAT_ASSOCIATE_ROLE_NONE) {
		name = leat_associate_dir_of(m, path, (size_t)(slash - path));
		if (!name)
			return false;
		if (role == LEAT_ASSOCIATE_ROLE_MANAGER)
			l->manager = true;
		else
			claim(m, l, name, time_ns, false);
		return true;
	}
	if (!writes)
		return false;
	if (is_log(m, path, slash + 1)) {
		l->manager = true;
		return true;
	}
	name = output_of(m, path);
	claim(m, l, name, time_ns, true);
	return name;
}

/* By its name, or by that outside: `known`, or what the mounts say that it is. */
static void claim_seen(struct leat_associate_map *m, struct leat_associate_image *l,
		       const char *path, const char *known, bool writes, int64_t time_ns)
{
	char *outside;

	if (claim_path(m, l, path, writes, time_ns))
		return;
	if (known && *known == '/') {
		claim_path(m, l, known, writes, time_ns);
		return;
	}
	outside = known && *known ? NULL : translate(m, l, path);
	if (outside)
		claim_path(m, l, outside, writes, time_ns);
	free(outside);
}

int leat_associate_claim_call(struct leat_associate_map *m, struct leat_associate_image *l,
			      const struct leat_trace_call *call)
{
	bool writes = call->type == LEAT_TRACE_CREATE || (call->flags & O_ACCMODE) != O_RDONLY ||
		      (call->flags & O_TRUNC);

	if (call->result < 0)
		return 0;
	if (call->type == LEAT_TRACE_OPEN || call->type == LEAT_TRACE_CREATE)
		claim_seen(m, l, call->path, call->outside, writes, call->start_ns);
	else if (call->type == LEAT_TRACE_RENAME && call->to)
		claim_seen(m, l, call->to, call->to_outside, true, call->start_ns);
	return m->failed ? -ENOMEM : 0;
}

int leat_associate_claim_exec(struct leat_associate_map *m, struct leat_associate_image *l,
			      const struct leat_trace_process *p)
{
	const struct leat_associate_name *name;
	size_t inherited = l->label;
	char *outside;

	l->label = l->slurm = LEAT_ASSOCIATE_NONE;
	if (p->labels && leat_associate_labels(m, p->labels, &l->label, &l->slurm))
		return -ENOMEM;
	l->fresh = l->label != LEAT_ASSOCIATE_NONE && l->label != inherited;
	if (!p->dir)
		return 0;
	name = leat_associate_dir_of(m, p->dir, leat_associate_path_length(p->dir));
	outside = name ? NULL : translate(m, l, p->dir);
	if (outside)
		name = leat_associate_dir_of(m, outside, leat_associate_path_length(outside));
	free(outside);
	claim(m, l, name, p->time_ns, false);
	return m->failed ? -ENOMEM : 0;
}
