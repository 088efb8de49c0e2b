/* Tasks with taskCount as steps: names, directories, and who is linked to whom. */
#include "base/str.h"
#include "lang/check/check.h"
#include "lang/lang.h"
#include "lang/output/canonical.h"
#include "lang/output/graph.h"
#include "model/pairing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static struct leat_workflow *parse(const char *text)
{
	struct leat_diags *diags;
	struct leat_workflow *wf = leat_lang_parse(text, strlen(text), "x.yaml", "/wf", &diags);

	if (!wf || leat_diags_count(diags, LEAT_WARNING)) {
		leat_diags_print(diags, stderr, false);
		fail_msg("not accepted:\n%s", text);
	}
	leat_diags_free(diags);
	return wf;
}

/* P producers and C consumers of one file, in either order. */
static struct leat_workflow *pair(unsigned p, unsigned c, bool consumer_first)
{
	char producer[128], consumer[128], text[512];
	struct leat_workflow *wf;

	snprintf(producer, sizeof(producer),
		 "  - {func: p, taskCount: %u, outports: [{filename: out.h5}]}\n", p);
	snprintf(consumer, sizeof(consumer),
		 "  - {func: c, taskCount: %u, inports: [{filename: \"*.h5\", io_freq: 1}]}\n", c);
	snprintf(text, sizeof(text), "tasks:\n%s%s", consumer_first ? consumer : producer,
		 consumer_first ? producer : consumer);
	wf = parse(text);
	assert_int_equal(wf->n_steps, p + c);
	return wf;
}

/* The file as instance `k` of `count` has it: "p.3/out.h5", or "out.h5" of no ensemble. */
static void assert_below(const char *name, const char *task, unsigned k, unsigned count,
			 const char *file)
{
	char expected[64];

	if (count > 1)
		snprintf(expected, sizeof(expected), "%s.%u/%s", task, k, file);
	else
		snprintf(expected, sizeof(expected), "%s", file);
	assert_string_equal(name, expected);
}

static void check_consumer(const struct leat_workflow *wf, unsigned p, unsigned c, unsigned k,
			   size_t first_producer, const struct leat_step *step)
{
	struct leat_instances linked = leat_pairing(p, c, k);
	const struct leat_inport *in = step->inports;

	assert_string_equal(step->task, "c");
	assert_int_equal(step->instance, k);
	assert_int_equal(step->ensemble, c);
	assert_int_equal(step->n_inports, 1);
	assert_int_equal(in->flow, LEAT_FLOW_ALL);
	assert_below(in->seen.text, "c", k, c, "*.h5");
	assert_int_equal(in->n_sources, linked.n);
	assert_int_equal(step->inputs.n, linked.n);
	for (unsigned i = 0; i < linked.n; i++) {
		const struct leat_step *source = &wf->steps[in->sources[i].step];

		assert_int_equal(in->sources[i].step, first_producer + linked.first + i);
		assert_int_equal(source->instance, linked.first + i);
		assert_below(in->sources[i].made, "p", linked.first + i, p, "out.h5");
		assert_string_equal(step->inputs.v[i].text, in->sources[i].made);
		assert_string_equal(source->outputs.v[0].text, in->sources[i].made);
		assert_int_equal(source->rules[0].commit, LEAT_COMMIT_ON_CLOSE);
		assert_string_equal(source->rules[0].name.text, in->sources[i].made);
	}
}

static void links_instances(void **state)
{
	static const struct {
		unsigned p, c;
	} rows[] = {{1, 1}, {4, 2}, {2, 4}, {3, 3}, {5, 2},   {7, 3},
		    {3, 7}, {1, 4}, {4, 1}, {2, 5}, {1, 256}, {256, 1}};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned p = rows[i / 2].p, c = rows[i / 2].c;
		struct leat_workflow *wf = pair(p, c, i % 2);

		for (unsigned k = 0; k < c; k++)
			check_consumer(wf, p, c, k, i % 2 ? c : 0, &wf->steps[(i % 2 ? 0 : p) + k]);
		leat_workflow_free(wf);
	}
}

