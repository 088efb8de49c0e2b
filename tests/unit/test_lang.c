/* Each fixture in tests/fixtures/lang: its diagnostics, and the model that comes of it; a fixture
 * is accepted if and only if all of them are warnings. */
#include "lang/lang.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixtures.h"

/* --- What a file gives, as text -------------------------------------------- */

static void put_names(FILE *out, const char *word, const struct leat_names *names)
{
	if (!names->n)
		return;
	fprintf(out, "%s", word);
	for (size_t i = 0; i < names->n; i++)
		fprintf(out, " %s", names->v[i].text);
	fputc('\n', out);
}

static void put_rule(FILE *out, const struct leat_rule *rule)
{
	char buffer[32];

	fprintf(out, "  %s %s %s %s", rule->is_dir ? "dir" : "rule", rule->name.text,
		leat_commit_text(rule->commit, rule->count, buffer), leat_fire_text(rule->fire));
	if (rule->n_files)
		fprintf(out, ":%u", rule->n_files);
	for (size_t i = 0; i < rule->deps.n; i++)
		fprintf(out, " %s", rule->deps.v[i].text);
	fputc('\n', out);
}

static void put_launch(FILE *out, const struct leat_step *step)
{
	static const char *const relaunch[] = {NULL, "always", "never"};

	if (strcmp(step->task, step->name))
		fprintf(out, "  of %s: %u of %u in %s\n", step->task, step->instance,
			step->ensemble, step->dir ? step->dir : "no directory");
	if (step->nprocs > 1 || step->nwriters)
		fprintf(out, "  nprocs %u, nwriters %u\n", step->nprocs, step->nwriters);
	if (step->action_file)
		fprintf(out, "  action %s of %s\n", step->action_function, step->action_file);
	if (step->container)
		fprintf(out, "  in %s by %s\n", step->container, leat_engine_name(step->engine));
	if (step->relaunch != LEAT_RELAUNCH_FOUND_OUT)
		fprintf(out, "  launched %s\n", relaunch[step->relaunch]);
}

static void put_ports(FILE *out, const struct leat_workflow *wf, const struct leat_step *step)
{
	static const char *const flows[] = {"whole", "all", "every", "latest"};

	for (size_t i = 0; i < step->n_inports; i++) {
		const struct leat_inport *in = &step->inports[i];

		fprintf(out, "  see %s %s", in->seen.text, flows[in->flow]);
		if (in->every)
			fprintf(out, " %u", in->every);
		for (size_t s = 0; s < in->n_sources; s++)
			fprintf(out, "%s %s of %s", s ? "," : ":", in->sources[s].made,
				wf->steps[in->sources[s].step].name);
		fputc('\n', out);
	}
	for (size_t i = 0; i < step->n_dsets; i++)
		fprintf(out, "  dset %s %s of %s%s%s\n", step->dsets[i].in ? "in" : "out",
			step->dsets[i].name.text, step->dsets[i].port.text,
			step->dsets[i].file ? ", file" : "",
			step->dsets[i].memory ? ", memory" : "");
}

static void put_step(FILE *out, const struct leat_workflow *wf, const struct leat_step *step)
{
	/* Of a large ensemble the first two and the last. */
	if (step->ensemble > 8 && step->instance > 1 && step->instance + 1 < step->ensemble)
		return;
	fprintf(out, "step %s%s\n", step->name, step->staged ? " staged" : "");
	put_launch(out, step);
	if (step->argv) {
		fputs("  run", out);
		for (char **arg = step->argv; *arg; arg++)
			fprintf(out, " <%s>", *arg);
		fputc('\n', out);
	}
	put_names(out, "  in", &step->inputs);
	put_names(out, "  out", &step->outputs);
	for (size_t i = 0; i < step->n_rules; i++)
		put_rule(out, &step->rules[i]);
	put_ports(out, wf, step);
}

