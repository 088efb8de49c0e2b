/* What the driver reads out of the daemon's JSON. */
#include "control/status.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char status[] =
	"{\"workflow\":\"w\",\"dir\":\"/d\",\"start_ns\":0,\"now_ns\":5000000000,\"steps\":["
	"{\"name\":\"a\",\"state\":\"waiting\",\"start_ns\":0,\"end_ns\":0,\"status\":0},"
	"{\"name\":\"b\",\"state\":\"running\",\"start_ns\":2000000000,\"end_ns\":0,\"status\":0,"
	"\"bytes_in\":1000,\"bytes_out\":2}],"
	"\"files\":[{\"name\":\"x\",\"state\":\"produced\"},{\"name\":\"y\",\"state\":"
	"\"committed\"}],"
	"\"waits\":[{\"step\":\"b\",\"file\":\"x\",\"needs\":[\"a\"],\"missing\":[\"a\",\"ab\"]},"
	"{\"step\":\"b\",\"file\":\"z\",\"needs\":[\"c\"],\"missing\":[\"ab\",\"a\",\"c\"]}]}";

static void test_missing(void **state)
{
	static const struct {
		const char *json;
		const char *names;
	} cases[] = {
		{status, "a, ab, c"},
		{"{\"waits\":[]}", ""},
		{"{\"waits\":[{\"missing\":[]}]}", ""},
		{"{}", ""},
		{"[]", ""},
		{"", ""},
		{"{\"waits\":[{\"missing\":\"a\"}, 3]}", ""},
	};
	char out[100];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		leat_status_missing(cases[i].json, out, sizeof(out));
		assert_string_equal(cases[i].names, out);
	}
}

static void test_losses(void **state)
{
	static const struct {
		const char *json;
		int error;
		bool spoiled;
		size_t n_lost;
		const char *name, *step, *why;
	} cases[] = {
		{"{\"steps\":[{\"state\":\"done\",\"cause\":\"\"}],\"failed_files\":[]}", 0, false,
		 0, NULL, NULL, NULL},
		{"{\"steps\":[{\"state\":\"failed\",\"cause\":\"its input x failed\"}],"
		 "\"failed_files\":[{\"name\":\"y\",\"step\":\"a\",\"why\":\"so\"}]}",
		 0, true, 1, "y", "a", "so"},
		/* It read a file that failed, but nobody waited for its end. */
		{"{\"steps\":[{\"state\":\"running\",\"cause\":\"its input x failed\"}]}", 0, false,
		 0, NULL, NULL, NULL},
		{"{\"steps\":[{\"state\":\"done\"}],"
		 "\"unsaved_files\":[{\"name\":\"z\",\"error\":28,\"why\":\"full\"}]}",
		 0, false, 1, "z", "", "full"},
		{"{\"steps\":[]}", -EPROTO, false, 0, NULL, NULL, NULL},
		{"{", -EPROTO, false, 0, NULL, NULL, NULL},
	};
	struct leat_step step = {.name = (char[]){"a"}};
	struct leat_workflow wf = {.steps = &step, .n_steps = 1};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_result r;

		assert_int_equal(0, leat_result_init(&r, &wf));
		assert_int_equal(cases[i].error, leat_status_losses(cases[i].json, &r));
		assert_int_equal(cases[i].spoiled, r.steps[0].spoiled);
		assert_int_equal(cases[i].spoiled, r.steps[0].cause != NULL);
		assert_int_equal(cases[i].n_lost, r.n_lost);
		if (r.n_lost) {
			assert_string_equal(cases[i].name, r.lost[0].name);
			assert_string_equal(cases[i].step, r.lost[0].step);
			assert_string_equal(cases[i].why, r.lost[0].why);
		}
		leat_result_release(&r);
	}
}

static void test_print(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(0, leat_status_print(status, out));
	fclose(out);
	assert_non_null(strstr(text, "w in /d\n"));
	assert_non_null(
		strstr(text, "a                          -        0 B        0 B  not started\n"));
	assert_non_null(strstr(
		text, "b                     3.00 s     1.0 kB        2 B  waiting for z of c\n"));
	assert_non_null(strstr(text, "files: 1 being written, 1 complete, 0 failed\n"));
	free(text);
	assert_int_equal(-EPROTO, leat_status_print("[1]", stdout));
	assert_int_equal(-EPROTO, leat_status_print("{", stdout));
}

static const char summary[] =
	"{\"start_ns\":1000000000,\"now_ns\":9000000000,\"steps\":["
	"{\"name\":\"a\",\"start_ns\":2000000000,\"end_ns\":4000000000,\"status\":256,"
	"\"bytes_in\":1,\"bytes_out\":2,\"wait_ns\":3,\"waiting\":0},"
	"{\"name\":\"b\",\"start_ns\":3000000000,\"end_ns\":6000000000,\"status\":0}],"
	"\"timeline\":{\"interval_ms\":10,\"files\":[],\"marks\":\"\",\"marks_left_out\":0,"
	"\"pieces\":[\"1000000 2000000 0 0 0 0 0 0;\","
	"\"2000000 1000000 600000 0 0 0 0 0;3000000 2000000 1000000 0 0 0 0 0;\"]}}";

static void test_result(void **state)
{
	struct leat_step steps[2] = {{.name = (char[]){"a"}}, {.name = (char[]){"b"}}};
	struct leat_workflow wf = {.steps = steps, .n_steps = 2};
	struct leat_result r;

	(void)state;
	assert_int_equal(0, leat_result_init(&r, &wf));
	assert_int_equal(0, leat_status_result(summary, &r));
	assert_true(r.streamed);
	assert_int_equal(2000000000u, r.start_ns);
	assert_int_equal(6000000000u, r.end_ns);
	assert_int_equal(256, r.steps[0].status);
	assert_int_equal(2, r.steps[0].counters.bytes_out);
	assert_int_equal(3, r.steps[0].counters.wait_ns);
	/* A second is 150 of 600 samples. */
	assert_int_equal(600, r.n_samples);
	assert_int_equal(0, r.samples[2 * 145 + 1]);
	assert_int_equal(1, r.samples[2 * 155 + 1]);
	assert_int_equal(1, r.samples[2 * 590 + 1]);
	assert_int_equal(0, r.samples[2 * 155]);
	leat_result_release(&r);
	wf.n_steps = 1;
	assert_int_equal(0, leat_result_init(&r, &wf));
	assert_int_equal(-EPROTO, leat_status_result(summary, &r));
	assert_int_equal(-EPROTO, leat_status_result("nonsense", &r));
	leat_result_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
