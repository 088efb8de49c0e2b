/* The map: making it, and taking a trace's records. */
#include "associate/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct leat_associate_map *leat_associate_new(const struct leat_associate_options *options)
{
	struct leat_associate_map *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->options.zone_s = INT_MIN;
	if (options)
		m->options = *options;
	if (m->options.slack_ns <= 0)
		m->options.slack_ns = 5 * LEAT_ASSOCIATE_SECOND;
	m->first_ns = INT64_MAX;
	m->last_ns = INT64_MIN;
	return m;
}

static void free_tasks(struct leat_associate_map *m)
{
	HASH_CLEAR(hh, m->by_key);
	for (size_t i = 0; i < m->n_tasks; i++) {
		struct leat_associate_entry *e = m->tasks[i];

		free((void *)(uintptr_t)e->task.workflow);
		free((void *)(uintptr_t)e->task.logical);
		free((void *)(uintptr_t)e->task.physical);
		free((void *)(uintptr_t)e->task.dir);
		free((void *)(uintptr_t)e->task.status);
		free(e->host);
		free(e->key);
		free(e);
	}
	free(m->tasks);
	free(m->pids);
}

static void free_names(struct leat_associate_name **names)
{
	struct leat_associate_name *name, *next, *also;

	HASH_ITER(hh, *names, name, next)
	{
		HASH_DEL(*names, name);
		free(name->text);
		for (; name; name = also) {
			also = name->also;
			free(name);
		}
	}
}

static void free_trace(struct leat_associate_map *m)
{
	struct leat_associate_process *p, *next_p;
	struct leat_associate_word *w, *next_w;

	HASH_ITER(hh, m->processes, p, next_p)
	{
		HASH_DEL(m->processes, p);
		free(p);
	}
	HASH_ITER(hh, m->words, w, next_w)
	{
		HASH_DEL(m->words, w);
		free(w->text);
		free(w);
	}
	HASH_CLEAR(hh, m->cgroups);
	for (size_t i = 0; i < m->n_cgroups; i++) {
		free(m->cgroup[i]->path);
		free(m->cgroup[i]);
	}
	for (size_t i = 0; i < m->n_mounts; i++) {
		free(m->mounts[i].at);
		free(m->mounts[i].from);
	}
	for (size_t i = 0; i < m->n_hosts; i++)
		free(m->hosts[i]);
	free(m->hosts);
	free(m->cgroup);
	free(m->mounts);
	free(m->word);
	free(m->touches);
	free(m->images);
}

void leat_associate_free(struct leat_associate_map *m)
{
	int saved = errno;

	if (!m)
		return;
	free_tasks(m);
	for (int kind = 0; kind < LEAT_ASSOCIATE_NAMES; kind++)
		free_names(&m->names[kind]);
	free_trace(m);
	for (size_t i = 0; i < m->n_sources; i++) {
		free(m->sources[i].path);
		free(m->sources[i].real);
		free(m->sources[i].host);
		free(m->sources[i].ahead_ns);
	}
	free(m->sources);
	free(m->reported);
	free(m);
	errno = saved;
}

/* ---- images ---- */

static struct leat_associate_process *process_of(struct leat_associate_map *m, unsigned node,
						 int32_t pid)
{
	uint64_t key = (uint64_t)node << 32 | (uint32_t)pid;
	size_t at = (key ^ key >> 32) % LEAT_ASSOCIATE_CACHE;
	struct leat_associate_process *p;

	if (m->cache[at].process && m->cache[at].key == key)
		return m->cache[at].process;
	HASH_FIND(hh, m->processes, &key, sizeof(key), p);
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->key = key;
		p->image = LEAT_ASSOCIATE_NONE;
		HASH_ADD(hh, m->processes, key, sizeof(p->key), p);
	}
	m->cache[at].key = key;
	m->cache[at].process = p;
	return p;
}

static struct leat_associate_image *image_new(struct leat_associate_map *m,
					      struct leat_associate_process *p)
{
	struct leat_associate_image *l;

