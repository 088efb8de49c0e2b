/* Automatic constraints: the worked examples, and what learning does beside other tasks. */
#include "sched_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

struct mean {
	unsigned constraint;
	double seconds;
};

/* Tasks take what the table in sim->ctx says of their constraint. */
static uint64_t took_by_table(const struct sim *sim, const struct sim_task *task)
{
	const struct mean *mean = sim->ctx;

	while (mean->constraint && mean->constraint != task->task.constraint_mbps)
		mean++;
	return (uint64_t)(mean->seconds * 1e9);
}

/* --- the worked examples --- */

struct example {
	const char *bandwidth;
	unsigned mbps, executors;
	struct mean means[10]; /* ends with 0, and the time of all others */
	const char *epochs;    /* "constraint:slots ..." */
	const char *registry;  /* constraints */
	unsigned tasks;        /* that learning takes */
	struct {
		uint64_t n;
		unsigned constraint;
	} choices[8];
};

static const struct example examples[] = {
	{"auto",
	 450,
	 225,
	 {{2, 150}, {4, 70}, {8, 33}, {16, 20}, {0, 1}},
	 "2:225 4:112 8:56 16:28- ",
	 "2 4 8 ",
	 421,
	 {{224, 8}, {225, 2}, {1883, 8}}},
	{"auto(2,256,2)",
	 450,
	 225,
	 {{2, 150}, {4, 70}, {8, 33}, {16, 20}, {32, 11}, {64, 6}, {128, 3.4}, {256, 2.9}, {0, 1}},
	 "2:225 4:112 8:56 16:28 32:14 64:7 128:3 256:1 ",
	 "2 4 8 16 32 64 128 256 ",
	 446,
	 {{1, 256}, {2, 128}, {14, 32}, {56, 8}, {1858, 8}}},
	{"auto(10,50,4)",
	 200,
	 64,
	 {{10, 30}, {40, 9}, {0, 1}},
	 "10:20 40:5 ",
	 "10 40 ",
	 25,
	 {{5, 40}, {20, 10}, {21, 40}, {40, 10}}},
	{"auto",
	 400,
	 200,
	 {{2, 100}, {4, 50}, {8, 30}, {0, 1}},
	 "2:200 4:100 8:50- ",
	 "2 4 ",
	 350,
	 {{400, 4}}},
};

static void print_learned(const struct leat_sched_type_state *state, char *epochs, char *registry)
{
	*epochs = *registry = '\0';
	for (size_t i = 0; i < state->n_epochs; i++)
		sprintf(epochs + strlen(epochs), "%u:%u%s ", state->epochs[i].constraint_mbps,
			state->epochs[i].slots,
			state->epochs[i].end == LEAT_SCHED_EPOCH_REGISTERED  ? ""
			: state->epochs[i].end == LEAT_SCHED_EPOCH_DISCARDED ? "-"
									     : "?");
	for (size_t i = 0; i < state->n_registry; i++)
		sprintf(registry + strlen(registry), "%u ", state->registry[i].constraint_mbps);
}

static void check_example(const struct example *e)
{
	struct leat_sched_type_state state;
	char epochs[256], registry[128];
	struct mean means[10];
	struct sim sim;
	unsigned type;

	sim_init(&sim, sim_resources(1, 1, e->executors, e->mbps));
	memcpy(means, e->means, sizeof(means));
	sim.ctx = means;
	sim.took = took_by_table;
	type = sim_io_type(&sim, "write", e->bandwidth);
	sim_add(&sim, type, LEAT_SCHED_ANYWHERE, e->tasks);
	sim_run(&sim);
	leat_sched_type_state(sim.s, type, &state);
	print_learned(&state, epochs, registry);
	assert_string_equal(epochs, e->epochs);
	assert_string_equal(registry, e->registry);
	assert_int_equal(state.phase, LEAT_SCHED_LEARNED);
	assert_int_equal(state.learned_from, e->tasks);
	assert_int_equal(state.succeeded, e->tasks);
	for (size_t i = 0; e->choices[i].n; i++) {
		assert_int_equal(leat_sched_choose(sim.s, type, e->choices[i].n),
				 e->choices[i].constraint);
		/* and it is what tasks are started with */
		assert_int_equal(sim_start(&sim), 0);
		sim_add(&sim, type, LEAT_SCHED_ANYWHERE, e->choices[i].n);
		sim_start(&sim);
		assert_int_equal(sim.running[0]->task.constraint_mbps, e->choices[i].constraint);
		sim_run(&sim);
	}
	sim_release(&sim);
}

