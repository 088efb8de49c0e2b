/* Each fixture in tests/fixtures/lang: its diagnostics, exactly, and, in
 * expected.txt, their text and the model that comes of it. */
#include "lang/lang.h"
#include "lang/syntax/diagnostics.h"

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

/* Codes in the order of their places; "CODE*3" stands for three in a row. A
 * fixture is accepted if and only if all of its codes are warnings. */
static const struct fixture {
	const char *file, *codes;
} fixtures[] = {
	{"alias-like-file.json", ""},
	{"alias-nested.json", "L-ALIAS-NESTED"},
	{"deps-unused.json", "L-RULE-DEPS-UNUSED"},
	{"home-colons.json", ""},
	{"keys-twice.json", "L-KEY-TWICE L-KEY-SPELLING L-KEY-TWICE"},
	{"many-errors.json", "L-PATH-ESCAPE L-RULE-COUNT L-RULE-MODE L-RULE-NAMES L-STEP-TWICE "
			     "L-KEY-SPELLING L-KEY-UNKNOWN L-STEP-UNKNOWN"},
	{"mode-unknown.json", "L-RULE-MODE"},
	{"coordination-needs.yaml", "L-COORDINATION*2"},
	{"needs-good.json", ""},
	{"needs.json", "L-TYPE"},
	{"name-missing.json", "L-NAME-MISSING"},
	{"paper-2023-fig3-mended.json",
	 "L-STREAM-FILES L-LIST-STRING*2 L-RULE-ON-FILE-SHORT L-LIST-STRING*2 L-RULE-TYPE-D "
	 "L-KEY-SPELLING L-LIST-STRING L-KEY-SPELLING L-HOME-2023"},
	{"paper-2023-fig3.json", "L-JSON-LIST-BRACES"},
	{"paper-2023-fig5-mended.json", "L-STREAM-FILES L-LIST-STRING"},
	{"paper-2023-fig5.json", "L-JSON-BRACKET"},
	{"own-keys-wrong.json", "L-PORT-OWN*3 L-NUMBER*2 L-ACTION L-TYPE L-PORT-OWN*4 "
				"L-KEY-MISSING L-STEP-UNKNOWN L-KEY-MISSING*2 L-TYPE"},
	{"own-keys.json", ""},
	{"paper-2024-listing1.yaml", ""},
	{"paper-2024-listing2-mended.yaml", ""},
	{"paper-2024-listing2.yaml", "L-YAML-SYNTAX"},
	{"paper-2024-listing4-mended.yaml", ""},
	{"paper-2024-listing4.yaml", "L-YAML-SYNTAX"},
	{"paper-2024-listing6-mended.yaml", ""},
	{"paper-2024-listing6.yaml", "L-YAML-SYNTAX"},
	{"paper-2025-listing1-mended.json", "L-STEP-NONE"},
	{"paper-2025-listing1.json", "L-JSON-VALUE"},
	{"paper-2025-listing2-mended.json", "L-STEP-NONE"},
	{"paper-2025-listing2.json", "L-JSON-NEWLINE"},
	{"paper-2025-listing3-mended.json", "L-STEP-NONE"},
	{"paper-2025-listing3.json", "L-JSON-NEWLINE"},
	{"paper-2025-listing4-mended.json", ""},
	{"paper-2025-listing4.json", "L-JSON-NEWLINE"},
	{"paper-2025-listing5-joined.json",
	 "L-KEY-SPELLING*2 L-RULE-ON-FILE-SHORT L-STEP-CASE L-HOME-TWICE L-STEP-CASE"},
	{"paper-2025-listing5-mended.json", "L-KEY-SPELLING*2 L-RULE-ON-FILE-SHORT L-STEP-CASE*2"},
	{"paper-2025-listing5.json", "L-JSON-NEWLINE"},
	{"paper-2025-listing6-indented.yaml", "L-KEY-UNKNOWN"},
	{"paper-2025-listing6-mended.yaml", ""},
	{"paper-2025-listing6.yaml", "L-YAML-SYNTAX"},
	{"paper-2025-listing7-mended.json",
	 "L-PATH-OUTSIDE L-RULE-NO-MODE L-PATH-OUTSIDE L-RULE-NO-MODE "
	 "L-PATH-OUTSIDE*5"},
	{"paper-2025-listing7.json", "L-JSON-NEWLINE"},
	{"paper-2025-listing8-mended.json", ""},
	{"paper-2025-listing8.json", "L-JSON-BRACKET"},
	{"row-absolute-inside.json", ""},
	{"row-absolute-outside.json", "L-PATH-OUTSIDE*4"},
	{"row-alias-twice.json", "L-STREAM-FILES L-ALIAS-TWICE*2"},
	{"row-aliases-everywhere.json", ""},
	{"row-app-node-case-ambiguous.json", "L-STEP-UNKNOWN"},
	{"row-app-node-case.json", "L-STEP-CASE"},
	{"row-app-node-unknown.json", "L-STEP-UNKNOWN L-NUMBER"},
	{"row-committed-misspelt-beside-star.json", "L-RULE-UNKNOWN"},
	{"row-committed-names-alias.json", "L-RULE-ON-FILE-SHORT"},
	{"row-committed-names-file.json", "L-RULE-ON-FILE-SHORT"},
	{"row-committed-names-nothing.json", "L-RULE-UNKNOWN*2"},
	{"row-configuration.json", "L-CONFIGURATION"},
	{"row-counts-wrong.json", "L-RULE-COUNT*7"},
	{"row-counts.json", ""},
	{"row-dash-streams.json", "L-KEY-SPELLING*2"},
	{"row-dirname-wildcard.json", ""},
	{"row-file-deps.json", ""},
	{"row-files-deps.json", "L-KEY-SPELLING*2"},
	{"row-home-2023-process.json", "L-KEY-SPELLING L-HOME-2023"},
	{"row-home-2023.json", "L-KEY-SPELLING L-HOME-2023"},
	{"row-home-hash.json", "L-KEY-SPELLING"},
	{"row-home-node-policy.json", ""},
	{"row-home-spelt-home-node-policy.json", "L-KEY-SPELLING"},
	{"row-home-spelt-home_node.json", "L-KEY-SPELLING"},
	{"row-home-spelt-home_node_policies.json", "L-KEY-SPELLING"},
	{"row-home-spelt-home_nodes.json", "L-KEY-SPELLING"},
	{"row-home-word.json", "L-HOME-STRING"},
	{"row-list-in-braces.json", "L-JSON-LIST-BRACES"},
	{"row-missing-bracket.json", "L-JSON-BRACKET"},
	{"row-missing-committed.json", "L-RULE-NO-COMMITTED"},
	{"row-missing-last-bracket.json", "L-JSON-UNCLOSED"},
	{"row-missing-mode.json", "L-RULE-NO-MODE"},
	{"row-mode-old.json", "L-RULE-MODE-OLD*2"},
	{"row-missing-streams.json", ""},
	{"row-n-files-differ-between-steps.json", "L-RULE-N-FILES-DIFFER"},
	{"row-n-files-differ.json", "L-RULE-N-FILES-DIFFER"},
	{"row-n-files-key.json", ""},
	{"row-n-files-on-file.json", "L-RULE-N-FILES-ON-FILE*2"},
	{"row-n-files-unused.json", "L-RULE-N-FILES-UNUSED*3"},
	{"row-n-files-zero.json", "L-RULE-N-FILES-UNUSED"},
	{"row-close-zero.json", "L-RULE-COUNT-ZERO*2"},
	{"row-exclude-root.json", "L-EXCLUDE-ROOT*3"},
	{"row-n-files-rule.json", ""},
	{"row-name-and-dirname.json", "L-RULE-NAMES"},
	{"row-name-string.json", "L-LIST-STRING*2"},
	{"row-neither-name-nor-dirname.json", "L-RULE-NAMES"},
	{"row-newline-in-string.json", "L-JSON-NEWLINE"},
	{"row-nfiles-key.json", "L-KEY-SPELLING"},
	{"row-on-file-colon.json", "L-RULE-ON-FILE-SHORT"},
	{"row-on-file-without-deps.json", "L-RULE-ON-FILE-NO-DEPS*2"},
	{"row-on-n-files-without-number.json", "L-RULE-N-FILES-MISSING"},
	{"row-on-n-files.json", ""},
	{"row-output-files-list.json", "L-STREAM-FILES*2"},
	{"row-output-object.json", "L-STREAM-FILES"},
	{"row-path-escapes.json", "L-PATH-ESCAPE*3 L-PATH-ROOT*2 L-EMPTY"},
	{"row-storage.json", ""},
	{"row-streaming-object.json", "L-LIST-OBJECT"},
	{"row-trailing-comma.json", "L-JSON-TRAILING-COMMA"},
	{"row-two-policies-by-pattern.json", "L-HOME-TWICE"},
	{"row-two-policies.json", "L-HOME-TWICE"},
	{"row-type-d.json", "L-RULE-TYPE-D"},
	{"row-type-other.json", "L-RULE-TYPE"},
	{"row-unknown-key.json", "L-KEY-UNKNOWN*2 L-RULE-NO-COMMITTED L-KEY-UNKNOWN*5"},
	{"row-version-decimal.json", ""},
	{"row-version-number.json", ""},
	{"row-version-string.json", ""},
	{"row-version-unknown.json", "L-VERSION"},
	{"step-twice.json", "L-STEP-TWICE"},
	{"steps-none.json", "L-STEP-NONE"},
	{"streams-as-strings.json", "L-LIST-STRING*3"},
	{"wrong-types.json", "L-TYPE*4 L-EMPTY L-KEY-MISSING L-TYPE*10 L-KEY-MISSING*2 L-TYPE"},
	{"yaml-anchor.yaml", "L-YAML-ALIAS"},
	{"yaml-capio-not-json.yaml", "L-FILE-KIND"},
	{"yaml-container-top.yaml", "L-CONTAINER-ENGINE"},
	{"yaml-container-unused.yaml", "L-CONTAINER-UNUSED"},
	{"yaml-container-wrong.yaml", "L-CONTAINER L-ENGINE L-TYPE L-CONTAINER-ENGINE*2 "
				      "L-CONTAINER L-ENGINE L-PLACEHOLDER L-EMPTY"},
	{"yaml-container.yaml", ""},
	{"yaml-coordination-absent.yaml", "L-FILE-READ"},
	{"yaml-coordination-is-yaml.yaml", "L-COORDINATION"},
	{"yaml-coordination-own-keys.yaml", "L-COORDINATION*2"},
	{"yaml-coordination-wrong.yaml",
	 "L-KEY-UNKNOWN L-STEP-UNKNOWN L-KEY-SPELLING L-RULE-UNKNOWN"},
	{"yaml-coordination.yaml", ""},
	{"yaml-cycle.yaml", ""},
	{"yaml-ensemble-apart.yaml", ""},
	{"yaml-ensemble-coordination.yaml", ""},
	{"yaml-ensemble-many.yaml", "L-NUMBER"},
	{"yaml-ensemble-names.yaml", "L-ENSEMBLE-NAME*3"},
	{"yaml-ensemble-reader.yaml", ""},
	{"yaml-ensemble-wrong.yaml", "L-NUMBER*7 L-KEY-TWICE L-TYPE L-ACTION*4 L-KEY-UNKNOWN"},
	{"yaml-ensemble.yaml", ""},
	{"yaml-exec.yaml", "L-EXEC*5 L-EXEC-SHELL*2 L-TYPE*2"},
	{"yaml-filename.yaml", "L-FILENAME*2"},
	{"yaml-flows.yaml", ""},
	{"yaml-full.yaml", ""},
	{"yaml-in-json.json", ""},
	{"yaml-indentation.yaml", "L-YAML-SYNTAX"},
	{"yaml-link-batch.yaml", "L-PORT-BATCH*3"},
	{"yaml-link-freq.yaml", "L-IO-FREQ*3"},
	{"yaml-link-memory.yaml", "L-DSET-UNMATCHED*5"},
	{"yaml-link-producers.yaml", "L-PORT-PRODUCERS*4 L-PORT-TWICE L-PORT-PRODUCERS*4"},
	{"yaml-link-rules.yaml", "L-PORT-RULE*6"},
	{"yaml-no-tasks.yaml", "L-FILE-KIND"},
	{"yaml-needs-bad.yaml",
	 "L-NUMBER L-KEY-UNKNOWN L-KEY-MISSING L-KEY-UNKNOWN L-BANDWIDTH*3 L-TYPE*2 L-NEEDS*3 "
	 "L-NUMBER*2 L-EMPTY L-KEY-UNKNOWN*2 L-NUMBER*3"},
	{"yaml-needs-spelling.yaml", "L-KEY-SPELLING*2"},
	{"yaml-needs-twice.yaml", "L-TYPE L-KEY-SPELLING L-KEY-TWICE L-KEY-UNKNOWN"},
	{"yaml-needs.yaml", ""},
	{"yaml-percent.yaml", "L-YAML-SYNTAX"},
	{"yaml-placeholders.yaml", "L-PLACEHOLDER*2 L-PLACEHOLDER-SPELLING*4 L-PLACEHOLDER*2"},
	{"yaml-port-names.yaml", "L-RULE-NAMES*2 L-RULE-N-FILES-ON-FILE"},
	{"yaml-ports-wrong.yaml", "L-IO-FREQ L-DSET L-TYPE L-KEY-MISSING L-KEY-TWICE L-TYPE "
				  "L-KEY-UNKNOWN L-TYPE*2 L-IO-FREQ*6 L-KEY-UNKNOWN"},
	{"yaml-quote-open.yaml", "L-YAML-SYNTAX"},
	{"yaml-rule-on-input.yaml", "L-RULE-ON-INPUT*2"},
	{"yaml-star-unquoted.yaml", "L-YAML-ALIAS"},
	{"yaml-tab.yaml", "L-YAML-SYNTAX"},
	{"yaml-tag.yaml", "L-YAML-TAG"},
	{"yaml-tasks-empty.yaml", "L-STEP-NONE"},
	{"yaml-text.yaml", "L-FILE-KIND"},
	{"yaml-two-colons.yaml", "L-YAML-SYNTAX"},
	{"yaml-two-documents.yaml", "L-YAML-DOCUMENTS"},
	{"yaml-types.yaml", "L-TYPE L-NUMBER*2 L-TYPE*2 L-LIST-OBJECT L-TYPE L-KEY-MISSING L-TYPE"},
	{"yaml-unknown-keys.yaml", "L-KEY-UNKNOWN*4 L-RULE-NAMES L-KEY-UNKNOWN"},
};

