/* One call of a task's function, with the memory it gets. */
#include "task/runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Memory that what was there before does not need any more is written over. */
static void take_over(struct leat_task *task)
{
	for (unsigned i = 0; i < task->n_slots; i++) {
		struct leat_slot *slot = &task->slots[i];
		struct leat_version *before = slot->in;

		if (slot->type != LEAT_TASK_OBJECT || !slot->out)
			continue;
		slot->u.buffer = NULL;
		if (before->refs > 1 || !leat_version_is_idle(before))
			continue;
		slot->u.buffer = before->buffer;
		before->buffer = NULL;
	}
}

/* Memory to write to: for an INOUT with what was there before in it. */
static int make_buffer(struct leat_slot *slot)
{
	const struct leat_version *before = slot->in;
	bool copy = slot->direction == LEAT_TASK_INOUT;

	if (copy && slot->u.buffer)
		return 0;
	if (slot->u.buffer && slot->u.buffer->size == slot->size)
		return 0;
	free(slot->u.buffer);
	slot->u.buffer =
		leat_buffer_new(copy && before->buffer ? before->buffer->size : slot->size, false);
	if (!slot->u.buffer)
		return -ENOMEM;
	if (copy && before->buffer)
		memcpy(slot->u.buffer->bytes, before->buffer->bytes, before->buffer->size);
	return 0;
}

static int set_arg(struct leat_slot *slot, struct leat_task_arg *arg)
{
	int ret = 0;

	switch (slot->type) {
	case LEAT_TASK_INTEGER:
	case LEAT_TASK_REAL:
		*arg = (struct leat_task_arg){&slot->u, slot->size};
		break;
	case LEAT_TASK_BYTES:
		*arg = (struct leat_task_arg){slot->u.bytes, slot->size};
		break;
	case LEAT_TASK_FILE:
		*arg = (struct leat_task_arg){slot->u.path, strlen(slot->u.path)};
		break;
	default:
		if (slot->out)
			ret = make_buffer(slot);
		else
			slot->u.buffer = slot->in->buffer;
		if (slot->u.buffer)
			*arg = (struct leat_task_arg){slot->u.buffer->bytes, slot->u.buffer->size};
		else
			*arg = (struct leat_task_arg){0};
	}
	return ret;
}

static int set_args(struct leat_worker *worker, struct leat_task *task)
{
	if (task->n_slots > worker->max_args) {
		struct leat_task_arg *more =
			reallocarray(worker->args, task->n_slots, sizeof(*worker->args));

		if (!more)
			return -ENOMEM;
		worker->args = more;
		worker->max_args = task->n_slots;
	}
	for (unsigned i = 0; i < task->n_slots; i++)
		if (set_arg(&task->slots[i], &worker->args[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* Bytes of the files it reads, or of those it writes. */
static uint64_t file_bytes(const struct leat_task *task, enum leat_task_direction direction)
{
	uint64_t bytes = 0;
	struct stat st;

	for (unsigned i = 0; i < task->n_slots; i++)
		if (task->slots[i].type == LEAT_TASK_FILE &&
		    (task->slots[i].direction & direction) &&
		    stat(task->slots[i].u.path, &st) == 0 && S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	return bytes;
}

static int call(struct leat_worker *worker, struct leat_task *task)
{
	int ret = set_args(worker, task);
	uint64_t read = 0;

	worker->read_bytes = 0;
	if (ret < 0)
		return ret;
	if (task->kind->constraints.io)
		read = file_bytes(task, LEAT_TASK_IN);
	ret = task->kind->function(task, worker->args);
	if (task->kind->constraints.io && ret == 0 && !task->counted) {
		task->io_bytes = read + file_bytes(task, LEAT_TASK_OUT);
		worker->read_bytes = read;
	}
	/* some return errno itself */
	return ret > 0 ? -ret : ret;
}

/* What it has written becomes the content of its objects. */
static void hand_over(struct leat_tasks *t, struct leat_task *task, bool good)
{
	for (unsigned i = 0; i < task->n_slots; i++) {
		struct leat_slot *slot = &task->slots[i];
		struct leat_buffer *buffer = slot->u.buffer;

		if (slot->type != LEAT_TASK_OBJECT || !slot->out || !buffer)
			continue;
		slot->u.buffer = NULL;
		if (good) {
			slot->out->buffer = buffer;
			slot->out->size = buffer->size;
		} else {
			buffer->next = t->garbage;
			t->garbage = buffer;
		}
	}
}

void leat_run_task(struct leat_worker *worker, struct leat_task *task)
{
	struct leat_tasks *t = worker->tasks;
	struct leat_failure *failure = NULL;
	int ret;

	worker->task = task;
	task->worker = worker;
	leat_tasks_sched_begin(t, task);
	take_over(task);
	leat_tasks_unlock(t);

	ret = call(worker, task);
	if (ret < 0)
		failure = leat_failure_new(task, ret, worker->reported);
	else
		free(worker->reported);
	worker->reported = NULL;

	leat_tasks_lock(t);
	worker->task = NULL;
	hand_over(t, task, !failure);
	leat_tasks_sched_end(t, task, failure);
	leat_graph_end(t, task, failure);
	leat_graph_settle(t);
	leat_tasks_sched_next(t);
}
