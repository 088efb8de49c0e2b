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
	if (!family->at || !family->devices || leat_first_init(&family->room, s->n_hosts))
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

static void kind_free(struct kind *kind)
{
	if (!kind)
		return;
	free(kind->name);
	free(kind->epochs);
	free(kind->registry);
	free(kind);
}

void leat_sched_free(struct leat_sched *s)
{
	if (!s)
		return;
	leat_sched_lanes_free(s);
	for (unsigned k = 0; k < s->n_kinds; k++)
		kind_free(s->kinds[k]);
	free(s->kinds);
	for (size_t i = 0; i < s->n_families; i++) {
		free(s->families[i].devices);
		free(s->families[i].at);
		leat_first_release(&s->families[i].room);
	}
	free(s->families);
	for (unsigned h = 0; s->hosts && h < s->n_hosts; h++)
		free(s->hosts[h].families);
	free(s->hosts);
	leat_first_release(&s->units);
	leat_first_release(&s->executors);
	free(s);
}

/* --- kinds --------------------------------------------------------------------------------------
 */

static struct kind *kind_new(const struct leat_sched_kind *spec, struct family *family)
{
	struct kind *kind = calloc(1, sizeof(*kind));

	if (!kind)
		return NULL;
	kind->name = strdup(spec->name);
	kind->io = spec->io;
	kind->units = spec->computing_units;
	kind->family = family;
	kind->bandwidth = spec->bandwidth;
	if (spec->bandwidth.kind == LEAT_BANDWIDTH_NONE ||
	    spec->bandwidth.kind == LEAT_BANDWIDTH_AUTO)
		kind->bandwidth.min = 0;
	kind->phase = leat_bandwidth_learns(&kind->bandwidth) ? LEAT_SCHED_IDLE : LEAT_SCHED_FIXED;
	kind->host = -1;
	if (kind->phase == LEAT_SCHED_IDLE) {
		kind->epochs = calloc(LEAT_SCHED_MAX_EPOCHS, sizeof(*kind->epochs));
		kind->registry = calloc(LEAT_SCHED_MAX_EPOCHS, sizeof(*kind->registry));
	} else {
		kind->constraint = kind->io ? kind->bandwidth.min : 0;
	}
	if (!kind->name || (kind->phase == LEAT_SCHED_IDLE && (!kind->epochs || !kind->registry))) {
		kind_free(kind);
		return NULL;
	}
	return kind;
}

int leat_sched_add_kind(struct leat_sched *s, const struct leat_sched_kind *spec, unsigned *number,
			char why[LEAT_SCHED_WHY])
{
	struct family *family = spec->device ? family_of(s, spec->device) : NULL;
	int ret = leat_sched_kind_check(s, spec, family, why);
	struct kind **kinds, *kind;

	if (ret)
		return ret;
	kinds = reallocarray(s->kinds, s->n_kinds + 1, sizeof(struct kind *));
	if (kinds)
		s->kinds = kinds;
	kind = kinds ? kind_new(spec, family) : NULL;
	if (!kind)
		return -ENOMEM;
	kind->index = s->n_kinds;
	kinds[s->n_kinds++] = kind;
	*number = kind->index;
	return 0;
}

/* --- from submission to the end ------------------------------------------------------------------
 */

static bool home_is_good(const struct leat_sched *s, const struct kind *kind, int home)
{
	if (home == LEAT_SCHED_ANYWHERE)
		return true;
	if (home < 0 || (unsigned)home >= s->n_hosts)
		return false;
	if (s->res->shared_dir)
		return true;
	if (!kind->io)
		return s->hosts[home].is->computing_units >= kind->units;
	return leat_sched_fits_ever(s, kind->family, (unsigned)home, kind->bandwidth.min);
}

int leat_sched_submit(struct leat_sched *s, struct leat_sched_task *task)
{
	if (s->ended || task->state != TASK_NEW || task->kind >= s->n_kinds ||
	    !home_is_good(s, s->kinds[task->kind], task->home))
		return -EINVAL;
	task->state = TASK_SUBMITTED;
	s->submitted++;
	s->kinds[task->kind]->submitted++;
	return 0;
}