enum { N_FIXTURES = sizeof(fixtures) / sizeof(fixtures[0]) };

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

/* --- Codes ------------------------------------------------------------------- */

/* The code at the end of `line` ("... [CODE]\n"), or false. */
static bool line_code(const char *line, char code[64])
{
	size_t n = strcspn(line, "\n");
	const char *open = NULL;

	for (size_t i = 0; i + 2 < n; i++)
		if (!strncmp(line + i, "[L-", 3))
			open = line + i;
	if (!open || line[n - 1] != ']')
		return false;
	snprintf(code, 64, "%.*s", (int)(line + n - 1 - (open + 1)), open + 1);
	return true;
}

static void put_run(FILE *out, const char *code, unsigned n)
{
	if (n)
		fprintf(out, "%s%s", ftell(out) ? " " : "", code);
	if (n > 1)
		fprintf(out, "*%u", n);
	fflush(out);
}

/* The codes in printed diagnostics, as they are written in the table. */
static void codes_of(const char *text, char *codes, size_t size)
{
	FILE *out = fmemopen(codes, size, "w");
	char code[64], last[64] = "";
	unsigned n = 0;

	assert_non_null(out);
	codes[0] = '\0';
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		if (!line_code(line, code))
			continue;
		if (strcmp(code, last)) {
			put_run(out, last, n);
			strcpy(last, code);
			n = 0;
		}
		n++;
	}
	put_run(out, last, n);
	assert_int_equal(fclose(out), 0);
}

