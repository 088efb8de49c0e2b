/* The simulator: the shapes of the paper's figures, and the parts it is made of. */
#include "lang/resources/resources.h"
#include "lang/resources/workload.h"
#include "sched/machine.h"
#include "sched/simulate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *example(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/examples/simulate/%s", getenv("LEAT_SOURCE_DIR"), name);
	return path;
}

static struct leat_resources *load_resources(void)
{
	struct leat_diags *diags;
	struct leat_resources *res = leat_resources_load(example("resources.yaml"), &diags);

	assert_non_null(res);
	leat_diags_free(diags);
	return res;
}

static struct leat_workload *load_workload(const char *name)
{
	struct leat_diags *diags;
	struct leat_workload *w = leat_workload_load(example(name), &diags);

	assert_non_null(w);
	leat_diags_free(diags);
	return w;
}

/* One trial of an example. */
static void try(const char *name, unsigned iterations, const char *trial,
		struct leat_simulated *out)
{
	const struct leat_congestion model = LEAT_CONGESTION_SSD;
	struct leat_resources *res = load_resources();
	struct leat_workload *w = load_workload(name);
	char why[LEAT_SCHED_WHY];

	leat_workload_clear_trials(w);
	assert_int_equal(leat_workload_add_trial(w, trial, why), 0);
	if (iterations)
		w->iterations = iterations;
	assert_int_equal(leat_simulate(res, w, w->trials, &model, out, why), 0);
	/* names are borrowed from the workload */
	for (size_t g = 0; g < out->n_groups; g++)
		out->groups[g].name = NULL;
	leat_workload_free(w);
	leat_resources_free(res);
}

static double total(const char *name, unsigned iterations, const char *trial)
{
	struct leat_simulated out;
	double seconds;

	try(name, iterations, trial, &out);
	seconds = out.total_s;
	leat_simulated_release(&out);
	return seconds;
}

static double throughput(const char *name, const char *trial)
{
	struct leat_simulated out;
	double mbps;

	try(name, 0, trial, &out);
	mbps = out.megabytes / out.busy_s;
	leat_simulated_release(&out);
	return mbps;
}

/* Tasks learned from, and the time the last kind had learned. */
static double learned(const char *name, const char *trial, uint64_t *tasks)
{
	struct leat_simulated out;
	double last = 0;

	try(name, 0, trial, &out);
	*tasks = 0;
	for (size_t g = 0; g < out.n_groups; g++) {
		*tasks += out.groups[g].learned_from;
		if (out.groups[g].learned_s > last)
			last = out.groups[g].learned_s;
	}
	leat_simulated_release(&out);
	return last;
}

static const char *const statics[] = {"2", "4", "8", "16", "32", "64", "128", "256"};

enum { N_STATICS = sizeof(statics) / sizeof(statics[0]) };

/* --- figures ------------------------------------------------------------------------------------
 */

/* Figs. 10 and 14. */
static void check_totals(const char *name, const char *unconstrained, size_t n_statics)
{
	double base = total(name, 0, "baseline"), best = INFINITY, each[N_STATICS];
	double unbounded = total(name, 0, "auto"), bounded = total(name, 0, "auto(2,256,2)");
	size_t best_at = 0;

	assert_true(total(name, 0, unconstrained) > base);
	for (size_t i = 0; i < n_statics; i++) {
		each[i] = total(name, 0, statics[i]);
		if (each[i] < best) {
			best = each[i];
			best_at = i;
		}
		assert_true(total(name, 0, unconstrained) > each[i]);
	}
	/* the best is in the middle; from there it gets worse to both sides */
	assert_true(best_at > 0 && best_at < n_statics - 1);
	assert_true(best < base && each[0] > best && each[n_statics - 1] > best);
	for (size_t i = 0; i < best_at; i++)
		assert_true(each[i] > each[i + 1]);
	/* both automatic modes are better than the baseline; without bounds near the best */
	assert_true(unbounded < base && bounded < base);
	assert_true(unbounded <= 1.02 * best && bounded <= 1.1 * best);
	assert_true(unbounded <= bounded);
}

static void totals_of_hmmer(void **state)
{
	(void)state;
	check_totals("hmmer.yaml", "none@500", N_STATICS);
	/* too much order is worse than the baseline, too */
	assert_true(total("hmmer.yaml", 0, "256") > total("hmmer.yaml", 0, "baseline"));
}

static void totals_of_variants(void **state)
{
	(void)state;
	check_totals("variants.yaml", "none@325", N_STATICS - 1);
}

