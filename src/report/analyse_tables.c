/* Finding tasks, handles and edges; folding what has no space. */
#include "report/analyse_internal.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OTHERS "(others)"

int leat_analysis_grow(void *array, uint32_t n, uint32_t *capacity, size_t size)
{
	void *v, *old;
	uint32_t more = *capacity ? 2 * *capacity : 8;

	if (n < *capacity)
		return 0;
	memcpy(&old, array, sizeof(old));
	v = reallocarray(old, more, size);
	if (!v)
		return -ENOMEM;
	memset((char *)v + *capacity * size, 0, (more - *capacity) * size);
	memcpy(array, &v, sizeof(v));
	*capacity = more;
	return 0;
}

/* ---- life ---- */

static int begin(struct leat_analysis *a)
{
	uint32_t others;
	bool shared;
	int error;

	/* Index 0 of each is for what has no space. */
	error = leat_analysis_task(a, OTHERS, NULL, LEAT_REPORT_OTHERS, &others);
	if (!error)
		error = leat_analysis_grow(&a->files, 0, &a->tables->file_capacity,
					   sizeof(*a->files));
	if (!error)
		error = leat_analysis_find_system(a, 0, NULL, &others, &shared);
	if (error)
		return error;
	a->files[0] = (struct leat_report_file){.path = strdup(OTHERS), .folded = true};
	a->n_files = 1;
	return a->files[0].path ? 0 : -ENOMEM;
}

struct leat_analysis *leat_analysis_new(const struct leat_analysis_limits *limits)
{
	struct leat_analysis *a = calloc(1, sizeof(*a));
	int error;

	if (!a)
		return NULL;
	a->limits = limits ? *limits : leat_analysis_limits;
	a->tables = calloc(1, sizeof(*a->tables));
	error = a->tables ? begin(a) : -ENOMEM;
	if (!error)
		return a;
	leat_analysis_free(a);
	errno = -error;
	return NULL;
}

static void free_tables(struct leat_analysis_tables *t)
{
	if (!t)
		return;
	leat_table_release(&t->tasks);
	leat_table_release(&t->inodes);
	leat_table_release(&t->paths);
	leat_table_release(&t->handles);
	leat_table_release(&t->edges);
	for (uint32_t i = 0; i < t->n_mounts; i++) {
		free(t->mounts[i].at);
		free(t->mounts[i].type);
	}
	free(t->mounts);
	free(t->handle);
	free(t->free_handles);
	free(t);
}

static void free_edge(struct leat_analysis *a, struct leat_report_edge *p)
{
	for (int way = 0; way < LEAT_WAYS; way++) {
		if (p->ways[way])
			leat_coverage_release(&p->ways[way]->coverage, &a->limits.coverage);
		free(p->ways[way]);
	}
}

void leat_analysis_free(struct leat_analysis *a)
{
	if (!a)
		return;
	free_tables(a->tables);
	for (uint32_t i = 0; i < a->n_tasks; i++) {
		free(a->tasks[i].name);
		free(a->tasks[i].logical);
		free(a->tasks[i].workflow);
		free(a->tasks[i].evidence);
	}
	for (uint32_t i = 0; i < a->n_files; i++) {
		free(a->files[i].path);
		free(a->files[i].inside);
		leat_spans_release(&a->files[i].spans, &a->limits.spans);
	}
	for (uint32_t i = 0; i < a->n_edges; i++)
		free_edge(a, &a->edges[i]);
	for (uint32_t i = 0; i < a->n_systems; i++) {
		free(a->systems[i].type);
		free(a->systems[i].at);
	}
	free(a->tasks);
	free(a->files);
	free(a->edges);
	free(a->systems);
	free(a->nodes);
	free(a);
}

/* ---- nodes and tasks ---- */

struct leat_report_node *leat_analysis_node(struct leat_analysis *a, unsigned node)
{
	while (node >= a->n_nodes) {
		if (leat_analysis_grow(&a->nodes, a->n_nodes, &a->tables->node_capacity,
				       sizeof(*a->nodes)))
			return NULL;
		a->n_nodes++;
	}
	return &a->nodes[node];
}

static int make_task(struct leat_analysis *a, const char *name, const char *workflow,
		     enum leat_report_origin origin)
{
	struct leat_report_task *t;
	int error = leat_analysis_grow(&a->tasks, a->n_tasks, &a->tables->task_capacity,
				       sizeof(*a->tasks));

