/* What the canonical form says is what the workflow said: reading it again gives
 * an equal model, for all fixtures and examples and for random models. */
#include "base/json.h"
#include "base/str.h"
#include "lang/lang.h"
#include "lang/output/canonical.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "model_text.h"

static char *canonical(const struct leat_workflow *wf)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(leat_canonical_write(wf, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_survives(const struct leat_workflow *wf, const char *path)
{
	char *text = canonical(wf), *again;
	struct leat_diags *diags;
	struct leat_workflow *copy = leat_lang_parse(text, strlen(text), path, "/wf", &diags);

	if (!copy || !leat_workflow_equal(wf, copy)) {
		leat_diags_print(diags, stderr, false);
		fail_msg("%s: lost in\n%s", path, text);
	}
	/* The canonical form is accepted without a word, but for an empty graph. */
	if (wf->n_steps && leat_diags_count(diags, LEAT_WARNING)) {
		leat_diags_print(diags, stderr, false);
		fail_msg("%s: not canonical:\n%s", path, text);
	}
	again = canonical(copy);
	assert_string_equal(again, text);
	free(again);
	free(text);
	leat_workflow_free(copy);
	leat_diags_free(diags);
}

static void all_files_survive(void **state)
{
	const char *source = getenv("LEAT_SOURCE_DIR");
	unsigned survived = 0;
	glob_t files;

	(void)state;
	assert_int_equal(chdir(source ? source : "."), 0);
	assert_int_equal(glob("tests/fixtures/*/*.json", 0, NULL, &files), 0);
	assert_int_equal(glob("tests/fixtures/*/*.yaml", GLOB_APPEND, NULL, &files), 0);
	assert_int_equal(glob("examples/*/*.yaml", GLOB_APPEND, NULL, &files), 0);
	(void)glob("examples/*/*.json", GLOB_APPEND, NULL, &files); /* there may be none */
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct leat_diags *diags;
		struct leat_workflow *wf = leat_lang_load_in(files.gl_pathv[i], "/wf", &diags);

		leat_diags_free(diags);
		if (!wf)
			continue;
		assert_survives(wf, files.gl_pathv[i]);
		leat_workflow_free(wf);
		survived++;
	}
	globfree(&files);
	assert_true(survived > 50);
}

/* --- Random models ------------------------------------------------------- */

static unsigned below(unsigned n)
{
	return (unsigned)rand() % n;
}

/* A name that is no other's, made of what is hard to quote. */
static char *random_name(void)
{
	static const char *const pieces[] = {
		"a",
		"*",
		"?",
		"[ab]",
		" ",
		"  ",
		"\"",
		"\\",
		"1",
		"true",
		"/x",
		"\t",
		"\x01",
		"#",
		": ",
		"\xc3\xbc",
		"\xe2\x80\xa8",
		"{}",
		"null",
		"-",
		"'",
		"%s",
		",",
		"]",
		"\x7f",
		"\xf0\x9f\x98\x80",
		"&",
		"!",
	};
	static unsigned serial;
	char text[128] = "";
	unsigned n = 1 + below(4);

	while (n-- > 0)
		strcat(text, pieces[below(sizeof(pieces) / sizeof(pieces[0]))]);
	return leat_strf("%s%s%u%s", *text == '/' ? "d" : "", text, serial++, below(4) ? "" : " ");
}

static void random_names(struct leat_names *names, unsigned most)
{
	for (unsigned n = below(most + 1); n > 0; n--) {
		char *name = random_name();

		assert_int_equal(leat_names_add(names, name, (struct leat_pos){.line = 1}), 0);
		free(name);
	}
}

static void random_rule(struct leat_step *step)
{
	char *name = random_name();
	struct leat_rule *rule = leat_step_add_rule(step, name, (struct leat_pos){.line = 1});

	free(name);
	rule->is_dir = below(2);
	rule->commit = (enum leat_commit)below(rule->is_dir ? 4 : 3);
	rule->fire = (enum leat_fire)below(2);
	if (rule->commit == LEAT_COMMIT_N_FILES)
		rule->count = 1 + below(1000);
	else if (rule->commit != LEAT_COMMIT_ON_FILE)
		rule->count = below(3);
	if (rule->is_dir && rule->commit == LEAT_COMMIT_ON_CLOSE)
		rule->n_files = below(3);
	if (rule->commit == LEAT_COMMIT_ON_FILE) {
		char *dep = random_name();

		leat_names_add(&rule->deps, dep, (struct leat_pos){.line = 1});
		free(dep);
		random_names(&rule->deps, 2);
	}
}

static void random_text(char **text)
{
	free(*text);
	*text = random_name();
}

/* What goes with an ensemble. */
static void random_launch(struct leat_step *step)
{
	if (below(2)) {
		random_text(&step->task);
		step->ensemble = 2 + below(3);
		step->instance = below(step->ensemble);
		step->dir = leat_strf("%s.%u", "dir", below(100));
	}
	step->nprocs = 1 + below(2) * below(100);
	step->nwriters = below(step->nprocs + 1);
	step->relaunch = (enum leat_relaunch)below(3);
	if (below(2)) {
		step->action_file = leat_strf("%s/a.%s", "x y", below(2) ? "so" : "py");
		random_text(&step->action_function);
	}
	if (below(2)) {
		step->container = leat_strf("%s%u", below(2) ? "./" : "x", below(9));
		step->engine = below(2) ? LEAT_ENGINE_AUTO : LEAT_ENGINE_APPTAINER;
	}
}

/* Ports with data sets and versions; `other` is a step before this one, or -1. */
static void random_ports(struct leat_step *step, int other)
{
	const struct leat_pos pos = {.line = 1};

	for (unsigned n = below(3); n > 0; n--) {
		char *port = random_name(), *name = random_name();
		struct leat_dset *dset = leat_step_add_dset(
			step, &(struct leat_name){.text = port, .pos = pos}, name, pos);

		free(port);
		free(name);
		dset->in = below(2);
		dset->file = below(2);
		dset->memory = below(2);
	}
	for (size_t i = 0; other >= 0 && i < step->inputs.n; i++) {
		char *seen = random_name();
		struct leat_inport *inport = leat_step_add_inport(step, seen, pos);

		free(seen);
		inport->flow = (enum leat_flow)below(4);
		inport->every = inport->flow == LEAT_FLOW_SOME ? 2 + below(9) : 0;
		for (unsigned k = 1 + (inport->flow == LEAT_FLOW_BATCH ? 0 : below(3)); k > 0; k--)
			leat_inport_add_source(inport, other, step->inputs.v[i].text);
	}
}

static void random_step(struct leat_workflow *wf)
{
	char *name = random_name();
	struct leat_step *step = leat_workflow_add_step(wf, name, (struct leat_pos){.line = 1});

	free(name);
	random_names(&step->inputs, 3);
	random_names(&step->outputs, 3);
	for (unsigned n = below(4); n > 0; n--)
		random_rule(step);
	step->staged = below(2);
	step->concurrent = step->staged && below(2);
	random_launch(step);
	random_ports(step, (int)wf->n_steps - 2);
	if (below(2)) {
		unsigned n = 1 + below(4);

		step->argv = calloc(n + 1, sizeof(char *));
		while (n-- > 0)
			step->argv[n] = below(5) || n == 0 ? random_name() : strdup("");
	}
}

/* The sets must be disjoint, so nothing in them is a pattern. */
static void random_homes(struct leat_workflow *wf)
{
	struct leat_names *lists[] = {&wf->home_create, &wf->home_hashing, NULL};
	char text[32];

	for (unsigned i = 0; i < 6; i++) {
		struct leat_names *names = lists[i / 2];

		snprintf(text, sizeof(text), "home %u", i);
		if (!names)
			names = &leat_workflow_add_home(wf, (int)below((unsigned)wf->n_steps),
							below(3), (struct leat_pos){.line = 1})
					 ->files;
		if (below(2))
			leat_names_add(names, text, (struct leat_pos){.line = 1});
	}
}

static struct leat_workflow *random_workflow(void)
{
	struct leat_workflow *wf = leat_workflow_new();

	wf->name = random_name();
	wf->dir = below(2) ? random_name() : NULL;
	wf->permanent_unless_consumed = below(2);
	for (unsigned n = 1 + below(4); n > 0; n--)
		random_step(wf);
	for (unsigned n = below(3); n > 0; n--) {
		char *name = random_name();

		random_names(
			&leat_workflow_add_alias(wf, name, (struct leat_pos){.line = 1})->files, 3);
		free(name);
	}
	random_names(&wf->permanent, 3);
	random_names(&wf->exclude, 3);
	random_names(&wf->store_memory, 3);
	random_names(&wf->store_fs, 3);
	random_homes(wf);
	return wf;
}

static void random_models_survive(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 2000; i++) {
		struct leat_workflow *wf = random_workflow();

		assert_survives(wf, "random.json");
		leat_workflow_free(wf);
	}
}