static void test_codes(void **state)
{
	char codes[1024];

	(void)state;
	for (size_t i = 0; i < N_FIXTURES; i++) {
		char *text = result_text(fixtures[i].file);

		codes_of(text, codes, sizeof(codes));
		if (strcmp(codes, fixtures[i].codes))
			print_error("%s: %s\n", fixtures[i].file, text);
		assert_string_equal(codes, fixtures[i].codes);
		free(text);
	}
}

/* Each code that a fixture is expected to give is in the table. */
static void test_codes_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_FIXTURES; i++) {
		char *copy = strdup(fixtures[i].codes), *save = NULL;

		for (char *c = strtok_r(copy, " ", &save); c; c = strtok_r(NULL, " ", &save)) {
			c[strcspn(c, "*")] = '\0';
			assert_non_null(leat_lang_code_find(c));
		}
		free(copy);
	}
}

/* --- Texts and models ---------------------------------------------------------- */

/* The part of expected.txt about `file`, up to the next; *length of it. */
static const char *expected_part(const char *expected, const char *file, size_t *length)
{
	char title[128];
	const char *start, *end;

	snprintf(title, sizeof(title), "== %s\n", file);
	start = strstr(expected, title);
	if (!start)
		return NULL;
	start += strlen(title);
	end = strstr(start, "\n== ");
	*length = end ? (size_t)(end + 1 - start) : strlen(start);
	return start;
}

