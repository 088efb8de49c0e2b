/* What may start when: units, executors, bandwidth, order, homes, barriers, types that are refused.
 */
#include "sched_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

static unsigned running_of(const struct sim *sim, unsigned type)
{
	struct leat_sched_type_state state;

	leat_sched_type_state(sim->s, type, &state);
	return (unsigned)state.running;
}

/* --- bandwidths --- */

static const struct {
	const char *text;
	const char *good; /* how it is written, or NULL */
	const char *why;  /* part of what is said */
} bandwidths[] = {
	{"", "", NULL},
	{" 80 ", "80", NULL},
	{"auto", "auto", NULL},
	{"auto(2,256,2)", "auto(2,256,2)", NULL},
	{"auto( 10 , 50 , 4 )", "auto(10,50,4)", NULL},
	{"auto(7,7,2)", "auto(7,7,2)", NULL},
	{"auto(50,10,2)", NULL, "the minimum, 50, is above the maximum, 10"},
	{"auto(2,256,1)", NULL, "delta must be at least 2"},
	{"auto(0,10,2)", NULL, "minimum must be at least 1"},
	{"auto(1,2000000000,2)", NULL, "is no bandwidth"},
	{"auto(1,2)", NULL, "write a number of MB/s, auto, or auto(min,max,delta)"},
	{"auto(1,2,3", NULL, "is no bandwidth"},
	{"auto(1,2,3)x", NULL, "is no bandwidth"},
	{"automatic", NULL, "is no bandwidth"},
	{"0", NULL, "at least 1"},
	{"-5", NULL, "is no bandwidth"},
	{"8.5", NULL, "whole numbers"},
	{"80 MB/s", NULL, "is no bandwidth"},
	{"99999999999999999999", NULL, "is no bandwidth"},
};

static void reads_bandwidths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bandwidths) / sizeof(bandwidths[0]); i++) {
		struct leat_bandwidth b = {.kind = LEAT_BANDWIDTH_NONE};
		char why[LEAT_BANDWIDTH_WHY] = "", text[64];
		int ret = leat_bandwidth_parse(bandwidths[i].text, &b, why);

		if (!bandwidths[i].good) {
			assert_int_equal(ret, -EINVAL);
			assert_non_null(strstr(why, bandwidths[i].why));
			continue;
		}
		assert_int_equal(ret, 0);
		leat_bandwidth_format(&b, text, sizeof(text));
		assert_string_equal(text, bandwidths[i].good);
	}
}

/* --- resources --- */

static void finds_the_device_of_a_path(void **state)
{
	struct leat_resources *res = sim_resources(1, 1, 1, 100);
	struct leat_device *disk = leat_host_add_device(&res->hosts[0], "disk");
	struct leat_device *gpfs = leat_resources_add_shared(res, "gpfs");

	(void)state;
	assert_int_equal(leat_device_add_path(&res->hosts[0].devices[0], "/scratch"), 0);
	assert_int_equal(leat_device_add_path(disk, "/"), 0);
	assert_int_equal(leat_device_add_path(gpfs, "/scratch/shared"), 0);
	assert_int_equal(leat_device_add_path(gpfs, "/gpfs"), 0);
	assert_string_equal(leat_resources_device_of(res, 0, "/scratch/a")->name, "ssd");
	assert_string_equal(leat_resources_device_of(res, 0, "/scratch")->name, "ssd");
	assert_string_equal(leat_resources_device_of(res, 0, "/scratchy/a")->name, "disk");
	assert_string_equal(leat_resources_device_of(res, 0, "/scratch/shared/x/y")->name, "gpfs");
	assert_string_equal(leat_resources_device_of(res, 0, "/gpfs/x")->name, "gpfs");
	assert_string_equal(leat_resources_find_device(res, 0, "gpfs")->name, "gpfs");
	assert_null(leat_resources_find_device(res, 0, "gpf"));
	assert_int_equal(leat_resources_copy_host(res, 0, "host1"), 0);
	assert_string_equal(leat_resources_device_of(res, 1, "/scratch/a")->name, "ssd");
	leat_resources_free(res);
}

/* --- types that are refused --- */

