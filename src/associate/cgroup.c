/* Cgroups: what their paths tell, and which of them are one task's alone. */
#include "associate/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct leat_associate_cgroup *leat_associate_cgroup_of(struct leat_associate_map *m, unsigned node,
						       uint64_t id)
{
	struct leat_associate_cgroup key = {.key = {node, id}}, *g;

	HASH_FIND(hh, m->cgroups, &key.key, sizeof(key.key), g);
	if (g)
		return g;
	if (leat_associate_grow(&m->cgroup, m->n_cgroups, &m->space_cgroups, sizeof(*m->cgroup)))
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->key.node = node;
	g->key.id = id;
	g->index = m->n_cgroups;
	g->token = g->slurm = g->task = LEAT_ASSOCIATE_NONE;
	m->cgroup[m->n_cgroups++] = g;
	HASH_ADD(hh, m->cgroups, key, sizeof(g->key), g);
	return g;
}

/* ---- paths ---- */

/* The number behind "job_" or "step_", if that is all of the component; what follows it. */
static const char *numbered(const char *at, const char *prefix, char out[32])
{
	size_t n;

	if (!leat_str_begins(at, prefix))
		return NULL;
	at += strlen(prefix);
	n = strcspn(at, "/");
	if (!n || n >= 32)
		return NULL;
	memcpy(out, at, n);
	out[n] = '\0';
	return at[n] ? at + n + 1 : at + n;
}

/* v1: /slurm/uid_N/job_N/step_N/task_N; v2: /system.slice/slurmstepd.scope/job_N/step_N/user/... */
bool leat_associate_slurm_path(const char *path, char job[32], char step[32])
{
	const char *at = strstr(path, "/slurm"), *next;

	job[0] = step[0] = '\0';
	for (; at && *at; at = next) {
		const char *slash = strchr(at, '/');

		next = slash ? slash + 1 : at + strlen(at);
		if (leat_str_begins(at, "job_") && !numbered(at, "job_", job))
			return false;
		if (job[0] && leat_str_begins(at, "step_") && !numbered(at, "step_", step))
			return false;
	}
	return isdigit((unsigned char)job[0]);
}

struct leat_associate_entry *leat_associate_slurm_entry(struct leat_associate_map *m,
							const char *job, const char *step,
							const char *name)
{
	char *identity = leat_strf("%s%s%s", job, *step ? "." : "", step);
	char *logical = name ? strdup(name) : leat_strf("job %s", job);
	struct leat_associate_entry *e = NULL;

	if (identity && logical)
		e = leat_associate_entry(m, LEAT_ASSOCIATE_NONE, "slurm", job, identity, logical,
					 identity);
	/* A path knows no name; an environment may. */
	if (e && name && leat_associate_entry_set(&e->task.logical, name))
		e = NULL;
	if (e)
		e->fallback = true;
	free(identity);
	free(logical);
	return e;
}

/* The task that a component names: a pod's uid, with "_" for "-", or a container's id, somewhere in
 * "kubepods-burstable-pod12345678_1234_...slice", "cri-containerd-0123abcd....scope". */
static size_t component_task(const struct leat_associate_map *m, const char *at, size_t n)
{
	enum { UID = 36, CONTAINER = 64 };
	char word[CONTAINER + 1];
	size_t task, run = 0;

	for (size_t i = 0; i <= n; i++) {
		bool part =
			i < n && (isxdigit((unsigned char)at[i]) || at[i] == '-' || at[i] == '_');
		const char *end = at + i;

		if (part) {
			run++;
			continue;
		}
		/* Separators are of a uid, too: it is what stands last. */
		for (size_t length = CONTAINER; length >= UID; length -= CONTAINER - UID) {
			if (run < length)
				continue;
			for (size_t k = 0; k < length; k++)
				word[k] = (end - length)[k] == '_' ? '-' : (end - length)[k];
			task = leat_associate_name_find(m, LEAT_ASSOCIATE_NAME_TOKEN, word, length);
			if (task != LEAT_ASSOCIATE_NONE)
				return task;
		}
		run = 0;
	}
	return LEAT_ASSOCIATE_NONE;
}

static size_t path_task(const struct leat_associate_map *m, const char *path)
{
	size_t found = LEAT_ASSOCIATE_NONE;

	/* The innermost: a container in a pod. */
	while (*path) {
		size_t n = strcspn(path, "/"), task = component_task(m, path, n);

		if (task != LEAT_ASSOCIATE_NONE)
			found = task;
		path += n + (path[n] == '/');
	}
	return found;
}

