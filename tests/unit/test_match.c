#include "model/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

#include "model_text.h"

static void append_steps(char *out, const struct leat_workflow *wf, const uint64_t *set)
{
	bool any = false;

	for (size_t s = 0; s < wf->n_steps; s++) {
		if (!leat_steps_has(set, (int)s))
			continue;
		strcat(out, wf->steps[s].name);
		any = true;
	}
	if (!any)
		strcat(out, "-");
}

/* A rule in one line: producers>consumers commit mode, then a letter for each fact:
 * p permanent, x excluded, f on the file system, d directory declared, i and o
 * inputs and outputs below, nN complete at N files, =FILE depends on FILE. */
static void describe(const struct leat_workflow *wf, const struct leat_file_rule *r, char *out)
{
	char buffer[32];

	*out = '\0';
	append_steps(out, wf, r->producers);
	strcat(out, ">");
	append_steps(out, wf, r->consumers);
	sprintf(out + strlen(out), " %s %s ", leat_commit_text(r->commit, r->count, buffer),
		leat_fire_text(r->fire));
	sprintf(out + strlen(out), "%s%s%s%s%s%s", r->permanent ? "p" : "", r->excluded ? "x" : "",
		r->storage == LEAT_STORAGE_FS ? "f" : "", r->dir_declared ? "d" : "",
		r->holds_inputs ? "i" : "", r->holds_outputs ? "o" : "");
	if (r->n_files)
		sprintf(out + strlen(out), "n%u", r->n_files);
	if (r->deps)
		sprintf(out + strlen(out), "=%s", r->deps->v[0].text);
	assert_int_equal(r->declared, strncmp(out, "->- ", 4) != 0);
}

struct row {
	const char *path, *expected;
};

struct table {
	const char *model;
	struct row rows[12];
};

#define COT " on_termination update "