static const struct {
	struct leat_sched_task_type spec;
	const char *why; /* NULL: it is taken */
} types[] = {
	{{"w", true, 0, "ssd", {LEAT_BANDWIDTH_STATIC, 100, 0, 0}}, NULL},
	{{"w", true, 0, "ssd", {LEAT_BANDWIDTH_STATIC, 101, 0, 0}},
	 "\"w\" asks for a bandwidth of 101 MB/s, but storage device \"ssd\" has 100 MB/s"},
	{{"w", true, 0, "ssd", {LEAT_BANDWIDTH_BOUNDED, 101, 200, 2}}, "has 100 MB/s"},
	{{"w", true, 0, "ssd", {LEAT_BANDWIDTH_BOUNDED, 50, 200, 2}}, NULL},
	{{"w", true, 0, "ssd", {LEAT_BANDWIDTH_BOUNDED, 50, 10, 2}}, "is above the maximum"},
	{{"w", true, 0, "ssd", {LEAT_BANDWIDTH_BOUNDED, 5, 10, 1}}, "delta must be at least 2"},
	{{"w", true, 0, "sdd", {LEAT_BANDWIDTH_AUTO, 0, 0, 0}}, "did you mean \"ssd\""},
	{{"w", true, 0, "lustre", {LEAT_BANDWIDTH_AUTO, 0, 0, 0}}, "there is \"ssd\""},
	{{"w", true, 0, NULL, {LEAT_BANDWIDTH_AUTO, 0, 0, 0}}, "not of which storage device"},
	{{"w", true, 0, NULL, {LEAT_BANDWIDTH_NONE, 0, 0, 0}}, NULL},
	{{"w", true, 1, "ssd", {LEAT_BANDWIDTH_NONE, 0, 0, 0}}, "take none"},
	{{"c", false, 4, NULL, {LEAT_BANDWIDTH_NONE, 0, 0, 0}}, NULL},
	{{"c", false, 5, NULL, {LEAT_BANDWIDTH_NONE, 0, 0, 0}}, "no host has more than 4"},
	{{"c", false, 0, NULL, {LEAT_BANDWIDTH_NONE, 0, 0, 0}}, "needs at least 1"},
	{{"c", false, 1, "ssd", {LEAT_BANDWIDTH_STATIC, 10, 0, 0}}, "is no I/O task"},
};

static void refuses_kinds_that_can_never_run(void **state)
{
	struct sim sim;

	(void)state;
	sim_init(&sim, sim_resources(2, 4, 8, 100));
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		char why[LEAT_SCHED_WHY] = "";
		unsigned type;
		int ret = leat_sched_add_type(sim.s, &types[i].spec, &type, why);

		assert_int_equal(ret, types[i].why ? -EINVAL : 0);
		if (types[i].why && !strstr(why, types[i].why))
			fail_msg("row %zu: \"%s\"", i, why);
	}
	sim_release(&sim);
}

static void refuses_io_without_executors(void **state)
{
	struct leat_sched_task_type spec = {.name = "w", .io = true};
	char why[LEAT_SCHED_WHY];
	struct sim sim;
	unsigned type;

	(void)state;
	sim_init(&sim, sim_resources(2, 4, 0, 100));
	assert_int_equal(leat_sched_add_type(sim.s, &spec, &type, why), -EINVAL);
	assert_non_null(strstr(why, "executors"));
	sim_release(&sim);
}

/* --- what starts --- */

static void io_overlaps_compute(void **state)
{
	unsigned compute, io;
	struct sim sim;

	(void)state;
	sim_init(&sim, sim_resources(1, 2, 3, 100));
	compute = sim_compute_type(&sim, "compute", 1);
	io = sim_io_type(&sim, "write", "");
	sim_add(&sim, compute, LEAT_SCHED_ANYWHERE, 10);
	sim_add(&sim, io, LEAT_SCHED_ANYWHERE, 10);
	assert_int_equal(sim_start(&sim), 5);
	assert_int_equal(running_of(&sim, compute), 2);
	assert_int_equal(running_of(&sim, io), 3);
	sim_run(&sim);
	sim_release(&sim);
}

