/* The life of tasks: submitted, ready, started, ended. */
#include "sched/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- new and free ------------------------------------------------------------------------------
 */

static struct family *family_of(struct leat_sched *s, const char *name)
{
	for (size_t i = 0; i < s->n_families; i++)
		if (!strcmp(s->families[i].name, name))
			return &s->families[i];
	return NULL;
}

static struct family *family_get(struct leat_sched *s, const char *name, size_t n_devices)
{
	struct family *family = family_of(s, name);

	if (family)
		return family;
	family = &s->families[s->n_families++];
	family->name = name;
	family->at = calloc(s->n_hosts, sizeof(struct device *));
	family->devices = calloc(n_devices, sizeof(*family->devices));
	if (!family->at || !family->devices || leat_first_init(&family->capacity, s->n_hosts))
		return NULL;
	return family;
}

static int add_own(struct leat_sched *s, unsigned host)
{
	struct host *h = &s->hosts[host];

	h->families = calloc(h->is->n_devices + 1, sizeof(struct family *));
	if (!h->families)
		return -ENOMEM;
	for (size_t d = 0; d < h->is->n_devices; d++) {
		const struct leat_device *is = &h->is->devices[d];
		struct family *family = family_get(s, is->name, s->n_hosts);

		if (!family)
			return -ENOMEM;
		if (family->at[host])
			continue;
		family->at[host] = &family->devices[family->n_devices++];
		*family->at[host] = (struct device){.is = is, .host = (int)host};
		h->families[h->n_families++] = family;
	}
	return 0;
}

/* Shared devices; of a name that hosts have devices of, too, those are meant. */
static int add_shared(struct leat_sched *s)
{
	for (size_t d = 0; d < s->res->n_shared; d++) {
		const struct leat_device *is = &s->res->shared[d];
		struct family *family;

		if (family_of(s, is->name))
			continue;
		family = family_get(s, is->name, 1);
		if (!family)
			return -ENOMEM;
		family->devices[family->n_devices++] = (struct device){.is = is, .host = -1};
		family->shared = family->devices;
		for (unsigned h = 0; h < s->n_hosts; h++)
			family->at[h] = family->shared;
	}
	return 0;
}

static int add_hosts(struct leat_sched *s)
{
	size_t n = s->res->n_shared;

	for (unsigned h = 0; h < s->n_hosts; h++)
		n += s->res->hosts[h].n_devices;
	s->families = calloc(n + 1, sizeof(*s->families));
	s->hosts = calloc(s->n_hosts, sizeof(*s->hosts));
	if (!s->families || !s->hosts || leat_first_init(&s->units, s->n_hosts) ||
	    leat_first_init(&s->executors, s->n_hosts))
		return -ENOMEM;
	for (unsigned h = 0; h < s->n_hosts; h++) {
		s->hosts[h].is = &s->res->hosts[h];
		s->hosts[h].free_units = s->hosts[h].is->computing_units;
		s->hosts[h].free_executors = s->hosts[h].is->io_executors;
		if (add_own(s, h))
			return -ENOMEM;
	}
	return add_shared(s);
}

struct leat_sched *leat_sched_new(const struct leat_resources *res)
{
	struct leat_sched *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->res = res;
	s->n_hosts = (unsigned)res->n_hosts;
	if (add_hosts(s)) {
		leat_sched_free(s);
		return NULL;
	}
	for (unsigned h = 0; h < s->n_hosts; h++) {
		leat_first_set(&s->units, h, s->hosts[h].free_units);
		leat_sched_refresh_io(s, h);
	}
	return s;
}

static void task_type_free(struct task_type *type)
{
	if (!type)
		return;
	free(type->name);
	free(type->epochs);
	free(type->registry);
	free(type);
}

void leat_sched_free(struct leat_sched *s)
{
	if (!s)
		return;
	leat_sched_queues_free(s);
	for (unsigned k = 0; k < s->n_types; k++)
		task_type_free(s->types[k]);
	free(s->types);
	for (size_t i = 0; i < s->n_families; i++) {
		free(s->families[i].devices);
		free(s->families[i].at);
		leat_first_release(&s->families[i].capacity);
	}
	free(s->families);
	for (unsigned h = 0; s->hosts && h < s->n_hosts; h++)
		free(s->hosts[h].families);
	free(s->hosts);
	leat_first_release(&s->units);
	leat_first_release(&s->executors);
	free(s);
}

/* --- types --------------------------------------------------------------------------------------
 */

