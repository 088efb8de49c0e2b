/* The scheduler against naive ones, and what holds for all runs: no host and no device is ever
 * given away twice, learning is alone, and every task starts. */
#include "sched_world.h"
#include "short.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % n;
}

static uint64_t took_any(const struct sim *sim, const struct sim_task *task)
{
	(void)sim;
	(void)task;
	return below(8) * SECOND / 4;
}

/* --- without learning: the oldest task that fits, on the first host that has space --- */

struct naive {
	unsigned units[8], executors[8], ssd[8], shared;
};

struct need {
	bool io;
	unsigned units, mbps;
	const char *device;
};

static bool naive_fits(const struct naive *n, const struct need *need, unsigned host)
{
	if (!need->io)
		return n->units[host] >= need->units;
	if (!n->executors[host])
		return false;
	if (!need->device)
		return true;
	return (need->device[0] == 's' ? n->ssd[host] : n->shared) >= need->mbps;
}

static void naive_change(struct naive *n, const struct need *need, unsigned host, int sign)
{
	if (!need->io) {
		n->units[host] -= (unsigned)(sign * (int)need->units);
		return;
	}
	n->executors[host] -= (unsigned)sign;
	if (need->device)
		*(need->device[0] == 's' ? &n->ssd[host] : &n->shared) -=
			(unsigned)(sign * (int)need->mbps);
}

/* A random small world of up to 8 hosts, all with an "ssd", and a shared "gpfs". */
static struct leat_resources *any_resources(struct naive *n)
{
	unsigned hosts = 1 + below(4);
	struct leat_resources *res = sim_resources(hosts, 0, 0, 100);

	for (unsigned h = 0; h < hosts; h++) {
		n->units[h] = res->hosts[h].computing_units = 1 + below(6);
		n->executors[h] = res->hosts[h].io_executors = 1 + below(6);
		n->ssd[h] = res->hosts[h].devices[0].bandwidth_mbps = 20 + below(80);
	}
	n->shared = leat_resources_add_shared(res, "gpfs")->bandwidth_mbps = 20 + below(80);
	res->shared_dir = below(2);
	return res;
}

static unsigned any_types(struct sim *sim, struct need *needs, unsigned max)
{
	unsigned n = 1 + below(max);

	for (unsigned k = 0; k < n; k++) {
		struct leat_sched_task_type spec = {.name = "type", .io = below(3)};
		char why[LEAT_SCHED_WHY];
		unsigned type;

		if (!spec.io)
			spec.computing_units = 1 + below(sim->res->hosts[0].computing_units);
		else if (below(4))
			spec.device = below(2) ? "ssd" : "gpfs";
		if (spec.device && below(4))
			spec.bandwidth = (struct leat_bandwidth){.kind = LEAT_BANDWIDTH_STATIC,
								 .min = 1 + below(20)};
		assert_int_equal(leat_sched_add_type(sim->s, &spec, &type, why), 0);
		needs[k] = (struct need){spec.io, spec.computing_units, spec.bandwidth.min,
					 spec.device};
	}
	return n;
}

static int any_home(const struct sim *sim, const struct need *need)
{
	int home = below(2) ? LEAT_SCHED_ANYWHERE : (int)below((unsigned)sim->res->n_hosts);

	if (home >= 0 && !need->io && sim->res->hosts[home].computing_units < need->units)
		return LEAT_SCHED_ANYWHERE;
	if (home >= 0 && need->io && need->device &&
	    leat_resources_find_device(sim->res, (size_t)home, need->device)->bandwidth_mbps <
		    need->mbps)
		return LEAT_SCHED_ANYWHERE;
	return home;
}

/* Which of the waiting tasks starts, and *host; NULL: none. */
static struct sim_task *naive_next(const struct sim *sim, const struct naive *n,
				   const struct need *needs, unsigned *host)
{
	for (size_t i = 0; i < sim->n_all; i++) {
		struct sim_task *task = sim->all[i];
		bool bound = !sim->res->shared_dir && task->task.home >= 0;

		for (unsigned h = 0; !task->started && h < sim->res->n_hosts; h++) {
			if ((bound && task->task.home != (int)h) ||
			    !naive_fits(n, &needs[task->task.type], h))
				continue;
			*host = h;
			return task;
		}
	}
	return NULL;
}

static void compare_starts(struct sim *sim, struct naive *n, const struct need *needs)
{
	for (;;) {
		unsigned host = 0;
		struct sim_task *expected = naive_next(sim, n, needs, &host);
		struct leat_sched_task *next = leat_sched_next(sim->s, sim->now_ns);

		if (!expected) {
			assert_null(next);
			return;
		}
		assert_ptr_equal(next, &expected->task);
		assert_int_equal(next->host, host);
		naive_change(n, &needs[next->type], host, 1);
		expected->started = true;
		sim->running[sim->n_running++] = expected;
	}
}

