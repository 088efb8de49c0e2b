/* What was achieved over time: sums stay exact and memory bounded, whatever happens. */
#include "driver/moved.h"
#include "base/pidstat.h"
#include "sched/achieved.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define START (77 * SECOND)
#define MB UINT64_C(1000000)

enum { SAVE, LOAD, SOLVE, ELSEWHERE };

/* A device with two types of I/O tasks, of which the first learns, and one of compute tasks; and a
 * type without a device. */
static struct leat_achieved *make(unsigned max_samples)
{
	struct leat_achieved *a = leat_achieved_new(START, max_samples);

	assert_non_null(a);
	assert_int_equal(leat_achieved_add_device(a), 0);
	assert_int_equal(leat_achieved_add_device(a), 0);
	assert_int_equal(leat_achieved_add_type(a, SAVE, 1, true, true), 0);
	assert_int_equal(leat_achieved_add_type(a, LOAD, 1, true, false), 0);
	assert_int_equal(leat_achieved_add_type(a, SOLVE, 1, false, false), 0);
	assert_int_equal(leat_achieved_add_type(a, ELSEWHERE, LEAT_ACHIEVED_NO_DEVICE, true, false),
			 0);
	return a;
}

static struct leat_achieved_bytes written(uint64_t bytes)
{
	return (struct leat_achieved_bytes){.written = bytes};
}

/* Bytes, in MB, that the samples of device 1 show. */
static double shown(const struct leat_achieved *a, double *taken, double *tasks)
{
	double sum = 0;

	*taken = *tasks = 0;
	for (unsigned i = 0; i < leat_achieved_n(a); i++) {
		struct leat_achieved_sample s, other;

		leat_achieved_sample(a, 1, i, &s);
		leat_achieved_sample(a, 0, i, &other);
		assert_true(other.read_mbps + other.written_mbps + other.allocated_mbps == 0);
		sum += (s.read_mbps + s.written_mbps) * leat_achieved_interval_s(a);
		*taken += s.allocated_mbps * leat_achieved_interval_s(a);
		*tasks += s.tasks * leat_achieved_interval_s(a);
	}
	return sum;
}

static void test_spread(void **state)
{
	static const double mbps[] = {50, 100, 100, 50}, taken[] = {30, 40, 10, 0};
	struct leat_achieved *a = make(1024);

	(void)state;
	/* One takes 20 MB/s from 50 ms to 200 ms, one from the start to 250 ms. */
	leat_achieved_begin(a, LOAD, 20, true, START);
	leat_achieved_begin(a, SAVE, 20, true, START + 50 * MS);
	leat_achieved_end(a, SAVE, 20, START + 200 * MS, 150 * MS);
	leat_achieved_end(a, LOAD, 20, START + 250 * MS, 250 * MS);
	leat_achieved_move(a, SAVE, 20, START + 50 * MS, START + 350 * MS, written(30 * MB));
	assert_int_equal(leat_achieved_n(a), 4);
	for (unsigned i = 0; i < 4; i++) {
		struct leat_achieved_sample s;

		leat_achieved_sample(a, 1, i, &s);
		assert_float_equal(s.written_mbps, mbps[i], 1e-6);
		assert_float_equal(s.read_mbps, 0, 1e-6);
		assert_float_equal(s.allocated_mbps, taken[i], 1e-6);
		assert_float_equal(s.tasks, taken[i] / 20, 1e-6);
		assert_float_equal(leat_achieved_type_mbps(a, SAVE, i), mbps[i], 1e-6);
		assert_float_equal(leat_achieved_type_mbps(a, LOAD, i), 0, 1e-6);
	}
	leat_achieved_free(a);
}

