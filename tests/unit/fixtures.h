/* A folder of tests/fixtures: what each of its files gives, as text, has to be what expected.txt
 * says. LEAT_TEST_WRITE=1 writes that anew, to be read before it is committed. Needs cmocka. */
#ifndef TESTS_FIXTURES_H
#define TESTS_FIXTURES_H

#include "base/fd.h"
#include "base/str.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct dirent **fixtures;
static int n_fixtures;

static inline int fixture_is_one(const struct dirent *e)
{
	static const char *const ends[] = {".json", ".yaml", ".xml"};
	size_t n = strlen(e->d_name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (n > strlen(ends[i]) && !strcmp(e->d_name + n - strlen(ends[i]), ends[i]))
			return 1;
	return 0;
}

/* By bytes, whatever the locale. */
static inline int fixture_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Go to the folder and list it. 0 or -1. */
static inline int fixtures_enter(const char *folder)
{
	const char *source = getenv("LEAT_SOURCE_DIR");
	char *dir = leat_strf("%s/tests/fixtures/%s", source ? source : ".", folder);
	int rc = chdir(dir);

	free(dir);
	if (rc)
		return -1;
	n_fixtures = scandir(".", &fixtures, fixture_is_one, fixture_order);
	return n_fixtures > 0 ? 0 : -1;
}

static inline void fixtures_forget(void)
{
	for (int i = 0; i < n_fixtures; i++)
		free(fixtures[i]);
	free(fixtures);
}

/* What one file gives; the caller frees it. */
typedef char *fixture_print_fn(const char *file);

static inline char *fixtures_print(fixture_print_fn *print)
{
	char *all = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&all, &size);

	assert_non_null(out);
	for (int i = 0; i < n_fixtures; i++) {
		char *text = print(fixtures[i]->d_name);

		fprintf(out, "== %s\n%s", fixtures[i]->d_name, text);
		free(text);
	}
	assert_int_equal(fclose(out), 0);
	return all;
}

/* From the title of the fixture in which byte `at` is, to its end. */
static inline void fixture_show(const char *title, const char *all, size_t at)
{
	size_t begin = at < strlen(all) ? at : strlen(all), length = 1;

	while (begin > 0 && strncmp(all + begin, "\n== ", 4) != 0)
		begin--;
	while (all[begin + length] && strncmp(all + begin + length, "\n== ", 4) != 0)
		length++;
	print_error("--- %s\n%.*s\n", title, (int)length, all + begin);
}

static inline void fixtures_compare(fixture_print_fn *print)
{
	char *got = fixtures_print(print), *expected = NULL;
	size_t at = 0;

	if (getenv("LEAT_TEST_WRITE")) {
		FILE *out = fopen("expected.txt", "w");

		assert_non_null(out);
		fputs(got, out);
		assert_int_equal(fclose(out), 0);
	}
	assert_int_equal(leat_read_file("expected.txt", 1 << 20, &expected, NULL), 0);
	while (got[at] && got[at] == expected[at])
		at++;
	if (got[at] != expected[at]) {
		fixture_show("expected", expected, at);
		fixture_show("got", got, at);
		fail_msg("not as in expected.txt");
	}
	free(got);
	free(expected);
}

#endif
