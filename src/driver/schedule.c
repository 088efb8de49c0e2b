/* Which steps may run now: those that wait are no load, the others have computing units, or an I/O
 * executor and bandwidth, of this machine. The scheduler decides; here it gets to know what goes
 * on.
 *
 * Nothing waits for ever: what runs either goes on, and ends, or waits for others' files, and then
 * its units are free for those. An I/O step starts when all that it reads from has ended, so that
 * it waits for nobody while it has bandwidth. */
#include "driver/internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pidstat.h"
#include "timeline/learned.h"
#include "driver/moved.h"
#include "sched/achieved.h"
#include "sched/sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum seat {
	SEAT_NONE,    /* it has ended, or needs no capacity */
	SEAT_EARLY,   /* it cannot start yet */
	SEAT_QUEUED,  /* it could, if there were capacity */
	SEAT_GRANTED, /* there is */
	SEAT_TAKEN,   /* it runs */
	SEAT_LENT,    /* it runs, and waits for others' files: who runs meanwhile has its units */
};

struct scheduled {
	struct leat_sched_task task; /* first: the scheduler gives its address */
	enum seat state;
	uint64_t began_ns;
	struct leat_moved moved;
	size_t awaits; /* a step to end before it; n_steps: none is known to */
};

/* A type of the scheduler's: a task of the workflow on one device. */
struct scheduled_type {
	const char *name;                 /* borrowed */
	const struct leat_device *device; /* borrowed, or NULL */
	const struct leat_needs *needs;   /* borrowed: of one of its steps */
	unsigned number;
};

struct leat_schedule {
	const struct leat_resources *res; /* borrowed */
	struct leat_sched *sched;         /* owned */
	struct leat_achieved *achieved;   /* owned */
	struct scheduled *steps;          /* owned */
	struct scheduled_type *types;     /* owned */
	size_t n_types;
	int dir_device;     /* number of the device with the workflow's directory, or none */
	uint64_t copied;    /* bytes that the daemon has written, when it was */
	uint64_t looked_ns; /* looked at last */
};

/* --- types --------------------------------------------------------------------------------- */

/* A step that says nothing of units has one for each process, as far as there are so many. */
static unsigned units_of(const struct leat_schedule *p, const struct leat_step *step)
{
	unsigned most = p->res->hosts[0].computing_units;

	if (step->needs.io)
		return 0;
	if (step->needs.computing_units)
		return step->needs.computing_units;
	return step->nprocs < most ? step->nprocs : most;
}

static int add_type(struct leat_schedule *p, const struct leat_step *step,
		    const struct leat_device *device)
{
	struct scheduled_type *type = &p->types[p->n_types];
	const struct leat_sched_task_type spec = {.name = step->task,
						  .io = step->needs.io,
						  .computing_units = units_of(p, step),
						  .device = device ? device->name : NULL,
						  .bandwidth = step->needs.bandwidth};
	char why[LEAT_SCHED_WHY] = "out of memory";
	int result;

	*type = (struct scheduled_type){
		.name = step->task, .device = device, .needs = &step->needs};
	result = leat_sched_add_type(p->sched, &spec, &type->number, why);
	if (result < 0)
		leat_error("step %s cannot be scheduled: %s", step->name, why);
	else
		p->n_types++;
	return result;
}

/* The type of a step, made known if it is new. */
static int find_type(struct leat_driver *d, const struct leat_step *step, unsigned *number)
{
	struct leat_schedule *p = d->schedule;
	const struct leat_device *device = NULL;
	int result = 0;

	if (step->needs.device)
		device = leat_resources_find_device(p->res, 0, step->needs.device);
	else if (step->needs.io)
		result = leat_step_find_device(step, d->config->dir, p->res, 0, &device);
	for (size_t k = p->n_types; !result && k > 0; k--)
		if (p->types[k - 1].device == device && !strcmp(p->types[k - 1].name, step->task)) {
			*number = p->types[k - 1].number;
			return 0;
		}
	if (!result)
		result = add_type(p, step, device);
	if (!result)
		*number = p->types[p->n_types - 1].number;
	return result;
}

static int device_number(const struct leat_schedule *p, const struct leat_device *device)
{
	return leat_sched_device_number(p->sched, device ? device->name : NULL);
}

/* Types and devices have the scheduler's numbers. */
static int make_achieved(struct leat_driver *d)
{
	struct leat_schedule *p = d->schedule;
	int result = 0;

	p->dir_device = device_number(p, leat_resources_device_of(p->res, 0, d->config->dir));
	p->looked_ns = d->result->start_ns;
	p->achieved = leat_achieved_new(d->result->start_ns, leat_achieved_share(p->n_types));
	if (!p->achieved)
		return -ENOMEM;
	for (size_t i = 0; !result && i < leat_sched_n_devices(p->sched); i++)
		result = leat_achieved_add_device(p->achieved);
	for (size_t k = 0; !result && k < p->n_types; k++) {
		const struct scheduled_type *type = &p->types[k];

		result = leat_achieved_add_type(p->achieved, type->number,
						device_number(p, type->device), type->needs->io,
						leat_bandwidth_learns(&type->needs->bandwidth));
	}
	return result;
}

