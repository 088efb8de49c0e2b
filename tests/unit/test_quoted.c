/* Strings in quotes, as YAML 1.2.2 has them. */
#include "lang/syntax/quoted.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What is between the quotes, and what it stands for. */
static const struct row {
	const char *text, *meaning;
} singles
	[] =
		{
			{"", ""},
			{"x''y", "x'y"},
			{"x''''y", "x''y"},
			{"''''''", "'''"},
			{"\\n\"", "\\n\""},
			{" x ", " x "},
			/* Examples 7.9 and 6.5: line folding. */
			{" 1st non-empty\n\n 2nd non-empty \n\t3rd non-empty ",
			 " 1st non-empty\n2nd non-empty 3rd non-empty "},
			{"x\r\n\r\ny", "x\ny"},
			{"x\n", "x "},
			{"\n", " "},
			{"\xc3\xa9''\n''", "\xc3\xa9' '"},
},
 doubles[] = {
	 {"", ""},
	 {"'x''y'", "'x''y'"},
	 {"\\\"\\\\\\/", "\"\\/"},
	 /* Example 5.13 */
	 {"Fun with \\\\\n\\\" \\a \\b \\e \\f \\\n\\n \\r \\t \\v\\\n\\  \\_ \\N \\L \\P "
	  "\\\n\\x41 \\u0041 "
	  "\\U00000041",
	  "Fun with \\ \" \a \b \x1b \f \n \r \t \v  \xc2\xa0 \xc2\x85 \xe2\x80\xa8 \xe2\x80\xa9 A "
	  "A A"},
	 /* Example 7.5 */
	 {"folded \nto a space,\t\n \nto a line feed, or \t\\\n \\ \tnon-content",
	  "folded to a space,\nto a line feed, or \t \tnon-content"},
	 {"\\ \nx", "  x"},
	 {"\\t\n\n\nx", "\t\n\nx"},
	 {"x\\\n\n  \n y", "x\n\ny"},
	 {"\\u00e9\\u20AC\\ud83d\\ude00\\U0001F600",
	  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf0\x9f\x98\x80"},
	 {"\\L\\P\\L\\P", "\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa8\xe2\x80\xa9"},
};

/* What is no escape sequence, and where it begins. */
static const struct {
	const char *text;
	size_t at;
} wrong[] = {
	{"\\q", 0},        {"xy\\", 2},        {"\\x4", 0},        {"a\\x4g", 1},
	{"\\u12G4", 0},    {"\\ud83d", 0},     {"\\ud83dx", 0},    {"\\ud83d\\u0041", 0},
	{"b\\ude00", 1},   {"\\U00110000", 0}, {"\\U0000d800", 0}, {"\\ud83d\\u00", 0},
	{"\\U0001F60", 0}, {"\\'", 0},
};

static void check(const struct row *rows, size_t n, bool double_quoted)
{
	for (size_t i = 0; i < n; i++) {
		char *out;
		size_t length;

		assert_int_equal(leat_quoted_decode(rows[i].text, strlen(rows[i].text),
						    double_quoted, &out, &length),
				 0);
		assert_string_equal(out, rows[i].meaning);
		assert_int_equal(length, strlen(out));
		free(out);
	}
}

static void test_meanings(void **state)
{
	(void)state;
	check(singles, sizeof(singles) / sizeof(*singles), false);
	check(doubles, sizeof(doubles) / sizeof(*doubles), true);
}

static void test_wrong(void **state)
{
	char *out;
	size_t length;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		size_t n = strlen(wrong[i].text);
		char *exact = malloc(n); /* nothing behind it may be read */

		assert_non_null(exact);
		memcpy(exact, wrong[i].text, n);
		assert_int_equal(leat_quoted_decode(exact, n, true, &out, &length), -EILSEQ);
		assert_int_equal(length, wrong[i].at);
		free(exact);
	}
}

static void test_nul(void **state)
{
	char *out;
	size_t length;

	(void)state;
	assert_int_equal(leat_quoted_decode("a\\0b", 4, true, &out, &length), 0);
	assert_int_equal(length, 3);
	assert_memory_equal(out, "a\0b", 4);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meanings),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