	if (error)
		return error;
	t = &a->tasks[a->n_tasks];
	*t = (struct leat_report_task){.origin = origin, .edges = UINT32_MAX};
	t->name = strdup(name);
	t->workflow = workflow ? strdup(workflow) : NULL;
	if (!t->name || (workflow && !t->workflow)) {
		free(t->name);
		free(t->workflow);
		return -ENOMEM;
	}
	a->n_tasks++;
	return 0;
}

int leat_analysis_task(struct leat_analysis *a, const char *name, const char *workflow,
		       enum leat_report_origin origin, uint32_t *task)
{
	char *key = leat_strf("%d\n%s\n%s", (int)origin, workflow ? workflow : "", name);
	size_t size = key ? strlen(key) : 0;
	int error = 0;

	if (!key)
		return -ENOMEM;
	*task = leat_table_find(&a->tables->tasks, key, size);
	if (*task == LEAT_TABLE_NONE) {
		if (a->n_tasks && a->n_tasks >= a->limits.tasks) {
			a->gaps.folded_tasks++;
			*task = 0;
		} else {
			*task = a->n_tasks;
			error = make_task(a, name, workflow, origin);
			if (!error)
				error = leat_table_put(&a->tables->tasks, key, size, *task);
		}
	}
	free(key);
	return error;
}

/* ---- handles ---- */

static void free_handle(struct leat_analysis_tables *t, uint32_t handle)
{
	t->free_handles[t->n_free++] = handle;
}

static int grow_handles(struct leat_analysis_tables *t)
{
	uint32_t capacity = t->handle_capacity, free_capacity = t->handle_capacity;
	int error = leat_analysis_grow(&t->handle, capacity, &capacity, sizeof(*t->handle));

	if (!error)
		error = leat_analysis_grow(&t->free_handles, free_capacity, &free_capacity,
					   sizeof(*t->free_handles));
	if (error)
		return error;
	while (capacity > t->handle_capacity)
		free_handle(t, --capacity);
	t->handle_capacity = free_capacity;
	return 0;
}

int leat_analysis_make_handle(struct leat_analysis *a, const struct leat_number_key *key,
			      uint32_t file, struct leat_report_handle **handle)
{
	struct leat_analysis_tables *t = a->tables;
	uint32_t number;
	int error;

	if (t->handles.n >= a->limits.handles) {
		free_handle(t, leat_table_remove_oldest(&t->handles));
		a->gaps.forgotten++;
	}
	error = t->n_free ? 0 : grow_handles(t);
	if (error)
		return error;
	number = t->free_handles[t->n_free - 1];
	error = leat_table_put(&t->handles, key, sizeof(*key), number);
	if (error)
		return error;
	t->n_free--;
	*handle = &t->handle[number];
	**handle =
		(struct leat_report_handle){.file = file, .task = UINT32_MAX, .edge = UINT32_MAX};
	return 0;
}

void leat_analysis_close(struct leat_analysis *a, unsigned node, uint64_t handle)
{
	struct leat_number_key key = {handle, node};
	uint32_t number = leat_table_find(&a->tables->handles, &key, sizeof(key));

	if (number == LEAT_TABLE_NONE)
		return;
	leat_table_remove(&a->tables->handles, &key, sizeof(key));
	free_handle(a->tables, number);
}

/* ---- edges ---- */

static int make_edge(struct leat_analysis *a, uint32_t task, uint32_t file, uint32_t *edge)
{
	struct leat_report_task *t = &a->tasks[task];
	uint64_t key = (uint64_t)task << 32 | file;
	int error = leat_analysis_grow(&a->edges, a->n_edges, &a->tables->edge_capacity,
				       sizeof(*a->edges));

	if (!error)
		error = leat_table_put(&a->tables->edges, &key, sizeof(key), a->n_edges);
	if (error)
		return error;
	a->edges[a->n_edges] =
		(struct leat_report_edge){.task = task, .file = file, .next = t->edges};
	t->edges = a->n_edges;
	t->n_edges++;
	*edge = a->n_edges++;
	return 0;
}

int leat_analysis_find_edge(struct leat_analysis *a, uint32_t task, uint32_t file, uint32_t *edge)
{
	uint64_t key = (uint64_t)task << 32 | file;

	*edge = leat_table_find(&a->tables->edges, &key, sizeof(key));
	if (*edge != LEAT_TABLE_NONE)
		return 0;
	/* One for each task more, for what has no space. */
	if (a->n_edges >= a->limits.edges && file) {
		a->gaps.folded_edges++;
		return leat_analysis_find_edge(a, task, 0, edge);
	}
	return make_edge(a, task, file, edge);
}