static void a_constraint_bounds_tasks_at_a_time(void **state)
{
	static const struct {
		const char *bandwidth;
		unsigned hosts, executors, at_a_time;
	} rows[] = {
		{"2", 1, 225, 225},   {"4", 1, 225, 112},  {"256", 1, 225, 1},
		{"450", 1, 225, 1},   {"1", 1, 225, 225},  {"", 1, 225, 225},
		{"256", 12, 225, 12}, {"8", 12, 225, 672}, {"100", 2, 3, 6},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct leat_sched_device_state device;
		struct sim sim;

		sim_init(&sim, sim_resources(rows[i].hosts, 1, rows[i].executors, 450));
		sim_add(&sim, sim_io_type(&sim, "write", rows[i].bandwidth), LEAT_SCHED_ANYWHERE,
			1000);
		assert_int_equal(sim_start(&sim), rows[i].at_a_time);
		leat_sched_device_state(sim.s, 0, &device);
		assert_true(device.allocated_mbps <= 450);
		sim_run(&sim);
		leat_sched_device_state(sim.s, 0, &device);
		assert_int_equal(device.allocated_mbps, 0);
		assert_int_equal(device.running, 0);
		sim_release(&sim);
	}
}

static void the_first_host_with_capacity_takes_it(void **state)
{
	unsigned wide, narrow, host;
	struct sim sim;

	(void)state;
	sim_init(&sim, sim_resources(5, 4, 2, 100));
	wide = sim_io_type(&sim, "wide", "60");
	narrow = sim_io_type(&sim, "narrow", "40");
	for (host = 0; host < 5; host++) {
		const struct sim_task *task = sim_add(&sim, wide, LEAT_SCHED_ANYWHERE, 1);

		sim_start(&sim);
		assert_int_equal(task->task.host, host);
	}
	for (host = 0; host < 5; host++) {
		const struct sim_task *task = sim_add(&sim, narrow, LEAT_SCHED_ANYWHERE, 1);

		sim_start(&sim);
		assert_int_equal(task->task.host, host);
	}
	sim_run(&sim);
	sim_release(&sim);
}

static void a_shared_device_counts_once(void **state)
{
	struct leat_sched_task_type spec = {.name = "write", .io = true, .device = "gpfs"};
	struct leat_resources *res = sim_resources(4, 1, 10, 0);
	char why[LEAT_SCHED_WHY];
	struct sim sim;
	unsigned type;

	(void)state;
	leat_resources_add_shared(res, "gpfs")->bandwidth_mbps = 250;
	sim_init(&sim, res);
	assert_int_equal(leat_bandwidth_parse("10", &spec.bandwidth, why), 0);
	assert_int_equal(leat_sched_add_type(sim.s, &spec, &type, why), 0);
	sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 100);
	assert_int_equal(sim_start(&sim), 25);
	assert_int_equal(sim.running[24]->task.host, 2);
	sim_run(&sim);
	sim_release(&sim);
}

static void bound_tasks_run_beside_their_data(void **state)
{
	const struct sim_task *task;
	unsigned io, compute;
	struct sim sim;

	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		sim_init(&sim, sim_resources(3, 1, 2, 100));
		sim.res->shared_dir = shared;
		io = sim_io_type(&sim, "write", "50");
		compute = sim_compute_type(&sim, "compute", 1);
		task = sim_add(&sim, io, 2, 4);
		assert_int_equal(sim_start(&sim), shared ? 4 : 2);
		assert_int_equal(sim.running[0]->task.host, shared ? 0 : 2);
		sim_run(&sim);
		assert_true(task->started);
		task = sim_add(&sim, compute, 1, 1);
		sim_start(&sim);
		assert_int_equal(task->task.host, shared ? 0 : 1);
		sim_run(&sim);
		sim_release(&sim);
	}
}

static void order_is_that_of_becoming_ready(void **state)
{
	unsigned a, b, c;
	struct sim sim;

	(void)state;
	sim_init(&sim, sim_resources(1, 1, 1, 100));
	a = sim_io_type(&sim, "a", "10");
	b = sim_io_type(&sim, "b", "20");
	c = sim_io_type(&sim, "c", "");
	for (unsigned i = 0; i < 60; i++)
		sim_add(&sim, i % 3 == 0 ? a : i % 3 == 1 ? b : c, LEAT_SCHED_ANYWHERE, 1);
	sim_run(&sim);
	for (size_t i = 0; i < sim.n_all; i++)
		assert_int_equal(sim.all[i]->order, i);
	sim_release(&sim);
}