static const struct table tables[] = {
	/* Roles; what nobody declares. */
	{"step A\nout x y\nstep B\nin x\nout z\nstep C\nin x z",
	 {{"x", "A>BC" COT "d"}, {"y", "A>-" COT "d"}, {"z", "B>C" COT "d"}, {"q", "->-" COT}}},
	/* Exact name over pattern, longer literal prefix, more literal characters. */
	{"step A\nout *\nrule * on_close:1 update\nrule *.dat on_close:2 update\n"
	 "rule a* on_close:3 update\nrule ab* on_close:4 update\nrule ab*.dat on_close:5 update\n"
	 "rule abc.dat on_close:6 no_update",
	 {{"q", "A>- on_close:1 update do"},
	  {"q.dat", "A>- on_close:2 update do"},
	  {"a.dat", "A>- on_close:3 update do"},
	  {"ab", "A>- on_close:4 update do"},
	  {"abx.dat", "A>- on_close:5 update do"},
	  {"abc.dat", "A>- on_close:6 no_update do"},
	  {"dir/q.dat", "A>- on_close:2 update do"}}},
	/* A rule for a file over the rule of its directory, however vague. */
	{"step A\nout dir\ndir dir on_close:2 no_update\nrule dir/s* on_termination:1 update\n"
	 "rule *.log on_close:9 update\ndir dir/sub on_close:4 update",
	 {{"dir", "A>-"
		  " on_termination no_update d"},
	  {"dir/f", "A>- on_close:2 no_update d"},
	  {"dir/s", "A>- on_termination:1 update d"},
	  {"dir/f.log", "A>- on_close:9 update d"},
	  {"dir/sub", "A>-" COT "d"},
	  {"dir/sub/f", "A>- on_termination:1 update d"},
	  {"dir/tub/f", "A>- on_close:2 no_update d"},
	  {"dirt", "->-" COT}}},
	{"step A\nout dir\ndir dir on_close:2 no_update\ndir dir/sub on_close:4 update",
	 {{"dir/sub", "A>-" COT "d"},
	  {"dir/sub/f", "A>- on_close:4 update d"},
	  {"dir/sub/deep/f", "A>- on_close:4 update d"}}},
	/* Number of files: the directory by number, its files on close. */
	{"step A\nout dir\ndir dir n_files:6 no_update\nstep B\nin dir/a",
	 {{"dir", "A>- n_files:6 no_update din6"},
	  {"dir/a", "A>B on_close no_update d"},
	  {"dir/b", "A>- on_close no_update d"}}},
	{"step A\nout dir/*\ndir dir on_close:2 update:5",
	 {{"dir", "A>- n_files:5 update don5"}, {"dir/b", "A>- on_close:2 update do"}}},
	/* "dir/ *" as a directory is the directory (1000-Genome listing). */
	{"step A\nout chr1n/*\ndir chr1n/* on_close no_update:2504",
	 {{"chr1n", "A>- n_files:2504 no_update don2504"},
	  {"chr1n/f", "A>- on_close no_update do"}}},
	{"step A\nout out*\ndir out*/* n_files:3 update",
	 {{"out1", "A>- n_files:3 update don3"}, {"out1/f", "A>- on_close update do"}}},
	/* on_file, also for a directory. */
	{"step A\nout x d ok\nrule x on_file no_update ok\ndir d on_file update ok",
	 {{"x", "A>- on_file no_update d=ok"},
	  {"d", "A>- on_file update d=ok"},
	  {"d/f", "A>- on_file update d=ok"},
	  {"ok", "A>-" COT "d"}}},
	/* A stream entry that is a directory covers what is below, unless a more
	 * specific output says otherwise; inputs add up. */
	{"step A\nout dir\nstep B\nout dir/b* other\nstep C\nin dir\nstep D\nin dir/a",
	 {{"dir", "A>C" COT "dio"},
	  {"dir/a", "A>CD" COT "d"},
	  {"dir/b1", "B>C" COT "do"},
	  {"dir/sub/f", "A>C" COT "d"},
	  {"other", "B>-" COT "d"}}},
	{"step A\nout d*\nstep B\nout dir\nstep C\nout dir/sub",
	 {{"dir", "AB>-" COT "do"}, {"dir/x", "AB>-" COT "do"}, {"dir/sub/x", "AC>-" COT "do"}}},
	/* Rules count where their step is a producer or a consumer: the more specific, then the
	 * first. */
	{"step A\nout x y\nrule * on_close:2 update\nstep B\nin x\nrule x on_close no_update\n"
	 "rule y on_close:3 update\nstep C\nin y z\nrule z on_close no_update",
	 {{"x", "A>B on_close no_update d"},
	  {"y", "A>C on_close:2 update d"},
	  {"z", "->C" COT "d"}}},
	{"step A\nout a/*\nstep B\nin a/*\ndir a n_files:2 update",
	 {{"a", "A>- n_files:2 update dion2"}, {"a/x", "A>B on_close update dio"}}},
	{"step A\nout a/1\nstep B\nout a/2\nstep C\nin a\ndir a on_close no_update:2\nstep D\n"
	 "in q\ndir a n_files:3 update",
	 {{"a", "AB>C n_files:2 no_update don2"},
	  {"a/1", "A>C on_close no_update d"},
	  {"a/3", "AB>C on_close no_update d"},
	  {"q", "->D" COT "d"}}},
	/* Permanence. */
	{"step A\nout x y d\npermanent x d in*",
	 {{"x", "A>-" COT "pd"},
	  {"y", "A>-" COT "d"},
	  {"d/f", "A>-" COT "pd"},
	  {"in1", "->-" COT "p"}}},
	{"kept\nstep A\nout x y t\nstep B\nin x d/* t\nout d t\npermanent d/q",
	 {{"x", "A>B" COT "d"},
	  {"y", "A>-" COT "pd"},
	  {"d/f", "B>B" COT "pdi"},
	  {"t", "AB>B" COT "pd"},
	  {"q", "->-" COT ""}}},
	/* Exclusion wins over everything. */
	{"step A\nout *.log x\nstep B\nin a.log x\nexclude *.log tmp\npermanent *.log",
	 {{"a.log", "->-" COT "x"}, {"x", "A>B" COT "do"}, {"tmp/f", "->-" COT "x"}}},
	/* Where files live: the most specific entry of both lists. */
	{"step A\nout *\nfs * d/x\nmemory d t*\n",
	 {{"q", "A>-" COT "fdo"},
	  {"d/y", "A>-" COT "do"},
	  {"d/x", "A>-" COT "fdo"},
	  {"t/x", "A>-" COT "do"}}},
	/* The workflow's directory itself. */
	{"step A\nout *\nstep B\nin x", {{"", "->-" COT "io"}}},
	{"step A\nin x", {{"", "->-" COT "i"}}},
	{"step A", {{"", "->-" COT ""}, {"x", "->-" COT ""}}},
	/* What may lie below. */
	{"step A\nout a/b/c\nstep B\nin a/x?/*.txt",
	 {{"a", "->-" COT "io"},
	  {"a/b", "->-" COT "o"},
	  {"a/x1", "->-" COT "i"},
	  {"a/x1/y", "->-" COT "i"},
	  {"a/y1", "->-" COT ""}}},
};