/* The end of a sample is in it, and a moment without length is somewhere, too. */
static void test_edges(void **state)
{
	struct leat_achieved *a = make(2);

	(void)state;
	leat_achieved_move(a, SAVE, 0, START + 100 * MS, START + 200 * MS, written(MB));
	assert_int_equal(leat_achieved_n(a), 2);
	assert_float_equal(leat_achieved_type_mbps(a, SAVE, 0), 0, 1e-9);
	assert_float_equal(leat_achieved_type_mbps(a, SAVE, 1), 10, 1e-9);
	/* Before the start is at the start. */
	leat_achieved_move(a, SAVE, 0, 0, START, written(MB));
	leat_achieved_move(a, SAVE, 0, START + 50 * MS, START + 50 * MS, written(MB));
	assert_float_equal(leat_achieved_type_mbps(a, SAVE, 0), 20, 1e-9);
	leat_achieved_move(a, SAVE, 0, START + 200 * MS, START + 200 * MS, written(MB));
	assert_int_equal(leat_achieved_n(a), 2);
	assert_float_equal(leat_achieved_interval_s(a), 0.2, 1e-9);
	assert_float_equal(leat_achieved_type_mbps(a, SAVE, 0), 15, 1e-9);
	assert_float_equal(leat_achieved_type_mbps(a, SAVE, 1), 5, 1e-9);
	leat_achieved_free(a);
}

static void test_bounds(void **state)
{
	static const struct {
		size_t types;
		unsigned share;
	} shares[] = {{0, 1024}, {1, 1024}, {256, 1024}, {300, 872}, {1024, 256}, {100000, 256}};
	struct leat_achieved *a = make(8);
	double taken, tasks;

	(void)state;
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		assert_int_equal(leat_achieved_share(shares[i].types), shares[i].share);
	leat_achieved_begin(a, SAVE, 3, true, START);
	for (uint64_t i = 0; i < 1000; i++) {
		leat_achieved_move(a, SAVE, 3, START + i * 50 * MS, START + (i + 1) * 50 * MS,
				   written(MB));
		assert_true(leat_achieved_n(a) <= 8);
	}
	leat_achieved_settle(a, START + 50 * SECOND);
	/* 50 s in at most 8 samples: 0.1 s has been doubled six times. */
	assert_float_equal(leat_achieved_interval_s(a), 6.4, 1e-9);
	assert_int_equal(leat_achieved_n(a), 8);
	assert_float_equal(shown(a, &taken, &tasks), 1000, 1e-6);
	assert_float_equal(taken, 150, 1e-6);
	assert_float_equal(tasks, 50, 1e-6);
	/* A year later there are still as many. */
	leat_achieved_move(a, SAVE, 3, START, START + 365 * 86400 * SECOND, written(1000 * MB));
	assert_true(leat_achieved_n(a) <= 8);
	assert_float_equal(shown(a, &taken, &tasks), 2000, 1e-6);
	leat_achieved_free(a);
}

static void test_totals(void **state)
{
	struct leat_achieved *a = make(1024);
	struct leat_achieved_total t;
	struct leat_achieved_sample s;

	(void)state;
	leat_achieved_begin(a, SAVE, 10, true, START + 1 * SECOND);
	leat_achieved_begin(a, LOAD, 10, true, START + 2 * SECOND);
	leat_achieved_begin(a, SOLVE, 0, true, START);
	leat_achieved_move(a, SAVE, 10, START + 1 * SECOND, START + 3 * SECOND, written(100 * MB));
	leat_achieved_move(a, LOAD, 10, START + 2 * SECOND, START + 4 * SECOND,
			   (struct leat_achieved_bytes){.read = 200 * MB});
	leat_achieved_move(a, SOLVE, 0, START + 5 * SECOND, START + 6 * SECOND, written(10 * MB));
	leat_achieved_end(a, SAVE, 10, START + 3 * SECOND, 2 * SECOND);
	leat_achieved_end(a, LOAD, 10, START + 4 * SECOND, 2 * SECOND);
	leat_achieved_settle(a, START + 8 * SECOND);
	leat_achieved_device_total(a, 1, &t);
	assert_int_equal(t.bytes.read, 200 * MB);
	assert_int_equal(t.bytes.written, 110 * MB);
	/* I/O tasks ran for 3 s, in which they moved 300 MB; 150 in the second of both. */
	assert_float_equal(t.busy_s, 3, 1e-9);
	assert_float_equal(t.mean_mbps, 100, 1e-6);
	assert_float_equal(t.peak_mbps, 150, 1e-6);
	/* What is copied besides is told apart. */
	leat_achieved_copy(a, 1, START, START + SECOND, 70 * MB);
	leat_achieved_device_total(a, 1, &t);
	assert_int_equal(t.copied, 70 * MB);
	assert_int_equal(t.bytes.written, 110 * MB);
	leat_achieved_sample(a, 1, 9, &s);
	assert_float_equal(s.copied_mbps, 70, 1e-6);
	assert_float_equal(s.written_mbps, 0, 1e-6);
	leat_achieved_type_total(a, SAVE, &t);
	assert_float_equal(t.busy_s, 2, 1e-9);
	assert_float_equal(t.mean_mbps, 50, 1e-6);
	/* Still running. */
	leat_achieved_type_total(a, SOLVE, &t);
	assert_float_equal(t.busy_s, 8, 1e-9);
	leat_achieved_free(a);
}

