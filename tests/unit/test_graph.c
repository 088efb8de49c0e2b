#include "lang/output/graph.h"

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

static struct leat_inport *add_inport(struct leat_step *step, const char *seen, enum leat_flow flow)
{
	struct leat_inport *inport = leat_step_add_inport(step, seen, (struct leat_pos){.line = 1});

	assert_non_null(inport);
	inport->flow = flow;
	return inport;
}

/* Two instances of P, and C that sees every third of both, and newest and outside files. */
static struct leat_workflow *ensemble(void)
{
	struct leat_workflow *wf = model_from_text("step P.0\nout P.0/x\nin q\nstep P.1\nout "
						   "P.1/x\nin q\nstep C\nin P.0/x P.1/x P.0/y");
	struct leat_name port = {.text = (char[]){"x"}};
	struct leat_dset *dset;
	struct leat_inport *in;

	for (unsigned i = 0; i < 2; i++) {
		struct leat_step *step = &wf->steps[i];

		strcpy(step->task, "P");
		step->instance = i;
		step->ensemble = 2;
		step->dir = strdup(step->name);
		add_inport(step, i ? "P.1/q" : "P.0/q", LEAT_FLOW_BATCH);
	}
	in = add_inport(&wf->steps[2], "x", LEAT_FLOW_SOME);
	in->every = 3;
	assert_int_equal(leat_inport_add_source(in, 0, "P.0/x"), 0);
	assert_int_equal(leat_inport_add_source(in, 1, "P.1/x"), 0);
	in = add_inport(&wf->steps[2], "y", LEAT_FLOW_LATEST);
	assert_int_equal(leat_inport_add_source(in, 0, "P.0/y"), 0);
	dset = leat_step_add_dset(&wf->steps[2], &port, "/g", (struct leat_pos){.line = 1});
	assert_non_null(dset);
	dset->in = dset->file = dset->memory = true;
	return wf;
}

static char *draw(const struct leat_workflow *wf, const char *format)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(leat_graph_write(wf, format, out), 0);
	fclose(out);
	return text;
}

static void draws_ensembles(void **state)
{
	static const struct {
		const char *format, *part;
	} parts[] = {
		{"text", "step P.1 (1 of 2 of P)\n"},
		{"text", "  sees    P.1/q     from outside\n"},
		{"text", "  sees    x         every 3rd, from P.0, P.1\n"},
		{"text", "  sees    y         latest, from P.0\n"},
		{"text", "  gets    /g of x: memory, file\n"},
		{"dot", "  subgraph cluster_s0 {\n    label=\"P\";\n    s0 [shape=box, "
			"label=\"P.0\"];\n    s1 [shape=box, label=\"P.1\"];\n  }\n  s2 [shape"},
		{"dot", " -> s2 [label=\"every 3rd\"];\n"},
		{"dot", " -> s2 [label=\"latest\"];\n"},
		{"dot", " -> s1;\n"},
		{"json", "\"name\": \"P.1\", \"staged\": false, \"task\": \"P\", \"instance\": 1, "
			 "\"ensemble\": 2, \"dir\": \"P.1\", \"inports\": [{\"seen\": \"P.1/q\", "
			 "\"flow\": \"batch\", \"sources\": []}]}"},
		{"json",
		 "\"inports\": [{\"seen\": \"x\", \"flow\": \"some\", \"every\": 3, "
		 "\"sources\": [{\"step\": \"s0\", \"made\": \"P.0/x\"}, {\"step\": \"s1\", "
		 "\"made\": \"P.1/x\"}]}, {\"seen\": \"y\", \"flow\": \"latest\", "},
		{"json", "\"dsets\": [{\"inport\": \"x\", \"name\": \"/g\", \"file\": true, "
			 "\"memory\": true}]"},
	};
	struct leat_workflow *wf = ensemble();

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *text = draw(wf, parts[i].format);

		if (!strstr(text, parts[i].part))
			fail_msg("%s\nis not in\n%s", parts[i].part, text);
		free(text);
	}
	leat_workflow_free(wf);
}

static void spells_ordinals(void **state)
{
	static const char *const ordinals[] = {"2nd",  "3rd",  "4th",  "10th",  "11th",  "12th",
					       "13th", "21st", "22nd", "100th", "111th", "121st"};
	struct leat_workflow *wf = ensemble();
	char *text, part[32];

	(void)state;
	for (size_t i = 0; i < sizeof(ordinals) / sizeof(ordinals[0]); i++) {
		wf->steps[2].inports[0].every = (unsigned)atoi(ordinals[i]);
		text = draw(wf, "text");
		snprintf(part, sizeof(part), "every %s,", ordinals[i]);
		assert_non_null(strstr(text, part));
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
		cmocka_unit_test(draws_all_formats), cmocka_unit_test(draws_ensembles),
		cmocka_unit_test(spells_ordinals),   cmocka_unit_test(draws_an_empty_workflow),
		cmocka_unit_test(refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
