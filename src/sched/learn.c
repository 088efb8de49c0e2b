/* Automatic constraints: epochs of learning on a host, and the choice from what was learned.
 * Source: I/O-aware PyCOMPSs, Sec. 3.3 and 4.2.3. */
#include "sched/internal.h"

#include <stddef.h>
#include <utlist.h>

unsigned leat_sched_slots(const struct leat_sched *s, const struct family *family, unsigned host,
			  unsigned mbps)
{
	unsigned fit = family->at[host] ? family->at[host]->is->bandwidth_mbps / mbps : 0;
	unsigned executors = s->hosts[host].is->io_executors;

	return fit < executors ? fit : executors;
}

/* --- the choice ------------------------------------------------------------------------------ */

double leat_sched_estimate(uint64_t n, uint64_t slots, double mean_s)
{
	uint64_t groups = n / slots;

	return (double)groups * mean_s + (n % slots ? mean_s : 0);
}

static unsigned choose(const struct kind *kind, uint64_t n)
{
	unsigned best = 0;
	double least = 0;

	/* By rising constraint: of equal times the last, which congests least. */
	for (size_t i = 0; i < kind->n_registry; i++) {
		const struct leat_sched_entry *entry = &kind->registry[i];
		double time = leat_sched_estimate(n, entry->slots_all, entry->mean_s);

		if (best && time > least)
			continue;
		best = entry->constraint_mbps;
		least = time;
	}
	return best;
}

unsigned leat_sched_choose(const struct leat_sched *s, unsigned kind, uint64_t n)
{
	return choose(s->kinds[kind], n);
}

static uint64_t slots_of_all(const struct leat_sched *s, const struct family *family, unsigned mbps)
{
	uint64_t sum = 0, fit;

	for (unsigned h = 0; h < s->n_hosts; h++)
		sum += family->shared ? s->hosts[h].is->io_executors
				      : leat_sched_slots(s, family, h, mbps);
	if (!family->shared)
		return sum;
	fit = family->shared->is->bandwidth_mbps / mbps;
	return fit < sum ? fit : sum;
}

/* --- the learning host ----------------------------------------------------------------------- */

static struct leat_sched_epoch *open_epoch(const struct kind *kind)
{
	return kind->serial ? &kind->epochs[kind->n_epochs - 1] : NULL;
}

/* The constraint of the next epoch, if that is held on `host`. */
static unsigned constraint_on(const struct leat_sched *s, const struct kind *kind, unsigned host)
{
	const struct leat_sched_epoch *epoch = open_epoch(kind);
	unsigned each;

	if (kind->n_registry || (epoch && epoch->host == host))
		return kind->constraint;
	if (kind->bandwidth.kind == LEAT_BANDWIDTH_BOUNDED)
		return kind->bandwidth.min;
	each = kind->family->at[host]->is->bandwidth_mbps / s->hosts[host].is->io_executors;
	return each ? each : 1;
}

static bool may_learn_on(const struct leat_sched *s, const struct kind *kind, unsigned host)
{
	const struct host *h = &s->hosts[host];

	if (h->learner || h->kept[POOL_IO] || !h->is->io_executors || !kind->family->at[host])
		return false;
	return leat_sched_slots(s, kind->family, host, constraint_on(s, kind, host)) > 0;
}

/* The host that its oldest ready task is bound to; -1: there is one that is bound to none, or no
 * task is ready. */
static int bound_to(const struct kind *kind)
{
	const struct leat_sched_lane *oldest = NULL;

	for (const struct leat_sched_lane *lane = kind->lanes; lane; lane = lane->of_kind) {
		if (!lane->head)
			continue;
		if (lane->key.home == LEAT_SCHED_ANYWHERE)
			return -1;
		if (!oldest || lane->head->turn < oldest->head->turn)
			oldest = lane;
	}
	return oldest ? oldest->key.home : -1;
}

static unsigned busy_executors(const struct host *h)
{
	return h->is->io_executors - h->free_executors;
}

