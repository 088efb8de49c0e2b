/* The status of a run, taken apart for leat top. */
#include "control/snapshot.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STATUS(NOW, IN, CPU)                                                                       \
	"{\"workflow\":\"w\",\"dir\":\"/d\",\"start_ns\":1000000000,\"now_ns\":" NOW               \
	",\"steps\":["                                                                             \
	"{\"name\":\"b\",\"state\":\"running\",\"start_ns\":1000000000,\"end_ns\":0,\"waiting\":"  \
	"1,"                                                                                       \
	"\"wait_ns\":9000000000,\"bytes_in\":" IN ",\"bytes_out\":5,\"cpu_ns\":" CPU "},"          \
	"{\"name\":\"a\",\"state\":\"done\",\"start_ns\":1000000000,\"end_ns\":1500000000,"        \
	"\"waiting\":1,\"bytes_in\":7,\"bytes_out\":90,\"cpu_ns\":1},"                             \
	"{\"name\":\"c\",\"state\":\"waiting\",\"start_ns\":0,\"end_ns\":0},"                      \
	"{\"name\":\"f\\u001b[2J\",\"state\":\"failed\",\"start_ns\":1,\"end_ns\":2,\"reason\":"   \
	"\"exited with status 3\"},"                                                               \
	"{\"name\":\"r\",\"state\":\"running\",\"idle\":true,\"start_ns\":1000000000}],"           \
	"\"memory\":{\"budget_bytes\":1000,\"used_bytes\":10,\"spilled_bytes\":0},"                \
	"\"files\":[{\"name\":\"big\",\"state\":\"committed\",\"place\":\"store\",\"bytes\":100}," \
	"{\"name\":\"old\",\"state\":\"committed\",\"place\":\"disk\",\"bytes\":200},"             \
	"{\"name\":\"x (version 2)\",\"state\":\"produced\",\"place\":\"spill\",\"bytes\":3}],"    \
	"\"waits\":[{\"step\":\"b\",\"file\":\"x\",\"needs\":[\"a\",\"c\"]}]}"

static const char first[] = STATUS("2000000000", "1000", "500000000");
static const char second[] = STATUS("4000000000", "5000", "2500000000");

static void test_read(void **state)
{
	struct leat_snapshot s;

	(void)state;
	assert_int_equal(0, leat_snapshot_read(first, &s));
	assert_int_equal(5, s.n_steps);
	assert_int_equal(1000000000, s.steps[0].wall_ns);
	/* Never more than it ran. */
	assert_int_equal(1000000000, s.steps[0].wait_ns);
	assert_true(s.steps[0].waits);
	assert_false(s.steps[1].waits);
	assert_string_equal("waits for x of a, c", s.steps[0].doing);
	assert_string_equal("exited with status 3", s.steps[3].doing);
	assert_string_equal("between two launches", s.steps[4].doing);
	assert_int_equal(500000000, s.steps[1].wall_ns);
	assert_int_equal(0, s.steps[2].wall_ns);
	leat_snapshot_release(&s);
}

static void test_bad(void **state)
{
	static const char *const cases[] = {"",
					    "[]",
					    "{}",
					    "{",
					    "{\"steps\":[],\"files\":[]}",
					    "{\"steps\":[1],\"files\":[],\"waits\":[]}"};
	struct leat_snapshot s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(-EPROTO, leat_snapshot_read(cases[i], &s));
	assert_int_equal(0, leat_snapshot_read("{\"steps\":[],\"files\":[],\"waits\":[]}", &s));
	leat_snapshot_release(&s);
}