/* One file from one instance is no series; from several it is. */
static void shows_one_file_whole(void **state)
{
	struct leat_workflow *wf = parse("tasks:\n"
					 "  - {func: p, taskCount: 4, outports: [{filename: x}]}\n"
					 "  - {func: c, taskCount: 4, inports: [{filename: x}]}\n");
	const struct leat_step *c = &wf->steps[6];

	(void)state;
	assert_string_equal(c->name, "c.2");
	assert_string_equal(c->dir, "c.2");
	assert_int_equal(c->inports[0].flow, LEAT_FLOW_BATCH);
	assert_string_equal(c->inports[0].seen.text, "c.2/x");
	assert_string_equal(c->inports[0].sources[0].made, "p.2/x");
	assert_int_equal(wf->steps[2].n_rules, 0);
	leat_workflow_free(wf);
	wf = parse("tasks:\n"
		   "  - {func: p, taskCount: 3, outports: [{filename: x}]}\n"
		   "  - {func: c, taskCount: 2, inports: [{filename: x}]}\n");
	assert_int_equal(wf->steps[3].inports[0].n_sources, 2);
	assert_int_equal(wf->steps[4].inports[0].n_sources, 1);
	for (int i = 3; i < 5; i++)
		assert_int_equal(wf->steps[i].inports[0].flow, LEAT_FLOW_ALL);
	leat_workflow_free(wf);
}