static void learns_as_in_the_worked_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		check_example(&examples[i]);
}

static void estimates_whole_groups_and_the_rest(void **state)
{
	static const struct {
		uint64_t n, slots;
		double mean, time;
	} rows[] = {
		{224, 225, 150, 150},   {224, 112, 70, 140},   {224, 56, 33, 132},
		{225, 225, 150, 150},   {225, 112, 70, 210},   {225, 56, 33, 165},
		{1883, 225, 150, 1350}, {1883, 112, 70, 1190}, {1883, 56, 33, 1122},
		{400, 200, 100, 200},   {400, 100, 50, 200},   {0, 10, 5, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(leat_sched_estimate(rows[i].n, rows[i].slots, rows[i].mean) ==
			    rows[i].time);
}

/* --- beside other tasks --- */

static uint64_t took_by_constraint(const struct sim *sim, const struct sim_task *task)
{
	unsigned mbps = task->task.constraint_mbps;

	(void)sim;
	return mbps ? 100 * SECOND / mbps : 10 * SECOND;
}

static enum leat_sched_phase phase_of(const struct sim *sim, unsigned type)
{
	struct leat_sched_type_state state;

	leat_sched_type_state(sim->s, type, &state);
	return state.phase;
}

static int learning_on(const struct sim *sim, unsigned host)
{
	struct leat_sched_host_state state;

	leat_sched_host_state(sim->s, host, &state);
	return state.learning;
}

/* sim->ctx counts what would be wrong: other I/O on a host that is learned on. */
static void check_alone(struct sim *sim, struct sim_task *task)
{
	int type = learning_on(sim, task->task.host);

	if (type >= 0 && (unsigned)type != task->task.type && task->task.type)
		++*(unsigned *)sim->ctx;
	for (size_t i = 0; type >= 0 && i < sim->n_running; i++)
		if (sim->running[i]->task.host == task->task.host && sim->running[i]->task.type &&
		    task->task.type && sim->running[i]->task.type != task->task.type)
			++*(unsigned *)sim->ctx;
}

static void kinds_learn_alone_one_after_another(void **state)
{
	(void)state;
	for (unsigned hosts = 1; hosts <= 3; hosts++) {
		unsigned wrong = 0, compute, other;
		struct sim sim;

		sim_init(&sim, sim_resources(hosts, 2, 16, 64));
		sim.took = took_by_constraint;
		sim.ctx = &wrong;
		sim.started = check_alone;
		compute = sim_compute_type(&sim, "compute", 1);
		other = sim_io_type(&sim, "other", "8");
		for (unsigned i = 0; i < 5; i++)
			sim_io_type(&sim, "auto", i % 2 ? "auto" : "auto(2,64,2)");
		for (unsigned i = 0; i < 200; i++)
			for (unsigned k = compute; k <= other + 5; k++)
				sim_add(&sim, k, LEAT_SCHED_ANYWHERE, 1);
		sim_run(&sim);
		assert_int_equal(wrong, 0);
		for (unsigned k = other + 1; k <= other + 5; k++)
			assert_int_equal(phase_of(&sim, k), LEAT_SCHED_LEARNED);
		for (size_t i = 0; i < sim.n_all; i++)
			assert_true(sim.all[i]->started);
		sim_release(&sim);
	}
}

static void compute_tasks_run_where_it_is_learned(void **state)
{
	unsigned compute, io;
	struct sim sim;

	(void)state;
	sim_init(&sim, sim_resources(1, 2, 8, 80));
	compute = sim_compute_type(&sim, "compute", 1);
	io = sim_io_type(&sim, "auto", "auto");
	sim_add(&sim, io, LEAT_SCHED_ANYWHERE, 100);
	sim_start(&sim);
	assert_int_equal(learning_on(&sim, 0), (int)io);
	sim_add(&sim, compute, LEAT_SCHED_ANYWHERE, 2);
	assert_int_equal(sim_start(&sim), 2);
	sim_run(&sim);
	sim_release(&sim);
}

static void a_host_is_cleared_first(void **state)
{
	unsigned other, io;
	struct sim sim;

	(void)state;
	sim_init(&sim, sim_resources(1, 2, 8, 80));
	other = sim_io_type(&sim, "other", "");
	io = sim_io_type(&sim, "auto", "auto");
	sim_add(&sim, other, LEAT_SCHED_ANYWHERE, 2);
	sim_start(&sim);
	sim_add(&sim, io, LEAT_SCHED_ANYWHERE, 8);
	sim_add(&sim, other, LEAT_SCHED_ANYWHERE, 1);
	assert_int_equal(sim_start(&sim), 0);
	assert_int_equal(phase_of(&sim, io), LEAT_SCHED_CLEARING);
	assert_true(sim_step(&sim));
	assert_int_equal(phase_of(&sim, io), LEAT_SCHED_CLEARING);
	assert_true(sim_step(&sim));
	assert_int_equal(phase_of(&sim, io), LEAT_SCHED_LEARNING);
	assert_int_equal(sim.n_running, 8);
	sim_run(&sim);
	sim_release(&sim);
}

static void all_hosts_count_for_the_choice(void **state)
{
	struct leat_sched_type_state learned;
	struct sim sim;
	unsigned type;

	(void)state;
	sim_init(&sim, sim_resources(12, 48, 225, 450));
	sim.took = took_by_constraint;
	type = sim_io_type(&sim, "auto", "auto(2,256,2)");
	sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 2304);
	sim_run(&sim);
	leat_sched_type_state(sim.s, type, &learned);
	for (size_t i = 0; i < learned.n_registry; i++)
		assert_int_equal(learned.registry[i].slots_all, 12 * learned.registry[i].slots);
	assert_int_equal(learned.learned_from, 446);
	sim_release(&sim);
}

/* --- epochs that are short of tasks --- */

static void a_barrier_closes_a_short_epoch(void **state)
{
	struct leat_sched_type_state type_state;
	struct sim_task *last;
	struct sim sim;
	unsigned type;

	(void)state;
	sim_init(&sim, sim_resources(1, 1, 8, 80));
	type = sim_io_type(&sim, "auto", "auto");
	sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 3);
	sim_run(&sim);
	leat_sched_type_state(sim.s, type, &type_state);
	assert_int_equal(type_state.phase, LEAT_SCHED_LEARNING);
	assert_int_equal(type_state.epochs[0].end, LEAT_SCHED_EPOCH_OPEN);
	assert_int_equal(type_state.epochs[0].started, 3);
	/* more comes: it goes on */
	last = sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 2);
	sim_run(&sim);
	assert_true(last->started);
	leat_sched_barrier(sim.s, sim.now_ns);
	leat_sched_type_state(sim.s, type, &type_state);
	assert_int_equal(type_state.n_epochs, 1);
	assert_int_equal(type_state.epochs[0].end, LEAT_SCHED_EPOCH_UNREGISTERED);
	assert_int_equal(type_state.epochs[0].started, 5);
	assert_int_equal(type_state.n_registry, 0);
	assert_int_equal(type_state.phase, LEAT_SCHED_IDLE);
	assert_int_equal(learning_on(&sim, 0), -1);
	/* after it, the same constraint is tried again */
	sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 9);
	sim_run(&sim);
	leat_sched_type_state(sim.s, type, &type_state);
	assert_int_equal(type_state.n_registry, 1);
	assert_int_equal(type_state.registry[0].constraint_mbps, 10);
	assert_int_equal(type_state.epochs[0].started, 8);
	leat_sched_end(sim.s, sim.now_ns);
	leat_sched_type_state(sim.s, type, &type_state);
	assert_int_equal(type_state.epochs[1].end, LEAT_SCHED_EPOCH_UNREGISTERED);
	sim_release(&sim);
}