static void check_against_naive(void)
{
	struct naive n;
	struct need needs[6];
	struct sim sim;
	unsigned types;

	sim_init(&sim, any_resources(&n));
	sim.running = calloc(128, sizeof(*sim.running));
	sim.max_running = 128;
	types = any_types(&sim, needs, 6);
	/* so few that none is overtaken so often that layer is kept for it */
	while (sim.n_all < 120 || sim.n_running) {
		for (unsigned i = below(8); i && sim.n_all < 120; i--) {
			unsigned k = below(types);

			sim_add(&sim, k, any_home(&sim, &needs[k]), 1);
		}
		compare_starts(&sim, &n, needs);
		for (unsigned i = below(4); i && sim.n_running; i--) {
			struct sim_task **at = &sim.running[below((unsigned)sim.n_running)];
			struct sim_task *task = *at;

			*at = sim.running[--sim.n_running];
			naive_change(&n, &needs[task->task.type], task->task.host, -1);
			assert_int_equal(leat_sched_ended(sim.s, &task->task, 0, 0, false), 0);
		}
		compare_starts(&sim, &n, needs);
	}
	for (size_t i = 0; i < sim.n_all; i++)
		assert_true(sim.all[i]->started);
	sim_release(&sim);
}

static void starts_what_a_naive_scheduler_starts(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		seed = round;
		check_against_naive();
	}
}

/* --- one type that learns: the algorithm as it is written down --- */

struct learned {
	unsigned constraint[40], slots[40];
	double mean[40];
	size_t n_epochs, n; /* with and without what was discarded */
	uint64_t tasks;
};

/* A time for each constraint, by the seed of the round: whole numbers, so that ties occur. */
static double time_of(unsigned round, unsigned constraint)
{
	uint64_t mix = (round * UINT64_C(2654435761) + constraint) * UINT64_C(0x9e3779b97f4a7c15);

	return 1 + (double)(mix >> 40 & 63) * 8 / constraint;
}

static void learn_naively(struct learned *l, unsigned round, const struct leat_bandwidth *b,
			  unsigned mbps, unsigned executors)
{
	bool bounded = b->kind == LEAT_BANDWIDTH_BOUNDED;
	uint64_t c = bounded ? b->min : mbps / executors;

	*l = (struct learned){.n = 0};
	if (!bounded && c < 1)
		c = 1;
	for (;;) {
		uint64_t slots = mbps / c < executors ? mbps / c : executors;

		if (slots < 1 || (bounded && c > b->max))
			return;
		l->constraint[l->n] = (unsigned)c;
		l->slots[l->n] = (unsigned)slots;
		l->mean[l->n] = (double)(uint64_t)(time_of(round, (unsigned)c) * 1e9) / 1e9;
		l->tasks += slots;
		l->n_epochs++;
		if (!bounded && l->n && l->mean[l->n] > l->mean[l->n - 1] / 2)
			return;
		l->n++;
		c *= bounded ? b->delta : 2;
	}
}

static unsigned choose_naively(const struct learned *l, uint64_t n, unsigned hosts)
{
	unsigned best = 0;
	double least = 0;

	for (size_t i = 0; i < l->n; i++) {
		uint64_t m = (uint64_t)hosts * l->slots[i];
		double time = (double)(n / m) * l->mean[i];

		if (n % m)
			time += l->mean[i];
		if (!best || time <= least) {
			best = l->constraint[i];
			least = time;
		}
	}
	return best;
}

static uint64_t took_by_round(const struct sim *sim, const struct sim_task *task)
{
	const unsigned *round = sim->ctx;

	return (uint64_t)(time_of(*round, task->task.constraint_mbps) * 1e9);
}

static void check_learning(unsigned round)
{
	struct leat_sched_task_type spec = {.name = "auto", .io = true, .device = "ssd"};
	unsigned mbps = 1 + below(600), executors = 1 + below(300), hosts = 1 + below(3), type;
	struct leat_sched_type_state state;
	char why[LEAT_SCHED_WHY];
	struct learned l;
	struct sim sim;

	spec.bandwidth.kind = below(2) ? LEAT_BANDWIDTH_AUTO : LEAT_BANDWIDTH_BOUNDED;
	if (spec.bandwidth.kind == LEAT_BANDWIDTH_BOUNDED) {
		spec.bandwidth.min = 1 + below(mbps);
		spec.bandwidth.max = spec.bandwidth.min + below(600);
		spec.bandwidth.delta = 2 + below(4);
	}
	learn_naively(&l, round, &spec.bandwidth, mbps, executors);
	sim_init(&sim, sim_resources(hosts, 1, executors, mbps));
	sim.ctx = &round;
	sim.took = took_by_round;
	assert_int_equal(leat_sched_add_type(sim.s, &spec, &type, why), 0);
	sim_add(&sim, type, LEAT_SCHED_ANYWHERE, l.tasks);
	sim_run(&sim);
	leat_sched_type_state(sim.s, type, &state);
	assert_int_equal(state.phase, LEAT_SCHED_LEARNED);
	assert_int_equal(state.n_epochs, l.n_epochs);
	assert_int_equal(state.n_registry, l.n);
	assert_int_equal(state.learned_from, l.tasks);
	for (size_t i = 0; i < l.n; i++) {
		assert_int_equal(state.registry[i].constraint_mbps, l.constraint[i]);
		assert_int_equal(state.registry[i].slots, l.slots[i]);
	}
	for (uint64_t n = 1; n < 2000; n += 1 + n / 7)
		assert_int_equal(leat_sched_choose(sim.s, type, n), choose_naively(&l, n, hosts));
	sim_release(&sim);
}

