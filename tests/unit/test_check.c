/* The semantic checks on tests/fixtures/check: <check>-bad*.* must trigger L-CHECK-<CHECK>, and
 * only that; <check>-good*.* must trigger nothing. */
#include "base/str.h"
#include "lang/check/check.h"
#include "lang/lang.h"
#include "lang/syntax/diagnostics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixtures.h"
#include "model_text.h"

static int find_fixtures(void **state)
{
	(void)state;
	return fixtures_enter("check");
}

static int forget_fixtures(void **state)
{
	(void)state;
	fixtures_forget();
	return 0;
}

/* Load and check one fixture; the caller frees the list. Only the fixtures about
 * missing files look at files. */
static struct leat_diags *check_file(const char *file)
{
	struct leat_diags *diags;
	struct leat_workflow *wf = leat_lang_load(file, &diags);
	bool looks = strstr(file, "input-missing") || strstr(file, "action-file") ||
		     strstr(file, "container");
	char *dir = strstr(file, "symlink") ? realpath(".", NULL) : looks ? strdup(".") : NULL;

	assert_non_null(diags);
	if (wf)
		assert_int_equal(leat_check_workflow(wf, dir, dir, diags), 0);
	leat_workflow_free(wf);
	free(dir);
	return diags;
}

static char *print(const char *file)
{
	struct leat_diags *diags = check_file(file);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	leat_diags_print(diags, out, false);
	leat_diags_free(diags);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void texts_are_as_expected(void **state)
{
	(void)state;
	fixtures_compare(print);
}

/* "dep-cycle-bad.json" for L-CHECK-DEP-CYCLE. */
static bool is_about(const char *file, const char *code, const char *kind)
{
	char *start = leat_strf("%s-%s", code + strlen("L-CHECK-"), kind);
	bool is = !strncasecmp(file, start, strlen(start));

	free(start);
	return is;
}

/* The code that a fixture of that name is about. */
static const char *code_of(const char *file)
{
	/* What front ends see first. */
	if (leat_str_begins(file, "home-step"))
		return "L-STEP-UNKNOWN";
	for (size_t i = 0; i < L_N_CODES; i++) {
		const char *code = leat_lang_diagnostics[i].code;

		if (leat_str_begins(code, "L-CHECK-") &&
		    (is_about(file, code, "bad") || is_about(file, code, "good")))
			return code;
	}
	fail_msg("%s: no check of that name", file);
	return NULL;
}

static void bad_ones_trigger_good_ones_do_not(void **state)
{
	(void)state;
	for (int i = 0; i < n_fixtures; i++) {
		const char *file = fixtures[i]->d_name;
		const char *code = code_of(file);
		struct leat_diags *diags = check_file(file);
		bool bad = strstr(file, "-bad") != NULL;

		for (size_t c = 0; c < L_N_CODES; c++) {
			const char *other = leat_lang_diagnostics[c].code;

			if (leat_diags_has(diags, other) != (bad && !strcmp(other, code)))
				fail_msg("%s: %s", file, other);
		}
		leat_diags_free(diags);
	}
}

static bool has_fixture(const char *code, const char *kind)
{
	bool found = false;

	for (int i = 0; i < n_fixtures; i++)
		found |= is_about(fixtures[i]->d_name, code, kind);
	return found;
}

static void every_check_has_both(void **state)
{
	(void)state;
	for (size_t i = 0; i < L_N_CODES; i++) {
		const char *code = leat_lang_diagnostics[i].code;

		/* Actions are loaded by a process of their own: t/1630-actions.bats. */
		if (!leat_str_begins(code, "L-CHECK-") || i == L_CHECK_ACTION_LOAD)
			continue;
		if (!has_fixture(code, "bad") || !has_fixture(code, "good"))
			fail_msg("%s lacks a fixture", code);
	}
}

/* What no front end lets through, and positions that are not known. */
static void checks_models_made_by_hand(void **state)
{
	static const struct {
		const char *model, *code;
	} rows[] = {
		{"step A\nout x\nmanual B x", "L-CHECK-HOME-STEP"},
		{"step A\nout x\nmanual A x", NULL},
		{"", NULL},
		{"step A", NULL},
		/* on_file through patterns and directories */
		{"step A\nout x* y*\nrule x* on_file update y1\nrule y* on_file update x1",
		 "L-CHECK-DEP-CYCLE"},
		{"step A\nout x\nrule x on_file update x", "L-CHECK-DEP-CYCLE"},
		{"step A\nout d y\ndir d on_file update y\nrule y on_file update d/f",
		 "L-CHECK-DEP-CYCLE"},
		/* on_file falls back to the producer's end, which is no deadlock */
		{"step A\nin y\nout z\nstep B\nout y\nrule y on_file update z", NULL},
		/* one of several terminations is enough */
		{"step A\nin y\nout x\nstep B\nin x\nout y\nstep C\nout y\n"
		 "rule y on_termination:1 update",
		 NULL},
		{"step A\nin y\nout x\nstep B\nin x\nout y\nstep C\nout y\n"
		 "rule y on_termination:2 update",
		 "L-CHECK-DEADLOCK"},
		/* what is excluded waits for nobody */
		{"step A\nin y\nout x\nstep B\nin x\nout y\nexclude y", NULL},
		/* through patterns it may be */
		{"step A\nin y*\nout x*\nstep B\nin x*\nout y*", "L-CHECK-DEADLOCK"},
		{"step A\nin y1\nout x*\nstep B\nin x1\nout y*", "L-CHECK-DEADLOCK"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct leat_workflow *wf = model_from_text(rows[i].model);
		struct leat_diags *diags = leat_diags_new("model", rows[i].model);

		assert_int_equal(leat_check_workflow(wf, NULL, false, diags), 0);
		for (size_t c = 0; c < L_N_CODES; c++) {
			const char *code = leat_lang_diagnostics[c].code;

			if (leat_diags_has(diags, code) !=
			    (rows[i].code && !strcmp(code, rows[i].code)))
				fail_msg("row %zu: %s", i, code);
		}
		leat_diags_free(diags);
		leat_workflow_free(wf);
	}
}

/* Ten thousand names, as aliases expand to; generous, to notice only disasters. */
static void is_quick_for_many_names(void **state)
{
	struct leat_workflow *wf = model_from_text("step A\nstep B\npermanent *9");
	struct leat_diags *diags = leat_diags_new("model", NULL);
	const clock_t start = clock(); /* processor time: the machine may be busy */
	char text[32];

	(void)state;
	for (int i = 0; i < 10000; i++) {
		struct leat_rule *rule;

		snprintf(text, sizeof(text), "dir/file%d", i);
		assert_int_equal(
			leat_names_add(&wf->steps[0].outputs, text, (struct leat_pos){.line = i}),
			0);
		assert_int_equal(
			leat_names_add(&wf->steps[1].inputs, text, (struct leat_pos){.line = i}),
			0);
		rule = leat_step_add_rule(&wf->steps[0], text, (struct leat_pos){.line = i});
		assert_non_null(rule);
		rule->commit = LEAT_COMMIT_ON_CLOSE;
		rule->count = 1;
	}
	assert_int_equal(leat_check_workflow(wf, "/nonexistent", true, diags), 0);
	assert_int_equal(leat_diags_count(diags, LEAT_ERROR), 0);
	assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
	leat_diags_free(diags);
	leat_workflow_free(wf);
}

/* A thousand steps in a row, declared from the last to the first, and then closed
 * to a circle. */
static void is_quick_for_many_steps(void **state)
{
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_diags *diags = leat_diags_new("model", NULL);
	const clock_t start = clock(); /* processor time: the machine may be busy */
	char text[32];

	(void)state;
	for (int i = 1000; i > 0; i--) {
		struct leat_step *step;

		snprintf(text, sizeof(text), "file%d", i);
		step = leat_workflow_add_step(wf, text, (struct leat_pos){.line = i});
		leat_names_add(&step->outputs, text, (struct leat_pos){.line = i});
		snprintf(text, sizeof(text), "file%d", i - 1);
		leat_names_add(&step->inputs, text, (struct leat_pos){.line = i});
	}
	assert_int_equal(leat_check_workflow(wf, NULL, false, diags), 0);
	assert_int_equal(leat_diags_count(diags, LEAT_ERROR), 0);
	leat_names_add(&wf->steps[999].inputs, "file1000", (struct leat_pos){.line = 1});
	assert_int_equal(leat_check_workflow(wf, NULL, false, diags), 0);
	assert_int_equal(leat_diags_count(diags, LEAT_ERROR), 1);
	assert_true(leat_diags_has(diags, "L-CHECK-DEADLOCK"));
	assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
	leat_diags_free(diags);
	leat_workflow_free(wf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_as_expected),
		cmocka_unit_test(bad_ones_trigger_good_ones_do_not),
		cmocka_unit_test(every_check_has_both),
		cmocka_unit_test(checks_models_made_by_hand),
		cmocka_unit_test(is_quick_for_many_names),
		cmocka_unit_test(is_quick_for_many_steps),
	};

	return cmocka_run_group_tests(tests, find_fixtures, forget_fixtures);
}