static struct task_type *task_type_new(const struct leat_sched_task_type *spec,
				       struct family *family)
{
	struct task_type *type = calloc(1, sizeof(*type));

	if (!type)
		return NULL;
	type->name = strdup(spec->name);
	type->io = spec->io;
	type->units = spec->computing_units;
	type->family = family;
	type->bandwidth = spec->bandwidth;
	if (spec->bandwidth.kind == LEAT_BANDWIDTH_NONE ||
	    spec->bandwidth.kind == LEAT_BANDWIDTH_AUTO)
		type->bandwidth.min = 0;
	type->phase = leat_bandwidth_learns(&type->bandwidth) ? LEAT_SCHED_IDLE : LEAT_SCHED_FIXED;
	type->host = -1;
	if (type->phase == LEAT_SCHED_IDLE) {
		type->epochs = calloc(LEAT_SCHED_MAX_EPOCHS, sizeof(*type->epochs));
		type->registry = calloc(LEAT_SCHED_MAX_EPOCHS, sizeof(*type->registry));
	} else {
		type->constraint = type->io ? type->bandwidth.min : 0;
	}
	if (!type->name || (type->phase == LEAT_SCHED_IDLE && (!type->epochs || !type->registry))) {
		task_type_free(type);
		return NULL;
	}
	return type;
}

int leat_sched_add_type(struct leat_sched *s, const struct leat_sched_task_type *spec,
			unsigned *number, char why[LEAT_SCHED_WHY])
{
	struct family *family = spec->device ? family_of(s, spec->device) : NULL;
	int ret = leat_sched_type_check(s, spec, family, why);
	struct task_type **types, *type;

	if (ret)
		return ret;
	types = reallocarray(s->types, s->n_types + 1, sizeof(struct task_type *));
	if (types)
		s->types = types;
	type = types ? task_type_new(spec, family) : NULL;
	if (!type)
		return -ENOMEM;
	type->index = s->n_types;
	types[s->n_types++] = type;
	*number = type->index;
	return 0;
}

/* --- from submission to the end ------------------------------------------------------------------
 */

static bool home_is_good(const struct leat_sched *s, const struct task_type *type, int home)
{
	if (home == LEAT_SCHED_ANYWHERE)
		return true;
	if (home < 0 || (unsigned)home >= s->n_hosts)
		return false;
	if (s->res->shared_dir)
		return true;
	if (!type->io)
		return s->hosts[home].is->computing_units >= type->units;
	return leat_sched_fits_ever(s, type->family, (unsigned)home, type->bandwidth.min);
}

int leat_sched_submit(struct leat_sched *s, struct leat_sched_task *task)
{
	if (s->ended || task->state != TASK_NEW || task->type >= s->n_types ||
	    !home_is_good(s, s->types[task->type], task->home))
		return -EINVAL;
	task->state = TASK_SUBMITTED;
	s->submitted++;
	s->types[task->type]->submitted++;
	return 0;
}

int leat_sched_ready(struct leat_sched *s, struct leat_sched_task *task)
{
	struct leat_sched_queue *queue;
	struct task_type *type;

	if (task->state != TASK_SUBMITTED)
		return -EINVAL;
	type = s->types[task->type];
	queue = leat_sched_queue_of(s, type, s->res->shared_dir ? LEAT_SCHED_ANYWHERE : task->home);
	if (!queue)
		return -ENOMEM;
	s->submitted--;
	type->submitted--;
	s->ready++;
	type->ready++;
	task->state = TASK_READY;
	task->turn = s->turns++;
	task->epoch = 0;
	leat_sched_queue_append(s, queue, task);
	if (queue->type)
		leat_sched_learn_ready(s, type);
	return 0;
}

/* Capacity that was kept for it, as the queue's head, is for all again. */
static void leave_queue(struct leat_sched *s, struct leat_sched_task *task)
{
	struct leat_sched_queue *queue = task->queue;
	bool first = queue->head == task;

	leat_sched_queue_remove(s, task);
	if (first)
		leat_sched_unkeep(s, queue);
}

/* Start the head of the queue on `host`. */
static struct leat_sched_task *start(struct leat_sched *s, struct leat_sched_queue *queue, int host,
				     bool measured, uint64_t now_ns)
{
	struct leat_sched_task *task = queue->head;
	struct task_type *type = s->types[task->type];

	task->host = (unsigned)host;
	task->constraint_mbps = type->io ? leat_sched_demand(queue) : 0;
	task->state = TASK_RUNNING;
	leat_sched_take(s, type, task->host, task->constraint_mbps);
	s->pools[queue->key.pool].starts++;
	s->ready--;
	type->ready--;
	s->running++;
	type->running++;
	leave_queue(s, task);
	if (measured)
		leat_sched_learn_start(s, type, task, now_ns);
	return task;
}