static void learns_what_the_algorithm_says(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 1000; round++) {
		seed = round;
		check_learning(round);
	}
}

/* --- all together --- */

static void check_devices(const struct sim *sim)
{
	for (size_t i = 0; i < leat_sched_n_devices(sim->s); i++) {
		struct leat_sched_device_state device;
		uint64_t sum = 0;

		leat_sched_device_state(sim->s, i, &device);
		assert_true(device.peak_mbps <= device.bandwidth_mbps);
		for (size_t r = 0; device.host >= 0 && r < sim->n_running; r++)
			if (sim->running[r]->task.host == (unsigned)device.host)
				sum += sim->running[r]->task.constraint_mbps;
		if (device.host >= 0)
			assert_true(sum >= device.allocated_mbps);
	}
}

static void check_hosts(const struct sim *sim)
{
	for (unsigned h = 0; h < sim->res->n_hosts; h++) {
		struct leat_sched_host_state host;

		leat_sched_host_state(sim->s, h, &host);
		assert_true(host.free_units <= sim->res->hosts[h].computing_units);
		assert_true(host.free_io_executors <= sim->res->hosts[h].io_executors);
	}
}

/* What starts on a host that is learned on is of the type that learns there, or computes. */
static void check_start(struct sim *sim, struct sim_task *task)
{
	const struct need *needs = sim->ctx;
	struct leat_sched_host_state host;

	leat_sched_host_state(sim->s, task->task.host, &host);
	assert_true(host.learning < 0 || !needs[task->task.type].io ||
		    host.learning == (int)task->task.type);
	if (!sim->res->shared_dir && task->task.home >= 0)
		assert_int_equal(task->task.host, task->task.home);
	task->fails = !below(5);
}

static void add_learners(struct sim *sim, struct need *needs, unsigned *types)
{
	for (unsigned i = 0; i < 4; i++) {
		struct leat_sched_task_type spec = {.name = "auto", .io = true};
		char why[LEAT_SCHED_WHY];

		spec.device = below(3) ? "ssd" : "gpfs";
		spec.bandwidth.kind = LEAT_BANDWIDTH_AUTO;
		if (below(2))
			spec.bandwidth = (struct leat_bandwidth){LEAT_BANDWIDTH_BOUNDED,
								 1 + below(9), 50, 2};
		needs[*types] = (struct need){true, 0, spec.bandwidth.min, spec.device};
		assert_int_equal(leat_sched_add_type(sim->s, &spec, types, why), 0);
		++*types;
	}
}

static void check_all(void)
{
	struct leat_sched_counts counts;
	struct need needs[16];
	struct naive n;
	struct sim sim;
	unsigned types;

	sim_init(&sim, any_resources(&n));
	sim.took = took_any;
	sim.started = check_start;
	sim.ctx = needs;
	types = any_types(&sim, needs, 6);
	add_learners(&sim, needs, &types);
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < 40; i++) {
			unsigned k = below(types);

			sim_add(&sim, k, any_home(&sim, &needs[k]), below(4));
		}
		sim_start(&sim);
		if (!below(4))
			leat_sched_barrier(sim.s, sim.now_ns);
		do {
			check_devices(&sim);
			check_hosts(&sim);
			if (!below(3)) {
				unsigned k = below(types);

				if (sim.n_all < 2000)
					sim_add(&sim, k, any_home(&sim, &needs[k]), 1);
				sim_start(&sim);
			}
		} while (sim_step(&sim));
		/* nothing runs: then nothing waits */
		leat_sched_counts(sim.s, &counts);
		assert_int_equal(counts.ready, 0);
	}
	leat_sched_end(sim.s, sim.now_ns);
	for (size_t i = 0; i < sim.n_all; i++)
		assert_true(sim.all[i]->started);
	for (unsigned k = 0; k < types; k++) {
		struct leat_sched_type_state state;

		leat_sched_type_state(sim.s, k, &state);
		for (size_t i = 0; i < state.n_epochs; i++)
			assert_int_not_equal(state.epochs[i].end, LEAT_SCHED_EPOCH_OPEN);
	}
	sim_release(&sim);
}

static void every_task_starts_and_nothing_is_given_twice(void **state)
{
	const unsigned rounds = short_or_full(750, 1500);

	(void)state;
	for (unsigned round = 0; round < rounds; round++) {
		seed = round;
		check_all();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_what_a_naive_scheduler_starts),
		cmocka_unit_test(learns_what_the_algorithm_says),
		cmocka_unit_test(every_task_starts_and_nothing_is_given_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