static void decides_as_tabled(void **state)
{
	char got[512];

	(void)state;
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		struct leat_workflow *wf = model_from_text(tables[t].model);
		struct leat_matcher *m = leat_matcher_new(wf);

		assert_non_null(m);
		for (const struct row *row = tables[t].rows; row->path; row++) {
			const struct leat_file_rule *r = leat_match(m, row->path);

			assert_ptr_equal(leat_match(m, row->path), r);
			describe(wf, r, got);
			if (strcmp(got, row->expected))
				fail_msg("table %zu, \"%s\": got \"%s\", expected \"%s\"", t,
					 row->path, got, row->expected);
		}
		leat_matcher_free(m);
		leat_workflow_free(wf);
	}
	leat_matcher_free(NULL);
}

/* Pairs "UP<DOWN" that hold; every other pair does not. */
static const struct {
	const char *model, *pairs;
} orders[] = {
	{"step A\nout x\nstep B\nin x\nout y\nstep C\nin y", "AB BC AC"},
	{"step A\nout x*\nstep B\nin xy", "AB"},
	{"step A\nout xy\nstep B\nin x*", "AB"},
	{"step A\nout x*\nstep B\nin *y", "AB"},
	{"step A\nout x*\nstep B\nin y*", ""},
	{"step A\nout *.bam\nstep B\nin a.txt", ""},
	{"step A\nout d\nstep B\nin d/x", "AB"},
	{"step A\nout d/x\nstep B\nin d", "AB"},
	{"step A\nout d/*\nstep B\nin d", "AB"},
	{"step A\nout d\nstep B\nin d/*", "AB"},
	{"step A\nout d\ndir d on_close update\nstep B\nin *.txt", "AB"},
	{"step A\nin z\nout x\nstep B\nin x\nout y\nstep C\nin y\nout z\nstep D\nin z",
	 "AA AB AC AD BA BB BC BD CA CB CC CD"},
	/* both update one file: only another link orders them */
	{"step A\nin x\nout x\nstep B\nin x\nout x", ""},
	{"step A\nin x\nout x z\nstep B\nin x z\nout x\nstep C\nin x", "AB AC BC"},
	{"step A\nin x*\nout x*\nstep B\nin x*\nout x*", ""},
	/* excluded files order nobody */
	{"step A\nout x\nstep B\nin x\nexclude x", ""},
};

static void orders_steps(void **state)
{
	(void)state;
	for (size_t t = 0; t < sizeof(orders) / sizeof(orders[0]); t++) {
		struct leat_workflow *wf = model_from_text(orders[t].model);
		struct leat_matcher *m = leat_matcher_new(wf);
		int n = (int)wf->n_steps;

		for (int i = 0; i < n * n; i++) {
			char pair[3] = {(char)('A' + i / n), (char)('A' + i % n), '\0'};

			if (leat_is_upstream(m, i / n, i % n) !=
			    (strstr(orders[t].pairs, pair) != NULL))
				fail_msg("order %zu, pair %s", t, pair);
		}
		leat_matcher_free(m);
		leat_workflow_free(wf);
	}
}