static char *read_expected(void)
{
	FILE *in = fopen("expected.txt", "r");
	char *text = calloc(1, 1 << 20);
	size_t n = in ? fread(text, 1, (1 << 20) - 1, in) : 0;

	assert_true(n > 0);
	fclose(in);
	return text;
}

/* LEAT_TEST_WRITE=1 writes expected.txt anew, to be read before it is committed. */
static void write_expected(void)
{
	FILE *out = fopen("expected.txt", "w");

	assert_non_null(out);
	for (size_t i = 0; i < N_FIXTURES; i++) {
		char *text = result_text(fixtures[i].file);

		fprintf(out, "== %s\n%s", fixtures[i].file, text);
		free(text);
	}
	assert_int_equal(fclose(out), 0);
}

static void test_texts(void **state)
{
	char *expected;
	int wrong = 0;

	(void)state;
	if (getenv("LEAT_TEST_WRITE"))
		write_expected();
	expected = read_expected();
	for (size_t i = 0; i < N_FIXTURES; i++) {
		size_t length = 0;
		const char *part = expected_part(expected, fixtures[i].file, &length);
		char *text = result_text(fixtures[i].file);

		assert_non_null(part);
		if (strlen(text) != length || strncmp(text, part, length)) {
			print_error("%s:\n--- expected\n%.*s--- got\n%s", fixtures[i].file,
				    (int)length, part, text);
			wrong++;
		}
		free(text);
	}
	free(expected);
	assert_int_equal(wrong, 0);
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
	const char *source = getenv("LEAT_SOURCE_DIR");

	(void)state;
	unsetenv("LEAT_DIR");
	unsetenv("CAPIO_DIR");
	return chdir(source ? source : ".") || chdir("tests/fixtures/lang");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_codes_known),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_linked_directory),
	};

	return cmocka_run_group_tests(tests, enter_fixtures, NULL);
}
