#include "model/match.h"
#include "model/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct {
	const char *pattern, *path;
	bool expected;
} matches[] = {
	{"a", "a", true},
	{"a", "b", false},
	{"a", "ab", false},
	{"ab", "a", false},
	{"dir/a", "dir/a", true},
	{"*", "", true},
	{"*", "a/b/c", true}, /* also across "/" */
	{"a*", "a", true},
	{"a*", "a/b", true},
	{"*.dat", "dir/x.dat", true},
	{"*.dat", "dir/x.dat.gz", false},
	{"a*b*c", "a1b2b3c", true},
	{"a*b*c", "a1b2b3", false},
	{"**", "x", true},
	{"*a*", "bbb", false},
	{"?", "a", true},
	{"?", "", false},
	{"?", "ab", false},
	{"?", "/", true},
	{"?", "\xc3\xbc", true}, /* one character, two bytes */
	{"??", "\xc3\xbc", false},
	{"?", "\xff", true}, /* not UTF-8: a byte is a character */
	{"\xff*", "\xff\xfe", true},
	{"*\xbc", "\xc3\xbc", false}, /* never half a character */
	{"[ab]", "a", true},
	{"[ab]", "c", false},
	{"[ab]", "", false},
	{"[a-c]", "b", true},
	{"[a-c]", "d", false},
	{"[a-]", "-", true},
	{"[-a]", "-", true},
	{"[!a]", "b", true},
	{"[^a]", "b", true},
	{"[!a]", "a", false},
	{"[!a]", "/", true},
	{"[]]", "]", true},
	{"[]a]", "a", true},
	{"[!]]", "]", false},
	{"[!]]", "a", true},
	{"[\xc3\xa0-\xc3\xbf]", "\xc3\xbc", true},
	{"[\xc3\xa0-\xc3\xbf]", "a", false},
	{"[*]", "*", true},
	{"[*]", "a", false},
	{"[?]", "?", true},
	{"a[", "a[", true}, /* never closed: itself */
	{"a[bc", "a[bc", true},
	{"a[bc", "ab", false},
	{"[!", "[!", true},
	{"[]", "[]", true},
	{"\\*", "\\x", true}, /* a backslash is a plain character */
	{"chr[0-9]n-*/*", "chr1n-250000/f7", true},
	{"plt*.h5", "plt00010.h5", true},
};

static void matches_as_documented(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++)
		if (leat_pattern_match(matches[i].pattern, matches[i].path) != matches[i].expected)
			fail_msg("\"%s\" on \"%s\"", matches[i].pattern, matches[i].path);
}

static void knows_wildcards(void **state)
{
	static const char *const wild[] = {"*", "a*", "?", "[a]", "x[]]"};
	static const char *const plain[] = {"", "a", "[", "a]", "a[b", "[]", "[!]", "\\"};

	(void)state;
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++)
		assert_true(leat_pattern_is_wild(wild[i]));
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		assert_false(leat_pattern_is_wild(plain[i]));
}

/* From the least to the most specific; those on one line are equal. */
static const char *const ranks[][4] = {
	{"*", "?", "[ab]", "**"},
	{"*a", "?a", "*b", "[a]b"},
	{"*ab", "?/a"},
	{"a*", "a?", "b*", "a[bc]"},
	{"a*b", "a?c"},
	{"a*bc"},
	{"ab*", "ac?"},
	{"ab?d"},
	{"dir/*"},
	{"dir/*.dat"},
	{"dir/x*"},
	{"a"}, /* any exact name over any pattern */
	{"dir/x"},
};

static void ranks_specificity(void **state)
{
	size_t n = sizeof(ranks) / sizeof(ranks[0]);

	(void)state;
	for (size_t i = 0; i < n * 4; i++) {
		const char *a = ranks[i / 4][i % 4];

		for (size_t j = 0; a && j < n * 4; j++) {
			const char *b = ranks[j / 4][j % 4];
			int expected = (i / 4 > j / 4) - (i / 4 < j / 4);
			int got = b ? leat_pattern_compare(a, b) : expected;

			if ((got > 0) - (got < 0) != expected)
				fail_msg("\"%s\" against \"%s\": %d", a, b, got);
		}
	}
}