/* Faster than a sample: the mean is the peak then. */
static void test_short(void **state)
{
	struct leat_achieved *a = make(1024);
	struct leat_achieved_total t;

	(void)state;
	leat_achieved_begin(a, SAVE, 0, true, START);
	leat_achieved_move(a, SAVE, 0, START, START + MS, written(MB));
	leat_achieved_end(a, SAVE, 0, START + MS, MS);
	leat_achieved_device_total(a, 1, &t);
	assert_float_equal(t.mean_mbps, 1000, 1e-6);
	assert_float_equal(t.peak_mbps, 1000, 1e-6);
	leat_achieved_free(a);
}

static void test_constraints(void **state)
{
	struct leat_achieved *a = make(1024);
	const struct leat_achieved_rate *rates;
	const struct leat_achieved_choice *choices;
	uint64_t left_out;
	size_t n;

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t now = START + i * SECOND;
		unsigned mbps = i % 4 < 2 ? 8 : 16;

		/* What is tried meanwhile was not chosen. */
		leat_achieved_begin(a, SAVE, mbps, i % 4 != 1, now);
		leat_achieved_move(a, SAVE, mbps, now, now + SECOND / 2, written(mbps * MB));
		leat_achieved_end(a, SAVE, mbps, now + SECOND / 2, SECOND / 2);
	}
	rates = leat_achieved_rates(a, SAVE, &n);
	assert_int_equal(n, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rates[i].constraint_mbps, 8 << i);
		assert_int_equal(rates[i].tasks, 1000);
		assert_int_equal(rates[i].bytes, (8 << i) * 1000 * MB);
		assert_int_equal(rates[i].busy_ns, 500 * SECOND);
		assert_int_equal(rates[i].task_ns, 500 * SECOND);
	}
	choices = leat_achieved_choices(a, SAVE, &n, &left_out);
	assert_int_equal(n, LEAT_ACHIEVED_CHOICES);
	assert_int_equal(left_out, 1000 - LEAT_ACHIEVED_CHOICES);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(choices[i].constraint_mbps, i % 2 ? 16 : 8);
		assert_int_equal(choices[i].at_ns, START + 2 * i * SECOND);
	}
	/* More constraints than one that is given can have: the bytes count all the same. */
	leat_achieved_begin(a, LOAD, 1, true, START);
	leat_achieved_begin(a, LOAD, 2, true, START);
	leat_achieved_move(a, LOAD, 2, START, START + SECOND, written(MB));
	leat_achieved_end(a, LOAD, 2, START + SECOND, SECOND);
	leat_achieved_rates(a, LOAD, &n);
	assert_int_equal(n, 1);
	leat_achieved_choices(a, LOAD, &n, &left_out);
	assert_int_equal(n, 0);
	leat_achieved_free(a);
}

static void test_without_device(void **state)
{
	static const unsigned types[] = {ELSEWHERE, 17};
	struct leat_achieved *a = make(1024);
	struct leat_achieved_total t;
	uint64_t left_out;
	size_t n;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		leat_achieved_begin(a, types[i], 1, true, START);
		leat_achieved_move(a, types[i], 1, START, START + SECOND, written(MB));
		leat_achieved_end(a, types[i], 1, START + SECOND, SECOND);
		assert_false(leat_achieved_has_device(a, types[i]));
		leat_achieved_type_total(a, types[i], &t);
		assert_int_equal(t.bytes.written, 0);
		leat_achieved_rates(a, types[i], &n);
		assert_int_equal(n, 0);
		leat_achieved_choices(a, types[i], &n, &left_out);
		assert_int_equal(n, 0);
	}
	leat_achieved_settle(a, START + SECOND);
	assert_false(leat_achieved_is_used(a, 0));
	assert_true(leat_achieved_is_used(a, 1));
	assert_int_equal(leat_achieved_n(a), 0);
	leat_achieved_free(a);
	leat_achieved_free(NULL);
}

