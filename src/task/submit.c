/* From parameters to a task of the graph: checks, paths, links to what they name. */
#include "task/runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A task to be: what is made of its parameters before the lock is taken. */
struct request {
	const struct leat_task_kind *kind;    /* borrowed */
	const struct leat_task_param *params; /* borrowed */
	size_t n;
	struct leat_slot few[LEAT_MANY_SLOTS];
	struct leat_slot *slots; /* `few`, or owned */
	char **paths;            /* owned; without symlinks, by parameter; NULL: no files */
};

static int read_path(struct request *r, size_t i)
{
	const struct leat_task_param *p = &r->params[i];
	int error;

	if (!p->u.path || !*p->u.path)
		return leat_tasks_set_error(
			-EINVAL, "task %s: parameter %zu: a file without a path", r->kind->name, i);
	if (!r->paths) {
		r->paths = calloc(r->n, sizeof(*r->paths));
		if (!r->paths)
			return leat_tasks_set_error(-ENOMEM, "out of memory");
	}
	r->paths[i] = leat_path_real(p->u.path);
	if (r->paths[i])
		return 0;
	error = errno;
	return leat_tasks_set_error(-error, "task %s: parameter %zu: %s: %s%s", r->kind->name, i,
				    p->u.path, strerror(error),
				    error == ENOENT ? "; the directory it is to be in must exist"
						    : "");
}

/* --- parameters --- */

static int read_param(struct request *r, size_t i)
{
	const struct leat_task_param *p = &r->params[i];
	struct leat_slot *slot = &r->slots[i];

	*slot = (struct leat_slot){.direction = (uint8_t)p->direction, .type = (uint8_t)p->type};
	if (p->direction < LEAT_TASK_IN || p->direction > LEAT_TASK_INOUT ||
	    p->type > LEAT_TASK_FILE)
		return leat_tasks_set_error(-EINVAL, "task %s: parameter %zu is none",
					    r->kind->name, i);
	slot->size = p->size;
	switch (p->type) {
	case LEAT_TASK_INTEGER:
		slot->u.integer = p->u.integer;
		return 0;
	case LEAT_TASK_REAL:
		slot->u.real = p->u.real;
		return 0;
	case LEAT_TASK_BYTES:
		slot->u.bytes = malloc(p->size ? p->size : 1);
		if (!slot->u.bytes)
			return leat_tasks_set_error(-ENOMEM, "out of memory");
		if (p->size > 0)
			memcpy(slot->u.bytes, p->u.bytes, p->size);
		return 0;
	case LEAT_TASK_FILE:
		slot->u.path = p->u.path ? strdup(p->u.path) : NULL;
		if (p->u.path && !slot->u.path)
			return leat_tasks_set_error(-ENOMEM, "out of memory");
		return read_path(r, i);
	case LEAT_TASK_OBJECT:
		break;
	}
	if (!p->u.object)
		return leat_tasks_set_error(-EINVAL, "task %s: parameter %zu: no object",
					    r->kind->name, i);
	return 0;
}

static bool is_same(const struct request *r, size_t i, size_t k)
{
	const struct leat_task_param *a = &r->params[i], *b = &r->params[k];

	if (a->type != b->type)
		return false;
	if (a->type == LEAT_TASK_OBJECT)
		return a->u.object == b->u.object;
	return a->type == LEAT_TASK_FILE && strcmp(r->paths[i], r->paths[k]) == 0;
}

/* What a task reads and, by another parameter, writes it would wait for itself. */
static int check_twice(const struct request *r, size_t i)
{
	const struct leat_task_param *p = &r->params[i];

	if (p->type != LEAT_TASK_OBJECT && p->type != LEAT_TASK_FILE)
		return 0;
	for (size_t k = 0; k < i; k++)
		if (((p->direction | r->params[k].direction) & LEAT_TASK_OUT) && is_same(r, i, k))
			return leat_tasks_set_error(
				-EINVAL,
				"task %s: parameters %zu and %zu are the same %s%s, which is "
				"written: it would wait for itself; pass it once, as INOUT",
				r->kind->name, k, i, p->type == LEAT_TASK_FILE ? "file " : "object",
				p->type == LEAT_TASK_FILE ? p->u.path : "");
	return 0;
}

static int read_params(struct request *r)
{
	int ret = 0;

	r->slots = r->few;
	if (r->n > LEAT_MANY_SLOTS)
		r->slots = calloc(r->n, sizeof(*r->slots));
	if (!r->slots)
		return leat_tasks_set_error(-ENOMEM, "out of memory");
	for (size_t i = 0; i < r->n && ret == 0; i++) {
		ret = read_param(r, i);
		if (ret == 0)
			ret = check_twice(r, i);
		if (ret < 0)
			leat_slots_release(r->slots, i + 1);
	}
	return ret;
}

static void release(struct request *r)
{
	for (size_t i = 0; r->paths && i < r->n; i++)
		free(r->paths[i]);
	free(r->paths);
	if (r->slots != r->few)
		free(r->slots);
}

/* The file that tells where the task does its I/O. */
static const char *place_of(const struct request *r)
{
	const char *path = NULL;

	for (size_t i = 0; r->paths && i < r->n; i++) {
		if (!r->paths[i])
			continue;
		if (r->params[i].direction & LEAT_TASK_OUT)
			return r->paths[i];
		if (!path)
			path = r->paths[i];
	}
	return path;
}

