/* Byte ranges against a map of bytes. */
#include "stream/state/extents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE = 40, STEPS = 200000 };

static bool map_covers(const bool *map, uint64_t begin, uint64_t end)
{
	for (; begin < end; begin++)
		if (!map[begin])
			return false;
	return true;
}

static uint64_t map_frontier(const bool *map)
{
	uint64_t n = 0;

	while (n < SIZE && map[n])
		n++;
	return n;
}

static void check_shape(const struct leat_extents *x)
{
	for (size_t i = 0; i < x->n; i++) {
		assert_true(x->v[i].begin < x->v[i].end);
		if (i)
			assert_true(x->v[i - 1].end < x->v[i].begin);
	}
}

static void test_random(void **state)
{
	struct leat_extents x = {0};
	bool map[SIZE] = {false};

	(void)state;
	srand(1);
	for (int step = 0; step < STEPS; step++) {
		uint64_t a = (uint64_t)rand() % SIZE, b = (uint64_t)rand() % (SIZE + 1);

		switch (rand() % 8) {
		case 0:
			leat_extents_truncate(&x, a);
			memset(map + a, 0, SIZE - a);
			break;
		case 1:
		case 2:
			assert_int_equal(leat_extents_add(&x, a, b), 0);
			if (a < b)
				memset(map + a, 1, b - a);
			break;
		default:
			assert_int_equal(leat_extents_cover(&x, a, b),
					 a >= b || map_covers(map, a, b));
			assert_int_equal(leat_extents_frontier(&x), map_frontier(map));
		}
		check_shape(&x);
	}
	leat_extents_release(&x);
}

static void test_limits(void **state)
{
	struct leat_extents x = {0};

	(void)state;
	assert_true(leat_extents_cover(&x, 5, 5));
	assert_false(leat_extents_cover(&x, 5, 6));
	assert_int_equal(leat_extents_add(&x, UINT64_MAX - 1, UINT64_MAX), 0);
	assert_true(leat_extents_cover(&x, UINT64_MAX - 1, UINT64_MAX));
	assert_int_equal(leat_extents_frontier(&x), 0);
	assert_int_equal(leat_extents_add(&x, 0, UINT64_MAX), 0);
	assert_int_equal(x.n, 1);
	leat_extents_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