static void a_barrier_waits_for_what_depends(void **state)
{
	struct leat_sched_task waiting = {.home = LEAT_SCHED_ANYWHERE};
	struct leat_sched_type_state type_state;
	struct sim sim;

	(void)state;
	sim_init(&sim, sim_resources(1, 1, 8, 80));
	waiting.type = sim_io_type(&sim, "auto", "auto");
	assert_int_equal(leat_sched_submit(sim.s, &waiting), 0);
	sim_add(&sim, waiting.type, LEAT_SCHED_ANYWHERE, 3);
	sim_start(&sim);
	leat_sched_barrier(sim.s, sim.now_ns);
	sim_run(&sim);
	leat_sched_type_state(sim.s, waiting.type, &type_state);
	assert_int_equal(type_state.epochs[0].end, LEAT_SCHED_EPOCH_OPEN);
	assert_int_equal(leat_sched_cancel(sim.s, &waiting, sim.now_ns), 0);
	leat_sched_type_state(sim.s, waiting.type, &type_state);
	assert_int_equal(type_state.epochs[0].end, LEAT_SCHED_EPOCH_UNREGISTERED);
	sim_release(&sim);
}

/* Tasks of the first type need one of the second, and only one host has both devices. */
static void learning_does_not_wait_for_itself(void **state)
{
	struct leat_sched_type_state type_state;
	unsigned first, second, fixed;
	struct sim sim;

	(void)state;
	sim_init(&sim, sim_resources(1, 1, 8, 80));
	first = sim_io_type(&sim, "first", "auto");
	second = sim_io_type(&sim, "second", "auto(5,40,2)");
	fixed = sim_io_type(&sim, "fixed", "80");
	for (unsigned round = 0; round < 30; round++) {
		const struct sim_task *task;

		task = sim_add(&sim, first, LEAT_SCHED_ANYWHERE, 1);
		sim_run(&sim);
		assert_true(task->started);
		task = sim_add(&sim, second, LEAT_SCHED_ANYWHERE, 1);
		sim_run(&sim);
		assert_true(task->started);
		task = sim_add(&sim, fixed, LEAT_SCHED_ANYWHERE, 1);
		sim_run(&sim);
		assert_true(task->started);
	}
	/* what an epoch had before it was put aside still counts */
	leat_sched_type_state(sim.s, first, &type_state);
	assert_int_equal(type_state.registry[0].slots, 8);
	sim_release(&sim);
}

