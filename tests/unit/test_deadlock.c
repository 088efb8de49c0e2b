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
	int certain;      /* so many steps are stuck */
	const char *says; /* must occur in the report */
};

static const struct situation situations[] = {
	{"nobody waits", "step A\nout x\nstep B\nin x\n", "start A;start B", 0, ""},
	{"the producer runs", "step A\nout x\nstep B\nin x\n", "start A;start B;wait B open x", 0,
	 "step B waits for x (not created yet; on_termination), which needs step A (running)"},
	{"the producer has not come", "step A\nout x\nstep B\nin x\n", "start B;wait B open x", 0,
	 "step A (not started)"},
	{"two wait for each other", "step A\nin b\nout a\nstep B\nin a\nout b\n",
	 "start A;start B;wait A open b;wait B open a", 2,
	 "cycle: step A waits for b (not created yet; on_termination), which needs\n"
	 "       step B waits for a (not created yet; on_termination), which needs step A\n"},
	{"one of two still works", "step A\nin b\nout a\nstep B\nin a\nout b\n",
	 "start A;start B;wait A open b", 0, "step B (running)"},
	{"three in a ring", "step A\nin c\nout a\nstep B\nin a\nout b\nstep C\nin b\nout c\n",
	 "start A;start B;start C;wait A open c;wait B open a;wait C open b", 3,
	 "cycle: step A waits for c (not created yet; on_termination), which needs\n       step C"},
	{"a third can release one of the ring",
	 "step A\nin b\nout a\nstep B\nin a\nout b\nstep C\nout b\n",
	 "start A;start B;start C;wait A open b;wait B open a", 0, "step C (running)"},
	{"woken, so not waiting", "step A\nin b\nout a\nstep B\nin a\nout b\nrule b on_close\n",
	 "start A;start B;wait A open b;wait B open a;creat B b 1;close 1 3", 0, ""},
	{"a staged step waits for the launch of its producer",
	 "step A\nin b\nout a\nstep B\nin a\nout b\n", "start B;wait A launch .;wait B open a", 2,
	 "cycle: step A waits for b (not created yet; on_termination), which needs\n       step B"},
	{"through a dependency",
	 "step A\nin z\nout x\nstep B\nout y\nin x\nstep C\nout z\nrule z on_file=y\nin y\n",
	 "start A;start B;start C;wait B open x;wait A open z;wait C open y", 3, "on_file y"},
	{"its producer ended, but a child still writes", "step A\nout x\nstep B\nin x\n",
	 "start A;start B;creat A x 1;end A;wait B open x", 0, "ended, file still open"},
	{"two that read and write", "step A\nin x\nout x\nstep B\nin x\nout x\n",
	 "start A;start B;wait A open x;wait B open x", 2, "cycle: step A waits for x"},
	{"a third step works, which neither waits for",
	 "step A\nin b\nout a\nstep B\nin a\nout b\nstep C\nout c\nstep D\nin c b\n",
	 "start A;start B;start C;start D;wait A open b;wait B open a", 2,
	 "step B waits for a (not created yet; on_termination), which needs step A\n"},
	{"and one that waits for them is stuck with them",
	 "step A\nin b\nout a\nstep B\nin a\nout b\nstep C\nout c\nstep D\nin c b\n",
	 "start A;start B;start C;start D;wait A open b;wait B open a;wait D open b", 3,
	 "step D waits for b"},
	{"the third has the file open, though it is no producer of it",
	 "step A\nin b\nout a\nstep B\nin a\nout b\nrule b on_close\nstep C\nout c\n",
	 "start A;start B;start C;creat B b 1;open C b 2;close 1 3;wait A open b;wait B open a", 0,
	 "step C (running)"},
	{"a process of no step has it open",
	 "step A\nin b\nout a\nstep B\nin a\nout b\nrule b on_close\n",
	 "start A;start B;creat B b 1;stray b 2;close 1 3;wait A open b;wait B open a", 0, ""},
	{"a listing is told when another of its inputs fails",
	 "step A\nin d/b d/c\nout a\nstep B\nin a\nout d/b\nstep C\nout d/c\n",
	 "start A;start B;start C;mkdir A d;wait A list d;wait B open a", 0, "step C (running)"},
	{"a launch is, too", "step A\nin b c\nout a\nstep B\nin a\nout b\nstep C\nout c\n",
	 "start B;start C;wait A launch .;wait B open a", 0, "step C (running)"},
	{"a directory counted by files",
	 "step A\nin y\nout d\ndir d n_files:2\nstep B\nin d\nout y\n",
	 "start A;start B;mkdir A d;creat A d/1 1;close 1 3;wait B list d;wait A open y", 2,
	 "step B waits for d (not complete; n_files:2), which needs"},
	{"a step that is still to be started may do it",
	 "step A\nin b\nout a\nstep B 2\nin a\nout b\n",
	 "start A;start B;wait A open b;wait B open a", 0, "step B (waiting itself)"},
	{"once it is started, too", "step A\nin b\nout a\nstep B 2\nin a\nout b\n",
	 "start A;start B;wait A open b;wait B open a;start B;wait B open a", 2, "cycle: "},
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
	assert_int_equal(leat_stream_deadlock(w.s, NULL, NULL, out), sit->certain);
	assert_int_equal(leat_stream_deadlock(w.s, NULL, NULL, NULL), sit->certain);
	fclose(out);
	if (!strstr(text, sit->says))
		fail_msg("no \"%s\" in:\n%s", sit->says, text);
	assert_int_equal(strstr(text, "cycle: ") != NULL, sit->certain > 0);
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