/* The first host without I/O, or else that with the least; -1: there is none to learn on. */
static int find_host(const struct leat_sched *s, const struct kind *kind)
{
	const struct pool *io = &s->pools[POOL_IO];
	int bound = bound_to(kind), best = -1;

	if (kind->family->shared &&
	    (kind->family->learner ||
	     (io->kept_for && io->kept_host < 0 && io->kept_for->family == kind->family)))
		return -1;
	if (bound >= 0)
		return may_learn_on(s, kind, (unsigned)bound) ? bound : -1;
	for (unsigned h = 0; h < s->n_hosts; h++)
		if (may_learn_on(s, kind, h) &&
		    (best < 0 || busy_executors(&s->hosts[h]) < busy_executors(&s->hosts[best])))
			best = (int)h;
	return best;
}

static void close_epoch(struct kind *kind, enum leat_sched_epoch_end end, uint64_t now_ns)
{
	struct leat_sched_epoch *epoch = open_epoch(kind);

	if (!epoch)
		return;
	epoch->end = end;
	epoch->end_ns = now_ns;
	kind->serial = 0;
}

static void acquire(struct leat_sched *s, struct kind *kind, int host, uint64_t now_ns)
{
	const struct leat_sched_epoch *epoch = open_epoch(kind);

	kind->host = host;
	kind->constraint = constraint_on(s, kind, (unsigned)host);
	/* An epoch that was put aside is not comparable if it goes on elsewhere. */
	if (epoch && (epoch->host != (unsigned)host))
		close_epoch(kind, LEAT_SCHED_EPOCH_UNREGISTERED, now_ns);
	s->hosts[host].learner = kind;
	if (kind->family->shared)
		kind->family->learner = kind;
	DL_DELETE(s->queued, kind);
	DL_APPEND(s->learning, kind);
	kind->phase = LEAT_SCHED_CLEARING;
	s->version++;
	leat_sched_refresh_io(s, (unsigned)host);
}

static void release(struct leat_sched *s, struct kind *kind, enum leat_sched_phase phase)
{
	unsigned host = (unsigned)kind->host;

	s->hosts[host].learner = NULL;
	if (kind->family->shared)
		kind->family->learner = NULL;
	DL_DELETE(s->learning, kind);
	kind->host = -1;
	kind->phase = phase;
	s->version++;
	s->try_queued = true;
	leat_sched_refresh_io(s, host);
	leat_sched_wake(s, POOL_IO, (int)host);
}

static void enqueue(struct leat_sched *s, struct kind *kind)
{
	DL_APPEND(s->queued, kind);
	kind->phase = LEAT_SCHED_QUEUED;
	s->try_queued = true;
}

/* --- epochs ----------------------------------------------------------------------------------- */

static unsigned slots_now(const struct leat_sched *s, const struct kind *kind)
{
	return leat_sched_slots(s, kind->family, (unsigned)kind->host, kind->constraint);
}

enum learn_answer leat_sched_learn_ask(const struct leat_sched *s,
				       const struct leat_sched_lane *lane)
{
	const struct kind *kind = lane->kind;
	const struct leat_sched_epoch *epoch = open_epoch(kind);

	if (kind->phase != LEAT_SCHED_LEARNING)
		return LEARN_HOLD;
	if (lane->key.home != LEAT_SCHED_ANYWHERE && lane->key.home != kind->host)
		return LEARN_PLACE;
	if (epoch)
		return epoch->started < epoch->slots ? LEARN_MEASURE : LEARN_HOLD;
	return slots_now(s, kind) ? LEARN_MEASURE : LEARN_HOLD;
}

static void begin_epoch(struct leat_sched *s, struct kind *kind, uint64_t now_ns)
{
	struct leat_sched_epoch *epoch = kind->epochs + kind->n_epochs;

	if (kind->n_epochs && epoch[-1].constraint_mbps == kind->constraint)
		epoch--;
	else
		kind->n_epochs++;
	*epoch = (struct leat_sched_epoch){
		.constraint_mbps = kind->constraint,
		.slots = slots_now(s, kind),
		.host = (unsigned)kind->host,
		.begin_ns = now_ns,
		.end = LEAT_SCHED_EPOCH_OPEN,
	};
	/* 0 is no epoch's number, also when they begin anew. */
	kind->serials += kind->serials == UINT32_MAX ? 2 : 1;
	kind->serial = kind->serials;
	kind->sum_ns = 0;
}

