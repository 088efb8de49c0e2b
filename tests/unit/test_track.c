/* What a step did in the course of time, within bounds. */
#include "daemon/run/track.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static void add(struct leat_track *t, uint64_t begin_ms, uint64_t length_ms, uint64_t wait_ms,
		uint64_t copy_ms)
{
	leat_track_add(t, &(struct leat_piece){.begin_ns = begin_ms * MS,
					       .length_ns = length_ms * MS,
					       .wait_ns = wait_ms * MS,
					       .copy_ns = copy_ms * MS});
}

static void test_share(void **state)
{
	static const struct {
		unsigned steps, share;
	} cases[] = {{0, 4096},  {1, 4096},   {64, 4096}, {128, 2048},
		     {512, 512}, {1024, 256}, {5000, 256}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(leat_track_share(cases[i].steps), cases[i].share);
}

/* Alike neighbours are one piece. */
static void test_alike(void **state)
{
	struct leat_track t;

	(void)state;
	leat_track_init(&t, 256);
	for (unsigned i = 0; i < 10; i++)
		add(&t, 10 * i, 10, 0, 0);
	for (unsigned i = 10; i < 30; i++)
		add(&t, 10 * i, 10, 10, 0);
	add(&t, 300, 10, 4, 0);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.v[0].length_ns, 100 * MS);
	assert_int_equal(t.v[0].wait_ns, 0);
	assert_int_equal(t.v[1].begin_ns, 100 * MS);
	assert_int_equal(t.v[1].wait_ns, 200 * MS);
	assert_int_equal(t.v[2].wait_ns, 4 * MS);
	leat_track_release(&t);
}

/* Waits for different files are told apart, and so is when bytes moved. */
static void test_apart(void **state)
{
	struct leat_piece p = {.length_ns = 10 * MS, .wait_ns = 10 * MS, .file = 1};
	struct leat_track t;

	(void)state;
	leat_track_init(&t, 256);
	leat_track_add(&t, &p);
	p.begin_ns = 10 * MS;
	p.file = 2;
	leat_track_add(&t, &p);
	assert_int_equal(t.n, 2);
	p = (struct leat_piece){.length_ns = 10 * MS, .bytes_in = 5};
	for (unsigned i = 2; i < 42; i++) {
		p.begin_ns = 10 * MS * i;
		leat_track_add(&t, &p);
	}
	assert_int_equal(t.n, 2 + 4);
	assert_int_equal(t.v[2].bytes_in, 50);
	leat_track_release(&t);
}

/* Between two instances nothing ran. */
static void test_gap(void **state)
{
	struct leat_track t;

	(void)state;
	leat_track_init(&t, 256);
	add(&t, 0, 10, 0, 0);
	add(&t, 50, 10, 0, 0);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.v[1].begin_ns, 10 * MS);
	assert_int_equal(t.v[1].rest_ns, 40 * MS);
	leat_track_release(&t);
}

static void test_cut(void **state)
{
	struct leat_track t;

	(void)state;
	leat_track_init(&t, 256);
	add(&t, 0, 10, 7, 9);
	assert_int_equal(t.v[0].wait_ns, 7 * MS);
	assert_int_equal(t.v[0].copy_ns, 3 * MS);
	leat_track_release(&t);
}

/* A long operation is told of at its end. */
static void test_copied(void **state)
{
	struct leat_track t;

	(void)state;
	leat_track_init(&t, 256);
	add(&t, 0, 20, 20, 0);
	add(&t, 20, 30, 0, 0);
	add(&t, 50, 10, 5, 0);
	leat_track_copied(&t, 25 * MS);
	assert_int_equal(t.v[2].copy_ns, 5 * MS);
	assert_int_equal(t.v[1].copy_ns, 15 * MS);
	assert_int_equal(t.v[0].copy_ns, 0);
	/* More than there was time for: several threads. */
	leat_track_copied(&t, 1000 * MS);
	assert_int_equal(t.v[1].copy_ns, 30 * MS);
	assert_int_equal(t.v[0].copy_ns, 0);
	leat_track_release(&t);
}

/* However long and restless a step is: the pieces are few, without gaps, and add up. */
static void test_bound(void **state)
{
	enum { LOOKS = 1000000, MOST = 256 };
	uint64_t length_ns = 0, wait_ns = 0, bytes = 0, longest_ns = 0;
	struct leat_piece p = {.length_ns = 10 * MS};
	struct leat_track t;

	(void)state;
	leat_track_init(&t, MOST);
	for (unsigned i = 0; i < LOOKS; i++) {
		p.begin_ns = 10 * MS * i;
		p.wait_ns = i % 2 ? p.length_ns : 0;
		p.bytes_in = i;
		leat_track_add(&t, &p);
		assert_in_range(t.n, 1, MOST);
	}
	for (unsigned i = 0; i < t.n; i++) {
		assert_int_equal(t.v[i].begin_ns, length_ns);
		length_ns += t.v[i].length_ns;
		wait_ns += t.v[i].wait_ns;
		bytes += t.v[i].bytes_in;
		if (t.v[i].length_ns > longest_ns)
			longest_ns = t.v[i].length_ns;
	}
	assert_int_equal(length_ns, 10 * MS * LOOKS);
	assert_int_equal(wait_ns, 5 * MS * LOOKS);
	assert_int_equal(bytes, (uint64_t)LOOKS * (LOOKS - 1) / 2);
	/* docs/reference/timeline.md, "Timeline". */
	assert_true(longest_ns <= 16 * length_ns / (3 * MOST));
	leat_track_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share), cmocka_unit_test(test_alike),
		cmocka_unit_test(test_apart), cmocka_unit_test(test_gap),
		cmocka_unit_test(test_cut),   cmocka_unit_test(test_copied),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