	if (leat_associate_grow(&m->images, m->n_images, &m->space_images, sizeof(*m->images)))
		return NULL;
	l = &m->images[m->n_images];
	*l = (struct leat_associate_image){
		.node = (unsigned)(p->key >> 32),
		.pid = (int32_t)(uint32_t)p->key,
		.parent = LEAT_ASSOCIATE_NONE,
		.earlier = p->image,
		.cgroup = LEAT_ASSOCIATE_NONE,
		.program = LEAT_ASSOCIATE_NONE,
		.label = LEAT_ASSOCIATE_NONE,
		.touches = LEAT_ASSOCIATE_NONE,
		.slurm = LEAT_ASSOCIATE_NONE,
		.next = LEAT_ASSOCIATE_NONE,
		.lift = LEAT_ASSOCIATE_NONE,
		.begin_ns = INT64_MIN,
		.end_ns = INT64_MAX,
	};
	p->image = m->n_images++;
	return l;
}

/* The present image of a process, which has begun before the trace if it was not heard of. */
static struct leat_associate_image *image_now(struct leat_associate_map *m, unsigned node,
					      int32_t pid)
{
	struct leat_associate_process *p = process_of(m, node, pid);

	if (!p)
		return NULL;
	if (p->image != LEAT_ASSOCIATE_NONE && m->images[p->image].end_ns == INT64_MAX)
		return &m->images[p->image];
	return image_new(m, p);
}

static void inherit_image(struct leat_associate_map *m, struct leat_associate_image *l,
			  size_t parent)
{
	l->parent = parent;
	l->cgroup = m->images[parent].cgroup;
	l->mounts = m->images[parent].mounts;
	l->program = m->images[parent].program;
	/* Its environment is its parent's, up to its own exec. */
	l->label = m->images[parent].label;
	l->slurm = m->images[parent].slurm;
}

static int set_cgroup(struct leat_associate_map *m, struct leat_associate_image *l, uint64_t id)
{
	struct leat_associate_cgroup *g;

	if (!id)
		return 0;
	g = leat_associate_cgroup_of(m, l->node, id);
	if (!g)
		return -ENOMEM;
	l->cgroup = g->index;
	return 0;
}

/* Calls of a child may come before the word of its fork: by so much at most. */
#define EARLY_NS LEAT_ASSOCIATE_SECOND

static int add_fork(struct leat_associate_map *m, unsigned node, const struct leat_trace_process *r,
		    size_t *image)
{
	struct leat_associate_image *parent = image_now(m, node, r->ppid), *l;
	struct leat_associate_process *p = process_of(m, node, r->pid);
	size_t from;

	if (!parent || !p)
		return -ENOMEM;
	from = (size_t)(parent - m->images);
	l = p->image == LEAT_ASSOCIATE_NONE ? NULL : &m->images[p->image];
	if (!l || p->image == from || l->forked || l->executed || l->end_ns != INT64_MAX ||
	    l->begin_ns < r->time_ns - EARLY_NS) {
		/* Its predecessor's end was not seen. */
		if (l && l->end_ns == INT64_MAX && p->image != from)
			l->end_ns = r->time_ns;
		l = image_new(m, p);
		if (!l)
			return -ENOMEM;
		l->begin_ns = r->time_ns;
	}
	l->forked = true;
	if (l->begin_ns > r->time_ns)
		l->begin_ns = r->time_ns;
	inherit_image(m, l, from);
	*image = p->image;
	return set_cgroup(m, l, r->cgroup);
}

static int set_program(struct leat_associate_map *m, struct leat_associate_image *l,
		       const char *path)
{
	struct leat_associate_word *w;

	if (!path)
		return 0;
	HASH_FIND_STR(m->words, path, w);
	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w)
			return -ENOMEM;
		w->text = strdup(path);
		w->number = m->n_words;
		if (!w->text ||
		    leat_associate_grow(&m->word, m->n_words, &m->space_words, sizeof(*m->word))) {
			free(w->text);
			free(w);
			return -ENOMEM;
		}
		m->word[m->n_words++] = w->text;
		HASH_ADD_KEYPTR(hh, m->words, w->text, strlen(w->text), w);
	}
	l->program = w->number;
	return 0;
}