static void looks_below_directories(void **state)
{
	struct leat_workflow *wf =
		model_from_text("step A\nin a/b/c d*\nout out\nstep B\nin *.txt");
	struct leat_matcher *m = leat_matcher_new(wf);

	(void)state;
	assert_true(leat_step_reads_below(m, 0, ""));
	assert_true(leat_step_reads_below(m, 0, "a"));
	assert_true(leat_step_reads_below(m, 0, "a/b"));
	assert_true(leat_step_reads_below(m, 0, "a/b/c"));
	assert_true(leat_step_reads_below(m, 0, "a/b/c/deep"));
	assert_false(leat_step_reads_below(m, 0, "a/x"));
	assert_false(leat_step_reads_below(m, 0, "b"));
	assert_true(leat_step_reads_below(m, 0, "dx"));
	assert_true(leat_step_reads_below(m, 1, "any"));
	assert_true(leat_step_writes_below(m, 0, ""));
	assert_true(leat_step_writes_below(m, 0, "out/x"));
	assert_false(leat_step_writes_below(m, 0, "a"));
	assert_false(leat_step_writes_below(m, 1, ""));
	leat_matcher_free(m);
	leat_workflow_free(wf);
}

static void takes_more_than_64_steps(void **state)
{
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_matcher *m;
	char text[32];

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct leat_step *step;

		snprintf(text, sizeof(text), "s%d", i);
		step = leat_workflow_add_step(wf, text, (struct leat_pos){.line = 0});
		snprintf(text, sizeof(text), "f%d", i);
		leat_names_add(&step->inputs, text, (struct leat_pos){.line = 0});
		snprintf(text, sizeof(text), "f%d", i + 1);
		leat_names_add(&step->outputs, text, (struct leat_pos){.line = 0});
	}
	m = leat_matcher_new(wf);
	assert_int_equal(leat_steps_words(m), 4);
	assert_true(leat_steps_has(leat_match(m, "f150")->producers, 149));
	assert_true(leat_steps_has(leat_match(m, "f150")->consumers, 150));
	assert_true(leat_is_upstream(m, 0, 199));
	assert_false(leat_is_upstream(m, 199, 0));
	leat_matcher_free(m);
	leat_workflow_free(wf);
}

/* A run may make files and versions without end: they share what is kept of them. */
static void keeps_equal_rules_once(void **state)
{
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_step *step = leat_workflow_add_step(wf, "A", (struct leat_pos){.line = 0});
	const struct leat_file_rule *rule, *other;
	struct leat_matcher *m;
	char text[64];

	(void)state;
	leat_names_add(&step->outputs, "d/x*", (struct leat_pos){.line = 0});
	leat_names_add(&step->inputs, "d/x*b", (struct leat_pos){.line = 0});
	m = leat_matcher_new(wf);
	rule = leat_match(m, ".leat.versions/2/d/x1");
	assert_true(rule->declared);
	assert_ptr_equal(leat_match(m, ".leat.versions/3/d/x1"), rule);
	assert_ptr_equal(leat_match(m, "d/x1"), rule);
	other = leat_match(m, "d/x1b");
	assert_ptr_not_equal(other, rule);
	assert_true(leat_steps_has(other->consumers, 0) && !leat_steps_has(rule->consumers, 0));
	assert_false(leat_match(m, "elsewhere")->declared);
	/* more than are remembered by name */
	for (int i = 0; i < 30000; i++) {
		snprintf(text, sizeof(text), "d/x%d%s", i, i % 2 ? "b" : "");
		assert_ptr_equal(leat_match(m, text), i % 2 ? other : rule);
	}
	assert_ptr_equal(leat_match(m, "d/x1"), rule);
	leat_matcher_free(m);
	leat_workflow_free(wf);
}

/* 100,000 paths under 40 patterns, twice; generous, to notice only disasters. */
static void is_fast_for_many_paths(void **state)
{
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_step *step = leat_workflow_add_step(wf, "A", (struct leat_pos){.line = 0});
	struct leat_matcher *m;
	clock_t start;
	char text[64];

	(void)state;
	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "dir%d/part*/x?.dat", i);
		leat_names_add(&step->outputs, text, (struct leat_pos){.line = 0});
	}
	m = leat_matcher_new(wf);
	start = clock(); /* processor time: the machine may be busy */
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 100000; i++) {
			snprintf(text, sizeof(text), "dir%d/part%d/x1.dat", i % 40, i);
			assert_true(leat_match(m, text)->declared);
		}
	}
	assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
	leat_matcher_free(m);
	leat_workflow_free(wf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decides_as_tabled),
		cmocka_unit_test(orders_steps),
		cmocka_unit_test(looks_below_directories),
		cmocka_unit_test(takes_more_than_64_steps),
		cmocka_unit_test(keeps_equal_rules_once),
		cmocka_unit_test(is_fast_for_many_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
