/* Capacity for tasks: what they take of hosts and devices, and capacity that is kept for one that
 * was overtaken too often. */
#include "sched/internal.h"

#include <utlist.h>

static unsigned free_mbps(const struct device *device)
{
	return device->is->bandwidth_mbps - device->allocated_mbps;
}

unsigned leat_sched_demand(const struct leat_sched_queue *queue)
{
	unsigned mbps;

	if (!queue->type)
		return queue->key.demand;
	mbps = queue->type->constraint;
	/* A constraint is learned on one device; the device of a bound task may be slower. */
	if (queue->key.home != LEAT_SCHED_ANYWHERE) {
		unsigned all = queue->family->at[queue->key.home]->is->bandwidth_mbps;

		return mbps < all ? mbps : all;
	}
	return mbps;
}

bool leat_sched_fits_ever(const struct leat_sched *s, const struct family *family, unsigned host,
			  unsigned mbps)
{
	if (!s->hosts[host].is->io_executors)
		return false;
	return !family || (family->at[host] && family->at[host]->is->bandwidth_mbps >= mbps);
}

/* --- finding capacity ---------------------------------------------------------------------------
 */

/* Is the host, or are the tasks of a shared device, closed to this queue, as capacity is kept there
 * for another? `host` < 0: the device. */
static bool is_kept(const struct leat_sched *s, const struct leat_sched_queue *queue, int host)
{
	const struct pool *pool = &s->pools[queue->key.pool];

	if (!pool->kept_for || pool->kept_for == queue || pool->kept_host != host)
		return false;
	return host >= 0 || pool->kept_for->family == queue->family;
}

static bool fits_on(const struct leat_sched *s, const struct leat_sched_queue *queue, int host)
{
	const struct host *h = &s->hosts[host];

	if (is_kept(s, queue, host))
		return false;
	if (queue->key.pool == POOL_COMPUTE)
		return h->free_units >= queue->key.demand;
	if (h->learner || !h->free_executors)
		return false;
	return !queue->family || (queue->family->at[host] &&
				  free_mbps(queue->family->at[host]) >= leat_sched_demand(queue));
}

static bool shared_is_closed(const struct leat_sched *s, const struct leat_sched_queue *queue)
{
	const struct family *family = queue->family;

	return family->learner || is_kept(s, queue, -1) ||
	       free_mbps(family->shared) < leat_sched_demand(queue);
}

int leat_sched_place(struct leat_sched *s, const struct leat_sched_queue *queue)
{
	const struct pool *pool = &s->pools[queue->key.pool];
	const struct family *family = queue->family;

	if (family && family->shared && shared_is_closed(s, queue))
		return -1;
	if (queue->key.home != LEAT_SCHED_ANYWHERE)
		return fits_on(s, queue, queue->key.home) ? queue->key.home : -1;
	if (pool->kept_for == queue && pool->kept_host >= 0 && fits_on(s, queue, pool->kept_host))
		return pool->kept_host;
	if (queue->key.pool == POOL_COMPUTE)
		return leat_first_find(&s->units, queue->key.demand);
	if (!family || family->shared)
		return leat_first_find(&s->executors, 1);
	return leat_first_find(&family->capacity, leat_sched_demand(queue));
}

bool leat_sched_is_stranded(struct leat_sched *s, struct leat_sched_queue *queue)
{
	unsigned mbps = leat_sched_demand(queue);

	if (queue->stranded_at == s->version && queue->stranded_mbps == mbps)
		return queue->stranded;
	queue->stranded_at = s->version;
	queue->stranded_mbps = mbps;
	queue->stranded = queue->family && queue->family->shared && queue->family->learner;
	if (queue->stranded)
		return true;
	if (queue->key.home != LEAT_SCHED_ANYWHERE) {
		queue->stranded = s->hosts[queue->key.home].learner;
		return queue->stranded;
	}
	queue->stranded = true;
	for (unsigned h = 0; queue->stranded && h < s->n_hosts; h++)
		queue->stranded =
			s->hosts[h].learner || !leat_sched_fits_ever(s, queue->family, h, mbps);
	return queue->stranded;
}

/* --- taking it ------------------------------------------------------------------------------- */

static void refresh_units(struct leat_sched *s, unsigned host)
{
	const struct host *h = &s->hosts[host];

	leat_first_set(&s->units, host, h->kept[POOL_COMPUTE] ? -1 : (int64_t)h->free_units);
}

void leat_sched_refresh_io(struct leat_sched *s, unsigned host)
{
	const struct host *h = &s->hosts[host];
	bool open = !h->learner && !h->kept[POOL_IO] && h->free_executors;

	leat_first_set(&s->executors, host, open ? (int64_t)h->free_executors : -1);
	for (size_t i = 0; i < h->n_families; i++) {
		struct family *family = h->families[i];

		leat_first_set(&family->capacity, host,
			       open ? (int64_t)free_mbps(family->at[host]) : -1);
	}
}

