/* Room for tasks: what they take of hosts and devices, and room that is kept for one that was
 * overtaken too often. */
#include "sched/internal.h"

#include <utlist.h>

static unsigned free_mbps(const struct device *device)
{
	return device->is->bandwidth_mbps - device->taken_mbps;
}

unsigned leat_sched_demand(const struct leat_sched_lane *lane)
{
	unsigned mbps;

	if (!lane->kind)
		return lane->key.demand;
	mbps = lane->kind->constraint;
	/* A constraint is learned on one device; the device of a bound task may be slower. */
	if (lane->key.home != LEAT_SCHED_ANYWHERE) {
		unsigned all = lane->family->at[lane->key.home]->is->bandwidth_mbps;

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

/* --- finding room --------------------------------------------------------------------------- */

/* Is the host, or are the tasks of a shared device, closed to this lane, as room is kept there for
 * another? `host` < 0: the device. */
static bool is_kept(const struct leat_sched *s, const struct leat_sched_lane *lane, int host)
{
	const struct pool *pool = &s->pools[lane->key.pool];

	if (!pool->kept_for || pool->kept_for == lane || pool->kept_host != host)
		return false;
	return host >= 0 || pool->kept_for->family == lane->family;
}

static bool fits_on(const struct leat_sched *s, const struct leat_sched_lane *lane, int host)
{
	const struct host *h = &s->hosts[host];

	if (is_kept(s, lane, host))
		return false;
	if (lane->key.pool == POOL_COMPUTE)
		return h->free_units >= lane->key.demand;
	if (h->learner || !h->free_executors)
		return false;
	return !lane->family || (lane->family->at[host] &&
				 free_mbps(lane->family->at[host]) >= leat_sched_demand(lane));
}

static bool shared_is_closed(const struct leat_sched *s, const struct leat_sched_lane *lane)
{
	const struct family *family = lane->family;

	return family->learner || is_kept(s, lane, -1) ||
	       free_mbps(family->shared) < leat_sched_demand(lane);
}

int leat_sched_place(struct leat_sched *s, const struct leat_sched_lane *lane)
{
	const struct pool *pool = &s->pools[lane->key.pool];
	const struct family *family = lane->family;

	if (family && family->shared && shared_is_closed(s, lane))
		return -1;
	if (lane->key.home != LEAT_SCHED_ANYWHERE)
		return fits_on(s, lane, lane->key.home) ? lane->key.home : -1;
	if (pool->kept_for == lane && pool->kept_host >= 0 && fits_on(s, lane, pool->kept_host))
		return pool->kept_host;
	if (lane->key.pool == POOL_COMPUTE)
		return leat_first_find(&s->units, lane->key.demand);
	if (!family || family->shared)
		return leat_first_find(&s->executors, 1);
	return leat_first_find(&family->room, leat_sched_demand(lane));
}

bool leat_sched_is_stranded(struct leat_sched *s, struct leat_sched_lane *lane)
{
	unsigned mbps = leat_sched_demand(lane);

	if (lane->stranded_at == s->version && lane->stranded_mbps == mbps)
		return lane->stranded;
	lane->stranded_at = s->version;
	lane->stranded_mbps = mbps;
	lane->stranded = lane->family && lane->family->shared && lane->family->learner;
	if (lane->stranded)
		return true;
	if (lane->key.home != LEAT_SCHED_ANYWHERE) {
		lane->stranded = s->hosts[lane->key.home].learner;
		return lane->stranded;
	}
	lane->stranded = true;
	for (unsigned h = 0; lane->stranded && h < s->n_hosts; h++)
		lane->stranded =
			s->hosts[h].learner || !leat_sched_fits_ever(s, lane->family, h, mbps);
	return lane->stranded;
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

		leat_first_set(&family->room, host,
			       open ? (int64_t)free_mbps(family->at[host]) : -1);
	}
}

void leat_sched_take(struct leat_sched *s, const struct kind *kind, unsigned host, unsigned mbps)
{
	struct host *h = &s->hosts[host];
	struct device *device = kind->family ? kind->family->at[host] : NULL;

	if (!kind->io) {
		unsigned there = kind->units < h->free_units ? kind->units : h->free_units;

		h->free_units -= there;
		h->owed_units += kind->units - there;
		refresh_units(s, host);
		return;
	}
	h->free_executors--;
	if (device) {
		device->taken_mbps += mbps;
		device->running++;
		if (device->taken_mbps > device->peak_mbps)
			device->peak_mbps = device->taken_mbps;
		if (device->running > device->peak_running)
			device->peak_running = device->running;
	}
	leat_sched_refresh_io(s, host);
}

void leat_sched_give(struct leat_sched *s, const struct kind *kind, unsigned host, unsigned mbps)
{
	struct host *h = &s->hosts[host];
	struct device *device = kind->family ? kind->family->at[host] : NULL;

	if (!kind->io) {
		unsigned paid = kind->units < h->owed_units ? kind->units : h->owed_units;

		h->owed_units -= paid;
		h->free_units += kind->units - paid;
		refresh_units(s, host);
		return;
	}
	h->free_executors++;
	if (device) {
		device->taken_mbps -= mbps;
		device->running--;
	}
	leat_sched_refresh_io(s, host);
}

/* --- keeping it ------------------------------------------------------------------------------ */

/* How much room there is on `host` for the lane by now, or -1 if it can never be enough. */
static int64_t room_on(const struct leat_sched *s, const struct leat_sched_lane *lane,
		       unsigned host)
{
	const struct host *h = &s->hosts[host];

	if (lane->key.home != LEAT_SCHED_ANYWHERE && lane->key.home != (int)host)
		return -1;
	if (lane->key.pool == POOL_COMPUTE)
		return h->is->computing_units >= lane->key.demand ? (int64_t)h->free_units : -1;
	if (h->learner || !leat_sched_fits_ever(s, lane->family, host, leat_sched_demand(lane)))
		return -1;
	return lane->family ? (int64_t)free_mbps(lane->family->at[host])
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

/* Keep room for the lane's head on the host that is nearest to having it. */
static void keep(struct leat_sched *s, struct leat_sched_lane *lane)
{
	struct pool *pool = &s->pools[lane->key.pool];
	int64_t most = -1;

	if (lane->family && lane->family->shared) {
		if (lane->family->learner)
			return;
		pool->kept_host = -1;
		pool->kept_for = lane;
		return;
	}
	for (unsigned h = 0; h < s->n_hosts; h++) {
		int64_t room = room_on(s, lane, h);

		if (room <= most)
			continue;
		most = room;
		pool->kept_host = (int)h;
	}
	if (most < 0)
		return;
	pool->kept_for = lane;
	set_kept(s, (enum pool_name)lane->key.pool, pool->kept_host, true);
}

void leat_sched_unkeep(struct leat_sched *s, struct leat_sched_lane *lane)
{
	struct pool *pool = &s->pools[lane->key.pool];

	if (pool->kept_for != lane)
		return;
	pool->kept_for = NULL;
	set_kept(s, (enum pool_name)lane->key.pool, pool->kept_host, false);
	s->try_queued = true;
	leat_sched_wake(s, (enum pool_name)lane->key.pool, pool->kept_host);
}

/* Has the lane's head been overtaken too often? */
static bool is_pressing(const struct pool *pool, struct leat_sched_lane *lane)
{
	if (lane->blocked_turn != lane->head->turn) {
		lane->blocked_turn = lane->head->turn;
		lane->blocked_starts = pool->starts;
	}
	return pool->starts - lane->blocked_starts > LEAT_SCHED_PATIENCE;
}

/* Offer the lanes of the list that have room. The oldest of those that press, if any. */
static struct leat_sched_lane *wake_list(struct leat_sched *s, const struct pool *pool,
					 struct leat_sched_lane *list,
					 struct leat_sched_lane *oldest)
{
	struct leat_sched_lane *lane, *next;

	DL_FOREACH_SAFE(list, lane, next)
	{
		if (leat_sched_place(s, lane) >= 0)
			leat_sched_lane_offer(s, lane);
		else if (!pool->kept_for && is_pressing(pool, lane) &&
			 (!oldest || lane->head->turn < oldest->head->turn))
			oldest = lane;
	}
	return oldest;
}

void leat_sched_wake(struct leat_sched *s, enum pool_name name, int host)
{
	struct pool *pool = &s->pools[name];
	struct leat_sched_lane *oldest = wake_list(s, pool, pool->blocked, NULL);

	if (host >= 0)
		oldest = wake_list(s, pool, s->hosts[host].blocked[name], oldest);
	/* Room that is kept is in the way of kinds that wait for a host to learn on: one may follow
	 * the other, but not for ever. */
	if (oldest && (name == POOL_COMPUTE || !s->queued))
		keep(s, oldest);
}