int leat_schedule_init(struct leat_driver *d)
{
	size_t n = d->wf->n_steps;
	struct leat_schedule *p;
	int result = 0;

	if (!d->config->resources || !d->config->control)
		return 0;
	p = d->schedule = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->res = d->config->resources;
	p->sched = leat_sched_new(p->res);
	p->steps = calloc(n + 1, sizeof(*p->steps));
	p->types = calloc(n + 1, sizeof(*p->types));
	if (!p->sched || !p->steps || !p->types)
		return -ENOMEM;
	for (size_t i = 0; !result && i < n; i++) {
		p->steps[i].task.home = LEAT_SCHED_ANYWHERE;
		p->steps[i].awaits = n;
		result = find_type(d, &d->wf->steps[i], &p->steps[i].task.type);
	}
	return result ? result : make_achieved(d);
}

void leat_schedule_release(struct leat_driver *d)
{
	struct leat_schedule *p = d->schedule;

	if (!p)
		return;
	leat_sched_free(p->sched);
	leat_achieved_free(p->achieved);
	free(p->steps);
	free(p->types);
	free(p);
	d->schedule = NULL;
}

bool leat_schedule_is_used(const struct leat_driver *d)
{
	return d->schedule != NULL;
}

/* --- what goes on -------------------------------------------------------------------------- */

/* There may be a launch of it: epochs wait for those. */
static void expect(struct leat_driver *d, size_t step)
{
	struct scheduled *s = &d->schedule->steps[step];

	if (leat_sched_submit(d->schedule->sched, &s->task) == 0)
		s->state = SEAT_EARLY;
}

void leat_schedule_begin(struct leat_driver *d)
{
	for (size_t i = 0; d->schedule && i < d->wf->n_steps; i++)
		if (d->steps[i].state == LEAT_STEP_PENDING)
			expect(d, i);
}

/* Does the step still have to wait for the end of another? */
static bool awaits_other(struct leat_driver *d, size_t step)
{
	struct scheduled *s = &d->schedule->steps[step];

	if (s->awaits < d->wf->n_steps && !leat_driver_step_is_over(d->steps[s->awaits].state))
		return true;
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		if (i == step || leat_driver_step_is_over(d->steps[i].state) ||
		    !leat_is_upstream(d->config->plan->matcher, (int)i, (int)step))
			continue;
		s->awaits = i;
		return true;
	}
	return false;
}

bool leat_schedule_is_early(struct leat_driver *d, size_t step)
{
	return d->schedule && d->wf->steps[step].needs.io &&
	       d->schedule->steps[step].state == SEAT_EARLY && awaits_other(d, step);
}

bool leat_schedule_is_queued(const struct leat_driver *d, size_t step)
{
	return d->schedule && (d->schedule->steps[step].state == SEAT_QUEUED ||
			       d->schedule->steps[step].state == SEAT_GRANTED);
}

/* Give capacity to all that can have it. */
static void grant(struct leat_driver *d, size_t asking)
{
	struct leat_schedule *p = d->schedule;
	struct leat_sched_task *task;

	while ((task = leat_sched_next(p->sched, leat_clock_ns()))) {
		struct scheduled *s = (struct scheduled *)(void *)task;

		s->state = SEAT_GRANTED;
		d->look |= s != &p->steps[asking];
	}
}

enum leat_turn leat_schedule_ask(struct leat_driver *d, size_t step)
{
	struct scheduled *s;

	if (!d->schedule)
		return LEAT_TURN_NOW;
	s = &d->schedule->steps[step];
	if (s->state == SEAT_EARLY) {
		if (leat_sched_ready(d->schedule->sched, &s->task) < 0)
			return LEAT_TURN_NEVER;
		s->state = SEAT_QUEUED;
	}
	grant(d, step);
	if (s->state == SEAT_GRANTED)
		return LEAT_TURN_NOW;
	d->crowded = true;
	return LEAT_TURN_LATER;
}

void leat_schedule_started(struct leat_driver *d, size_t step)
{
	struct scheduled *s = d->schedule ? &d->schedule->steps[step] : NULL;

	if (!s)
		return;
	s->state = SEAT_TAKEN;
	s->began_ns = leat_clock_ns();
	leat_moved_begin(&s->moved, &d->result->steps[step].counters, s->began_ns);
	leat_achieved_begin(d->schedule->achieved, s->task.type, s->task.constraint_mbps,
			    !s->task.epoch, s->began_ns);
}

