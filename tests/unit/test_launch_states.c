/* Where a step, and a whole run, stands for who starts it: every event in every state. */
#include "driver/phase.h"
#include "driver/step_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A letter for each state, in their order; '-': that cannot happen. */
static const char letters[LEAT_STEP_STATES + 2] = "PUKLTRDE-";

static const struct {
	enum leat_driver_step_event event;
	const char *to; /* from each state */
} table[] = {
	{LEAT_STEP_EVENT_LAUNCH, "U----U--"},   {LEAT_STEP_EVENT_KILL, "-KK-----"},
	{LEAT_STEP_EVENT_LEAVE, "-L------"},    {LEAT_STEP_EVENT_RETURN, "-T-T----"},
	{LEAT_STEP_EVENT_ANSWERED, "P---RR--"}, {LEAT_STEP_EVENT_END, "DDDDDD--"},
	{LEAT_STEP_EVENT_LOOK, "------E-"},     {LEAT_STEP_EVENT_REFUSE, "E-------"},
};

static enum leat_driver_step_state next(int state, int event)
{
	return leat_driver_step_next((enum leat_driver_step_state)state,
				     (enum leat_driver_step_event)event);
}

static void test_each_event_leads_where_it_should(void **unused)
{
	(void)unused;
	assert_int_equal(sizeof(table) / sizeof(table[0]), LEAT_STEP_EVENTS);
	for (int event = 0; event < LEAT_STEP_EVENTS; event++)
		for (int state = 0; state < LEAT_STEP_STATES; state++)
			assert_int_equal(letters[next(state, (int)table[event].event)],
					 table[event].to[state]);
}

static void test_a_state_is_of_one_kind(void **unused)
{
	(void)unused;
	for (int i = 0; i < LEAT_STEP_STATES; i++) {
		enum leat_driver_step_state state = (enum leat_driver_step_state)i;

		assert_int_equal((state == LEAT_STEP_PENDING) + leat_driver_step_runs(state) +
					 leat_driver_step_rests(state) +
					 leat_driver_step_is_over(state),
				 1);
	}
}

static void test_what_is_over_stays_so(void **unused)
{
	(void)unused;
	for (int state = 0; state < LEAT_STEP_STATES; state++)
		for (int event = 0; event < LEAT_STEP_EVENTS; event++)
			if (leat_driver_step_is_over((enum leat_driver_step_state)state) &&
			    next(state, event) != LEAT_STEP_STATES)
				assert_int_equal(next(state, event), LEAT_STEP_ENDED);
}

/* The same of a whole run. */
static const char phase_letters[LEAT_DRIVER_PHASES + 2] = "SLFUO-";

static const struct {
	enum leat_driver_phase_event event;
	const char *to; /* from each phase */
} phases[] = {
	{LEAT_DRIVER_EVENT_LINGER, "L----"},
	{LEAT_DRIVER_EVENT_FINISH, "FF---"},
	{LEAT_DRIVER_EVENT_SUM_UP, "--U--"},
	{LEAT_DRIVER_EVENT_END, "--O--"},
};

static void test_a_run_goes_through_its_phases(void **unused)
{
	(void)unused;
	assert_int_equal(sizeof(phases) / sizeof(phases[0]), LEAT_DRIVER_EVENTS);
	for (int event = 0; event < LEAT_DRIVER_EVENTS; event++)
		for (int phase = 0; phase < LEAT_DRIVER_PHASES; phase++) {
			enum leat_driver_phase to = leat_driver_phase_next(
				(enum leat_driver_phase)phase, phases[event].event);

			assert_int_equal(phase_letters[to], phases[event].to[phase]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_event_leads_where_it_should),
		cmocka_unit_test(test_a_state_is_of_one_kind),
		cmocka_unit_test(test_what_is_over_stays_so),
		cmocka_unit_test(test_a_run_goes_through_its_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