static void tasks_bound_elsewhere_do_not_wait_for_learning(void **state)
{
	const struct sim_task *here, *there;
	struct sim sim;
	unsigned type;

	(void)state;
	sim_init(&sim, sim_resources(3, 1, 8, 80));
	sim.res->shared_dir = false;
	type = sim_io_type(&sim, "auto", "auto");
	here = sim_add(&sim, type, 1, 1);
	there = sim_add(&sim, type, 2, 1);
	sim_start(&sim);
	assert_int_equal(learning_on(&sim, 1), (int)type);
	assert_int_equal(here->task.host, 1);
	assert_int_equal(there->task.host, 2);
	assert_int_equal(there->task.constraint_mbps, here->task.constraint_mbps);
	sim_run(&sim);
	sim_release(&sim);
}

static void a_shared_device_is_learned_alone(void **state)
{
	struct leat_sched_task_type spec = {.io = true, .device = "gpfs"};
	struct leat_resources *res = sim_resources(4, 1, 10, 0);
	char why[LEAT_SCHED_WHY];
	unsigned types[3];
	struct sim sim;

	(void)state;
	leat_resources_add_shared(res, "gpfs")->bandwidth_mbps = 100;
	sim_init(&sim, res);
	sim.took = took_by_constraint;
	for (unsigned i = 0; i < 3; i++) {
		spec.name = i == 2 ? "fixed" : "auto";
		assert_int_equal(leat_bandwidth_parse(i == 2 ? "10" : "auto", &spec.bandwidth, why),
				 0);
		assert_int_equal(leat_sched_add_type(sim.s, &spec, &types[i], why), 0);
	}
	for (unsigned i = 0; i < 3; i++)
		sim_add(&sim, types[i], LEAT_SCHED_ANYWHERE, 100);
	assert_int_equal(sim_start(&sim), 10);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(sim.running[i]->task.type, types[0]);
	sim_run(&sim);
	assert_int_equal(phase_of(&sim, types[0]), LEAT_SCHED_LEARNED);
	assert_int_equal(phase_of(&sim, types[1]), LEAT_SCHED_LEARNED);
	assert_int_equal(leat_sched_choose(sim.s, types[0], 10),
			 leat_sched_choose(sim.s, types[1], 10));
	sim_release(&sim);
}

/* --- failures --- */

