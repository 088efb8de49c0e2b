/* The examples of leat-workflow(5) are accepted without a warning, pass the
 * checks, and, where they have commands, run. */
#include "lang/check/check.h"
#include "lang/lang.h"

#include <dirent.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[] = "/tmp/leat-test-man.XXXXXX";

/* The next literal block of the page as plain text (caller frees), or NULL. */
static char *next_example(FILE *page)
{
	char *line = NULL, *text = NULL;
	size_t capacity = 0, size = 0;
	bool inside = false;
	FILE *out = NULL;

	while (getline(&line, &capacity, page) > 0) {
		if (!strncmp(line, ".Ed", 3))
			break;
		for (char *p = line; inside && *p; p++) {
			if (!strncmp(p, "\\e", 2))
				p++;
			fputc(*p == 'e' && p > line && p[-1] == '\\' ? '\\' : *p, out);
		}
		if (!strncmp(line, ".Bd -literal", 12)) {
			inside = true;
			out = open_memstream(&text, &size);
			assert_non_null(out);
		}
	}
	free(line);
	if (out)
		fclose(out);
	return text;
}

static void run_step(const struct leat_step *step)
{
	int status;
	pid_t pid;

	assert_int_equal(posix_spawnp(&pid, step->argv[0], NULL, NULL, step->argv, environ), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Run the steps in order; all that they declare exists afterwards. */
static void run(const struct leat_workflow *wf)
{
	struct stat st;

	for (size_t i = 0; i < wf->n_steps; i++) {
		const struct leat_step *step = &wf->steps[i];

		if (!step->argv)
			continue;
		run_step(step);
		for (size_t k = 0; k < step->outputs.n; k++)
			assert_int_equal(stat(step->outputs.v[k].text, &st), 0);
	}
}

static void test_examples(void **state)
{
	FILE *page = *state;
	char *text;
	int n = 0;

	for (; (text = next_example(page)); n++) {
		struct leat_diags *diags;
		struct leat_workflow *wf =
			leat_lang_parse(text, strlen(text), "leat-workflow.5", dir, &diags);

		if (wf)
			assert_int_equal(leat_check_workflow(wf, dir, true, diags), 0);
		leat_diags_print(diags, stderr, false);
		assert_non_null(wf);
		assert_int_equal(leat_diags_count(diags, LEAT_ERROR), 0);
		assert_int_equal(leat_diags_count(diags, LEAT_WARNING), 0);
		if (wf && !wf->steps[0].n_dsets) /* that one is not for a sequence of commands */
			run(wf);
		leat_workflow_free(wf);
		leat_diags_free(diags);
		free(text);
	}
	assert_int_equal(n, 4);
}

static int setup(void **state)
{
	const char *source = getenv("LEAT_SOURCE_DIR");
	FILE *input;

	if (chdir(source ? source : "."))
		return -1;
	*state = fopen("man/leat-workflow.5", "r");
	if (!*state || !mkdtemp(dir) || chdir(dir))
		return -1;
	input = fopen("big.txt", "w");
	for (int i = 0; input && i < 1000; i++)
		fprintf(input, "line %d\n", i);
	return !input || fclose(input);
}

/* Remove the files in `path` and in its directories, one deep. */
static void empty(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *entry;
	char name[512];

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (unlink(name) && strlen(path) == strlen(dir)) {
			empty(name);
			rmdir(name);
		}
	}
	if (d)
		closedir(d);
}

static int teardown(void **state)
{
	fclose(*state);
	empty(dir);
	return chdir("/") || rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
