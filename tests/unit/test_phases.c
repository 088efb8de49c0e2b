/* Where a step stands: every event in every phase, and what is counted beside. */
#include "stream/state/steps.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A letter for each phase, in their order; '-': that cannot happen. */
static const char letters[LEAT_PHASES + 2] = "CURoO-";

static const struct {
	enum leat_phase_event event;
	const char *to; /* from each phase */
} table[] = {
	{LEAT_PHASE_EVENT_START, "UU-UU"},    {LEAT_PHASE_EVENT_LAUNCH_OVER, "-R---"},
	{LEAT_PHASE_EVENT_LAUNCH, "--U--"},   {LEAT_PHASE_EVENT_END_ONE, "-UR--"},
	{LEAT_PHASE_EVENT_END_LAST, "CCC--"}, {LEAT_PHASE_EVENT_END_ALL, "ooOoO"},
	{LEAT_PHASE_EVENT_CLOSED, "oURoO"},
};

static void test_each_event_leads_where_it_should(void **unused)
{
	(void)unused;
	assert_int_equal(sizeof(table) / sizeof(table[0]), LEAT_PHASE_EVENTS);
	for (int event = 0; event < LEAT_PHASE_EVENTS; event++)
		for (int phase = 0; phase < LEAT_PHASES; phase++) {
			int to = (int)leat_phase_next((enum leat_step_phase)phase,
						      table[event].event);

			assert_int_equal(letters[to], table[event].to[phase]);
		}
}

static void test_what_cannot_happen_changes_nothing(void **unused)
{
	struct leat_step_state st = {.phase = LEAT_PHASE_COMING, .expected = 1};

	(void)unused;
	assert_int_equal(leat_step_advance(&st, LEAT_PHASE_EVENT_LAUNCH), -EINVAL);
	assert_int_equal(st.phase, LEAT_PHASE_COMING);
	assert_int_equal(leat_step_advance(&st, LEAT_PHASE_EVENT_START), 0);
	assert_int_equal(st.phase, LEAT_PHASE_RUNNING);
}

/* ---- with the numbers of instances ---- */

enum { DEPTH = 7 };

/* What may come next. */
enum { START, END, FAIL, CLOSE, REST, LAUNCH, MOVES };

/* An instance that has not begun may fail all the same. */
static bool is_possible(const struct leat_step_state *st, int move, bool rests)
{
	bool runs = st->started > st->ended;

	if (move == START)
		return !(runs && rests);
	if (move == REST)
		return runs && !rests;
	if (move == LAUNCH)
		return runs && rests;
	return move == CLOSE || (move == END ? runs : !runs);
}

static void make(struct leat_step_state *st, int move, bool *rests)
{
	enum leat_phase_event event = LEAT_PHASE_EVENT_CLOSED;

	if (move == START || move == FAIL)
		st->started++;
	if (move == END || move == FAIL)
		st->ended++;
	if (move == START)
		event = LEAT_PHASE_EVENT_START;
	else if (move == REST)
		event = LEAT_PHASE_EVENT_LAUNCH_OVER;
	else if (move == LAUNCH)
		event = LEAT_PHASE_EVENT_LAUNCH;
	else if (move != CLOSE)
		event = leat_step_end_event(st);
	assert_int_equal(leat_step_advance(st, event), 0);
	st->closed = st->closed || move == CLOSE;
	*rests = move == REST || (*rests && move != LAUNCH && st->started > st->ended);
}

/* The phase says just what the numbers do. */
static void walk(struct leat_step_state st, bool rests, int depth)
{
	bool none = st.started == st.ended;

	assert_int_equal(leat_step_is_running(&st), !none);
	assert_int_equal(leat_step_is_over(&st), none && (st.closed || st.started >= st.expected));
	if (!none)
		assert_int_equal(leat_step_has_rested(&st), rests);
	for (int move = 0; depth && move < MOVES; move++) {
		struct leat_step_state next = st;
		bool then = rests;

		if (!is_possible(&st, move, rests))
			continue;
		make(&next, move, &then);
		walk(next, then, depth - 1);
	}
}

static void test_the_phase_is_what_the_numbers_say(void **unused)
{
	(void)unused;
	for (unsigned expected = 1; expected <= 3; expected++)
		walk((struct leat_step_state){.expected = expected}, false, DEPTH);
}

static void test_a_step_that_ended_at_rest_has_no_ranks(void **unused)
{
	struct leat_step_state st = {.expected = 1};
	bool rests = false;

	(void)unused;
	make(&st, START, &rests);
	make(&st, REST, &rests);
	make(&st, END, &rests);
	assert_true(leat_step_is_over(&st));
	assert_true(leat_step_has_rested(&st));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_event_leads_where_it_should),
		cmocka_unit_test(test_what_cannot_happen_changes_nothing),
		cmocka_unit_test(test_the_phase_is_what_the_numbers_say),
		cmocka_unit_test(test_a_step_that_ended_at_rest_has_no_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