/* What has it moved since the last look? Its counters have been read. */
static void look_at(struct leat_driver *d, size_t step, uint64_t now_ns)
{
	struct leat_schedule *p = d->schedule;
	struct scheduled *s = &p->steps[step];
	struct leat_achieved_bytes bytes;
	uint64_t since_ns;

	if (!leat_achieved_has_device(p->achieved, s->task.type))
		return;
	bytes = leat_moved_look(&s->moved, &d->result->steps[step].counters,
				d->steps[step].process.pid, now_ns, &since_ns);
	leat_achieved_move(p->achieved, s->task.type, s->task.constraint_mbps, since_ns, now_ns,
			   bytes);
}

void leat_schedule_look_at_daemon(struct leat_driver *d)
{
	struct leat_schedule *p = d->schedule;
	uint64_t now_ns = leat_clock_ns();
	struct leat_pidio io;

	if (!p || p->dir_device < 0 || d->config->daemon_pid <= 0 ||
	    !leat_pidstat_io(d->config->daemon_pid, &io))
		return;
	if (io.written > p->copied) {
		leat_achieved_copy(p->achieved, (unsigned)p->dir_device, p->looked_ns, now_ns,
				   io.written - p->copied);
		p->copied = io.written;
	}
	p->looked_ns = now_ns;
}

void leat_schedule_look(struct leat_driver *d, size_t step)
{
	if (d->schedule && (d->schedule->steps[step].state == SEAT_TAKEN ||
			    d->schedule->steps[step].state == SEAT_LENT))
		look_at(d, step, leat_clock_ns());
}

void leat_schedule_ended(struct leat_driver *d, size_t step, bool failed)
{
	struct scheduled *s = d->schedule ? &d->schedule->steps[step] : NULL;
	uint64_t now_ns = leat_clock_ns();

	if (!s || s->state == SEAT_NONE)
		return;
	if (s->state == SEAT_EARLY || s->state == SEAT_QUEUED) {
		leat_sched_cancel(d->schedule->sched, &s->task, now_ns);
	} else {
		if (s->state != SEAT_GRANTED)
			leat_achieved_end(d->schedule->achieved, s->task.type,
					  s->task.constraint_mbps, now_ns, now_ns - s->began_ns);
		leat_sched_ended(d->schedule->sched, &s->task, now_ns,
				 s->state == SEAT_GRANTED ? 0 : now_ns - s->began_ns,
				 failed || s->state == SEAT_GRANTED);
	}
	s->state = SEAT_NONE;
	if (leat_driver_step_rests(d->steps[step].state))
		expect(d, step);
}

bool leat_schedule_watch(struct leat_driver *d)
{
	struct leat_schedule *p = d->schedule;
	bool changed = false;

	for (size_t i = 0; p && i < d->wf->n_steps; i++) {
		struct scheduled *s = &p->steps[i];
		bool taken = s->state == SEAT_TAKEN;

		if ((!taken && s->state != SEAT_LENT) || d->wf->steps[i].needs.io ||
		    leat_driver_is_busy(d, i) == taken)
			continue;
		if (taken)
			leat_sched_rest(p->sched, &s->task);
		else
			leat_sched_resume(p->sched, &s->task);
		s->state = taken ? SEAT_LENT : SEAT_TAKEN;
		changed = true;
	}
	return changed;
}

/* --- what it has learned --------------------------------------------------------------------- */

int leat_schedule_report(struct leat_driver *d)
{
	struct leat_schedule *p = d->schedule;
	int result = 0;

	if (!p || !p->achieved)
		return 0;
	leat_sched_end(p->sched, leat_clock_ns());
	d->result->learned = leat_learned_new(p->n_types);
	if (!d->result->learned)
		return -ENOMEM;
	leat_schedule_look_at_daemon(d);
	leat_achieved_settle(p->achieved, leat_clock_ns());
	d->result->learned->achieved = p->achieved;
	p->achieved = NULL;
	d->result->learned->computing_units = p->res->hosts[0].computing_units;
	d->result->learned->io_executors = p->res->hosts[0].io_executors;
	for (size_t k = 0; !result && k < p->n_types; k++) {
		struct leat_sched_type_state state;

		leat_sched_type_state(p->sched, p->types[k].number, &state);
		result = leat_learned_add(d->result->learned, p->types[k].name, &state,
					  p->types[k].needs, p->types[k].device);
	}
	for (size_t i = 0; !result && i < leat_sched_n_devices(p->sched); i++) {
		struct leat_sched_device_state state;

		leat_sched_device_state(p->sched, i, &state);
		result = leat_learned_add_device(d->result->learned, &state);
	}
	return result;
}