void leat_sched_take(struct leat_sched *s, const struct task_type *type, unsigned host,
		     unsigned mbps)
{
	struct host *h = &s->hosts[host];
	struct device *device = type->family ? type->family->at[host] : NULL;

	if (!type->io) {
		unsigned there = type->units < h->free_units ? type->units : h->free_units;

		h->free_units -= there;
		h->owed_units += type->units - there;
		refresh_units(s, host);
		return;
	}
	h->free_executors--;
	if (device) {
		device->allocated_mbps += mbps;
		device->running++;
		if (device->allocated_mbps > device->peak_mbps)
			device->peak_mbps = device->allocated_mbps;
		if (device->running > device->peak_running)
			device->peak_running = device->running;
	}
	leat_sched_refresh_io(s, host);
}

void leat_sched_give(struct leat_sched *s, const struct task_type *type, unsigned host,
		     unsigned mbps)
{
	struct host *h = &s->hosts[host];
	struct device *device = type->family ? type->family->at[host] : NULL;

	if (!type->io) {
		unsigned paid = type->units < h->owed_units ? type->units : h->owed_units;

		h->owed_units -= paid;
		h->free_units += type->units - paid;
		refresh_units(s, host);
		return;
	}
	h->free_executors++;
	if (device) {
		device->allocated_mbps -= mbps;
		device->running--;
	}
	leat_sched_refresh_io(s, host);
}

/* --- keeping it ------------------------------------------------------------------------------ */

/* How much capacity there is on `host` for the queue by now, or -1 if it can never be enough. */
static int64_t free_on(const struct leat_sched *s, const struct leat_sched_queue *queue,
		       unsigned host)
{
	const struct host *h = &s->hosts[host];

	if (queue->key.home != LEAT_SCHED_ANYWHERE && queue->key.home != (int)host)
		return -1;
	if (queue->key.pool == POOL_COMPUTE)
		return h->is->computing_units >= queue->key.demand ? (int64_t)h->free_units : -1;
	if (h->learner || !leat_sched_fits_ever(s, queue->family, host, leat_sched_demand(queue)))
		return -1;
	return queue->family ? (int64_t)free_mbps(queue->family->at[host])
			     : (int64_t)h->free_executors;
}

static void set_kept(struct leat_sched *s, enum pool_name pool, int host, bool kept)
{
	if (host < 0)
		return;
	s->hosts[host].kept[pool] = kept;
	if (pool == POOL_COMPUTE)
		refresh_units(s, (unsigned)host);
	else
		leat_sched_refresh_io(s, (unsigned)host);
}

/* Keep capacity for the queue's head on the host that is nearest to having it. */
static void keep(struct leat_sched *s, struct leat_sched_queue *queue)
{
	struct pool *pool = &s->pools[queue->key.pool];
	int64_t most = -1;

	if (queue->family && queue->family->shared) {
		if (queue->family->learner)
			return;
		pool->kept_host = -1;
		pool->kept_for = queue;
		return;
	}
	for (unsigned h = 0; h < s->n_hosts; h++) {
		int64_t capacity = free_on(s, queue, h);

		if (capacity <= most)
			continue;
		most = capacity;
		pool->kept_host = (int)h;
	}
	if (most < 0)
		return;
	pool->kept_for = queue;
	set_kept(s, (enum pool_name)queue->key.pool, pool->kept_host, true);
}

void leat_sched_unkeep(struct leat_sched *s, struct leat_sched_queue *queue)
{
	struct pool *pool = &s->pools[queue->key.pool];

	if (pool->kept_for != queue)
		return;
	pool->kept_for = NULL;
	set_kept(s, (enum pool_name)queue->key.pool, pool->kept_host, false);
	s->try_queued = true;
	leat_sched_wake(s, (enum pool_name)queue->key.pool, pool->kept_host);
}

/* Has the queue's head been overtaken too often? */
static bool is_pressing(const struct pool *pool, struct leat_sched_queue *queue)
{
	if (queue->blocked_turn != queue->head->turn) {
		queue->blocked_turn = queue->head->turn;
		queue->blocked_starts = pool->starts;
	}
	return pool->starts - queue->blocked_starts > LEAT_SCHED_PATIENCE;
}

/* Offer the queues of the list that have capacity. The oldest of those that press, if any. */
static struct leat_sched_queue *wake_list(struct leat_sched *s, const struct pool *pool,
					  struct leat_sched_queue *list,
					  struct leat_sched_queue *oldest)
{
	struct leat_sched_queue *queue, *next;

	DL_FOREACH_SAFE(list, queue, next)
	{
		if (leat_sched_place(s, queue) >= 0)
			leat_sched_queue_offer(s, queue);
		else if (!pool->kept_for && is_pressing(pool, queue) &&
			 (!oldest || queue->head->turn < oldest->head->turn))
			oldest = queue;
	}
	return oldest;
}

void leat_sched_wake(struct leat_sched *s, enum pool_name name, int host)
{
	struct pool *pool = &s->pools[name];
	struct leat_sched_queue *oldest = wake_list(s, pool, pool->blocked, NULL);

	if (host >= 0)
		oldest = wake_list(s, pool, s->hosts[host].blocked[name], oldest);
	/* Capacity that is kept is in the way of types that wait for a host to learn on: one may
	 * follow the other, but not for ever. */
	if (oldest && (name == POOL_COMPUTE || !s->queued))
		keep(s, oldest);
}