void leat_sched_learn_start(struct leat_sched *s, struct kind *kind, struct leat_sched_task *task,
			    uint64_t now_ns)
{
	if (!kind->serial)
		begin_epoch(s, kind, now_ns);
	open_epoch(kind)->started++;
	kind->learned_from++;
	task->epoch = kind->serial;
}

static void apply(struct leat_sched *s, struct kind *kind)
{
	kind->constraint = choose(kind, kind->ready);
	leat_sched_offer_kind(s, kind);
}

static void learned(struct leat_sched *s, struct kind *kind)
{
	release(s, kind, LEAT_SCHED_LEARNED);
	apply(s, kind);
}

static void add_entry(const struct leat_sched *s, struct kind *kind,
		      const struct leat_sched_epoch *epoch)
{
	kind->registry[kind->n_registry++] = (struct leat_sched_entry){
		.constraint_mbps = epoch->constraint_mbps,
		.slots = epoch->slots,
		.slots_all = slots_of_all(s, kind->family, epoch->constraint_mbps),
		.mean_s = epoch->mean_s,
	};
}

/* An epoch is complete: on to the next constraint, if there is one. */
static void conclude(struct leat_sched *s, struct kind *kind, uint64_t now_ns)
{
	const struct leat_sched_epoch *epoch = open_epoch(kind);
	bool bounded = kind->bandwidth.kind == LEAT_BANDWIDTH_BOUNDED;
	uint64_t next = (uint64_t)kind->constraint * (bounded ? kind->bandwidth.delta : 2);

	if (epoch->failed == epoch->slots) {
		close_epoch(kind, LEAT_SCHED_EPOCH_FAILED, now_ns);
		leat_sched_offer_kind(s, kind);
		return;
	}
	if (!bounded && kind->n_registry &&
	    epoch->mean_s > kind->registry[kind->n_registry - 1].mean_s / 2) {
		close_epoch(kind, LEAT_SCHED_EPOCH_DISCARDED, now_ns);
		learned(s, kind);
		return;
	}
	add_entry(s, kind, epoch);
	close_epoch(kind, LEAT_SCHED_EPOCH_REGISTERED, now_ns);
	if (next <= (bounded ? kind->bandwidth.max : LEAT_BANDWIDTH_MAX)) {
		kind->constraint = (unsigned)next;
		if (slots_now(s, kind)) {
			leat_sched_offer_kind(s, kind);
			return;
		}
	}
	learned(s, kind);
}

void leat_sched_learn_ended(struct leat_sched *s, struct kind *kind,
			    const struct leat_sched_task *task, uint64_t now_ns, uint64_t took_ns,
			    bool failed)
{
	struct leat_sched_epoch *epoch = open_epoch(kind);

	/* Its epoch may have been closed at a barrier. */
	if (!epoch || task->epoch != kind->serial)
		return;
	epoch->ended++;
	if (failed) {
		epoch->failed++;
	} else {
		kind->sum_ns += took_ns;
		epoch->mean_s = (double)kind->sum_ns / (epoch->ended - epoch->failed) / 1e9;
	}
	if (epoch->ended == epoch->slots)
		conclude(s, kind, now_ns);
}

/* --- going on --------------------------------------------------------------------------------- */

void leat_sched_learn_ready(struct leat_sched *s, struct kind *kind)
{
	unsigned chosen;

	if (kind->phase == LEAT_SCHED_IDLE)
		enqueue(s, kind);
	if (kind->phase != LEAT_SCHED_LEARNED)
		return;
	chosen = choose(kind, kind->ready);
	if (chosen == kind->constraint)
		return;
	kind->constraint = chosen;
	kind->choices++;
	leat_sched_offer_kind(s, kind);
}

