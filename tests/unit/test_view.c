/* Under which names steps see what others make. */
#include "model/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A text that may be changed. */
#define TEXT(s) ((char[]){s})

/* Two producers, of an ensemble, and two consumers, one of an ensemble; the other has the
 * workflow's directory. */
static struct leat_source sources[] = {{.step = 0, .made = TEXT("p.0/out/plt*.h5")},
				       {.step = 1, .made = TEXT("p.1/out/plt*.h5")}};
static struct leat_source dirs[] = {{.step = 0, .made = TEXT("p.0/dir")}};
static struct leat_inport of_instance[] = {
	{.seen = {.text = TEXT("c.1/out/*.h5")}, .sources = sources, .n_sources = 2},
	{.seen = {.text = TEXT("c.1/dir")}, .sources = dirs, .n_sources = 1},
	{.seen = {.text = TEXT("c.1/in.txt")}},
};
static struct leat_inport of_plain[] = {
	{.seen = {.text = TEXT("out/plt*.h5")}, .sources = sources + 1, .n_sources = 1},
};
static struct leat_step steps[] = {
	{.name = TEXT("p.0"), .dir = TEXT("p.0")},
	{.name = TEXT("p.1"), .dir = TEXT("p.1")},
	{.name = TEXT("c.1"), .dir = TEXT("c.1"), .inports = of_instance, .n_inports = 3},
	{.name = TEXT("r"), .inports = of_plain, .n_inports = 1},
};
static const struct leat_workflow wf = {.steps = steps, .n_steps = 4};

static void test_find(void **state)
{
	static const struct {
		int step;
		const char *path;
		int inport; /* -1: none */
	} table[] = {
		{2, "c.1/out/plt1.h5", 0},
		{2, "c.1/out/x.h5", 0},
		{2, "c.1/out/x.nc", -1},
		{2, "out/plt1.h5", -1},
		{2, "c.1/dir", 1},
		{2, "c.1/dir/a/b", 1},
		{2, "c.1/in.txt", 2},
		{2, "c.1", -1},
		{3, "out/plt1.h5", 0},
		{3, "out", -1},
		{3, "", -1},
		{0, "out/plt1.h5", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct leat_step *step = &steps[table[i].step];
		const struct leat_inport *in = leat_view_find(step, table[i].path);

		if (in != (table[i].inport < 0 ? NULL : &step->inports[table[i].inport]))
			fail_msg("%s of %s", table[i].path, step->name);
	}
}

static void test_find_above(void **state)
{
	static const struct {
		int step;
		const char *path;
		bool found;
	} table[] = {
		{2, "c.1/out", true},  {2, "c.1", false}, {2, "c.1/ou", false}, {2, "out", false},
		{2, "c.1/dir", false}, {3, "out", true},  {3, "", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if ((leat_view_find_above(&steps[table[i].step], table[i].path) != NULL) !=
		    table[i].found)
			fail_msg("%s of step %d", table[i].path, table[i].step);
}

static void test_both_ways(void **state)
{
	static const struct {
		int step;
		size_t inport, source;
		const char *seen;
		const char *made; /* NULL: not by that source */
	} table[] = {
		{2, 0, 0, "c.1/out/plt1.h5", "p.0/out/plt1.h5"},
		{2, 0, 1, "c.1/out/plt1.h5", "p.1/out/plt1.h5"},
		{2, 0, 0, "c.1/out/x.h5", NULL},
		{2, 1, 0, "c.1/dir/a", "p.0/dir/a"},
		{3, 0, 0, "out/plt9.h5", "p.1/out/plt9.h5"},
	};
	char name[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct leat_step *step = &steps[table[i].step];
		const struct leat_inport *in = &step->inports[table[i].inport];
		bool there = leat_view_made(&wf, step, in, table[i].source, table[i].seen, name);

		assert_int_equal(there, table[i].made != NULL);
		if (!there)
			continue;
		assert_string_equal(name, table[i].made);
		assert_true(leat_view_seen(&wf, step, in, table[i].source, table[i].made, name));
		assert_string_equal(name, table[i].seen);
	}
	/* What nobody makes is in the workflow's directory. */
	assert_true(leat_view_made(&wf, &steps[2], &of_instance[2], 0, "c.1/in.txt", name));
	assert_string_equal(name, "in.txt");
	assert_true(leat_view_made(&wf, &steps[2], &of_instance[0], 1, "c.1/out", name));
	assert_string_equal(name, "p.1/out");
}

static void test_flow(void **state)
{
	const struct leat_inport all = {.flow = LEAT_FLOW_ALL, .n_sources = 1},
				 some = {.flow = LEAT_FLOW_SOME, .every = 3, .n_sources = 1},
				 latest = {.flow = LEAT_FLOW_LATEST, .n_sources = 1},
				 batch = {.n_sources = 1}, several = {.n_sources = 2};

	(void)state;
	for (uint64_t n = 1; n <= 10; n++) {
		assert_true(leat_flow_delivers(&all, n));
		assert_true(leat_flow_delivers(&latest, n));
		assert_int_equal(leat_flow_delivers(&some, n), n % 3 == 0);
	}
	assert_true(leat_inport_has_versions(&all));
	assert_true(leat_inport_has_versions(&several));
	assert_false(leat_inport_has_versions(&batch));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_find_above),
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_flow),
	};

	return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