static void failed_tasks_do_not_enter_the_mean(void **state)
{
	static struct mean means[] = {{10, 8}, {20, 5}, {0, 1}};
	struct leat_sched_type_state type_state;
	struct sim sim;
	unsigned type;

	(void)state;
	sim_init(&sim, sim_resources(1, 1, 8, 80));
	sim.ctx = means;
	sim.took = took_by_table;
	type = sim_io_type(&sim, "auto", "auto");
	sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 12);
	sim_start(&sim);
	/* seven of eight fail at once: the mean is that of the eighth */
	for (unsigned i = 1; i < 8; i++) {
		sim.running[i]->fails = true;
		sim.running[i]->ends_ns = sim.running[i]->began_ns + SECOND / 1000;
	}
	sim_run(&sim);
	leat_sched_type_state(sim.s, type, &type_state);
	assert_int_equal(type_state.failed, 7);
	assert_int_equal(type_state.epochs[0].failed, 7);
	assert_true(type_state.registry[0].mean_s == 8);
	assert_int_equal(type_state.epochs[1].end, LEAT_SCHED_EPOCH_DISCARDED);
	sim_release(&sim);
}

static void an_epoch_of_failures_is_held_again(void **state)
{
	struct leat_sched_type_state type_state;
	struct sim sim;
	unsigned type;

	(void)state;
	sim_init(&sim, sim_resources(1, 1, 8, 80));
	type = sim_io_type(&sim, "auto", "auto");
	sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 20);
	sim_start(&sim);
	for (unsigned i = 0; i < 8; i++)
		sim.running[i]->fails = true;
	for (unsigned i = 0; i < 8; i++)
		sim_step(&sim);
	leat_sched_type_state(sim.s, type, &type_state);
	assert_int_equal(type_state.n_epochs, 1);
	assert_int_equal(type_state.epochs[0].constraint_mbps, 10);
	assert_int_equal(type_state.epochs[0].ended, 0);
	assert_int_equal(type_state.n_registry, 0);
	sim_run(&sim);
	leat_sched_type_state(sim.s, type, &type_state);
	assert_int_equal(type_state.phase, LEAT_SCHED_LEARNED);
	sim_release(&sim);
}

/* --- the choice goes with what is ready --- */

static void running_tasks_keep_their_constraint(void **state)
{
	const struct example *e = &examples[0];
	struct leat_sched_device_state device;
	struct mean means[10];
	struct sim sim;
	unsigned type;

	(void)state;
	sim_init(&sim, sim_resources(1, 1, e->executors, e->mbps));
	memcpy(means, e->means, sizeof(means));
	sim.ctx = means;
	sim.took = took_by_table;
	type = sim_io_type(&sim, "write", e->bandwidth);
	sim_add(&sim, type, LEAT_SCHED_ANYWHERE, e->tasks);
	sim_run(&sim);
	sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 40);
	sim_start(&sim);
	assert_int_equal(sim.running[0]->task.constraint_mbps, 8);
	/* 225 ready tasks are better served by 2 MB/s: as many as there is space for beside 40 * 8
	 */
	sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 225);
	assert_int_equal(sim_start(&sim), (450 - 40 * 8) / 2);
	assert_int_equal(sim.running[39]->task.constraint_mbps, 8);
	assert_int_equal(sim.running[40]->task.constraint_mbps, 2);
	leat_sched_device_state(sim.s, 0, &device);
	assert_int_equal(device.allocated_mbps, 450);
	sim_run(&sim);
	sim_release(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(learns_as_in_the_worked_examples),
		cmocka_unit_test(estimates_whole_groups_and_the_rest),
		cmocka_unit_test(kinds_learn_alone_one_after_another),
		cmocka_unit_test(compute_tasks_run_where_it_is_learned),
		cmocka_unit_test(a_host_is_cleared_first),
		cmocka_unit_test(all_hosts_count_for_the_choice),
		cmocka_unit_test(a_barrier_closes_a_short_epoch),
		cmocka_unit_test(a_barrier_waits_for_what_depends),
		cmocka_unit_test(learning_does_not_wait_for_itself),
		cmocka_unit_test(tasks_bound_elsewhere_do_not_wait_for_learning),
		cmocka_unit_test(a_shared_device_is_learned_alone),
		cmocka_unit_test(failed_tasks_do_not_enter_the_mean),
		cmocka_unit_test(an_epoch_of_failures_is_held_again),
		cmocka_unit_test(running_tasks_keep_their_constraint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
