#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct row {
	const char *source;
	struct leat_pos pos;
	const char *expected;
};

static const struct row rows[] = {
	{"{\n  \"a\": 1,\n}\n",
	 {.line = 2, .column = 8},
	 "w.json:2:8: error: text 7 [L-X]\n  \"a\": 1,\n       ^\n"},
	{"one", {.line = 1, .column = 1}, "w.json:1:1: error: text 7 [L-X]\none\n^\n"},
	/* a tab stays a tab below, characters count once however long */
	{"\t\xc3\xbc x",
	 {.line = 1, .column = 4},
	 "w.json:1:4: error: text 7 [L-X]\n\t\xc3\xbc x\n\t  ^\n"},
	/* past the end of the line; no such line; no place at all; no source */
	{"ab\r\ncd", {.line = 1, .column = 9}, "w.json:1:9: error: text 7 [L-X]\nab\n  ^\n"},
	{"ab", {.line = 7, .column = 1}, "w.json:7:1: error: text 7 [L-X]\n"},
	{"ab", {.line = 0, .column = 0}, "w.json: error: text 7 [L-X]\n"},
	{"ab", {.line = 1, .column = 0}, "w.json:1: error: text 7 [L-X]\n"},
	{NULL, {.line = 3, .column = 4}, "w.json:3:4: error: text 7 [L-X]\n"},
	/* nothing reaches the terminal raw */
	{"a\033[2Jb", {.line = 1, .column = 1}, "w.json:1:1: error: text 7 [L-X]\na?[2Jb\n^\n"},
};

static char *printed(const struct leat_diags *d, bool color)
{
	static char text[8192];
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	leat_diags_print(d, out, color);
	fclose(out);
	return text;
}

static void prints_like_a_compiler(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct leat_diags *d = leat_diags_new("w.json", rows[i].source);
		char *text;

		leat_diags_add(d, LEAT_ERROR, "L-X", rows[i].pos, "text %d", 7);
		text = printed(d, false);
		assert_string_equal(text, rows[i].expected);
		leat_diags_free(d);
	}
}

static void orders_by_position_and_counts(void **state)
{
	struct leat_diags *d = leat_diags_new("f", NULL);
	int other = leat_diags_add_file(d, "g", "x\n");
	char *text;

	(void)state;
	assert_true(other > 0);
	leat_diags_add(d, LEAT_NOTE, "L-G", (struct leat_pos){1, 1, other}, "g");
	leat_diags_add(d, LEAT_WARNING, "L-3", (struct leat_pos){.line = 3, .column = 1}, "c");
	leat_diags_add(d, LEAT_ERROR, "L-2", (struct leat_pos){.line = 2, .column = 5}, "b");
	leat_diags_add(d, LEAT_ERROR, "L-1", (struct leat_pos){.line = 2, .column = 4}, "a");
	leat_diags_add(d, LEAT_ERROR, "L-2B", (struct leat_pos){.line = 2, .column = 5}, "b2");
	text = printed(d, false);
	assert_string_equal(text, "f:2:4: error: a [L-1]\nf:2:5: error: b [L-2]\n"
				  "f:2:5: error: b2 [L-2B]\nf:3:1: warning: c [L-3]\n"
				  "g:1:1: note: g [L-G]\nx\n^\n");
	assert_int_equal(leat_diags_count(d, LEAT_ERROR), 3);
	assert_int_equal(leat_diags_count(d, LEAT_WARNING), 1);
	assert_int_equal(leat_diags_count(d, LEAT_NOTE), 1);
	assert_true(leat_diags_has(d, "L-2"));
	assert_false(leat_diags_has(d, "L-4"));
	leat_diags_free(d);
	leat_diags_free(NULL);
}

static void cuts_long_lines_around_the_caret(void **state)
{
	char line[1001], *text, *second, *caret;
	struct leat_diags *d;

	(void)state;
	memset(line, 'a', 1000);
	line[1000] = '\0';
	line[499] = 'X';
	d = leat_diags_new("f", line);
	leat_diags_add(d, LEAT_ERROR, "L-X", (struct leat_pos){.line = 1, .column = 500}, "t");
	text = printed(d, false);
	second = strchr(text, '\n') + 1;
	caret = strchr(second, '\n') + 1;
	assert_true(caret - second <= 130);
	assert_int_equal(strchr(second, 'X') - second, strchr(caret, '^') - caret);
	leat_diags_free(d);
}

static void colours_only_when_asked(void **state)
{
	struct leat_diags *d = leat_diags_new("f", "x");
	char *text;

	(void)state;
	leat_diags_add(d, LEAT_ERROR, "L-X", (struct leat_pos){.line = 1, .column = 1}, "t");
	text = printed(d, false);
	assert_null(strchr(text, '\033'));
	text = printed(d, true);
	assert_non_null(strchr(text, '\033'));
	leat_diags_free(d);
}

/* Up to the first digit. */
static char *before_digits(const void *ctx, const char *text)
{
	(void)ctx;
	return strndup(text, strcspn(text, "0123456789"));
}

static void folds_what_is_said_many_times(void **state)
{
	struct leat_diags *d = leat_diags_new("w.json", NULL);
	size_t mark;

	(void)state;
	leat_diags_add(d, LEAT_ERROR, "L-A", (struct leat_pos){.line = 1}, "step 0");
	mark = leat_diags_mark(d);
	for (int i = 0; i < 4; i++) {
		leat_diags_add(d, LEAT_ERROR, "L-A", (struct leat_pos){.line = 1}, "step %d", i);
		leat_diags_add(d, LEAT_ERROR, "L-A", (struct leat_pos){.line = 1}, "other %d",
			       i / 2);
	}
	leat_diags_add(d, LEAT_WARNING, "L-A", (struct leat_pos){.line = 1}, "step 9");
	leat_diags_add(d, LEAT_ERROR, "L-B", (struct leat_pos){.line = 1}, "step 9");
	leat_diags_add(d, LEAT_ERROR, "L-A", (struct leat_pos){.line = 2}, "step 9");
	assert_int_equal(leat_diags_fold(d, mark, before_digits, NULL), 0);
	assert_int_equal(leat_diags_count(d, LEAT_ERROR), 5);
	assert_int_equal(leat_diags_count(d, LEAT_WARNING), 1);
	assert_string_equal(printed(d, false),
			    "w.json:1: error: step 0 [L-A]\n"
			    "w.json:1: error: step 0 (and 3 more like it) [L-A]\n"
			    "w.json:1: error: other 0 (and 3 more like it) [L-A]\n"
			    "w.json:1: warning: step 9 [L-A]\n"
			    "w.json:1: error: step 9 [L-B]\n"
			    "w.json:2: error: step 9 [L-A]\n");
	leat_diags_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_like_a_compiler),
		cmocka_unit_test(orders_by_position_and_counts),
		cmocka_unit_test(cuts_long_lines_around_the_caret),
		cmocka_unit_test(colours_only_when_asked),
		cmocka_unit_test(folds_what_is_said_many_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
