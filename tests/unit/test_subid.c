#include "base/subid.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int read_text(const char *text, struct leat_subids *ids)
{
	char path[] = "/tmp/leat-test-subid.XXXXXX";
	int fd = mkstemp(path), rc;
	FILE *f = fdopen(fd, "w");

	fputs(text, f);
	fclose(f);
	rc = leat_subid_read(path, "ann", 1000, ids);
	unlink(path);
	return rc;
}

static void finds_ranges(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		struct leat_subid v[2];
	} cases[] = {
		{"", 0, {{0}}},
		{"ann:100000:65536\n", 1, {{100000, 65536}}},
		{"1000:100000:65536", 1, {{100000, 65536}}},
		{"bob:1:2\nann:3:4\nanna:5:6\nan:7:8\n1000:9:10\n10000:1:1\n",
		 2,
		 {{3, 4}, {9, 10}}},
		{"ann:3\nann::\nann:3:4:5\nann:3:0\nann 3 4\nann:x:4\n", 0, {{0}}},
		{"# ann\n\nann:4294901760:65535\n", 1, {{4294901760, 65535}}},
	};
	static struct leat_subids ids;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(read_text(cases[i].text, &ids), 0);
		assert_int_equal(ids.n, cases[i].n);
		for (size_t k = 0; k < ids.n; k++) {
			assert_int_equal(ids.v[k].first, cases[i].v[k].first);
			assert_int_equal(ids.v[k].count, cases[i].v[k].count);
		}
	}
	assert_int_equal(leat_subid_read("/no/such/file", "ann", 1000, &ids), 0);
	assert_int_equal(ids.n, 0);
}

static void has_an_end(void **state)
{
	static struct leat_subids ids;
	char text[32 * (LEAT_SUBID_MOST + 1)], *at = text;

	(void)state;
	for (int i = 0; i < LEAT_SUBID_MOST; i++)
		at += sprintf(at, "ann:%d:10\n", 100000 + 10 * i);
	assert_int_equal(read_text(text, &ids), 0);
	assert_int_equal(ids.n, LEAT_SUBID_MOST);
	sprintf(at, "ann:1:1\n");
	assert_int_equal(read_text(text, &ids), -E2BIG);
}

/* The tool is given podman's order of ranges; its status is heard. */
static void runs_the_tool(void **state)
{
	const struct leat_subids ids = {.n = 2, .v = {{100000, 10}, {200000, 5}}};
	char path[] = "/tmp/leat-test-subid.XXXXXX", said[128] = "", expected[128], out[64];
	FILE *f = fdopen(mkstemp(path), "w");

	(void)state;
	snprintf(out, sizeof(out), "%s.out", path);
	fprintf(f, "#!/bin/sh\necho \"$@\" >%s\n[ \"$3\" != 7 ]\n", out);
	fchmod(fileno(f), 0700);
	fclose(f);
	assert_int_equal(leat_subid_map(path, 42, 1000, &ids), 0);
	f = fopen(out, "r");
	assert_non_null(fgets(said, sizeof(said), f));
	fclose(f);
	snprintf(expected, sizeof(expected), "42 0 1000 1 1 100000 10 11 200000 5\n");
	assert_string_equal(said, expected);
	assert_int_equal(leat_subid_map(path, 42, 7, &ids), -EPERM);
	unlink(path);
	unlink(out);
	assert_int_equal(leat_subid_map(path, 42, 1000, &ids), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_ranges),
		cmocka_unit_test(has_an_end),
		cmocka_unit_test(runs_the_tool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