/* Whatever tasks there are, bytes, time and what was taken are what they add up to. */
static void test_random(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 50; seed++) {
		struct leat_achieved *a = make(64);
		double bytes = 0, taken = 0, tasks = 0, shown_taken, shown_tasks;
		uint64_t now = START, ends[8] = {0};

		srand(seed);
		for (unsigned i = 0; i < 500; i++) {
			unsigned k = (unsigned)rand() % 8, mbps = k + 1;
			uint64_t moved = (uint64_t)rand() % (20 * MB);

			now += (uint64_t)rand() % (200 * MS);
			if (ends[k]) {
				leat_achieved_move(a, SAVE, mbps, ends[k], now, written(moved));
				leat_achieved_end(a, SAVE, mbps, now, now - ends[k]);
				bytes += (double)moved;
				taken += mbps * (double)(now - ends[k]);
				tasks += (double)(now - ends[k]);
				ends[k] = 0;
			} else {
				/* What is tried meanwhile was not chosen. */
				leat_achieved_begin(a, SAVE, mbps, i % 4 != 1, now);
				ends[k] = now;
			}
			assert_true(leat_achieved_n(a) <= 64);
		}
		for (unsigned k = 0; k < 8; k++)
			if (ends[k])
				leat_achieved_end(a, SAVE, k + 1, now, now - ends[k]);
		for (unsigned k = 0; k < 8; k++) {
			taken += ends[k] ? (k + 1) * (double)(now - ends[k]) : 0;
			tasks += ends[k] ? (double)(now - ends[k]) : 0;
		}
		assert_float_equal(shown(a, &shown_taken, &shown_tasks), bytes / 1e6, 1e-3);
		assert_float_equal(shown_taken, taken / 1e9, 1e-3);
		assert_float_equal(shown_tasks, tasks / 1e9, 1e-3);
		leat_achieved_free(a);
	}
}

static void test_moved(void **state)
{
	static const struct {
		struct leat_counters now;
		uint64_t read, written;
	} looks[] = {
		{{.bytes_in = 100, .bytes_out = 50}, 0, 0},
		{{.bytes_in = 130, .bytes_out = 50}, 30, 0},
		/* A step may write to its counters: nothing is counted twice or taken back. */
		{{.bytes_in = 10, .bytes_out = 70}, 0, 20},
		{{.bytes_in = 140, .bytes_out = 70}, 10, 0},
	};
	struct leat_moved m;

	(void)state;
	leat_moved_begin(&m, &looks[0].now, 5);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t since = 0;
		struct leat_achieved_bytes b = leat_moved_look(&m, &looks[i].now, 0, 6 + i, &since);

		assert_int_equal(since, 5 + i);
		assert_int_equal(b.read, looks[i].read);
		assert_int_equal(b.written, looks[i].written);
	}
}

/* What the kernel has counted for a process is there until it is reaped. */
static void test_ended(void **state)
{
	struct leat_pidio io;
	siginfo_t info;
	pid_t pid;

	(void)state;
	if (!leat_pidstat_io(getpid(), &io)) {
		print_message("the kernel does not count the I/O of processes\n");
		skip();
	}
	pid = fork();
	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(leat_pidstat_io(pid, &io));
	/* Nothing of its own; memcheck's log is counted, too. */
	assert_in_range(io.written, 0, 1 << 16);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(leat_pidstat_io(pid, &io));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),         cmocka_unit_test(test_edges),
		cmocka_unit_test(test_bounds),         cmocka_unit_test(test_totals),
		cmocka_unit_test(test_short),          cmocka_unit_test(test_constraints),
		cmocka_unit_test(test_without_device), cmocka_unit_test(test_random),
		cmocka_unit_test(test_moved),          cmocka_unit_test(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