int leat_associate_cgroup_name(struct leat_associate_map *m, unsigned node,
			       const struct leat_trace_cgroup *r)
{
	struct leat_associate_cgroup *g = leat_associate_cgroup_of(m, node, r->id);
	char job[32], step[32], *copy = strdup(r->path);

	if (!g || !copy) {
		free(copy);
		return -ENOMEM;
	}
	free(g->path);
	g->path = copy;
	g->token = path_task(m, copy);
	if (!leat_associate_slurm_path(copy, job, step))
		return 0;
	if (g->token == LEAT_ASSOCIATE_NONE)
		g->token = leat_associate_name_find(m, LEAT_ASSOCIATE_NAME_SLURM, job, strlen(job));
	if (m->options.slurm) {
		struct leat_associate_entry *e = leat_associate_slurm_entry(m, job, step, NULL);

		if (!e)
			return -ENOMEM;
		g->slurm = e->task.number;
	}
	return 0;
}

/* ---- whose it is ---- */

/* Sessions, services and the root say of no task, whatever ran in them. */
static bool is_general(const char *path)
{
	static const char *const ends[] = {".service", ".slice", "/", "init.scope"};
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	if (leat_str_begins(name, "session-") || leat_str_begins(name, "app-"))
		return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t n = strlen(path), k = strlen(ends[i]);

		if (n >= k && strcmp(path + n - k, ends[i]) == 0)
			return true;
	}
	return !*name;
}

static bool came_from_outside(const struct leat_associate_map *m,
			      const struct leat_associate_image *l)
{
	return l->parent == LEAT_ASSOCIATE_NONE || m->images[l->parent].cgroup != l->cgroup;
}

/* What shows of one member whose all of them are. A label or pid is of a part of the tree, unless
 * it is that of the first in the cgroup. */
static void check_claims(struct leat_associate_map *m, const struct leat_associate_image *l)
{
	struct leat_associate_cgroup *g = m->cgroup[l->cgroup];
	const struct leat_associate_answer *a = &l->answer;

	if (l->manager)
		g->shared = true;
	if (!l->own || g->token != LEAT_ASSOCIATE_NONE || (!l->wide && !came_from_outside(m, l)))
		return;
	if (g->task != LEAT_ASSOCIATE_NONE && g->task != a->task->number)
		g->shared = true;
	g->task = a->task->number;
}

/* Whoever comes into a task's cgroup from outside comes while it runs: a session or a service was
 * there before. */
static void check_roots(struct leat_associate_map *m, const struct leat_associate_image *l)
{
	struct leat_associate_cgroup *g = m->cgroup[l->cgroup];

	if (g->task == LEAT_ASSOCIATE_NONE || !came_from_outside(m, l))
		return;
	if (l->parent == LEAT_ASSOCIATE_NONE && !g->path)
		g->shared = true;
	else if (l->parent != LEAT_ASSOCIATE_NONE &&
		 !leat_associate_in_window(m, g->task, l->node, l->begin_ns))
		g->shared = true;
}

/* What is in a cgroup below a task's is in the task's. */
static void inherit_task(struct leat_associate_map *m, struct leat_associate_cgroup *g)
{
	size_t best = 0;

	for (size_t i = 0; i < m->n_cgroups; i++) {
		const struct leat_associate_cgroup *above = m->cgroup[i];
		size_t n = above->path ? strlen(above->path) : 0;

		if (above->task != LEAT_ASSOCIATE_NONE && above->key.node == g->key.node &&
		    n > best && leat_path_is_below(g->path, above->path)) {
			g->task = above->task;
			best = n;
		}
	}
}

void leat_associate_cgroups_resolve(struct leat_associate_map *m)
{
	for (size_t i = 0; i < m->n_images; i++)
		if (m->images[i].cgroup != LEAT_ASSOCIATE_NONE)
			check_claims(m, &m->images[i]);
	for (size_t i = 0; i < m->n_images; i++)
		if (m->images[i].cgroup != LEAT_ASSOCIATE_NONE)
			check_roots(m, &m->images[i]);
	for (size_t i = 0; i < m->n_cgroups; i++) {
		struct leat_associate_cgroup *g = m->cgroup[i];

		if (g->path && is_general(g->path))
			g->shared = true;
		if (g->shared)
			g->task = LEAT_ASSOCIATE_NONE;
		if (g->token != LEAT_ASSOCIATE_NONE)
			g->task = g->token;
	}
	for (size_t i = 0; i < m->n_cgroups; i++)
		if (m->cgroup[i]->path && m->cgroup[i]->task == LEAT_ASSOCIATE_NONE &&
		    !m->cgroup[i]->shared)
			inherit_task(m, m->cgroup[i]);
}
