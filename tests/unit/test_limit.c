/* The token bucket that holds a step to a rate. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shm/limit.h"

#define MB UINT64_C(1000000)
#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define NOW (100 * SECOND)

/* Its whole life in which each operation waits until it may go on: the time at the end. */
static uint64_t play(struct leat_shm_limit *l, uint64_t now, uint64_t bytes, uint64_t size)
{
	for (; bytes; bytes -= size) {
		uint64_t until = leat_limit_take(l, size, now);

		if (until > now)
			now = until;
	}
	return now;
}

static void holds_to_the_rate(void **state)
{
	static const uint64_t sizes[] = {64, 1000, 64000, MB, 16 * MB};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct leat_shm_limit l = {.rate = 4 * MB};
		uint64_t took = play(&l, NOW, 16 * MB, sizes[i]) - NOW;

		/* 4 s, less what a bucket that was full has given */
		assert_in_range(took, 4 * SECOND - LEAT_LIMIT_BURST_NS - MS,
				4 * SECOND - LEAT_LIMIT_BURST_NS + MS);
	}
}

static void gives_no_more_than_a_burst_after_a_pause(void **state)
{
	struct leat_shm_limit l = {.rate = 10 * MB};
	uint64_t now = play(&l, NOW, 10 * MB, MB);

	(void)state;
	now += 60 * SECOND;
	assert_int_equal(leat_limit_take(&l, MB, now), now + 100 * MS - LEAT_LIMIT_BURST_NS);
}

static void lets_pass_what_is_below(void **state)
{
	struct leat_shm_limit l = {.rate = 10 * MB};
	uint64_t now = NOW;

	(void)state;
	for (int i = 0; i < 1000; i++, now += MS) /* 9 MB/s */
		assert_true(leat_limit_take(&l, 9000, now) <= now);
}

static void is_none_until_set(void **state)
{
	struct leat_shm_limit l = {.rate = 0};

	(void)state;
	assert_false(leat_limit_is_set(&l));
	assert_int_equal(leat_limit_take(&l, UINT64_C(1) << 40, NOW), NOW);
}

static void does_not_overflow(void **state)
{
	struct leat_shm_limit slow = {.rate = MB}, fast = {.rate = 1000000 * MB};

	(void)state;
	assert_int_equal(leat_limit_take(&slow, UINT64_C(1) << 50, NOW),
			 NOW - LEAT_LIMIT_BURST_NS + UINT64_C(1125899906842624000));
	assert_int_equal(leat_limit_take(&fast, 0x7ffff000, NOW),
			 NOW - LEAT_LIMIT_BURST_NS + 0x7ffff000 / 1000);
	assert_int_equal(leat_limit_take(&slow, 1, 5),
			 UINT64_C(1125899906842624000) + NOW - LEAT_LIMIT_BURST_NS + 1000);
}

enum { THREADS = 4, TAKES = 100000 };

static void *take_many(void *arg)
{
	for (int i = 0; i < TAKES; i++)
		leat_limit_take(arg, 1000, NOW);
	return NULL;
}

/* No token is given twice. */
static void counts_each_of_many_threads(void **state)
{
	struct leat_shm_limit l = {.rate = 100 * MB};
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_many, &l), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(leat_limit_take(&l, 0, NOW),
			 NOW - LEAT_LIMIT_BURST_NS + UINT64_C(10000) * THREADS * TAKES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_to_the_rate),
		cmocka_unit_test(gives_no_more_than_a_burst_after_a_pause),
		cmocka_unit_test(lets_pass_what_is_below),
		cmocka_unit_test(is_none_until_set),
		cmocka_unit_test(does_not_overflow),
		cmocka_unit_test(counts_each_of_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