static const struct {
	const char *a, *b;
	bool expected;
} overlaps[] = {
	{"a", "a", true},           {"a", "b", false},           {"a*", "abc", true},
	{"a*", "b", false},         {"a*", "*b", true},          {"a*", "b*", false},
	{"*.dat", "*.txt", false},  {"*.dat", "out*", true},     {"a?c", "ab*", true},
	{"a?c", "ab?d", false},     {"[a-c]x", "[d-f]x", false}, {"[a-c]x", "[c-f]x", true},
	{"[!a]", "[a]", false},     {"[!a]", "[!b]", true},      {"[!a-y]", "[x-z]", true},
	{"[!a-z]", "[b-c]", false}, {"*a*", "b*b", true},        {"*a", "*b", false},
	{"dir/*", "*/x", true},
};

static void finds_overlap(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(overlaps) / sizeof(overlaps[0]); i++)
		if (leat_pattern_overlap(overlaps[i].a, overlaps[i].b) != overlaps[i].expected ||
		    leat_pattern_overlap(overlaps[i].b, overlaps[i].a) != overlaps[i].expected)
			fail_msg("\"%s\" and \"%s\"", overlaps[i].a, overlaps[i].b);
}

static void random_pattern(char *out)
{
	static const char *const pieces[] = {"a",    "b",    "/",     "*",   "?",
					     "[ab]", "[!a]", "[/-a]", "[!/]"};
	int n = 1 + rand() % 3;

	*out = '\0';
	while (n-- > 0)
		strcat(out, pieces[(size_t)rand() % (sizeof(pieces) / sizeof(pieces[0]))]);
}

/* The text number `i` over a small alphabet; false past all texts of 6 characters. */
static bool enumerate(int i, char out[8])
{
	static const char alphabet[] = "ab/z";
	int length = 0, count = 1;

	while (i >= count) {
		i -= count;
		count *= 4;
		length++;
	}
	for (int k = 0; k < length; k++, i /= 4)
		out[k] = alphabet[i % 4];
	out[length] = '\0';
	return length <= 6;
}

/* Against plain search through all short texts: two patterns of three pieces
 * have a common text of at most six characters, if any. */
static void agrees_with_exhaustive_search(void **state)
{
	char a[64], b[64], text[16] = "ab/", *tail = text + 3;

	(void)state;
	srand(1);
	for (int round = 0; round < 1000; round++) {
		bool meet = false, below = false;

		random_pattern(a);
		random_pattern(b);
		for (int i = 0; enumerate(i, tail); i++) {
			meet |= leat_pattern_match(a, tail) && leat_pattern_match(b, tail);
			below |= *tail && leat_pattern_match(a, text);
		}
		if (leat_pattern_overlap(a, b) != meet)
			fail_msg("overlap of \"%s\" and \"%s\"", a, b);
		if (leat_pattern_reaches_below(a, "ab") != below)
			fail_msg("\"%s\" below ab", a);
		if (leat_pattern_covers(a, "a/b/c") !=
		    (leat_pattern_match(a, "a") || leat_pattern_match(a, "a/b")))
			fail_msg("\"%s\" covering a/b/c", a);
	}
}

static void finds_the_directory(void **state)
{
	static const struct {
		const char *pattern, *directory;
	} rows[] = {
		{"*", ""},    {"a*", ""},      {"a/*", "a"},     {"a/b?", "a"}, {"a/b/[cd]", "a/b"},
		{"a*/b", ""}, {"a/b*/c", "a"}, {"a[b/*", "a[b"}, {"-/*", "-"},  {"a/b", "a"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char directory[16];

		snprintf(directory, sizeof(directory), "%.*s",
			 (int)leat_pattern_directory(rows[i].pattern), rows[i].pattern);
		assert_string_equal(directory, rows[i].directory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_as_documented),
		cmocka_unit_test(knows_wildcards),
		cmocka_unit_test(ranks_specificity),
		cmocka_unit_test(finds_overlap),
		cmocka_unit_test(finds_the_directory),
		cmocka_unit_test(agrees_with_exhaustive_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
