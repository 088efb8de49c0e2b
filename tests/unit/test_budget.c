/* How much memory files may take, by what is seen of limits, use and pressure. */
#include "daemon/space/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MB (UINT64_C(1) << 20)
#define MS UINT64_C(1000000)

struct look {
	unsigned after_ms;
	uint64_t used_mb;
	uint64_t limit_mb;
	int64_t free_mb;
	unsigned stalled_ms; /* since the look before */
	uint64_t expected_mb;
};

static const struct {
	const char *name;
	uint64_t asked_mb;
	struct look looks[8];
} cases[] = {
	{"half of the limit", 0, {{1, 0, 400, 350, 0, 200}}},
	{"what was asked for, above half of the limit", 300, {{1, 0, 400, 350, 0, 300}}},
	{"no more than there is", 300, {{1, 0, 400, 120, 0, 120}}},
	{"never less than steps can stream through",
	 0,
	 {{1, 0, 400, -30, 0, 6}, {50, 0, 64, -30, 0, 4}}},
	{"less was asked for than that", 1, {{1, 0, 400, -30, 0, 1}}},
	{"files may stay as long as there is space beside them",
	 0,
	 {{1, 0, 400, 350, 0, 200}, {50, 150, 400, 200, 0, 200}, {50, 150, 400, 10, 0, 160}}},
	{"files make way at once, and come back slowly",
	 0,
	 {{1, 0, 400, 350, 0, 200},
	  {50, 150, 400, -50, 0, 100},
	  {50, 100, 400, 200, 0, 100},
	  {949, 100, 400, 200, 0, 100},
	  {1, 100, 400, 200, 0, 125},
	  {1000, 100, 400, 200, 0, 150},
	  {3000, 100, 400, 200, 0, 175}}},
	{"the limit changes",
	 0,
	 {{1, 0, 400, 350, 0, 200}, {50, 0, 100, 80, 0, 50}, {2000, 0, 800, 700, 0, 100}}},
	{"processes wait for memory, of which files have much",
	 0,
	 {{1, 160, 400, 200, 0, 200},
	  {100, 160, 400, 200, 90, 200}, /* too early to say */
	  {200, 160, 400, 200, 0, 120},
	  {300, 160, 400, 200, 20, 120}}},
	{"processes wait for memory, of which files have little",
	 0,
	 {{1, 40, 400, 200, 0, 200}, {300, 40, 400, 200, 200, 200}}},
};

static void follows_what_is_seen(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct leat_budget b = {.asked_bytes = cases[i].asked_mb * MB};
		struct leat_budget_sight s = {.now_ns = 1000 * MS};

		for (const struct look *l = cases[i].looks; l->limit_mb; l++) {
			s.now_ns += l->after_ms * MS;
			s.used_bytes = l->used_mb * MB;
			s.limit_bytes = l->limit_mb * MB;
			s.free_bytes = l->free_mb * (int64_t)MB;
			s.stalled_us += l->stalled_ms * 1000;
			leat_budget_update(&b, &s);
			if (b.now_bytes / MB != l->expected_mb)
				fail_msg("%s, look %d: %llu MB instead of %llu", cases[i].name,
					 (int)(l - cases[i].looks),
					 (unsigned long long)(b.now_bytes / MB),
					 (unsigned long long)l->expected_mb);
		}
	}
}

static void leaves_space_for_programs(void **state)
{
	(void)state;
	assert_int_equal(leat_budget_free(400 * MB, 300 * MB), 250 * (int64_t)MB);
	assert_int_equal(leat_budget_free(400 * MB, 0), -50 * (int64_t)MB);
	assert_int_equal(leat_budget_free(100000 * MB, 90000 * MB), 88976 * (int64_t)MB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_what_is_seen),
		cmocka_unit_test(leaves_space_for_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