/* --- links --- */

/* Files that are read must be there, or be written by a task that is. */
static int check_files(struct leat_tasks *t, const struct request *r)
{
	for (size_t i = 0; r->paths && i < r->n; i++) {
		const struct leat_task_file *file;

		if (!r->paths[i] || !(r->params[i].direction & LEAT_TASK_IN))
			continue;
		file = leat_file_find(t, r->paths[i], false);
		if (file && (file->now->writer || file->now->failure))
			continue;
		if (access(r->paths[i], F_OK) < 0)
			return leat_tasks_set_error(
				-errno,
				"task %s: parameter %zu: cannot read %s: %s, and no "
				"task submitted before writes it",
				r->kind->name, i, r->params[i].u.path, strerror(errno));
	}
	return 0;
}

/* What all links of the task will need, so that none of them fails. */
static int reserve(struct leat_tasks *t, const struct request *r)
{
	if (leat_slab_reserve(&t->edges, r->n) < 0 || leat_slab_reserve(&t->versions, r->n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < r->n; i++) {
		struct leat_version *now;

		if (r->params[i].type != LEAT_TASK_OBJECT)
			continue;
		now = r->params[i].u.object->now;
		if ((r->params[i].direction & LEAT_TASK_IN) && !now->writer &&
		    leat_version_fill(now) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void link_read(struct leat_tasks *t, struct leat_task *task, struct leat_slot *slot,
		      struct leat_version *now)
{
	now->refs++;
	now->readers++;
	slot->in = now;
	if (now->writer)
		leat_graph_follow(t, task, now->writer);
}

static void link_write(struct leat_tasks *t, struct leat_task *task, struct leat_slot *slot,
		       struct leat_version **now, size_t size)
{
	struct leat_version *before = *now, *out = leat_version_new(t, size);

	if (before->file && !leat_version_is_idle(before))
		leat_graph_follow_idle(t, task, before);
	else if ((slot->direction & LEAT_TASK_IN) && before->writer)
		leat_graph_follow(t, task, before->writer);
	out->writer = task;
	out->file = before->file;
	out->refs++;
	slot->in = before;
	slot->out = out;
	*now = out;
}

static void link_slot(struct leat_tasks *t, struct leat_task *task, struct leat_slot *slot,
		      struct leat_version **now, size_t size)
{
	slot->size = size;
	if (slot->direction & LEAT_TASK_OUT)
		link_write(t, task, slot, now, size);
	else
		link_read(t, task, slot, *now);
}

/* The records of its files; those made for it are dropped if not all can be. */
static int find_files(struct leat_tasks *t, const struct request *r)
{
	for (size_t i = 0; r->paths && i < r->n; i++) {
		if (!r->paths[i] || leat_file_find(t, r->paths[i], true))
			continue;
		while (i-- > 0) {
			struct leat_task_file *file =
				r->paths[i] ? leat_file_find(t, r->paths[i], false) : NULL;

			if (file && leat_version_is_idle(file->now) && !file->now->failure)
				leat_file_forget(t, file);
		}
		return -ENOMEM;
	}
	return 0;
}

static int build(struct leat_tasks *t, struct request *r, struct leat_task_use *use)
{
	struct leat_task *task;

	task = reserve(t, r) == 0 ? leat_task_new(t, r->n) : NULL;
	if (task && find_files(t, r) < 0) {
		leat_task_free(t, task);
		task = NULL;
	}
	if (!task)
		return leat_tasks_set_error(-ENOMEM, "out of memory for a task");
	task->kind = r->kind;
	task->use = use;
	task->number = ++t->n_submitted;
	if (r->n > 0)
		memcpy(task->slots, r->slots, r->n * sizeof(task->slots[0]));
	for (size_t i = 0; i < r->n; i++) {
		const struct leat_task_param *p = &r->params[i];

		if (p->type == LEAT_TASK_OBJECT)
			link_slot(t, task, &task->slots[i], &p->u.object->now, p->u.object->size);
		else if (p->type == LEAT_TASK_FILE)
			link_slot(t, task, &task->slots[i],
				  &leat_file_find(t, r->paths[i], false)->now, 0);
	}
	leat_tasks_sched_submit(t, task);
	leat_graph_submit(t, task);
	return 0;
}

int leat_task_submit(const struct leat_task_kind *kind, const struct leat_task_param *params,
		     size_t n_params)
{
	struct leat_tasks *t = leat_tasks_current();
	struct request r = {.kind = kind, .params = params, .n = n_params};
	struct leat_task_use *use = NULL;
	int ret;

	if (!t)
		return -EINVAL;
	if (!kind)
		return leat_tasks_set_error(-EINVAL, "no task type; leat_task_register makes one");
	ret = read_params(&r);
	if (ret < 0)
		goto out;
	leat_tasks_lock(t);
	leat_wait_space(t);
	ret = leat_tasks_sched_use(t, kind, place_of(&r), &use);
	if (ret == 0)
		ret = check_files(t, &r);
	if (ret == 0)
		ret = build(t, &r, use);
	if (ret == 0) {
		leat_graph_settle(t);
		leat_tasks_sched_next(t);
		leat_pool_wake(t, NULL);
	}
	leat_tasks_unlock(t);
	if (ret < 0)
		leat_slots_release(r.slots, r.n);
out:
	release(&r);
	return ret;
}
