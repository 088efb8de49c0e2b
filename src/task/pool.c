/* The threads. Those of the compute pool are as many as computing units, those of the I/O pool as
 * I/O executors; they are made when they are first needed. A worker that ends a task looks for the
 * next by himself: others are woken only for what is left then. */
#include "task/runtime.h"
#include "base/log.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKS = 50 };

/* --- a thread --- */

/* Where tasks are short the next is there before a sleeper would be awake. One worker at a time
 * looks out for it; while it does nobody else is woken for the first task. */
static bool look_out(struct leat_tasks *t, struct leat_pool *pool)
{
	if (pool->looking_out)
		return false;
	pool->looking_out = true;
	pool->n_woken++;
	for (int i = 0; i < LOOKS && !pool->queue.first && !t->stop; i++) {
		leat_tasks_unlock(t);
		sched_yield();
		leat_tasks_lock(t);
	}
	pool->n_woken--;
	pool->looking_out = false;
	return pool->queue.first || t->stop;
}

static void sleep_idle(struct leat_tasks *t, struct leat_worker *worker)
{
	struct leat_pool *pool = worker->pool;

	if (look_out(t, pool))
		return;
	worker->woken = false;
	worker->idle = pool->idle;
	pool->idle = worker;
	leat_tasks_unlock(t);
	leat_tasks_lock(t);
	while (!worker->woken)
		pthread_cond_wait(&worker->wake, &t->lock);
	pool->n_woken--;
}

static void *work(void *data)
{
	struct leat_worker *worker = data;
	struct leat_tasks *t = worker->tasks;
	struct leat_pool *pool = worker->pool;

	leat_tasks_set_self(worker);
	leat_tasks_lock(t);
	pool->n_woken--;
	for (;;) {
		struct leat_task *task = leat_queue_take(&pool->queue);

		if (task) {
			leat_run_task(worker, task);
			leat_pool_wake(t, worker);
		} else if (t->stop) {
			break;
		} else {
			sleep_idle(t, worker);
		}
	}
	leat_tasks_unlock(t);
	free(worker->args);
	return NULL;
}

/* Signals are the program's own threads' business. */
static int start_thread(struct leat_worker *worker)
{
	sigset_t all, old;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -error;
}

static int add_worker(struct leat_tasks *t, struct leat_pool *pool)
{
	struct leat_worker *worker = calloc(1, sizeof(*worker));
	int ret;

	if (!worker)
		return -ENOMEM;
	worker->tasks = t;
	worker->pool = pool;
	pthread_cond_init(&worker->wake, NULL);
	pool->n_woken++;
	ret = start_thread(worker);
	if (ret < 0) {
		pool->n_woken--;
		pthread_cond_destroy(&worker->wake);
		free(worker);
		return ret;
	}
	worker->next = pool->workers;
	pool->workers = worker;
	pool->n_workers++;
	return 0;
}

static void wake_one(struct leat_tasks *t, struct leat_pool *pool)
{
	struct leat_worker *worker = pool->idle;

	pool->idle = worker->idle;
	pool->n_woken++;
	worker->woken = true;
	if (t->n_to_wake < LEAT_TO_WAKE)
		t->to_wake[t->n_to_wake++] = worker;
	else
		pthread_cond_signal(&worker->wake);
}

/* A pool that gets fewer threads than it may have works on with those; with none it cannot. */
static bool no_thread(struct leat_pool *pool, int error)
{
	if (!pool->complained)
		leat_warn("cannot start a thread for tasks: %s; going on with %u", strerror(-error),
			  pool->n_workers);
	pool->complained = true;
	return false;
}

void leat_pool_wake(struct leat_tasks *t, const struct leat_worker *worker)
{
	for (int i = 0; i < LEAT_POOLS; i++) {
		struct leat_pool *pool = &t->pools[i];
		size_t looking = pool->n_woken + (worker && worker->pool == pool);
		bool more = true;

		for (; more && pool->queue.n > looking; looking++) {
			if (pool->idle)
				wake_one(t, pool);
			else if (pool->n_workers < pool->max_workers + pool->n_blocked) {
				int ret = add_worker(t, pool);

				more = ret == 0 || no_thread(pool, ret);
			} else {
				more = false;
			}
		}
	}
}

void leat_pool_stop(struct leat_tasks *t)
{
	leat_tasks_lock(t);
	t->stop = true;
	for (int i = 0; i < LEAT_POOLS; i++)
		while (t->pools[i].idle)
			wake_one(t, &t->pools[i]);
	leat_tasks_unlock(t);
	/* one that ends may still signal another: all of them are joined first */
	for (int i = 0; i < LEAT_POOLS; i++)
		for (struct leat_worker *w = t->pools[i].workers; w; w = w->next)
			pthread_join(w->thread, NULL);
	for (int i = 0; i < LEAT_POOLS; i++)
		while (t->pools[i].workers) {
			struct leat_worker *worker = t->pools[i].workers;

			t->pools[i].workers = worker->next;
			pthread_cond_destroy(&worker->wake);
			free(worker);
		}
}