/* The narrower of two names is what is made. */
static void narrows_names(void **state)
{
	static const struct {
		const char *out, *in, *made;
	} rows[] = {
		{"filename: x", "filename: x", "x"},
		{"filename: a1.h5", "filename: a*.h5", "a1.h5"},
		{"filename: a*.h5", "filename: a1.h5", "a1.h5"},
		{"filename: \"*.h5\"", "filename: \"plt*.h5\"", "plt*.h5"},
		{"filename: plt0*.h5", "filename: \"*.h5\"", "plt0*.h5"},
		{"dirname: d", "filename: d/x", "d/x"},
		{"filename: d/x", "dirname: d", "d/x"},
		{"dirname: d", "filename: d/*", "d/*"},
		{"dirname: d", "filename: d*/y", "d*/y"},
		{"filename: d*/y", "dirname: d", "d*/y"},
		{"dirname: d", "dirname: d", "d"},
		{"dirname: d", "dirname: d/e", "d/e"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = leat_strf("tasks:\n"
				       "  - {func: p, taskCount: 2, outports: [{%s}]}\n"
				       "  - {func: c, taskCount: 2, inports: [{%s, io_freq: 1}]}\n",
				       rows[i].out, rows[i].in);
		struct leat_workflow *wf = parse(text);
		char *made = leat_strf("p.1/%s", rows[i].made);

		assert_int_equal(wf->steps[3].inports[0].n_sources, 1);
		assert_string_equal(wf->steps[3].inports[0].sources[0].made, made);
		leat_workflow_free(wf);
		free(made);
		free(text);
	}
}

/* Where several data sets are named on both sides, one in common is enough. */
static void links_by_data_sets(void **state)
{
	static const char text[] = "tasks:\n"
				   "  - func: p\n"
				   "    outports:\n"
				   "      - {filename: a.h5, dsets: [{name: /g/a}, {name: /g/b}]}\n"
				   "  - func: q\n"
				   "    outports:\n"
				   "      - {filename: b.h5, dsets: [{name: /g/c}]}\n"
				   "  - func: both\n"
				   "    inports:\n"
				   "      - {filename: \"*.h5\", dsets: [{name: \"g/[ac]\"}]}\n"
				   "  - func: one\n"
				   "    inports:\n"
				   "      - {filename: \"*.h5\", dsets: [{name: /g/b}]}\n"
				   "  - func: any\n"
				   "    inports:\n"
				   "      - {filename: \"*.h5\", io_freq: 1}\n";
	struct leat_workflow *wf = parse(text);

	(void)state;
	assert_int_equal(wf->steps[2].inports[0].n_sources, 2);
	assert_string_equal(wf->steps[2].inports[0].sources[1].made, "b.h5");
	assert_int_equal(wf->steps[3].inports[0].n_sources, 1);
	assert_string_equal(wf->steps[3].inputs.v[0].text, "a.h5");
	assert_int_equal(wf->steps[4].inports[0].n_sources, 2);
	leat_workflow_free(wf);
}

/* Without an ensemble or io_freq the model is what it was: names as they are written. */
static void leaves_plain_tasks_alone(void **state)
{
	struct leat_workflow *wf =
		parse("tasks:\n"
		      "  - {func: p, outports: [{filename: a1}]}\n"
		      "  - {func: c, inports: [{filename: \"a*\"}, {filename: b}]}\n"
		      "  - {func: e, taskCount: 2}\n");
	const struct leat_step *c = &wf->steps[1];

	(void)state;
	assert_int_equal(c->n_inports, 0);
	assert_string_equal(c->inputs.v[0].text, "a*");
	assert_string_equal(c->task, "c");
	assert_int_equal(c->ensemble, 1);
	assert_null(c->dir);
	assert_string_equal(wf->steps[3].name, "e.1");
	leat_workflow_free(wf);
}

static double seconds_since(clock_t start)
{
	return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static void write_all(const struct leat_workflow *wf)
{
	static const char *const formats[] = {"text", "dot", "json"};
	FILE *out = fopen("/dev/null", "w");

	assert_non_null(out);
	for (int i = 0; i < 3; i++)
		assert_int_equal(leat_graph_write(wf, formats[i], out), 0);
	assert_int_equal(leat_canonical_write(wf, out), 0);
	fclose(out);
}

/* 256 by 256, each with patterns; generous, to notice only disasters. LEAT_TEST_TIMES=1 prints. */
static void is_quick_for_many_instances(void **state)
{
	static const struct {
		const char *out, *in;
	} rows[] = {{"out.h5", "out.h5"}, {"plt*.h5", "plt*.h5"}, {"*.h5", "[a-z]*.h5"}};

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		unsigned p = i % 3 == 1 ? 1 : 256, c = i % 3 == 2 ? 1 : 256;
		char *text = leat_strf(
			"tasks:\n"
			"  - {func: p, taskCount: %u, inports: [{filename: \"in*\"}], outports: "
			"[{filename: \"%s\", dsets: [{name: /g}]}, {filename: log}]}\n"
			"  - {func: c, taskCount: %u, inports: [{filename: \"%s\", dsets: [{name: "
			"/g}]}], "
			"outports: [{filename: done}]}\n",
			p, rows[i / 3].out, c, rows[i / 3].in);
		clock_t start = clock();
		struct leat_workflow *wf = parse(text);
		struct leat_diags *diags = leat_diags_new("x.yaml", NULL);
		double loaded = seconds_since(start), checked, drawn;

		assert_int_equal(leat_check_workflow(wf, "/nonexistent", true, diags), 0);
		checked = seconds_since(start) - loaded;
		assert_int_equal(leat_diags_count(diags, LEAT_ERROR), 0);
		/* "in*", where that is not one of the files of p */
		assert_true(leat_diags_count(diags, LEAT_WARNING) <= 1);
		start = clock();
		write_all(wf);
		drawn = seconds_since(start);
		if (getenv("LEAT_TEST_TIMES"))
			print_message("%u x %u %s: load %.3f s, check %.3f s, draw %.3f s\n", p, c,
				      rows[i / 3].out, loaded, checked, drawn);
		assert_true(loaded + checked + drawn < 10);
		leat_diags_free(diags);
		leat_workflow_free(wf);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_instances),
		cmocka_unit_test(shows_one_file_whole),
		cmocka_unit_test(narrows_names),
		cmocka_unit_test(links_by_data_sets),
		cmocka_unit_test(leaves_plain_tasks_alone),
		cmocka_unit_test(is_quick_for_many_instances),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
