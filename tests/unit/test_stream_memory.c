/* Each allocation of the rules fails in turn: what was asked for fails, and nobody waits for ever
 * afterwards. */
#include "stream_world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static long fails_in; /* 0: none */

static bool fails(void)
{
	return fails_in > 0 && !--fails_in;
}

/* The linker puts these in the place of the C library's (--wrap). */
void *__real_calloc(size_t n, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
char *__real_strdup(const char *text);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, n, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

struct first {
	enum leat_call call;
	const char *name;
};

/* The first question about names nobody has spoken of meets the end of the memory. */
static bool play(const struct first *first, long when)
{
	struct world w;
	struct leat_event ev = {.kind = LEAT_EV_ASK, .call = first->call, .name = first->name};
	bool met;

	world_init(&w, "step A\nout x d/y\nrule x on_file=d/y\nstep B\nin x d/y\n");
	ev.step = world_step(&w, "B");
	world_do(&w, "start A");
	fails_in = when;
	leat_stream_ask(w.s, &ev);
	met = !fails_in;
	fails_in = 0;
	world_do(&w, "creat A x 1;close 1 4;mkdir A d;creat A d/y 2;close 2 4;end A");
	assert_int_equal(leat_stream_ask(w.s, &ev), LEAT_GO);
	world_release(&w);
	return met;
}

static void test_questions(void **state)
{
	static const struct first firsts[] = {
		{LEAT_CALL_LAUNCH, ""}, {LEAT_CALL_LIST, ""},  {LEAT_CALL_OPEN, "x"},
		{LEAT_CALL_LOOK, "x"},  {LEAT_CALL_LIST, "d"}, {LEAT_CALL_READ, "d/y"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
		long when = 1;

		while (play(&firsts[i], when))
			when++;
		assert_true(when > 5);
	}
}

/* A use that could not be noted is no use: it is told again, and then found. */
static bool use(long when)
{
	struct world w;
	struct leat_event ev = {.kind = LEAT_EV_USE, .name = "t", .code = LEAT_USE_CREATE};
	bool met;
	int rc;

	world_init(&w, "step A\nout a\nstep B\nout b\n");
	ev.step = world_step(&w, "A");
	fails_in = when;
	rc = leat_stream_apply(w.s, &ev);
	met = !fails_in;
	fails_in = 0;
	assert_int_equal(rc, met ? -ENOMEM : 0);
	assert_int_equal(leat_stream_apply(w.s, &ev), 0);
	ev.step = world_step(&w, "B");
	world_said(&w);
	assert_int_equal(leat_stream_apply(w.s, &ev), 0);
	assert_string_equal(world_said(&w), "t:A/B");
	world_release(&w);
	return met;
}

static void test_uses(void **state)
{
	long when = 1;

	(void)state;
	while (use(when))
		when++;
	assert_true(when > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_questions),
					   cmocka_unit_test(test_uses)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