static void put_workflow(FILE *out, const struct leat_workflow *wf)
{
	char word[64];

	fprintf(out, "name %s%s%s%s\n", wf->name, wf->dir ? ", dir " : "", wf->dir ? wf->dir : "",
		wf->permanent_unless_consumed ? ", permanent unless consumed" : "");
	for (size_t i = 0; i < wf->n_aliases; i++) {
		snprintf(word, sizeof(word), "alias %s", wf->aliases[i].name.text);
		put_names(out, word, &wf->aliases[i].files);
	}
	for (size_t i = 0; i < wf->n_steps; i++)
		put_step(out, wf, &wf->steps[i]);
	put_names(out, "permanent", &wf->permanent);
	put_names(out, "exclude", &wf->exclude);
	put_names(out, "memory", &wf->store_memory);
	put_names(out, "fs", &wf->store_fs);
	put_names(out, "create", &wf->home_create);
	put_names(out, "hashing", &wf->home_hashing);
	for (size_t i = 0; i < wf->n_home_manual; i++) {
		snprintf(word, sizeof(word), "manual %s:%u",
			 wf->steps[wf->home_manual[i].step].name, wf->home_manual[i].process);
		put_names(out, word, &wf->home_manual[i].files);
	}
}

/* Diagnostics and model of one fixture; the caller frees it. */
static char *result_text(const char *file)
{
	struct leat_diags *diags;
	struct leat_workflow *wf = leat_lang_load_in(file, "/wf", &diags);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_non_null(diags);
	assert_int_equal(wf == NULL, leat_diags_count(diags, LEAT_ERROR) > 0);
	leat_diags_print(diags, out, false);
	if (wf)
		put_workflow(out, wf);
	else
		fputs("rejected\n", out);
	leat_workflow_free(wf);
	leat_diags_free(diags);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_texts(void **state)
{
	(void)state;
	fixtures_compare(result_text);
}

/* Where names stand: in the file, and where a group is used. */
static void test_positions(void **state)
{
	struct leat_diags *diags;
	struct leat_workflow *wf = leat_lang_load("yaml-coordination.yaml", &diags);
	const struct leat_step *writer;

	(void)state;
	assert_non_null(wf);
	writer = &wf->steps[0];
	assert_int_equal(writer->pos.line, 3);
	assert_int_equal(writer->pos.column, 11);
	assert_int_equal(writer->outputs.v[0].pos.line, 6);
	assert_int_equal(writer->outputs.v[0].pos.file, 0);
	/* b.txt: from the coordination file, through its alias */
	assert_string_equal(writer->outputs.v[2].text, "b.txt");
	assert_int_equal(writer->outputs.v[2].pos.line, 6);
	assert_int_equal(writer->outputs.v[2].pos.column, 43);
	assert_int_equal(writer->outputs.v[2].pos.file, 1);
	assert_int_equal(writer->rules[0].name.pos.file, 1);
	/* the list does not need the model, nor the model the list */
	leat_diags_add(diags, LEAT_NOTE, "L-TYPE", writer->outputs.v[2].pos, "here");
	leat_workflow_free(wf);
	leat_diags_free(diags);
}

/* Absolute paths below the directory, given by another name of it. */
static void test_linked_directory(void **state)
{
	char dir[] = "/tmp/leat-test-lang.XXXXXX", text[512], link[128];
	struct leat_diags *diags;
	struct leat_workflow *wf;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s.link", dir);
	assert_int_equal(symlink(dir, link), 0);
	snprintf(text, sizeof(text),
		 "{\"name\": \"x\", \"IO_Graph\": [{\"name\": \"s\", \"output_stream\": "
		 "[\"%s/a\", \"%s/b\"]}]}",
		 dir, link);
	wf = leat_lang_parse(text, strlen(text), "x.json", link, &diags);
	assert_non_null(wf);
	assert_int_equal(leat_diags_count(diags, LEAT_WARNING), 0);
	assert_string_equal(wf->steps[0].outputs.v[0].text, "a");
	assert_string_equal(wf->steps[0].outputs.v[1].text, "b");
	leat_workflow_free(wf);
	leat_diags_free(diags);
	unlink(link);
	rmdir(dir);
}

static int enter_fixtures(void **state)
{
	(void)state;
	unsetenv("LEAT_DIR");
	unsetenv("CAPIO_DIR");
	return fixtures_enter("lang");
}

static int leave_fixtures(void **state)
{
	(void)state;
	fixtures_forget();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_linked_directory),
	};

	return cmocka_run_group_tests(tests, enter_fixtures, leave_fixtures);
}