/* A kind for which nothing more comes gives its host back, and its epoch up. */
static void close_short(struct leat_sched *s, struct kind *kind, uint64_t now_ns)
{
	const struct leat_sched_epoch *epoch = open_epoch(kind);

	if (kind->ready || kind->submitted || (epoch && epoch->started == epoch->slots))
		return;
	close_epoch(kind, LEAT_SCHED_EPOCH_UNREGISTERED, now_ns);
	release(s, kind, LEAT_SCHED_IDLE);
}

static void begin_if_clear(struct leat_sched *s, struct kind *kind)
{
	const struct family *family = kind->family;

	if (kind->phase != LEAT_SCHED_CLEARING || busy_executors(&s->hosts[kind->host]) ||
	    (family->shared && family->shared->running))
		return;
	kind->phase = LEAT_SCHED_LEARNING;
	leat_sched_offer_kind(s, kind);
}

/* Is there a host to learn on for a kind that waits for one? Where its tasks are bound to a device
 * that is too slow for the next constraint, it has learned all it can. */
static void try_queued(struct leat_sched *s, struct kind *kind, uint64_t now_ns)
{
	int bound = bound_to(kind), host;

	if (bound >= 0 && kind->n_registry &&
	    !leat_sched_slots(s, kind->family, (unsigned)bound, kind->constraint)) {
		close_epoch(kind, LEAT_SCHED_EPOCH_UNREGISTERED, now_ns);
		DL_DELETE(s->queued, kind);
		kind->phase = LEAT_SCHED_LEARNED;
		apply(s, kind);
		return;
	}
	host = find_host(s, kind);
	if (host >= 0)
		acquire(s, kind, host, now_ns);
}

void leat_sched_learn_settle(struct leat_sched *s, uint64_t now_ns)
{
	struct kind *kind, *next;

	DL_FOREACH_SAFE(s->learning, kind, next)
	{
		if (s->closing)
			close_short(s, kind, now_ns);
	}
	if (s->try_queued) {
		s->try_queued = false;
		DL_FOREACH_SAFE(s->queued, kind, next)
		{
			try_queued(s, kind, now_ns);
		}
	}
	DL_FOREACH(s->learning, kind)
	{
		begin_if_clear(s, kind);
	}
}

/* Does the learning wait for tasks, none of which is there? */
static bool is_short(const struct leat_sched *s, const struct kind *kind)
{
	if (kind->phase != LEAT_SCHED_LEARNING || busy_executors(&s->hosts[kind->host]))
		return false;
	for (const struct leat_sched_lane *lane = kind->lanes; lane; lane = lane->of_kind)
		if (lane->head &&
		    (lane->key.home == LEAT_SCHED_ANYWHERE || lane->key.home == kind->host))
			return false;
	return true;
}

/* Is one of the blocked lanes stranded that could run on the host of the kind? */
static bool strands(struct leat_sched *s, const struct kind *kind, struct leat_sched_lane *list)
{
	struct leat_sched_lane *lane;

	DL_FOREACH(list, lane)
	{
		bool there = lane->key.home == LEAT_SCHED_ANYWHERE || lane->key.home == kind->host;

		if (lane->family && lane->family == kind->family && lane->family->shared)
			return true;
		if (there && leat_sched_is_stranded(s, lane) &&
		    leat_sched_fits_ever(s, lane->family, (unsigned)kind->host,
					 leat_sched_demand(lane)))
			return true;
	}
	return false;
}

/* Is there something that could go on if the kind gave its host back? */
static bool is_in_the_way(struct leat_sched *s, const struct kind *kind)
{
	const struct kind *other;

	DL_FOREACH(s->queued, other)
	{
		if (other->family->at[kind->host] || other->family == kind->family)
			return true;
	}
	return strands(s, kind, s->pools[POOL_IO].blocked) ||
	       strands(s, kind, s->hosts[kind->host].blocked[POOL_IO]);
}

bool leat_sched_learn_yield(struct leat_sched *s)
{
	struct kind *kind;

	DL_FOREACH(s->learning, kind)
	{
		if (!is_short(s, kind) || !is_in_the_way(s, kind))
			continue;
		release(s, kind, LEAT_SCHED_IDLE);
		if (kind->ready)
			enqueue(s, kind);
		return true;
	}
	return false;
}
