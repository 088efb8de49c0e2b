/* How far a whole run is, in the daemon: every event in every phase. */
#include "daemon/core/phase.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A letter for each phase, in their order; '-': that cannot happen. */
static const char letters[LEAT_DAEMON_PHASES + 2] = "RsaiSA-";

static const struct {
	enum leat_daemon_phase_event event;
	const char *to; /* from each phase */
} table[] = {
	{LEAT_DAEMON_EVENT_FINISH, "ssiiSA"},
	{LEAT_DAEMON_EVENT_ABORT, "aiaiSA"},
	{LEAT_DAEMON_EVENT_DONE, "-SAS--"},
};

static enum leat_daemon_phase next(int phase, int event)
{
	return leat_daemon_phase_next((enum leat_daemon_phase)phase,
				      (enum leat_daemon_phase_event)event);
}

static void test_each_event_leads_where_it_should(void **unused)
{
	(void)unused;
	assert_int_equal(sizeof(table) / sizeof(table[0]), LEAT_DAEMON_EVENTS);
	for (int i = 0; i < LEAT_DAEMON_EVENTS; i++)
		for (int phase = 0; phase < LEAT_DAEMON_PHASES; phase++)
			assert_int_equal(letters[next(phase, (int)table[i].event)],
					 table[i].to[phase]);
}

/* Files are on their way to disk in just the phases that end when they have arrived. */
static void test_only_who_is_ending_can_be_done(void **unused)
{
	(void)unused;
	for (int phase = 0; phase < LEAT_DAEMON_PHASES; phase++)
		assert_int_equal(leat_daemon_phase_is_ending((enum leat_daemon_phase)phase),
				 next(phase, LEAT_DAEMON_EVENT_DONE) != LEAT_DAEMON_PHASES);
}

/* A run that is over stays so, and one that has begun to save does not forget it. */
static void test_nothing_is_taken_back(void **unused)
{
	(void)unused;
	for (int phase = 0; phase < LEAT_DAEMON_PHASES; phase++)
		for (int event = 0; event < LEAT_DAEMON_EVENTS; event++) {
			enum leat_daemon_phase to = next(phase, event);

			if (to == LEAT_DAEMON_PHASES)
				continue;
			assert_int_not_equal(to, LEAT_DAEMON_STEPS);
			if (phase >= LEAT_DAEMON_SAVED)
				assert_int_equal(to, phase);
			if (leat_daemon_phase_saves((enum leat_daemon_phase)phase))
				assert_true(leat_daemon_phase_saves(to));
		}
}

static void test_all_have_names(void **unused)
{
	(void)unused;
	for (int phase = 0; phase < LEAT_DAEMON_PHASES; phase++)
		assert_non_null(leat_daemon_phase_name((enum leat_daemon_phase)phase));
	for (int event = 0; event < LEAT_DAEMON_EVENTS; event++)
		assert_non_null(leat_daemon_phase_event_name((enum leat_daemon_phase_event)event));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_event_leads_where_it_should),
		cmocka_unit_test(test_only_who_is_ending_can_be_done),
		cmocka_unit_test(test_nothing_is_taken_back),
		cmocka_unit_test(test_all_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