static void test_rates(void **state)
{
	struct leat_snapshot one, two;

	(void)state;
	assert_int_equal(0, leat_snapshot_read(first, &one));
	assert_int_equal(0, leat_snapshot_read(second, &two));
	leat_snapshot_compare(&one, NULL);
	assert_int_equal(1000, (int)one.steps[0].in_rate);
	assert_int_equal(50, (int)(100 * one.steps[0].cpus));
	assert_int_equal(14, (int)one.steps[1].in_rate);
	leat_snapshot_sort(&one, LEAT_SORT_NAME, false);
	leat_snapshot_compare(&two, &one);
	assert_int_equal(2000, (int)two.steps[0].in_rate);
	assert_int_equal(100, (int)(100 * two.steps[0].cpus));
	assert_int_equal(0, (int)two.steps[1].in_rate);
	leat_snapshot_release(&one);
	leat_snapshot_release(&two);
}

static void test_order(void **state)
{
	static const struct {
		enum leat_snapshot_key key;
		bool reverse;
		const char *names;
	} cases[] = {
		{LEAT_SORT_ORDER, false, "bacfr"}, {LEAT_SORT_ORDER, true, "rfcab"},
		{LEAT_SORT_NAME, false, "abcfr"},  {LEAT_SORT_NAME, true, "rfcba"},
		{LEAT_SORT_WALL, false, "brafc"},  {LEAT_SORT_WAITING, false, "bacfr"},
		{LEAT_SORT_CPU, false, "bacfr"},   {LEAT_SORT_IN, false, "bacfr"},
		{LEAT_SORT_OUT, false, "abcfr"},
	};
	struct leat_snapshot s;

	(void)state;
	assert_int_equal(0, leat_snapshot_read(first, &s));
	leat_snapshot_compare(&s, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char names[6] = "";

		leat_snapshot_sort(&s, cases[i].key, cases[i].reverse);
		for (size_t k = 0; k < s.n_steps; k++)
			names[k] = s.steps[k].name[0];
		assert_string_equal(cases[i].names, names);
	}
	assert_string_equal("x (version 2)", s.files[0].name);
	assert_string_equal("old", s.files[1].name);
	leat_snapshot_release(&s);
}

static bool has_line(const struct leat_snapshot_lines *l, const char *text,
		     enum leat_snapshot_kind kind)
{
	for (size_t i = 0; i < l->n; i++)
		if (strstr(l->v[i].text, text) && l->v[i].kind == kind)
			return true;
	return false;
}

static void test_lines(void **state)
{
	static const struct {
		const char *text;
		enum leat_snapshot_kind kind;
	} expected[] = {
		{"w in /d, 1.00 s", LEAT_LINE_TITLE},
		{"5 steps: 1 computing, 1 waiting, 1 done, 1 failed, 1 not started",
		 LEAT_LINE_PLAIN},
		{"memory for files: 10 B of 1.0 kB, spilled to disk 0 B", LEAT_LINE_PLAIN},
		{"waits for x of a, c", LEAT_LINE_WAITS},
		{"c      not started", LEAT_LINE_PLAIN},
		{"f?[2J  failed", LEAT_LINE_FAILED},
		{"a      done ", LEAT_LINE_OVER},
		{"b <- a, c (x)", LEAT_LINE_WAITS},
		{"3 B  being written  spilled  x (version 2)", LEAT_LINE_PLAIN},
		{"200 B  complete       disk     old", LEAT_LINE_OVER},
	};
	struct leat_snapshot_lines lines;
	struct leat_snapshot s;

	(void)state;
	assert_int_equal(0, leat_snapshot_read(first, &s));
	leat_snapshot_compare(&s, NULL);
	assert_int_equal(0, leat_snapshot_write(&s, &lines));
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		if (!has_line(&lines, expected[i].text, expected[i].kind)) {
			for (size_t k = 0; k < lines.n; k++)
				print_message("%s\n", lines.v[k].text);
			fail_msg("not there: %s", expected[i].text);
		}
	assert_int_equal(5, lines.n_head);
	assert_int_equal(LEAT_LINE_HEADING, lines.v[4].kind);
	leat_snapshot_lines_release(&lines);
	leat_snapshot_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),  cmocka_unit_test(test_bad),
		cmocka_unit_test(test_rates), cmocka_unit_test(test_order),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
