/* docs/semantics.md, sentence by sentence. */
#include "stream_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct scenario {
	const char *workflow;
	const char *events;
	const char *said; /* states and wake-ups, of the last group of events */
};

static void test_smoke(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, "step A\nout x\nstep B\nin x");
	world_wait(&w, "B", LEAT_CALL_OPEN, "x", 0, 0);
	world_do(&w, "start A;start B;creat A x 1;close 1 5");
	assert_string_equal(world_said(&w), "x=produced");
	world_do(&w, "end A");
	assert_string_equal(world_said(&w), "x=committed !x");
	assert_int_equal(world_ask(&w, "B", LEAT_CALL_OPEN, "x", 0, 0), LEAT_GO);
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_smoke)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
