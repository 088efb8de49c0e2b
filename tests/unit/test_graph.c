#include "lang/graph.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "model_text.h"

#define MODEL                                                                                      \
	"name w\nstep A\nin x\nout p* y d log\nrule p* on_close:2 no_update\n"                     \
	"rule y on_file update d/1\ndir d n_files:6 update\nstep B\nstaged\nin p1 d/1\nout \"z\n"  \
	"exclude log\npermanent \"z\nfs y"

static const struct {
	const char *format, *expected;
} rows[] = {
	{"text", "workflow w\n"
		 "\n"
		 "step A\n"
		 "  reads   x         from outside\n"
		 "  writes  p*        to B  (on_close:2, no_update)\n"
		 "  writes  y         to nobody  (on_file d/1, update, on the file system)\n"
		 "  writes  d         to B  (n_files:6, update)\n"
		 "  writes  log       excluded\n"
		 "\n"
		 "step B (staged)\n"
		 "  reads   p1        from A\n"
		 "  reads   d/1       from A\n"
		 "  writes  \"z        to nobody  (on_termination, update, permanent)\n"},
	{"dot", "digraph \"w\" {\n"
		"  rankdir=LR;\n"
		"  s0 [shape=box, label=\"A\"];\n"
		"  s1 [shape=box, label=\"B\", style=dashed];\n"
		"  f0 [shape=ellipse, label=\"x\"];\n"
		"  f0 -> s0;\n"
		"  f1 [shape=ellipse, label=\"p*\", style=dashed];\n"
		"  s0 -> f1 [label=\"on_close:2, no_update\"];\n"
		"  f2 [shape=ellipse, label=\"y\"];\n"
		"  s0 -> f2 [label=\"on_file d/1, update\"];\n"
		"  f3 [shape=ellipse, label=\"d\"];\n"
		"  s0 -> f3 [label=\"n_files:6, update\"];\n"
		"  f4 [shape=ellipse, label=\"log\", color=gray, fontcolor=gray];\n"
		"  s0 -> f4;\n"
		"  f5 [shape=ellipse, label=\"p1\"];\n"
		"  f5 -> s1;\n"
		"  f6 [shape=ellipse, label=\"d/1\"];\n"
		"  f6 -> s1;\n"
		"  f7 [shape=ellipse, label=\"\\\"z\", peripheries=2];\n"
		"  s1 -> f7 [label=\"on_termination, update\"];\n"
		"  f1 -> f5 [style=dashed];\n"
		"  f3 -> f6 [style=dashed];\n"
		"}\n"},
	{"json",
	 "{\n"
	 "  \"name\": \"w\",\n"
	 "  \"nodes\": [\n"
	 "    {\"id\": \"s0\", \"kind\": \"step\", \"name\": \"A\", \"staged\": false},\n"
	 "    {\"id\": \"s1\", \"kind\": \"step\", \"name\": \"B\", \"staged\": true},\n"
	 "    {\"id\": \"f0\", \"kind\": \"file\", \"name\": \"x\", \"permanent\": false, "
	 "\"excluded\": false},\n"
	 "    {\"id\": \"f1\", \"kind\": \"pattern\", \"name\": \"p*\", \"permanent\": false, "
	 "\"excluded\": false},\n"
	 "    {\"id\": \"f2\", \"kind\": \"file\", \"name\": \"y\", \"permanent\": false, "
	 "\"excluded\": false},\n"
	 "    {\"id\": \"f3\", \"kind\": \"file\", \"name\": \"d\", \"permanent\": false, "
	 "\"excluded\": false},\n"
	 "    {\"id\": \"f4\", \"kind\": \"file\", \"name\": \"log\", \"permanent\": false, "
	 "\"excluded\": true},\n"
	 "    {\"id\": \"f5\", \"kind\": \"file\", \"name\": \"p1\", \"permanent\": false, "
	 "\"excluded\": false},\n"
	 "    {\"id\": \"f6\", \"kind\": \"file\", \"name\": \"d/1\", \"permanent\": false, "
	 "\"excluded\": false},\n"
	 "    {\"id\": \"f7\", \"kind\": \"file\", \"name\": \"\\\"z\", \"permanent\": true, "
	 "\"excluded\": false}\n"
	 "  ],\n"
	 "  \"edges\": [\n"
	 "    {\"from\": \"f0\", \"to\": \"s0\", \"kind\": \"input\"},\n"
	 "    {\"from\": \"s0\", \"to\": \"f1\", \"kind\": \"output\", \"committed\": "
	 "\"on_close:2\", \"mode\": \"no_update\"},\n"
	 "    {\"from\": \"s0\", \"to\": \"f2\", \"kind\": \"output\", \"committed\": "
	 "\"on_file\", \"mode\": \"update\", \"file_deps\": [\"d/1\"]},\n"
	 "    {\"from\": \"s0\", \"to\": \"f3\", \"kind\": \"output\", \"committed\": "
	 "\"n_files:6\", \"mode\": \"update\", \"n_files\": 6},\n"
	 "    {\"from\": \"s0\", \"to\": \"f4\", \"kind\": \"output\"},\n"
	 "    {\"from\": \"f5\", \"to\": \"s1\", \"kind\": \"input\"},\n"
	 "    {\"from\": \"f6\", \"to\": \"s1\", \"kind\": \"input\"},\n"
	 "    {\"from\": \"s1\", \"to\": \"f7\", \"kind\": \"output\", \"committed\": "
	 "\"on_termination\", \"mode\": \"update\"},\n"
	 "    {\"from\": \"f1\", \"to\": \"f5\", \"kind\": \"match\"},\n"
	 "    {\"from\": \"f3\", \"to\": \"f6\", \"kind\": \"match\"}\n"
	 "  ]\n"
	 "}\n"},
};

static void draws_all_formats(void **state)
{
	struct leat_workflow *wf = model_from_text(MODEL);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		assert_int_equal(leat_graph_write(wf, rows[i].format, out), 0);
		fclose(out);
		assert_string_equal(text, rows[i].expected);
		free(text);
	}
	leat_workflow_free(wf);
}

static void draws_an_empty_workflow(void **state)
{
	struct leat_workflow *wf = leat_workflow_new();
	FILE *out = fopen("/dev/null", "w");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(leat_graph_write(wf, rows[i].format, out), 0);
	fclose(out);
	leat_workflow_free(wf);
}

static void refuses(void **state)
{
	struct leat_workflow *wf = model_from_text(MODEL);
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_int_equal(leat_graph_write(wf, "png", stdout), -EINVAL);
	assert_int_equal(leat_graph_write(wf, "text", full), -EIO);
	fclose(full);
	leat_workflow_free(wf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_all_formats),
		cmocka_unit_test(draws_an_empty_workflow),
		cmocka_unit_test(refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
