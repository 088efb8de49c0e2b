/* A log is replayed with the same decisions; a changed log is noticed. */
#include "stream_world.h"

#include "stream/replay.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "# leat event log 1\n"

struct log_case {
	const char *log;
	int rc;
	unsigned events;
	unsigned decisions;
	unsigned differences;
};

static const char workflow[] = "step A\nout x\nrule x on_close\nstep B\nin x\n";

static const struct log_case cases[] = {
	{HEAD "0\t0\tstep-start\tstep=0\n"
	      "1\t0\task\tstep=1\twaiter=1\tname=x\n"
	      "2\t0\tanswer\tcode=2\twaiter=1\n"
	      "3\t0\topen\tstep=0\tpid=5\tflags=3\tofd=1\tname=x\n"
	      "4\t0\tstate\tcode=1\tname=x\n"
	      "5\t0\tclose\tofd=1\tlength=4\n"
	      "6\t0\tstate\tcode=2\tname=x\n"
	      "7\t0\twake\tname=x\n"
	      "8\t0\task\tstep=1\twaiter=1\tname=x\n"
	      "9\t0\tanswer\twaiter=1\n",
	 0, 5, 5, 0},
	/* a wake-up that is lost in the log, and one that is too many */
	{HEAD "0\t0\tstep-start\tstep=0\n"
	      "1\t0\task\tstep=1\twaiter=1\tname=x\n"
	      "2\t0\tanswer\tcode=2\twaiter=1\n"
	      "3\t0\tstep-end\tstep=0\n"
	      "4\t0\tstate\tcode=4\tname=x\n",
	 0, 3, 2, 1},
	{HEAD "0\t0\tstep-start\tstep=0\n1\t0\twake\tname=x\n", 0, 1, 1, 1},
	/* another answer, another name, another state */
	{HEAD "0\t0\task\tstep=1\twaiter=1\tname=x\n1\t0\tanswer\tcode=0\twaiter=1\n", 0, 1, 1, 1},
	{HEAD "0\t0\task\tstep=1\twaiter=1\tname=x\n1\t0\tanswer\tcode=2\twaiter=2\n", 0, 1, 1, 1},
	{HEAD "0\t0\topen\tstep=0\tofd=1\tname=x\n1\t0\tstate\tcode=2\tname=x\n", 0, 1, 1, 1},
	{HEAD "0\t0\topen\tstep=0\tofd=1\tname=x\n1\t0\tstate\tcode=1\tname=y\n", 0, 1, 1, 1},
	/* a fact the rules refuse is no difference */
	{HEAD "0\t0\tclose\tofd=9\n", 0, 1, 0, 0},
	{HEAD "nonsense\n", -EINVAL, 0, 0, 0},
	{"nonsense\n", -EINVAL, 0, 0, 0},
	/* a step that the workflow has not: the log is of another one */
	{HEAD "0\t0\task\tstep=5\tcall=7\twaiter=1\tname=d\n"
	      "1\t0\tanswer\tcode=0\twaiter=1\n",
	 0, 1, 1, 1},
	{HEAD "0\t0\task\tstep=-2\tcall=7\twaiter=1\tname=d\n"
	      "1\t0\tanswer\tcode=4\twaiter=1\n",
	 0, 1, 1, 0},
};

static void test_logs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct leat_replay_result result = {0};
		FILE *in = tmpfile(), *err = tmpfile();
		struct world w;

		assert_non_null(in);
		assert_non_null(err);
		world_init(&w, workflow);
		fputs(cases[i].log, in);
		rewind(in);
		print_message("log %zu\n", i);
		assert_int_equal(leat_replay(w.m, w.wf, in, err, &result), cases[i].rc);
		assert_int_equal(result.events, cases[i].events);
		assert_int_equal(result.decisions, cases[i].decisions);
		assert_int_equal(result.differences, cases[i].differences);
		assert_int_equal(ftell(err) > 0, cases[i].differences || i == 8);
		world_release(&w);
		fclose(in);
		fclose(err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_logs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