/* A stream of small tasks that never ends must not keep a large one out. */
static void more_of_the_small(struct sim *sim, struct sim_task *task)
{
	if (sim->n_all < 20000)
		sim_add(sim, task->task.type, LEAT_SCHED_ANYWHERE, 1);
}

static uint64_t uneven(const struct sim *sim, const struct sim_task *task)
{
	(void)task;
	return SECOND + sim->starts * 7919 % 1000 * 1000000;
}

static void check_starvation(bool io, unsigned hosts)
{
	const struct sim_task *large[2];
	unsigned small, big;
	struct sim sim;

	sim_init(&sim, sim_resources(hosts, 8, 8, 80));
	sim.took = uneven;
	small = io ? sim_io_type(&sim, "small", "10") : sim_compute_type(&sim, "small", 1);
	big = io ? sim_io_type(&sim, "big", "80") : sim_compute_type(&sim, "big", 8);
	sim.ended = more_of_the_small;
	sim_add(&sim, small, LEAT_SCHED_ANYWHERE, 20 * (size_t)hosts);
	large[0] = sim_add(&sim, big, LEAT_SCHED_ANYWHERE, 1);
	large[1] = sim_add(&sim, big, LEAT_SCHED_ANYWHERE, 1);
	sim_run(&sim);
	assert_true(large[0]->started && large[1]->started);
	assert_in_range(large[0]->order, 0, 800);
	assert_in_range(large[1]->order, 0, 1600);
	sim_release(&sim);
}

static void nothing_starves(void **state)
{
	(void)state;
	check_starvation(false, 1);
	check_starvation(false, 5);
	check_starvation(true, 1);
	check_starvation(true, 5);
}

static void small_tasks_fill_the_gaps(void **state)
{
	const struct sim_task *big, *small;
	struct sim sim;

	(void)state;
	sim_init(&sim, sim_resources(1, 4, 1, 0));
	sim_add(&sim, sim_compute_type(&sim, "three", 3), LEAT_SCHED_ANYWHERE, 1);
	sim_start(&sim);
	big = sim_add(&sim, sim_compute_type(&sim, "two", 2), LEAT_SCHED_ANYWHERE, 1);
	small = sim_add(&sim, sim_compute_type(&sim, "one", 1), LEAT_SCHED_ANYWHERE, 1);
	assert_int_equal(sim_start(&sim), 1);
	assert_true(small->started && !big->started);
	sim_run(&sim);
	assert_true(big->started);
	sim_release(&sim);
}

/* --- misuse and ends --- */

static void tasks_have_one_life_at_a_time(void **state)
{
	struct leat_sched_task task = {.home = LEAT_SCHED_ANYWHERE};
	struct leat_sched_counts counts;
	struct sim sim;

	(void)state;
	sim_init(&sim, sim_resources(1, 1, 1, 100));
	task.type = sim_compute_type(&sim, "compute", 1);
	assert_int_equal(leat_sched_ready(sim.s, &task), -EINVAL);
	assert_int_equal(leat_sched_ended(sim.s, &task, 0, 0, false), -EINVAL);
	assert_int_equal(leat_sched_submit(sim.s, &task), 0);
	assert_int_equal(leat_sched_submit(sim.s, &task), -EINVAL);
	assert_null(leat_sched_next(sim.s, 0));
	assert_int_equal(leat_sched_ready(sim.s, &task), 0);
	assert_int_equal(leat_sched_ready(sim.s, &task), -EINVAL);
	assert_ptr_equal(leat_sched_next(sim.s, 0), &task);
	assert_int_equal(leat_sched_cancel(sim.s, &task, 0), -EINVAL);
	assert_int_equal(leat_sched_ended(sim.s, &task, 1, 1, true), 0);
	assert_int_equal(leat_sched_submit(sim.s, &task), 0);
	assert_int_equal(leat_sched_cancel(sim.s, &task, 1), 0);
	leat_sched_counts(sim.s, &counts);
	assert_int_equal(counts.submitted + counts.ready + counts.running, 0);
	task.type = 99;
	assert_int_equal(leat_sched_submit(sim.s, &task), -EINVAL);
	task.type = 0;
	task.home = 1;
	assert_int_equal(leat_sched_submit(sim.s, &task), -EINVAL);
	task.home = LEAT_SCHED_ANYWHERE;
	leat_sched_end(sim.s, 2);
	assert_int_equal(leat_sched_submit(sim.s, &task), -EINVAL);
	sim_release(&sim);
}

