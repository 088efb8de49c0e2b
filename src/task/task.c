/* One task: its memory, and what its function may say. */
#include "task/runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct leat_slab *slab_for(struct leat_tasks *t, size_t n_slots)
{
	if (n_slots <= LEAT_FEW_SLOTS)
		return &t->tasks;
	return n_slots <= LEAT_MANY_SLOTS ? &t->large_tasks : NULL;
}

struct leat_task *leat_task_new(struct leat_tasks *t, size_t n_slots)
{
	struct leat_slab *slab = slab_for(t, n_slots);
	struct leat_task *task;

	if (slab)
		task = leat_slab_get(slab);
	else
		task = malloc(sizeof(*task) + n_slots * sizeof(task->slots[0]));
	if (task) {
		*task = (struct leat_task){.n_slots = (unsigned)n_slots};
		memset(task->slots, 0, n_slots * sizeof(task->slots[0]));
	}
	return task;
}

void leat_slots_release(struct leat_slot *slots, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (slots[i].type == LEAT_TASK_FILE)
			free(slots[i].u.path);
		else if (slots[i].type == LEAT_TASK_BYTES)
			free(slots[i].u.bytes);
	}
}

void leat_task_free(struct leat_tasks *t, struct leat_task *task)
{
	struct leat_slab *slab = slab_for(t, task->n_slots);

	leat_slots_release(task->slots, task->n_slots);
	if (slab)
		leat_slab_put(slab, task);
	else
		free(task);
}

/* --- for its function --- */

void *leat_task_resize(struct leat_task *task, size_t param, size_t size)
{
	struct leat_slot *slot = param < task->n_slots ? &task->slots[param] : NULL;
	struct leat_buffer *buffer;
	struct leat_task_arg *arg;

	if (!slot || slot->type != LEAT_TASK_OBJECT || !slot->out) {
		leat_tasks_set_error(0, "task %s: parameter %zu is no object that it writes",
				     task->kind->name, param);
		return NULL;
	}
	if (size > PTRDIFF_MAX - sizeof(*buffer))
		return NULL;
	buffer = realloc(slot->u.buffer, sizeof(*buffer) + size);
	if (!buffer)
		return NULL;
	buffer->size = size;
	slot->u.buffer = buffer;
	arg = &task->worker->args[param];
	arg->data = buffer->bytes;
	arg->size = size;
	return buffer->bytes;
}

int leat_task_fail(struct leat_task *task, int error, const char *format, ...)
{
	struct leat_worker *worker = task->worker;
	char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	free(worker->reported);
	worker->reported = text;
	return error;
}

void leat_task_count_io(struct leat_task *task, uint64_t bytes)
{
	task->counted = true;
	task->io_bytes += bytes;
}