int leat_sched_ready(struct leat_sched *s, struct leat_sched_task *task)
{
	struct leat_sched_lane *lane;
	struct kind *kind;

	if (task->state != TASK_SUBMITTED)
		return -EINVAL;
	kind = s->kinds[task->kind];
	lane = leat_sched_lane_of(s, kind, s->res->shared_dir ? LEAT_SCHED_ANYWHERE : task->home);
	if (!lane)
		return -ENOMEM;
	s->submitted--;
	kind->submitted--;
	s->ready++;
	kind->ready++;
	task->state = TASK_READY;
	task->turn = s->turns++;
	task->epoch = 0;
	leat_sched_lane_append(s, lane, task);
	if (lane->kind)
		leat_sched_learn_ready(s, kind);
	return 0;
}

/* Room that was kept for it, as the lane's head, is for all again. */
static void leave_lane(struct leat_sched *s, struct leat_sched_task *task)
{
	struct leat_sched_lane *lane = task->lane;
	bool first = lane->head == task;

	leat_sched_lane_remove(s, task);
	if (first)
		leat_sched_unkeep(s, lane);
}

/* Start the head of the lane on `host`. */
static struct leat_sched_task *start(struct leat_sched *s, struct leat_sched_lane *lane, int host,
				     bool measured, uint64_t now_ns)
{
	struct leat_sched_task *task = lane->head;
	struct kind *kind = s->kinds[task->kind];

	task->host = (unsigned)host;
	task->constraint_mbps = kind->io ? leat_sched_demand(lane) : 0;
	task->state = TASK_RUNNING;
	leat_sched_take(s, kind, task->host, task->constraint_mbps);
	s->pools[lane->key.pool].starts++;
	s->ready--;
	kind->ready--;
	s->running++;
	kind->running++;
	leave_lane(s, task);
	if (measured)
		leat_sched_learn_start(s, kind, task, now_ns);
	return task;
}

/* Start the head of the oldest lane that is offered, or take the lane from the offered. */
static struct leat_sched_task *try_oldest(struct leat_sched *s, uint64_t now_ns)
{
	struct leat_sched_lane *lane = s->heap[0];
	enum learn_answer answer = LEARN_PLACE;
	int host;

	if (lane->kind && lane->kind->phase != LEAT_SCHED_LEARNED)
		answer = leat_sched_learn_ask(s, lane);
	if (answer == LEARN_MEASURE)
		return start(s, lane, lane->kind->host, true, now_ns);
	if (answer == LEARN_HOLD) {
		leat_sched_lane_hold(s, lane);
		leat_sched_unkeep(s, lane);
		return NULL;
	}
	host = leat_sched_place(s, lane);
	if (host >= 0)
		return start(s, lane, host, false, now_ns);
	leat_sched_lane_block(s, lane);
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
	struct kind *kind;

	if (task->state == TASK_RESTING)
		leat_sched_resume(s, task);
	if (task->state != TASK_RUNNING)
		return -EINVAL;
	kind = s->kinds[task->kind];
	task->state = TASK_NEW;
	s->running--;
	kind->running--;
	if (failed) {
		kind->failed++;
	} else {
		kind->succeeded++;
		kind->total_s += (double)took_ns / 1e9;
	}
	leat_sched_give(s, kind, task->host, task->constraint_mbps);
	if (task->epoch)
		leat_sched_learn_ended(s, kind, task, now_ns, took_ns, failed);
	leat_sched_wake(s, kind->io ? POOL_IO : POOL_COMPUTE, (int)task->host);
	leave_barrier(s, now_ns);
	return 0;
}

int leat_sched_rest(struct leat_sched *s, struct leat_sched_task *task)
{
	struct kind *kind;

	if (task->state != TASK_RUNNING || s->kinds[task->kind]->io)
		return -EINVAL;
	kind = s->kinds[task->kind];
	task->state = TASK_RESTING;
	leat_sched_give(s, kind, task->host, 0);
	leat_sched_wake(s, POOL_COMPUTE, (int)task->host);
	return 0;
}

int leat_sched_resume(struct leat_sched *s, struct leat_sched_task *task)
{
	if (task->state != TASK_RESTING)
		return -EINVAL;
	task->state = TASK_RUNNING;
	leat_sched_take(s, s->kinds[task->kind], task->host, 0);
	return 0;
}

int leat_sched_cancel(struct leat_sched *s, struct leat_sched_task *task, uint64_t now_ns)
{
	struct kind *kind;

	if (task->state != TASK_SUBMITTED && task->state != TASK_READY)
		return -EINVAL;
	kind = s->kinds[task->kind];
	if (task->state == TASK_SUBMITTED) {
		s->submitted--;
		kind->submitted--;
	} else {
		s->ready--;
		kind->ready--;
		leave_lane(s, task);
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