/* Fig. 11. */
static void throughput_of_hmmer(void **state)
{
	double none = throughput("hmmer.yaml", "none@500"), each[N_STATICS];

	(void)state;
	for (size_t i = 0; i < N_STATICS; i++)
		each[i] = throughput("hmmer.yaml", statics[i]);
	assert_true(none < each[0] && each[0] < each[1] && each[1] < each[2]);
	for (size_t i = 2; i + 1 < N_STATICS; i++)
		assert_true(each[i] > each[i + 1]);
	assert_true(throughput("hmmer.yaml", "auto") > 0.97 * each[2]);
	assert_true(throughput("hmmer.yaml", "auto(2,256,2)") > 0.97 * each[2]);
}

/* Figs. 12 and 15 to 19: the epochs of each kind that learns. */
static void check_curves(const char *name, const char *trial, const char *expected)
{
	struct leat_simulated out;

	try(name, 0, trial, &out);
	for (size_t g = 0; g < out.n_groups; g++) {
		const struct leat_simulated_group *group = &out.groups[g];
		char text[256] = "";

		if (!group->bandwidth.kind)
			continue;
		for (size_t e = 0; e < group->n_epochs; e++) {
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u:%u%s ",
				 group->epochs[e].constraint_mbps, group->epochs[e].started,
				 group->epochs[e].end == LEAT_SCHED_EPOCH_DISCARDED ? "-" : "");
			if (e)
				assert_true(group->epochs[e].begin_ns >=
					    group->epochs[e - 1].end_ns);
		}
		assert_string_equal(text, expected);
		assert_int_equal(group->phase, LEAT_SCHED_LEARNED);
	}
	leat_simulated_release(&out);
}

static void learning_curves(void **state)
{
	static const char *const names[] = {"hmmer.yaml", "variants.yaml"};
	uint64_t unbounded, bounded;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		check_curves(names[i], "auto", "2:225 4:112 8:56 16:28- ");
		check_curves(names[i], "auto(2,256,2)",
			     "2:225 4:112 8:56 16:28 32:14 64:7 128:3 256:1 ");
		assert_true(learned(names[i], "auto(2,256,2)", &bounded) >
			    learned(names[i], "auto", &unbounded));
		assert_true(bounded > unbounded);
	}
}

/* Fig. 21: with few tasks learning does not pay, with more it does. */
static void iterations_of_kmeans(void **state)
{
	static const char *const trials[] = {"auto", "auto(2,256,2)"};
	double gain = 0;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_true(total("kmeans.yaml", 1, trials[i]) >
			    total("kmeans.yaml", 1, "baseline"));
		assert_true(total("kmeans.yaml", 3, trials[i]) <
			    total("kmeans.yaml", 3, "baseline"));
		gain = total("kmeans.yaml", 3, "baseline") - total("kmeans.yaml", 3, trials[i]);
		assert_true(total("kmeans.yaml", 6, "baseline") -
				    total("kmeans.yaml", 6, trials[i]) >
			    gain);
	}
}

/* Fig. 22. */
static void what_learning_is_told_matters(void **state)
{
	uint64_t tasks, fewer;

	(void)state;
	assert_true(learned("hmmer.yaml", "auto(4,16,2)", &fewer) <
		    learned("hmmer.yaml", "auto(2,256,2)", &tasks));
	assert_true(fewer < tasks);
	assert_true(total("hmmer.yaml", 0, "auto(4,16,2)") <
		    total("hmmer.yaml", 0, "auto(2,256,2)"));
	/* a large step goes past the best constraint */
	assert_true(total("hmmer.yaml", 0, "auto(4,256,4)") >
		    total("hmmer.yaml", 0, "auto(4,16,2)"));
	/* fewer executors: it begins nearer to the best constraint */
	assert_true(learned("hmmer.yaml", "auto@56", &fewer) <
		    learned("hmmer.yaml", "auto@112", &tasks));
	assert_true(learned("hmmer.yaml", "auto@112", &fewer) <
		    learned("hmmer.yaml", "auto", &tasks));
	assert_true(total("variants.yaml", 0, "auto(4,16,2)") <
		    total("variants.yaml", 0, "auto(2,256,2)"));
	assert_true(total("variants.yaml", 0, "auto@112") < total("variants.yaml", 0, "auto"));
}

/* --- the model of a device
 * -------------------------------------------------------------------------- */

/* Mean times of tasks of 290 MB, by how many run at a time, on an SSD of 450 MB/s. */
static void congestion_is_near_what_was_measured(void **state)
{
	static const struct {
		unsigned tasks;
		double seconds;
	} rows[] = {{225, 150}, {112, 70}, {56, 33}, {28, 20},
		    {14, 11},   {7, 6},    {3, 3.4}, {1, 2.9}};
	const struct leat_congestion model = LEAT_CONGESTION_SSD;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double mbps = leat_congestion_mbps(&model, 450, rows[i].tasks);
		double seconds = rows[i].tasks * 290 / mbps;

		assert_true(fabs(seconds / rows[i].seconds - 1) < 0.13);
	}
	assert_true(leat_congestion_mbps(&model, 450, 0) == 0);
}

