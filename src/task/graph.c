/* Who waits for whom. Tasks that need not wait any more go through the queue `settle`, so that
 * a long chain of ends is no deep recursion. */
#include "task/runtime.h"

#include <errno.h>
#include <stdlib.h>

static void add_edge(struct leat_tasks *t, struct leat_edge **list, struct leat_task *task)
{
	struct leat_edge *edge = leat_slab_get(&t->edges);

	edge->task = task;
	edge->next = *list;
	*list = edge;
	task->missing++;
}

void leat_graph_follow(struct leat_tasks *t, struct leat_task *task, struct leat_task *before)
{
	add_edge(t, &before->followers, task);
}

void leat_graph_follow_idle(struct leat_tasks *t, struct leat_task *task,
			    struct leat_version *version)
{
	add_edge(t, &version->waiting, task);
}

static void release_all(struct leat_tasks *t, struct leat_edge **list)
{
	while (*list) {
		struct leat_edge *edge = *list;

		*list = edge->next;
		if (--edge->task->missing == 0)
			leat_queue_put(&t->settle, edge->task);
		leat_slab_put(&t->edges, edge);
	}
}

/* A version has lost a reader or its writer. */
static void look_idle(struct leat_tasks *t, struct leat_version *version)
{
	if (!leat_version_is_idle(version))
		return;
	release_all(t, &version->waiting);
	if (version->file && version->file->now == version && !version->failure)
		leat_file_forget(t, version->file);
}

static void end_slot(struct leat_tasks *t, struct leat_slot *slot, struct leat_failure *failure)
{
	struct leat_version *in = slot->in, *out = slot->out;

	if (!out) {
		in->readers--;
		look_idle(t, in);
	} else {
		out->writer = NULL;
		if (failure)
			out->failure = leat_failure_ref(failure);
		if (out->watched)
			leat_wait_written(t, out);
		look_idle(t, out);
		leat_version_unref(t, out);
	}
	leat_version_unref(t, in);
}

static void note_failure(struct leat_tasks *t, struct leat_failure *failure, bool cancelled)
{
	if (cancelled)
		t->n_cancelled++;
	else
		t->n_failed++;
	if (!t->first_failure)
		t->first_failure = leat_failure_ref(failure);
}

static void end_task(struct leat_tasks *t, struct leat_task *task, struct leat_failure *failure)
{
	for (unsigned i = 0; i < task->n_slots; i++)
		if (task->slots[i].in)
			end_slot(t, &task->slots[i], failure);
	release_all(t, &task->followers);
	leat_failure_unref(failure);
	leat_failure_unref(task->failure);
	leat_task_free(t, task);
	t->n_live--;
	if (t->n_live == 0 || (t->n_throttled > 0 && t->n_live <= t->max_live / 2))
		leat_wait_fewer(t);
}

void leat_graph_end(struct leat_tasks *t, struct leat_task *task, struct leat_failure *failure)
{
	if (failure)
		note_failure(t, failure, false);
	end_task(t, task, failure);
}

/* The failure of something the task reads, or NULL. */
static struct leat_failure *inherited(const struct leat_task *task)
{
	for (unsigned i = 0; i < task->n_slots; i++) {
		const struct leat_slot *slot = &task->slots[i];

		if (slot->in && (slot->direction & LEAT_TASK_IN) && slot->in->failure)
			return slot->in->failure;
	}
	return NULL;
}

/* What an object was before is still to be read while the task writes it: that takes memory twice.
 * Is there space for that? If not the task waits for the readers, who never wait for it. */
static bool find_space(struct leat_tasks *t, struct leat_task *task)
{
	if (task->paid)
		return true;
	task->paid = true;
	for (unsigned i = 0; i < task->n_slots; i++) {
		struct leat_slot *slot = &task->slots[i];
		struct leat_version *before = slot->out ? slot->in : NULL;

		if (!before || before->file || before->charged || leat_version_is_idle(before))
			continue;
		if (t->copies_bytes + before->size > t->max_copies_bytes &&
		    leat_slab_reserve(&t->edges, 1) == 0) {
			leat_graph_follow_idle(t, task, before);
			continue;
		}
		before->charged = before->size;
		t->copies_bytes += before->size;
	}
	return task->missing == 0;
}

void leat_graph_settle(struct leat_tasks *t)
{
	struct leat_task *task;

	while ((task = leat_queue_take(&t->settle))) {
		struct leat_failure *failure = inherited(task);

		if (failure) {
			note_failure(t, failure, true);
			leat_tasks_sched_cancel(t, task);
			end_task(t, task, leat_failure_ref(failure));
		} else if (find_space(t, task) && leat_tasks_sched_ready(t, task) < 0) {
			leat_tasks_sched_cancel(t, task);
			leat_graph_end(t, task, leat_failure_ref(&leat_failure_memory));
		}
	}
}

void leat_graph_submit(struct leat_tasks *t, struct leat_task *task)
{
	t->n_live++;
	if (task->missing == 0)
		leat_queue_put(&t->settle, task);
}

/* --- who has to end before whom --- */

/* Depth first over what waits for a task; `seen` holds the tasks found so far. */
struct reach {
	struct leat_tasks *t;
	struct leat_task **seen; /* owned */
	size_t n, max;
	struct seen {
		const struct leat_task *task;
		UT_hash_handle hh;
	} * set; /* owned */
	bool failed;
};

static void see(struct reach *r, struct leat_task *task)
{
	struct seen *entry;

	HASH_FIND_PTR(r->set, &task, entry);
	if (entry || r->failed)
		return;
	if (r->n == r->max) {
		size_t max = r->max ? 2 * r->max : 64;
		struct leat_task **more = reallocarray(r->seen, max, sizeof(struct leat_task *));

		r->failed = !more;
		if (!more)
			return;
		r->seen = more;
		r->max = max;
	}
	entry = malloc(sizeof(*entry));
	r->failed = !entry;
	if (!entry)
		return;
	entry->task = task;
	HASH_ADD_PTR(r->set, task, entry);
	r->seen[r->n++] = task;
}

static void see_all(struct reach *r, const struct leat_edge *edges)
{
	for (; edges; edges = edges->next)
		see(r, edges->task);
}

static void see_followers(struct reach *r, const struct leat_task *task)
{
	see_all(r, task->followers);
	for (unsigned i = 0; i < task->n_slots; i++) {
		const struct leat_slot *slot = &task->slots[i];
		const struct leat_version *version = slot->out ? slot->out : slot->in;

		if (version)
			see_all(r, version->waiting);
	}
	for (const struct leat_task_waiter *w = r->t->waiters; w; w = w->next)
		if (w->task && w->version && w->version->writer == task)
			see(r, w->task);
}

bool leat_graph_reaches(struct leat_tasks *t, struct leat_task *task,
			const struct leat_version *version)
{
	struct reach r = {.t = t};
	struct seen *entry, *next;
	bool found = false;

	see(&r, task);
	for (size_t i = 0; i < r.n && !found; i++) {
		found = r.seen[i] == version->writer;
		if (!found)
			see_followers(&r, r.seen[i]);
	}
	HASH_ITER(hh, r.set, entry, next)
	{
		HASH_DEL(r.set, entry);
		free(entry);
	}
	free(r.seen);
	return found;
}
