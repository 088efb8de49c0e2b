/* The run time there is, its lock and its queues; which of its threads this is. */
#include "task/runtime.h"

#include <stdlib.h>

struct leat_tasks *leat_tasks_running;

static _Thread_local struct leat_worker *self;

struct leat_tasks *leat_tasks_current(void)
{
	if (!leat_tasks_running)
		leat_tasks_set_error(
			0, "the run time of tasks is not there; leat_task_init starts it");
	return leat_tasks_running;
}

void leat_tasks_unlock(struct leat_tasks *t)
{
	struct leat_buffer *garbage = t->garbage;
	struct leat_worker *to_wake[LEAT_TO_WAKE];
	unsigned n = t->n_to_wake;

	for (unsigned i = 0; i < n; i++)
		to_wake[i] = t->to_wake[i];
	t->garbage = NULL;
	t->n_to_wake = 0;
	pthread_mutex_unlock(&t->lock);
	for (unsigned i = 0; i < n; i++)
		pthread_cond_signal(&to_wake[i]->wake);
	while (garbage) {
		struct leat_buffer *next = garbage->next;

		free(garbage);
		garbage = next;
	}
}

void leat_queue_put(struct leat_queue *queue, struct leat_task *task)
{
	task->next = NULL;
	if (queue->last)
		queue->last->next = task;
	else
		queue->first = task;
	queue->last = task;
	queue->n++;
}

struct leat_task *leat_queue_take(struct leat_queue *queue)
{
	struct leat_task *task = queue->first;

	if (!task)
		return NULL;
	queue->first = task->next;
	if (!queue->first)
		queue->last = NULL;
	queue->n--;
	return task;
}

struct leat_worker *leat_tasks_self(void)
{
	return self;
}

void leat_tasks_set_self(struct leat_worker *worker)
{
	self = worker;
}