static void looks_like_the_paper(void **state)
{
	struct leat_workflow *wf = model_from_text(
		"name w\nstep A\nrun lmp -in x\nin x\nout g1 g2 d\nrule g1 on_close no_update\n"
		"rule g2 on_close no_update\ndir d n_files:6 update\nrule z on_file update g1\n"
		"dir e on_close update:5\nstep B\nstaged\npermanent g1\nexclude *.log\nfs g2\n"
		"hashing d\nmanual B:2 e\nalias g g1 g2\nkept\n");
	char *text = canonical(wf);

	(void)state;
	assert_string_equal(
		text,
		"{\n"
		"  \"name\": \"w\",\n"
		"  \"aliases\": [\n"
		"    {\"group_name\": \"g\", \"files\": [\"g1\", \"g2\"]}\n"
		"  ],\n"
		"  \"permanent\": [\"g1\"],\n"
		"  \"permanent_unless_consumed\": true,\n"
		"  \"exclude\": [\"*.log\"],\n"
		"  \"IO_Graph\": [\n"
		"    {\n"
		"      \"name\": \"A\",\n"
		"      \"exec\": [\"lmp\", \"-in\", \"x\"],\n"
		"      \"input_stream\": [\"x\"],\n"
		"      \"output_stream\": [\"g1\", \"g2\", \"d\"],\n"
		"      \"streaming\": [\n"
		"        {\"name\": [\"g1\", \"g2\"], \"committed\": \"on_close\", \"mode\": "
		"\"no_update\"},\n"
		"        {\"dirname\": [\"d\"], \"committed\": \"n_files:6\", \"mode\": "
		"\"update\"},\n"
		"        {\"name\": [\"z\"], \"committed\": \"on_file\", \"file_deps\": [\"g1\"], "
		"\"mode\": \"update\"},\n"
		"        {\"dirname\": [\"e\"], \"committed\": \"on_close\", \"n_files\": 5, "
		"\"mode\": \"update\"}\n"
		"      ]\n"
		"    },\n"
		"    {\n"
		"      \"name\": \"B\",\n"
		"      \"staged\": true\n"
		"    }\n"
		"  ],\n"
		"  \"storage\": {\n"
		"    \"fs\": [\"g2\"]\n"
		"  },\n"
		"  \"home_node_policy\": {\n"
		"    \"hashing\": [\"d\"],\n"
		"    \"manual\": [\n"
		"      {\"name\": [\"e\"], \"app_node\": \"B:2\"}\n"
		"    ]\n"
		"  }\n"
		"}\n");
	free(text);
	leat_workflow_free(wf);
}

static void says_when_it_cannot_write(void **state)
{
	struct leat_workflow *wf = model_from_text("step A");
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_true(leat_canonical_write(wf, full) < 0);
	fclose(full);
	leat_workflow_free(wf);
}

static void escapes_json(void **state)
{
	char text[256];
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct leat_json j = {.out = out};

	(void)state;
	leat_json_list(&j, NULL, true);
	leat_json_string(&j, NULL, "\"\\\n\t\r\x7f\xc3\xbc\xff\xc3");
	leat_json_number(&j, NULL, 18446744073709551615ull);
	leat_json_bool(&j, NULL, false);
	leat_json_object(&j, NULL, false);
	leat_json_close(&j);
	leat_json_close(&j);
	fclose(out);
	assert_string_equal(text,
			    "[\"\\\"\\\\\\n\\t\\u000d\\u007f\xc3\xbc\xef\xbf\xbd\xef\xbf\xbd\", "
			    "18446744073709551615, false, {}]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_like_the_paper),
		cmocka_unit_test(escapes_json),
		cmocka_unit_test(all_files_survive),
		cmocka_unit_test(random_models_survive),
		cmocka_unit_test(says_when_it_cannot_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
