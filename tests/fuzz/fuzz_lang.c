/* Any text at all: the front ends neither crash nor leak, report an error
 * exactly when there is no model, and a model that they do make passes through
 * the checks, the matcher and the canonical form, which says the same.
 *
 *   CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined \
 *       -Db_lundef=false
 *   ninja -C build-fuzz tests/fuzz/fuzz_lang
 *   mkdir corpus
 *   build-fuzz/tests/fuzz/fuzz_lang -max_total_time=300 -dict=tests/fuzz/lang.dict \
 *       corpus tests/fixtures/lang */
#include "lang/check/check.h"
#include "lang/lang.h"
#include "lang/output/canonical.h"
#include "lang/syntax/words.h"
#include "model/match.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libfyaml 0.7.12 itself loses a buffer at some broken quotes. That everything of
 * it which is ours is freed, the unit tests show under ASan. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libfyaml.so\n";
}

/* Print as a command does, to nowhere. */
static void print(const struct leat_diags *diags)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	leat_diags_print(diags, out, false);
	fclose(out);
	free(text);
}

/* The canonical form is read back without a complaint, and is the same model. */
static void round_trip(const struct leat_workflow *wf)
{
	struct leat_workflow *again;
	struct leat_diags *diags;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out || leat_canonical_write(wf, out) || fclose(out))
		abort();
	again = leat_lang_parse(text, size, "fuzz", "/wf", &diags);
	if (!again || !leat_workflow_equal(wf, again)) {
		fputs(text, stderr);
		leat_diags_print(diags, stderr, false);
		abort();
	}
	leat_workflow_free(again);
	leat_diags_free(diags);
	free(text);
}

static void use(const struct leat_workflow *wf, struct leat_diags *diags)
{
	struct leat_matcher *m;

	if (leat_check_workflow(wf, NULL, false, diags))
		abort();
	m = leat_matcher_new(wf);
	if (!m)
		abort();
	for (size_t i = 0; i < wf->n_steps; i++)
		for (size_t k = 0; k < wf->steps[i].outputs.n; k++)
			if (!leat_match(m, wf->steps[i].outputs.v[k].text))
				abort();
	leat_matcher_free(m);
	round_trip(wf);
}

static void split(const char *text)
{
	char **argv = NULL;
	const char *why = NULL;

	leat_words_shell(text);
	if (!leat_words_split(text, &argv, &why))
		leat_words_free(argv);
	else if (!why)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct leat_diags *diags;
	struct leat_workflow *wf;

	if (!text)
		abort();
	split(text);
	/* A coordination file would be looked for in the file system. */
	if (strstr(text, "coordination")) {
		free(text);
		return 0;
	}
	free(text);
	wf = leat_lang_parse((const char *)data, size, "fuzz", "/wf", &diags);
	if (!diags || !wf != (leat_diags_count(diags, LEAT_ERROR) > 0))
		abort();
	if (wf)
		use(wf, diags);
	print(diags);
	leat_workflow_free(wf);
	leat_diags_free(diags);
	return 0;
}
