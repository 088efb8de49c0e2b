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

static unsigned choose(const struct task_type *type, uint64_t n)
{
	unsigned best = 0;
	double least = 0;

	/* By rising constraint: of equal times the last, which congests least. */
	for (size_t i = 0; i < type->n_registry; i++) {
		const struct leat_sched_entry *entry = &type->registry[i];
		double time = leat_sched_estimate(n, entry->slots_all, entry->mean_s);

		if (best && time > least)
			continue;
		best = entry->constraint_mbps;
		least = time;
	}
	return best;
}

unsigned leat_sched_choose(const struct leat_sched *s, unsigned type, uint64_t n)
{
	return choose(s->types[type], n);
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

static struct leat_sched_epoch *open_epoch(const struct task_type *type)
{
	return type->serial ? &type->epochs[type->n_epochs - 1] : NULL;
}

/* The constraint of the next epoch, if that is held on `host`. */
static unsigned constraint_on(const struct leat_sched *s, const struct task_type *type,
			      unsigned host)
{
	const struct leat_sched_epoch *epoch = open_epoch(type);
	unsigned each;

	if (type->n_registry || (epoch && epoch->host == host))
		return type->constraint;
	if (type->bandwidth.kind == LEAT_BANDWIDTH_BOUNDED)
		return type->bandwidth.min;
	each = type->family->at[host]->is->bandwidth_mbps / s->hosts[host].is->io_executors;
	return each ? each : 1;
}

static bool may_learn_on(const struct leat_sched *s, const struct task_type *type, unsigned host)
{
	const struct host *h = &s->hosts[host];

	if (h->learner || h->kept[POOL_IO] || !h->is->io_executors || !type->family->at[host])
		return false;
	return leat_sched_slots(s, type->family, host, constraint_on(s, type, host)) > 0;
}

/* The host that its oldest ready task is bound to; -1: there is one that is bound to none, or no
 * task is ready. */
static int bound_to(const struct task_type *type)
{
	const struct leat_sched_queue *oldest = NULL;

	for (const struct leat_sched_queue *queue = type->queues; queue; queue = queue->of_type) {
		if (!queue->head)
			continue;
		if (queue->key.home == LEAT_SCHED_ANYWHERE)
			return -1;
		if (!oldest || queue->head->turn < oldest->head->turn)
			oldest = queue;
	}
	return oldest ? oldest->key.home : -1;
}

static unsigned busy_executors(const struct host *h)
{
	return h->is->io_executors - h->free_executors;
}

/* The first host without I/O, or else that with the least; -1: there is none to learn on. */
static int find_host(const struct leat_sched *s, const struct task_type *type)
{
	const struct pool *io = &s->pools[POOL_IO];
	int bound = bound_to(type), best = -1;

	if (type->family->shared &&
	    (type->family->learner ||
	     (io->kept_for && io->kept_host < 0 && io->kept_for->family == type->family)))
		return -1;
	if (bound >= 0)
		return may_learn_on(s, type, (unsigned)bound) ? bound : -1;
	for (unsigned h = 0; h < s->n_hosts; h++)
		if (may_learn_on(s, type, h) &&
		    (best < 0 || busy_executors(&s->hosts[h]) < busy_executors(&s->hosts[best])))
			best = (int)h;
	return best;
}

static void close_epoch(struct task_type *type, enum leat_sched_epoch_end end, uint64_t now_ns)
{
	struct leat_sched_epoch *epoch = open_epoch(type);

	if (!epoch)
		return;
	epoch->end = end;
	epoch->end_ns = now_ns;
	type->serial = 0;
}

static void acquire(struct leat_sched *s, struct task_type *type, int host, uint64_t now_ns)
{
	const struct leat_sched_epoch *epoch = open_epoch(type);

	type->host = host;
	type->constraint = constraint_on(s, type, (unsigned)host);
	/* An epoch that was put aside is not comparable if it goes on elsewhere. */
	if (epoch && (epoch->host != (unsigned)host))
		close_epoch(type, LEAT_SCHED_EPOCH_UNREGISTERED, now_ns);
	s->hosts[host].learner = type;
	if (type->family->shared)
		type->family->learner = type;
	DL_DELETE(s->queued, type);
	DL_APPEND(s->learning, type);
	type->phase = LEAT_SCHED_CLEARING;
	s->version++;
	leat_sched_refresh_io(s, (unsigned)host);
}

static void release(struct leat_sched *s, struct task_type *type, enum leat_sched_phase phase)
{
	unsigned host = (unsigned)type->host;

	s->hosts[host].learner = NULL;
	if (type->family->shared)
		type->family->learner = NULL;
	DL_DELETE(s->learning, type);
	type->host = -1;
	type->phase = phase;
	s->version++;
	s->try_queued = true;
	leat_sched_refresh_io(s, host);
	leat_sched_wake(s, POOL_IO, (int)host);
}

static void enqueue(struct leat_sched *s, struct task_type *type)
{
	DL_APPEND(s->queued, type);
	type->phase = LEAT_SCHED_QUEUED;
	s->try_queued = true;
}

/* --- epochs ----------------------------------------------------------------------------------- */

static unsigned slots_now(const struct leat_sched *s, const struct task_type *type)
{
	return leat_sched_slots(s, type->family, (unsigned)type->host, type->constraint);
}

enum learn_answer leat_sched_learn_ask(const struct leat_sched *s,
				       const struct leat_sched_queue *queue)
{
	const struct task_type *type = queue->type;
	const struct leat_sched_epoch *epoch = open_epoch(type);

	if (type->phase != LEAT_SCHED_LEARNING)
		return LEARN_HOLD;
	if (queue->key.home != LEAT_SCHED_ANYWHERE && queue->key.home != type->host)
		return LEARN_ELSEWHERE;
	if (epoch)
		return epoch->started < epoch->slots ? LEARN_MEASURE : LEARN_HOLD;
	return slots_now(s, type) ? LEARN_MEASURE : LEARN_HOLD;
}

static void begin_epoch(struct leat_sched *s, struct task_type *type, uint64_t now_ns)
{
	struct leat_sched_epoch *epoch = type->epochs + type->n_epochs;

	if (type->n_epochs && epoch[-1].constraint_mbps == type->constraint)
		epoch--;
	else
		type->n_epochs++;
	*epoch = (struct leat_sched_epoch){
		.constraint_mbps = type->constraint,
		.slots = slots_now(s, type),
		.host = (unsigned)type->host,
		.begin_ns = now_ns,
		.end = LEAT_SCHED_EPOCH_OPEN,
	};
	/* 0 is no epoch's number, also when they begin anew. */
	type->serials += type->serials == UINT32_MAX ? 2 : 1;
	type->serial = type->serials;
	type->sum_ns = 0;
}

void leat_sched_learn_start(struct leat_sched *s, struct task_type *type,
			    struct leat_sched_task *task, uint64_t now_ns)
{
	if (!type->serial)
		begin_epoch(s, type, now_ns);
	open_epoch(type)->started++;
	type->learned_from++;
	task->epoch = type->serial;
}

static void apply(struct leat_sched *s, struct task_type *type)
{
	type->constraint = choose(type, type->ready);
	leat_sched_offer_type(s, type);
}

static void end_learning(struct leat_sched *s, struct task_type *type)
{
	release(s, type, LEAT_SCHED_LEARNED);
	apply(s, type);
}

static void add_entry(const struct leat_sched *s, struct task_type *type,
		      const struct leat_sched_epoch *epoch)
{
	type->registry[type->n_registry++] = (struct leat_sched_entry){
		.constraint_mbps = epoch->constraint_mbps,
		.slots = epoch->slots,
		.slots_all = slots_of_all(s, type->family, epoch->constraint_mbps),
		.mean_s = epoch->mean_s,
	};
}

/* An epoch is complete: on to the next constraint, if there is one. */
static void conclude(struct leat_sched *s, struct task_type *type, uint64_t now_ns)
{
	const struct leat_sched_epoch *epoch = open_epoch(type);
	bool bounded = type->bandwidth.kind == LEAT_BANDWIDTH_BOUNDED;
	uint64_t next = (uint64_t)type->constraint * (bounded ? type->bandwidth.delta : 2);

	if (epoch->failed == epoch->slots) {
		close_epoch(type, LEAT_SCHED_EPOCH_FAILED, now_ns);
		leat_sched_offer_type(s, type);
		return;
	}
	if (!bounded && type->n_registry &&
	    epoch->mean_s > type->registry[type->n_registry - 1].mean_s / 2) {
		close_epoch(type, LEAT_SCHED_EPOCH_DISCARDED, now_ns);
		end_learning(s, type);
		return;
	}
	add_entry(s, type, epoch);
	close_epoch(type, LEAT_SCHED_EPOCH_REGISTERED, now_ns);
	if (next <= (bounded ? type->bandwidth.max : LEAT_BANDWIDTH_MAX)) {
		type->constraint = (unsigned)next;
		if (slots_now(s, type)) {
			leat_sched_offer_type(s, type);
			return;
		}
	}
	end_learning(s, type);
}

void leat_sched_learn_ended(struct leat_sched *s, struct task_type *type,
			    const struct leat_sched_task *task, uint64_t now_ns, uint64_t took_ns,
			    bool failed)
{
	struct leat_sched_epoch *epoch = open_epoch(type);

	/* Its epoch may have been closed at a barrier. */
	if (!epoch || task->epoch != type->serial)
		return;
	epoch->ended++;
	if (failed) {
		epoch->failed++;
	} else {
		type->sum_ns += took_ns;
		epoch->mean_s = (double)type->sum_ns / (epoch->ended - epoch->failed) / 1e9;
	}
	if (epoch->ended == epoch->slots)
		conclude(s, type, now_ns);
}

/* --- going on --------------------------------------------------------------------------------- */

void leat_sched_learn_ready(struct leat_sched *s, struct task_type *type)
{
	unsigned chosen;

	if (type->phase == LEAT_SCHED_IDLE)
		enqueue(s, type);
	if (type->phase != LEAT_SCHED_LEARNED)
		return;
	chosen = choose(type, type->ready);
	if (chosen == type->constraint)
		return;
	type->constraint = chosen;
	type->choices++;
	leat_sched_offer_type(s, type);
}

/* A type for which nothing more comes gives its host back, and its epoch up. */
static void close_short(struct leat_sched *s, struct task_type *type, uint64_t now_ns)
{
	const struct leat_sched_epoch *epoch = open_epoch(type);

	if (type->ready || type->submitted || (epoch && epoch->started == epoch->slots))
		return;
	close_epoch(type, LEAT_SCHED_EPOCH_UNREGISTERED, now_ns);
	release(s, type, LEAT_SCHED_IDLE);
}

static void begin_if_clear(struct leat_sched *s, struct task_type *type)
{
	const struct family *family = type->family;

	if (type->phase != LEAT_SCHED_CLEARING || busy_executors(&s->hosts[type->host]) ||
	    (family->shared && family->shared->running))
		return;
	type->phase = LEAT_SCHED_LEARNING;
	leat_sched_offer_type(s, type);
}

/* Is there a host to learn on for a type that waits for one? Where its tasks are bound to a device
 * that is too slow for the next constraint, it has learned all it can. */
static void try_queued(struct leat_sched *s, struct task_type *type, uint64_t now_ns)
{
	int bound = bound_to(type), host;

	if (bound >= 0 && type->n_registry &&
	    !leat_sched_slots(s, type->family, (unsigned)bound, type->constraint)) {
		close_epoch(type, LEAT_SCHED_EPOCH_UNREGISTERED, now_ns);
		DL_DELETE(s->queued, type);
		type->phase = LEAT_SCHED_LEARNED;
		apply(s, type);
		return;
	}
	host = find_host(s, type);
	if (host >= 0)
		acquire(s, type, host, now_ns);
}

void leat_sched_learn_settle(struct leat_sched *s, uint64_t now_ns)
{
	struct task_type *type, *next;

	DL_FOREACH_SAFE(s->learning, type, next)
	{
		if (s->closing)
			close_short(s, type, now_ns);
	}
	if (s->try_queued) {
		s->try_queued = false;
		DL_FOREACH_SAFE(s->queued, type, next)
		{
			try_queued(s, type, now_ns);
		}
	}
	DL_FOREACH(s->learning, type)
	{
		begin_if_clear(s, type);
	}
}

/* Does the learning wait for tasks, none of which is there? */
static bool is_short(const struct leat_sched *s, const struct task_type *type)
{
	if (type->phase != LEAT_SCHED_LEARNING || busy_executors(&s->hosts[type->host]))
		return false;
	for (const struct leat_sched_queue *queue = type->queues; queue; queue = queue->of_type)
		if (queue->head &&
		    (queue->key.home == LEAT_SCHED_ANYWHERE || queue->key.home == type->host))
			return false;
	return true;
}

/* Is one of the blocked queues stranded that could run on the host of the type? */
static bool strands(struct leat_sched *s, const struct task_type *type,
		    struct leat_sched_queue *list)
{
	struct leat_sched_queue *queue;

	DL_FOREACH(list, queue)
	{
		bool there =
			queue->key.home == LEAT_SCHED_ANYWHERE || queue->key.home == type->host;

		if (queue->family && queue->family == type->family && queue->family->shared)
			return true;
		if (there && leat_sched_is_stranded(s, queue) &&
		    leat_sched_fits_ever(s, queue->family, (unsigned)type->host,
					 leat_sched_demand(queue)))
			return true;
	}
	return false;
}

/* Is there something that could go on if the type gave its host back? */
static bool is_in_the_way(struct leat_sched *s, const struct task_type *type)
{
	const struct task_type *other;

	DL_FOREACH(s->queued, other)
	{
		if (other->family->at[type->host] || other->family == type->family)
			return true;
	}
	return strands(s, type, s->pools[POOL_IO].blocked) ||
	       strands(s, type, s->hosts[type->host].blocked[POOL_IO]);
}

bool leat_sched_learn_yield(struct leat_sched *s)
{
	struct task_type *type;

	DL_FOREACH(s->learning, type)
	{
		if (!is_short(s, type) || !is_in_the_way(s, type))
			continue;
		release(s, type, LEAT_SCHED_IDLE);
		if (type->ready)
			enqueue(s, type);
		return true;
	}
	return false;
}
