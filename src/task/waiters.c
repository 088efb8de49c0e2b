/* Who waits is woken. */
#include "task/runtime.h"

void leat_wait_written(struct leat_tasks *t, const struct leat_version *version)
{
	for (struct leat_task_waiter *w = t->waiters; w; w = w->next)
		if (w->version == version)
			pthread_cond_signal(&w->wake);
}

void leat_wait_fewer(struct leat_tasks *t)
{
	for (struct leat_task_waiter *w = t->waiters; w; w = w->next)
		if (!w->version)
			pthread_cond_signal(&w->wake);
}