/* Start the head of the oldest queue that is offered, or take the queue from the offered. */
static struct leat_sched_task *try_oldest(struct leat_sched *s, uint64_t now_ns)
{
	struct leat_sched_queue *queue = s->heap[0];
	enum learn_answer answer = LEARN_ELSEWHERE;
	int host;

	if (queue->type && queue->type->phase != LEAT_SCHED_LEARNED)
		answer = leat_sched_learn_ask(s, queue);
	if (answer == LEARN_MEASURE)
		return start(s, queue, queue->type->host, true, now_ns);
	if (answer == LEARN_HOLD) {
		leat_sched_queue_hold(s, queue);
		leat_sched_unkeep(s, queue);
		return NULL;
	}
	host = leat_sched_place(s, queue);
	if (host >= 0)
		return start(s, queue, host, false, now_ns);
	leat_sched_queue_block(s, queue);
	return NULL;
}

struct leat_sched_task *leat_sched_next(struct leat_sched *s, uint64_t now_ns)
{
	do {
		leat_sched_learn_settle(s, now_ns);
		while (s->n_heap) {
			struct leat_sched_task *task = try_oldest(s, now_ns);

			if (task)
				return task;
		}
	} while (s->try_queued || (s->learning && leat_sched_learn_yield(s)));
	return NULL;
}

/* A barrier is over when all that it waits for has ended. */
static void leave_barrier(struct leat_sched *s, uint64_t now_ns)
{
	if (!s->closing)
		return;
	leat_sched_learn_settle(s, now_ns);
	if (!s->ended && !s->submitted && !s->ready && !s->running)
		s->closing = false;
}

int leat_sched_ended(struct leat_sched *s, struct leat_sched_task *task, uint64_t now_ns,
		     uint64_t took_ns, bool failed)
{
	struct task_type *type;

	if (task->state == TASK_IDLE)
		leat_sched_resume(s, task);
	if (task->state != TASK_RUNNING)
		return -EINVAL;
	type = s->types[task->type];
	task->state = TASK_NEW;
	s->running--;
	type->running--;
	if (failed) {
		type->failed++;
	} else {
		type->succeeded++;
		type->total_s += (double)took_ns / 1e9;
	}
	leat_sched_give(s, type, task->host, task->constraint_mbps);
	if (task->epoch)
		leat_sched_learn_ended(s, type, task, now_ns, took_ns, failed);
	leat_sched_wake(s, type->io ? POOL_IO : POOL_COMPUTE, (int)task->host);
	leave_barrier(s, now_ns);
	return 0;
}

int leat_sched_rest(struct leat_sched *s, struct leat_sched_task *task)
{
	struct task_type *type;

	if (task->state != TASK_RUNNING || s->types[task->type]->io)
		return -EINVAL;
	type = s->types[task->type];
	task->state = TASK_IDLE;
	leat_sched_give(s, type, task->host, 0);
	leat_sched_wake(s, POOL_COMPUTE, (int)task->host);
	return 0;
}

int leat_sched_resume(struct leat_sched *s, struct leat_sched_task *task)
{
	if (task->state != TASK_IDLE)
		return -EINVAL;
	task->state = TASK_RUNNING;
	leat_sched_take(s, s->types[task->type], task->host, 0);
	return 0;
}

int leat_sched_cancel(struct leat_sched *s, struct leat_sched_task *task, uint64_t now_ns)
{
	struct task_type *type;

	if (task->state != TASK_SUBMITTED && task->state != TASK_READY)
		return -EINVAL;
	type = s->types[task->type];
	if (task->state == TASK_SUBMITTED) {
		s->submitted--;
		type->submitted--;
	} else {
		s->ready--;
		type->ready--;
		leave_queue(s, task);
	}
	task->state = TASK_NEW;
	leave_barrier(s, now_ns);
	return 0;
}

void leat_sched_barrier(struct leat_sched *s, uint64_t now_ns)
{
	s->closing = true;
	leave_barrier(s, now_ns);
}

void leat_sched_end(struct leat_sched *s, uint64_t now_ns)
{
	s->ended = true;
	leat_sched_barrier(s, now_ns);
}
