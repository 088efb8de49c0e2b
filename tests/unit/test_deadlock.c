/* The wait-for graph. */
#include "stream_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct situation {
	const char *name;
	const char *workflow;
	const char *script;
	int certain;
	const char *says; /* must occur in the report */
};

static const struct situation situations[] = {
	{"nobody waits", "step A\nout x\nstep B\nin x\n", "start A;start B", 0, ""},
	{"the producer runs", "step A\nout x\nstep B\nin x\n", "start A;start B;wait B open x", 0,
	 "step B waits for x (not created yet), which needs step A (running)"},
	{"the producer has not come", "step A\nout x\nstep B\nin x\n", "start B;wait B open x", 0,
	 "step A (not started)"},
	{"two wait for each other", "step A\nin b\nout a\nstep B\nin a\nout b\n",
	 "start A;start B;wait A open b;wait B open a", 1,
	 "cycle: step A waits for b, which needs step B"},
	{"one of two still works", "step A\nin b\nout a\nstep B\nin a\nout b\n",
	 "start A;start B;wait A open b", 0, "step B (running)"},
	{"three in a ring", "step A\nin c\nout a\nstep B\nin a\nout b\nstep C\nin b\nout c\n",
	 "start A;start B;start C;wait A open c;wait B open a;wait C open b", 1,
	 "cycle: step C waits for b, which needs step B"},
	{"a third can release one of the ring",
	 "step A\nin b\nout a\nstep B\nin a\nout b\nstep C\nout b\n",
	 "start A;start B;start C;wait A open b;wait B open a", 0, "step C (running)"},
	{"woken, so not waiting", "step A\nin b\nout a\nstep B\nin a\nout b\nrule b on_close\n",
	 "start A;start B;wait A open b;wait B open a;creat B b 1;close 1 3", 0, ""},
	{"a staged step waits for the launch of its producer",
	 "step A\nin b\nout a\nstep B\nin a\nout b\n", "start B;wait A launch .;wait B open a", 1,
	 "cycle: step A waits for b, which needs step B"},
	{"through a dependency",
	 "step A\nin z\nout x\nstep B\nout y\nin x\nstep C\nout z\nrule z on_file=y\nin y\n",
	 "start A;start B;start C;wait B open x;wait A open z;wait C open y", 1, "cycle: "},
	{"its producer ended, but a child still writes", "step A\nout x\nstep B\nin x\n",
	 "start A;start B;creat A x 1;end A;wait B open x", 0, "ended, file still open"},
	{"two that read and write", "step A\nin x\nout x\nstep B\nin x\nout x\n",
	 "start A;start B;wait A open x;wait B open x", 1, "cycle: step A waits for x"},
};

static void run_situation(void **state)
{
	const struct situation *sit = *state;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct world w;

	assert_non_null(out);
	world_init(&w, sit->workflow);
	world_script(&w, sit->script);
	assert_int_equal(leat_stream_deadlock(w.s, out), sit->certain);
	assert_int_equal(leat_stream_deadlock(w.s, NULL), sit->certain);
	fclose(out);
	if (!strstr(text, sit->says))
		fail_msg("no \"%s\" in:\n%s", sit->says, text);
	assert_int_equal(strstr(text, "cycle: ") != NULL, sit->certain);
	free(text);
	world_release(&w);
}

int main(void)
{
	static struct CMUnitTest tests[sizeof(situations) / sizeof(situations[0])];
	static struct situation copies[sizeof(situations) / sizeof(situations[0])];

	memcpy(copies, situations, sizeof(copies));
	for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++)
		tests[i] = (struct CMUnitTest){.name = copies[i].name,
					       .test_func = run_situation,
					       .initial_state = &copies[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