static void resting_tasks_lend_their_units(void **state)
{
	struct sim sim = {0};
	struct leat_sched_host_state host;
	struct sim_task *first, *second, *third;
	unsigned type;

	(void)state;
	sim_init(&sim, sim_resources(1, 2, 1, 100));
	type = sim_compute_type(&sim, "two", 2);
	first = sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 1);
	second = sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 1);
	third = sim_add(&sim, type, LEAT_SCHED_ANYWHERE, 1);
	assert_ptr_equal(leat_sched_next(sim.s, 0), &first->task);
	assert_null(leat_sched_next(sim.s, 0));
	assert_int_equal(leat_sched_resume(sim.s, &first->task), -EINVAL);
	assert_int_equal(leat_sched_rest(sim.s, &second->task), -EINVAL);
	assert_int_equal(leat_sched_rest(sim.s, &first->task), 0);
	assert_int_equal(leat_sched_rest(sim.s, &first->task), -EINVAL);
	assert_ptr_equal(leat_sched_next(sim.s, 0), &second->task);
	/* Both run on two units; nothing more starts until four are back. */
	assert_int_equal(leat_sched_resume(sim.s, &first->task), 0);
	assert_int_equal(leat_sched_ended(sim.s, &second->task, 1, 1, false), 0);
	assert_null(leat_sched_next(sim.s, 1));
	assert_int_equal(leat_sched_ended(sim.s, &first->task, 2, 2, false), 0);
	assert_ptr_equal(leat_sched_next(sim.s, 2), &third->task);
	/* One that rests may end. */
	assert_int_equal(leat_sched_rest(sim.s, &third->task), 0);
	assert_int_equal(leat_sched_ended(sim.s, &third->task, 3, 1, false), 0);
	leat_sched_host_state(sim.s, 0, &host);
	assert_int_equal(host.free_units, 2);
	sim_release(&sim);
}

static void cancelled_tasks_do_not_start(void **state)
{
	struct sim_task *big, *other;
	unsigned one, two;
	struct sim sim;

	(void)state;
	sim_init(&sim, sim_resources(1, 2, 1, 0));
	one = sim_compute_type(&sim, "one", 1);
	two = sim_compute_type(&sim, "two", 2);
	sim_add(&sim, one, LEAT_SCHED_ANYWHERE, 1);
	sim_start(&sim);
	big = sim_add(&sim, two, LEAT_SCHED_ANYWHERE, 1);
	other = sim_add(&sim, two, LEAT_SCHED_ANYWHERE, 1);
	assert_int_equal(sim_start(&sim), 0);
	assert_int_equal(leat_sched_cancel(sim.s, &big->task, 0), 0);
	assert_int_equal(sim_start(&sim), 0);
	sim_run(&sim);
	assert_true(other->started && !big->started);
	sim_release(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_bandwidths),
		cmocka_unit_test(finds_the_device_of_a_path),
		cmocka_unit_test(refuses_kinds_that_can_never_run),
		cmocka_unit_test(refuses_io_without_executors),
		cmocka_unit_test(io_overlaps_compute),
		cmocka_unit_test(a_constraint_bounds_tasks_at_a_time),
		cmocka_unit_test(the_first_host_with_capacity_takes_it),
		cmocka_unit_test(a_shared_device_counts_once),
		cmocka_unit_test(bound_tasks_run_beside_their_data),
		cmocka_unit_test(order_is_that_of_becoming_ready),
		cmocka_unit_test(nothing_starves),
		cmocka_unit_test(small_tasks_fill_the_gaps),
		cmocka_unit_test(tasks_have_one_life_at_a_time),
		cmocka_unit_test(resting_tasks_lend_their_units),
		cmocka_unit_test(cancelled_tasks_do_not_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
