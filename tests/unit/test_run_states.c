/* Where a step of a run stands: every event in every state. */
#include "daemon/core/step_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A letter for each state, in their order; '-': that cannot happen. */
static const char letters[LEAT_RUN_STATES + 2] = "WFURLE-";

static const struct {
	enum leat_run_event event;
	const char *to; /* from each state */
} table[] = {
	{LEAT_RUN_EVENT_PROCESS, "F---F-"}, {LEAT_RUN_EVENT_TAKEN, "-U----"},
	{LEAT_RUN_EVENT_START, "U-U-UU"},   {LEAT_RUN_EVENT_REST, "--R---"},
	{LEAT_RUN_EVENT_LAUNCH, "---U--"},  {LEAT_RUN_EVENT_END_ONE, "--UR--"},
	{LEAT_RUN_EVENT_END_ALL, "ELEE--"},
};

static void test_each_event_leads_where_it_should(void **unused)
{
	(void)unused;
	assert_int_equal(sizeof(table) / sizeof(table[0]), LEAT_RUN_EVENTS);
	for (int event = 0; event < LEAT_RUN_EVENTS; event++)
		for (int state = 0; state < LEAT_RUN_STATES; state++) {
			int to = (int)leat_run_next((enum leat_run_state)state, table[event].event);

			assert_int_equal(letters[to], table[event].to[state]);
		}
}

/* What somebody has started is not begun again by a process of it that comes late. */
static void test_only_who_was_not_told_of_begins_with_a_process(void **unused)
{
	(void)unused;
	for (int state = 0; state < LEAT_RUN_STATES; state++)
		assert_int_equal(leat_run_may_begin_itself((enum leat_run_state)state),
				 leat_run_next((enum leat_run_state)state,
					       LEAT_RUN_EVENT_PROCESS) != LEAT_RUN_STATES);
}

/* An instance that runs can end, whatever it does. */
static void test_all_that_runs_can_end(void **unused)
{
	(void)unused;
	for (int state = 0; state < LEAT_RUN_STATES; state++)
		if (leat_run_is_live((enum leat_run_state)state)) {
			enum leat_run_state to =
				leat_run_next((enum leat_run_state)state, LEAT_RUN_EVENT_END_ALL);

			assert_int_not_equal(to, LEAT_RUN_STATES);
			assert_false(leat_run_is_live(to));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_event_leads_where_it_should),
		cmocka_unit_test(test_only_who_was_not_told_of_begins_with_a_process),
		cmocka_unit_test(test_all_that_runs_can_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
