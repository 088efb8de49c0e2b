/* The roll: who is taken for unseen, and who is not. */
#include "shm/roll.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define EXITED(n) ((n) << 8)
#define KILLED 9
#define EARLY (LEAT_ROLL_LOADING_NS - 1)
#define LATE LEAT_ROLL_LOADING_NS

static int new_roll(void **state)
{
	*state = calloc(1, sizeof(struct leat_roll));
	return *state ? 0 : -1;
}

static int free_roll(void **state)
{
	free(*state);
	return 0;
}

/* The state of the first entry of that number, a verdict or not; 0: there is none. */
static uint64_t state_of(struct leat_roll *roll, uint64_t process)
{
	for (unsigned i = 0; i < LEAT_ROLL_ENTRIES; i++)
		if (leat_word_get(&roll->entry[i].process) == process)
			return leat_word_get(&roll->entry[i].state);
	return 0;
}

static void test_verdicts(void **state)
{
	static const struct {
		bool follows, loose;
		int status;
		uint64_t after_ns, verdict;
	} cases[] = {
		{false, false, EXITED(0), EARLY, LEAT_ROLL_NEVER},
		{false, false, EXITED(127), EARLY, LEAT_ROLL_NEVER},
		{false, false, KILLED, EARLY, 0},
		{false, false, KILLED, LATE, LEAT_ROLL_NEVER},
		{true, false, EXITED(0), LATE, LEAT_ROLL_PAST},
		{true, false, EXITED(1), EARLY, LEAT_ROLL_PAST},
		{true, false, KILLED, LATE, 0},
		{true, true, EXITED(23), LATE, 0},
	};
	struct leat_roll *roll = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t process = 100 + i;

		leat_roll_start(roll, process, 7, "/bin/program", 1000, NULL);
		assert_int_equal(state_of(roll, process), LEAT_ROLL_STARTING);
		if (cases[i].follows)
			assert_int_equal(
				leat_roll_follow(roll, process, 8, "program", cases[i].loose), 7);
		leat_roll_ended(roll, process, cases[i].status, 1000 + cases[i].after_ns);
		assert_int_equal(state_of(roll, process), cases[i].verdict);
	}
}

static void test_goodbye(void **state)
{
	struct leat_roll *roll = *state;

	leat_roll_follow(roll, 5, 7, "sh", false);
	leat_roll_leave(roll, 5);
	leat_roll_ended(roll, 5, EXITED(0), 1);
	assert_null(leat_roll_find(roll, 5));
}

static void test_exec_that_fails(void **state)
{
	struct leat_roll_entry before;
	struct leat_roll *roll = *state;

	leat_roll_follow(roll, 5, 7, "/bin/sh", false);
	leat_roll_start(roll, 5, 7, "/bin/other", 1, &before);
	leat_roll_put(roll, 5, &before);
	assert_int_equal(state_of(roll, 5), LEAT_ROLL_FOLLOWED);
	assert_string_equal(leat_roll_find(roll, 5)->program, "sh");
	/* a vfork child, of which nothing was known */
	leat_roll_start(roll, 6, 7, "/bin/other", 1, &before);
	leat_roll_put(roll, 6, &before);
	assert_null(leat_roll_find(roll, 6));
}

/* Whoever has the number next changes nothing about a verdict, nor about who was never judged. */
static void test_numbers_that_come_again(void **state)
{
	struct leat_roll *roll = *state;

	leat_roll_start(roll, 5, 7, "one", 1, NULL);
	leat_roll_fork(roll, 5, 7, "two", false);
	leat_roll_leave(roll, 5);
	assert_null(leat_roll_find(roll, 5));
	assert_int_equal(state_of(roll, 5), LEAT_ROLL_NEVER);
}

/* Of those that there is no space for one goes that proves nothing. */
static void test_crowd(void **state)
{
	struct leat_roll *roll = *state;

	for (uint64_t i = 0; i < 8; i++)
		leat_roll_follow(roll, 5 + i * LEAT_ROLL_ENTRIES, 7, "old", false);
	leat_roll_start(roll, 5 + 8 * LEAT_ROLL_ENTRIES, 7, "new", 1, NULL);
	assert_non_null(leat_roll_find(roll, 5 + 8 * LEAT_ROLL_ENTRIES));
}

static void test_stray(void **state)
{
	struct leat_roll *roll = *state;

	leat_roll_start(roll, 5, 7, "cat", 1, NULL);
	leat_roll_follow(roll, 5, 8, "cat", false);
	leat_roll_stray(roll, 5);
	leat_roll_leave(roll, 5);
	assert_int_equal(state_of(roll, 5), LEAT_ROLL_NEVER);
}

static void test_names(void **state)
{
	struct leat_roll *roll = *state;

	leat_roll_follow(roll, 5, 7, "/a/name/that-is-longer-than-there-is-space-for-it", false);
	assert_string_equal(leat_roll_find(roll, 5)->program, "that-is-longer-than-there-is-sp");
	assert_int_not_equal(leat_roll_step("a"), leat_roll_step("b"));
}

/* Every process that is entered is found by who looks through the roll, wherever its entry lies. */
static void test_looking_through(void **state)
{
	static const uint64_t processes[] = {
		1, 127, 128, 4095, 4096 + 2000, 4093, 4094, 5000, UINT64_C(7) << 32 | 300};
	struct leat_roll *roll = *state;
	struct leat_roll_entry *e = NULL;
	size_t n = sizeof(processes) / sizeof(*processes), found = 0, seen = 0;

	assert_null(leat_roll_next(roll, NULL));
	for (size_t i = 0; i < n; i++)
		leat_roll_start(roll, processes[i], 7, "cat", 1, NULL);
	while ((e = leat_roll_next(roll, e))) {
		seen++;
		found += leat_word_get(&e->process) != 0;
	}
	assert_int_equal(found, n);
	assert_true(seen < LEAT_ROLL_ENTRIES);
	for (size_t i = 0; i < LEAT_ROLL_ENTRIES; i++)
		leat_roll_follow(roll, i, 7, "cat", false);
	for (seen = 0, e = NULL; (e = leat_roll_next(roll, e));)
		seen++;
	assert_int_equal(seen, LEAT_ROLL_ENTRIES);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, new_roll, free_roll)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_verdicts),        TEST(test_goodbye),
		TEST(test_exec_that_fails), TEST(test_numbers_that_come_again),
		TEST(test_crowd),           TEST(test_stray),
		TEST(test_names),           TEST(test_looking_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