static int add_exec(struct leat_associate_map *m, unsigned node, const struct leat_trace_process *r,
		    size_t *image)
{
	struct leat_associate_image *before = image_now(m, node, r->pid), *l;
	size_t from;

	if (!before)
		return -ENOMEM;
	from = (size_t)(before - m->images);
	before->end_ns = r->time_ns;
	l = image_new(m, process_of(m, node, r->pid));
	if (!l)
		return -ENOMEM;
	inherit_image(m, l, from);
	l->begin_ns = r->time_ns;
	l->executed = true;
	m->images[from].next = (size_t)(l - m->images);
	if (r->mounts)
		l->mounts = r->mounts;
	*image = (size_t)(l - m->images);
	if (set_cgroup(m, l, r->cgroup) || set_program(m, l, r->program))
		return -ENOMEM;
	return leat_associate_claim_exec(m, l, r);
}

static int add_exit(struct leat_associate_map *m, unsigned node, const struct leat_trace_process *r,
		    size_t *image)
{
	struct leat_associate_image *l = image_now(m, node, r->pid);

	if (!l)
		return -ENOMEM;
	l->end_ns = r->time_ns;
	l->exits = true;
	*image = (size_t)(l - m->images);
	/* The kernel's last word may be of the cgroup that processes are moved to in their end. */
	return l->cgroup == LEAT_ASSOCIATE_NONE ? set_cgroup(m, l, r->cgroup) : 0;
}

static int add_call(struct leat_associate_map *m, unsigned node, const struct leat_trace_call *call,
		    size_t *image)
{
	struct leat_associate_process *p = process_of(m, node, call->pid);
	struct leat_associate_image *l;

	if (!p)
		return -ENOMEM;
	if (p->image == LEAT_ASSOCIATE_NONE) {
		l = image_new(m, p);
		if (!l)
			return -ENOMEM;
		l->begin_ns = call->start_ns;
	} else {
		/* What follows a process's end is the kernel's closing of its files. */
		l = &m->images[p->image];
	}
	*image = p->image;
	return call->path ? leat_associate_claim_call(m, l, call) : 0;
}

static int add_mount(struct leat_associate_map *m, unsigned node, const struct leat_trace_mount *r)
{
	struct leat_associate_mount mount = {.node = node, .space = r->namespace_id};

	if (leat_associate_grow(&m->mounts, m->n_mounts, &m->space_mounts, sizeof(mount)))
		return -ENOMEM;
	mount.at = strdup(r->at);
	mount.from = r->from ? strdup(r->from) : NULL;
	if (!mount.at || (r->from && !mount.from)) {
		free(mount.at);
		free(mount.from);
		return -ENOMEM;
	}
	m->mounts[m->n_mounts++] = mount;
	return 0;
}

static void extend_time(struct leat_associate_map *m, int64_t time_ns)
{
	if (time_ns < m->first_ns)
		m->first_ns = time_ns;
	if (time_ns > m->last_ns)
		m->last_ns = time_ns;
}

int leat_associate_add(struct leat_associate_map *m, const struct leat_trace_record *record,
		       size_t *image)
{
	size_t nobody, *out = image ? image : &nobody;
	unsigned node = record->node;

	*out = LEAT_ASSOCIATE_NONE;
	if (node >= m->n_nodes)
		m->n_nodes = node + 1;
	switch (record->kind) {
	case LEAT_TRACE_CALL:
		extend_time(m, record->call.start_ns);
		return add_call(m, node, &record->call, out);
	case LEAT_TRACE_PROCESS:
		extend_time(m, record->process.time_ns);
		if (record->process.change == LEAT_TRACE_FORK)
			return add_fork(m, node, &record->process, out);
		if (record->process.change == LEAT_TRACE_EXEC)
			return add_exec(m, node, &record->process, out);
		return add_exit(m, node, &record->process, out);
	case LEAT_TRACE_CGROUP:
		return leat_associate_cgroup_name(m, node, &record->cgroup);
	case LEAT_TRACE_MOUNT:
		return add_mount(m, node, &record->mount);
	case LEAT_TRACE_UNSEEN:
		break;
	}
	return 0;
}

int leat_associate_host(struct leat_associate_map *m, unsigned node, const char *host)
{
	while (m->n_hosts <= node) {
		char **bigger = reallocarray(m->hosts, m->n_hosts + 1, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		m->hosts = bigger;
		m->hosts[m->n_hosts++] = NULL;
	}
	free(m->hosts[node]);
	m->hosts[node] = strdup(host);
	return m->hosts[node] ? 0 : -ENOMEM;
}