static void devices_are_shared_equally(void **state)
{
	const struct leat_congestion flat = {.peak = 1, .ramp = 0, .knee = 1e9, .slope = 1};
	struct leat_machine m;

	(void)state;
	assert_int_equal(leat_machine_init(&m, &flat, 2), 0);
	m.disks[0].bandwidth_mbps = 100;
	m.disks[1].bandwidth_mbps = 10;
	/* 0 and 1 share until 0 is done at 2 s; 1 has then 100 MB left; 2 comes at 2.5 s */
	assert_int_equal(leat_machine_transfer(&m, 0, 0, 100), 0);
	assert_int_equal(leat_machine_transfer(&m, 1, 0, 200), 0);
	assert_int_equal(leat_machine_transfer(&m, 3, 1, 100), 0);
	assert_int_equal(leat_machine_sleep(&m, 9, 2.5), 0);
	assert_int_equal(leat_machine_next(&m), 0);
	assert_true(fabs(m.now_s - 2) < 1e-9);
	assert_int_equal(leat_machine_next(&m), 9);
	assert_int_equal(leat_machine_transfer(&m, 2, 0, 25), 0);
	assert_int_equal(leat_machine_next(&m), 2);
	assert_true(fabs(m.now_s - 3) < 1e-9);
	assert_int_equal(leat_machine_next(&m), 1);
	assert_true(fabs(m.now_s - 3.25) < 1e-9);
	assert_int_equal(leat_machine_next(&m), 3);
	assert_true(fabs(m.now_s - 10) < 1e-9);
	assert_true(leat_machine_next(&m) == SIZE_MAX);
	assert_true(fabs(m.disks[0].busy_s - 3.25) < 1e-9);
	assert_int_equal(m.disks[0].most, 2);
	leat_machine_release(&m);
}

/* --- trials and what cannot be simulated
 * ------------------------------------------------------------- */

static void reads_trials(void **state)
{
	static const struct {
		const char *text, *why;
		unsigned executors;
	} rows[] = {
		{"baseline", NULL, 0},
		{"none@500", NULL, 500},
		{"auto@112", NULL, 112},
		{"auto(2,4,2)@7", NULL, 7},
		{"given", NULL, 0},
		{"8", NULL, 0},
		{"auto@", "executors", 0},
		{"8@0", "executors", 0},
		{"8@x", "executors", 0},
		{"", "write given", 0},
		{"fast", "is no bandwidth", 0},
	};
	struct leat_workload *w = leat_workload_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char why[LEAT_BANDWIDTH_WHY] = "";
		int ret = leat_workload_add_trial(w, rows[i].text, why);

		assert_int_equal(ret, rows[i].why ? -EINVAL : 0);
		if (rows[i].why)
			assert_non_null(strstr(why, rows[i].why));
		else
			assert_int_equal(w->trials[w->n_trials - 1].io_executors,
					 rows[i].executors);
	}
	leat_workload_free(w);
}

static void refuses_what_no_node_can_do(void **state)
{
	static const struct {
		const char *trial, *why;
	} rows[] = {{"451", "has 450 MB/s"}, {"auto(500,600,2)", "has 450 MB/s"}};
	const struct leat_congestion model = LEAT_CONGESTION_SSD;
	struct leat_resources *res = load_resources();
	struct leat_workload *w = load_workload("hmmer.yaml");

	(void)state;
	leat_workload_clear_trials(w);
	for (size_t i = 0; i < 2; i++) {
		struct leat_simulated out;
		char why[LEAT_SCHED_WHY] = "";

		assert_int_equal(leat_workload_add_trial(w, rows[i].trial, why), 0);
		assert_int_equal(leat_simulate(res, w, &w->trials[i], &model, &out, why), -EINVAL);
		assert_non_null(strstr(why, rows[i].why));
	}
	leat_workload_free(w);
	leat_resources_free(res);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_of_hmmer),
		cmocka_unit_test(totals_of_variants),
		cmocka_unit_test(throughput_of_hmmer),
		cmocka_unit_test(learning_curves),
		cmocka_unit_test(iterations_of_kmeans),
		cmocka_unit_test(what_learning_is_told_matters),
		cmocka_unit_test(congestion_is_near_what_was_measured),
		cmocka_unit_test(devices_are_shared_equally),
		cmocka_unit_test(reads_trials),
		cmocka_unit_test(refuses_what_no_node_can_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
