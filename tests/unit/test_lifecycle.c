/* The life cycle of a file: every event in every state. */
#include "stream/state/lifecycle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { STATES = LEAT_FILE_GONE + 1 };

static bool is_of_rules(enum leat_file_event event)
{
	return event <= LEAT_FILE_EVENT_NEVER;
}

static void each(void (*check)(enum leat_file_state state, enum leat_file_event event,
			       enum leat_file_state next))
{
	for (int state = 0; state < STATES; state++)
		for (int event = 0; event < LEAT_FILE_EVENTS; event++)
			check((enum leat_file_state)state, (enum leat_file_event)event,
			      leat_file_next((enum leat_file_state)state,
					     (enum leat_file_event)event));
}

static void check_final(enum leat_file_state state, enum leat_file_event event,
			enum leat_file_state next)
{
	if (leat_state_is_final(state) && is_of_rules(event))
		assert_int_equal(next, state);
}

static void test_no_rule_changes_what_is_final(void **unused)
{
	(void)unused;
	each(check_final);
}

static void check_rules(enum leat_file_state state, enum leat_file_event event,
			enum leat_file_state next)
{
	static const enum leat_file_state to[] = {LEAT_FILE_ABSENT, LEAT_FILE_PRODUCED,
						  LEAT_FILE_COMMITTED, LEAT_FILE_FAILED,
						  LEAT_FILE_GONE};

	if (!leat_state_is_final(state) && is_of_rules(event))
		assert_int_equal(next, to[event]);
}

static void test_the_rules_say_what_becomes_of_the_others(void **unused)
{
	(void)unused;
	each(check_rules);
}

static void check_late(enum leat_file_state state, enum leat_file_event event,
		       enum leat_file_state next)
{
	static const struct {
		enum leat_file_event event;
		enum leat_file_state from, to;
	} late[] = {
		{LEAT_FILE_EVENT_TAKEN_BACK, LEAT_FILE_PRODUCED, LEAT_FILE_ABSENT},
		{LEAT_FILE_EVENT_TAKEN_BACK, LEAT_FILE_COMMITTED, LEAT_FILE_ABSENT},
		{LEAT_FILE_EVENT_FOUND, LEAT_FILE_GONE, LEAT_FILE_ABSENT},
		{LEAT_FILE_EVENT_ONE_FEWER, LEAT_FILE_COMMITTED, LEAT_FILE_PRODUCED},
	};
	enum leat_file_state expected = state;

	if (is_of_rules(event))
		return;
	for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++)
		if (late[i].event == event && late[i].from == state)
			expected = late[i].to;
	assert_int_equal(next, expected);
}

static void test_what_is_told_later_changes_little(void **unused)
{
	(void)unused;
	each(check_late);
}

/* Nothing can be told of it that would let its consumers go on. */
static void check_failed(enum leat_file_state state, enum leat_file_event event,
			 enum leat_file_state next)
{
	(void)event;
	if (state == LEAT_FILE_FAILED)
		assert_int_equal(next, LEAT_FILE_FAILED);
}

static void test_a_failure_is_for_ever(void **unused)
{
	(void)unused;
	each(check_failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_rule_changes_what_is_final),
		cmocka_unit_test(test_the_rules_say_what_becomes_of_the_others),
		cmocka_unit_test(test_what_is_told_later_changes_little),
		cmocka_unit_test(test_a_failure_is_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
