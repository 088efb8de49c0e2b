/* Syntax errors with their places, encodings, words of commands, directories. */
#include "lang/lang.h"
#include "lang/reader/directory.h"
#include "lang/syntax/words.h"

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

/* Where and with which code the only error of a text is reported. */
static const struct row {
	const char *text, *place_and_code;
} rows[] = {
	/* JSON: brackets */
	{"{ \"name\": \"x\"", "1:1 L-JSON-UNCLOSED"},
	{"{ \"a\": [1, 2", "1:8 L-JSON-UNCLOSED"},
	{"{ \"a\": [1, 2 }", "1:14 L-JSON-BRACKET"},
	{"{ \"a\": {\"b\": 1 ]", "1:16 L-JSON-BRACKET"},
	{"{ \"a\": 1 } }", "1:12 L-JSON-BRACKET"},
	{"{ \"a\": 1 ] }", "1:10 L-JSON-BRACKET"},
	{"{ \"a\": 1 } x", "1:12 L-JSON-AFTER-END"},
	{"{ \"a\": 1 }\n{ \"b\": 2 }", "2:1 L-JSON-AFTER-END"},
	{"{ { \"a\": 1 }, { \"b\": 2 } }", "1:1 L-JSON-LIST-BRACES"},
	{"{ \"l\": { { \"a\": 1 } } }", "1:8 L-JSON-LIST-BRACES"},
	{"{ \"l\": [ { \"a\": 1, { \"b\": 2 } ] }", "1:20 L-JSON-BRACKET"},
	{"{ \"l\": [ \"a\": 1 ] }", "1:13 L-JSON-COLON"},
	/* JSON: commas and colons */
	{"{ \"a\": 1, }", "1:9 L-JSON-TRAILING-COMMA"},
	{"{ \"a\": [1, ] }", "1:10 L-JSON-TRAILING-COMMA"},
	{"{ \"a\": 1 \"b\": 2 }", "1:9 L-JSON-COMMA"},
	{"{ \"a\": \"1\"\n  \"b\": 2 }", "1:11 L-JSON-COMMA"},
	{"{ \"a\": [\"1\" \"2\"] }", "1:12 L-JSON-COMMA"},
	{"{ \"a\": 1,, \"b\": 2 }", "1:10 L-JSON-COMMA"},
	{"{ , \"a\": 1 }", "1:3 L-JSON-COMMA"},
	{"{ \"a\": [,1] }", "1:9 L-JSON-COMMA"},
	{"{ \"a\" 1 }", "1:6 L-JSON-COLON"},
	{"{ \"a\" }", "1:6 L-JSON-COLON"},
	{"{ \"a\":: 1 }", "1:7 L-JSON-SYNTAX"},
	{"{ \"a\": 1: 2 }", "1:9 L-JSON-COLON"},
	{"{ \"a\": }", "1:8 L-JSON-COLON"},
	{"{ [1]: 2 }", "1:3 L-JSON-SYNTAX"},
	/* JSON: strings and words */
	{"{ \"a\": \"b\nc\" }", "1:8 L-JSON-NEWLINE"},
	{"{ \"a\": \"b", "1:8 L-JSON-NEWLINE"},
	{"{ \"a\": \"b\tc\" }", "1:10 L-JSON-STRING"},
	{"{ \"a\": \"\\q\" }", "1:9 L-JSON-STRING"},
	{"{ \"a\": \"\\u12g4\" }", "1:9 L-JSON-STRING"},
	{"{ \"a\": 'b' }", "1:8 L-JSON-QUOTES"},
	{"{ 'a': 1 }", "1:3 L-JSON-QUOTES"},
	{"{ a: 1 }", "1:3 L-JSON-QUOTES"},
	{"{ 1: 2 }", "1:3 L-JSON-QUOTES"},
	{"{ \"a\": \xe2\x80\x9c"
	 "b\xe2\x80\x9d }",
	 "1:8 L-JSON-QUOTES"},
	{"{ \"a\": b }", "1:8 L-JSON-VALUE"},
	{"{ \"a\": True }", "1:8 L-JSON-VALUE"},
	{"{ \"a\": 01 }", "1:8 L-JSON-VALUE"},
	{"{ \"a\": 1. }", "1:8 L-JSON-VALUE"},
	{"{ \"a\": 1, ... }", "1:11 L-JSON-VALUE"},
	{"{ \"a\": *b }", "1:8 L-JSON-VALUE"},
	{"// x\n{ \"a\": 1 }", "1:1 L-JSON-COMMENT"},
	{"{ // x\n\"a\": 1 }", "1:3 L-JSON-COMMENT"},
	{"{ \"a\": 1 } # x", "1:12 L-JSON-AFTER-END"},
	{"{ /* x */ \"a\": 1 }", "1:3 L-JSON-COMMENT"},
	/* characters, not bytes, are counted */
	{"{ \"\xc3\xa9\xc3\xa9\": \"\xe2\x82\xac\", x }", "1:14 L-JSON-QUOTES"},
	/* both: strings that are no names */
	{"{ \"IO_Graph\": [{\"name\": \"a\\u0000b\"}], \"name\": \"x\" }", "1:25 L-NUL"},
	{"[]", "1:1 L-TYPE"},
	{"{}{", "1:3 L-JSON-AFTER-END"},
	/* YAML */
	{"tasks: [", "2:1 L-YAML-SYNTAX"},
	{"tasks:\n  - func: @x\n", "2:11 L-YAML-SYNTAX"},
	{"tasks:\n  - func: \"a\\0b\"\n", "2:11 L-NUL"},
	{"? [a]\n: b\n", "1:3 L-TYPE"},
	/* of which libfyaml knows where they are, but not their text */
	{">\n   ", "2:1 L-YAML-SYNTAX"},
	{"tasks:\n  - func: a\nname: |\n   ", "4:1 L-YAML-SYNTAX"},
	{"tasks:\n  - func: a\n    ? {b: c}\n    : d\n", "3:7 L-TYPE"},
	/* ... or have another text than YAML says */
	{"tasks:\n  - func: >\n      a\n\n      \tb\n", "5:7 L-YAML-SYNTAX"},
	{"tasks:\n  - func: \"a\\q\"\n", "2:13 L-YAML-SYNTAX"},
	{"tasks:\n  - func: \"a\\ud83d\"\n", "2:13 L-YAML-SYNTAX"},
	{"{ \"a\": \"b\\ud83d\" }", "1:10 L-JSON-SYNTAX"},
	/* neither */
	{"", "0:0 L-FILE-EMPTY"},
	{" \n\t\r\n", "0:0 L-FILE-EMPTY"},
	{"# nothing but this\n", "0:0 L-FILE-EMPTY"},
	{"tasks:\n  - func: \xff\n", "2:11 L-FILE-ENCODING"},
	{"tasks:\n  - func: \xed\xa0\x80\n", "2:11 L-FILE-ENCODING"},
	{"\xff\xfe{", "1:1 L-FILE-ENCODING"},
};

static struct leat_workflow *parse(const char *text, size_t size, struct leat_diags **diags)
{
	return leat_lang_parse(text, size, "x", "/wf", diags);
}

/* "line:column CODE" of the first diagnostic. */
static void first_of(const struct leat_diags *diags, char *buffer, size_t size)
{
	char printed[4096] = "", *bracket = NULL;
	FILE *out = fmemopen(printed, sizeof(printed), "w");
	int line = 0, column = 0;

	leat_diags_print(diags, out, false);
	fclose(out);
	sscanf(printed, "x:%d:%d", &line, &column);
	printed[strcspn(printed, "\n")] = '\0';
	for (char *p = printed; (p = strstr(p, "[L-")); p++)
		bracket = p;
	snprintf(buffer, size, "%d:%d %.*s", line, column,
		 bracket ? (int)strcspn(bracket + 1, "]") : 0, bracket ? bracket + 1 : "");
}

static void test_syntax(void **state)
{
	char got[128];
	int wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct leat_diags *diags;
		struct leat_workflow *wf = parse(rows[i].text, strlen(rows[i].text), &diags);

		assert_null(wf);
		first_of(diags, got, sizeof(got));
		if (strcmp(got, rows[i].place_and_code) ||
		    leat_diags_count(diags, LEAT_ERROR) != 1) {
			print_error("%s\nexpected %s\n", rows[i].text, rows[i].place_and_code);
			leat_diags_print(diags, stderr, false);
			wrong++;
		}
		leat_diags_free(diags);
	}
	assert_int_equal(wrong, 0);
}

/* What must not disturb: a byte order mark, CR LF, escapes, odd but right JSON. */
static void test_accepted(void **state)
{
	static const char *const texts[] = {
		"\xef\xbb\xbf{ \"name\": \"x\", \"IO_Graph\": [ { \"name\": \"s\" } ] }",
		"{\r\n\t\"name\"\r\n: \"x\",\r\n \"IO_Graph\":[{\"name\":\"s\"}]}\r\n",
		"\n\n  {\"name\":\"x\",\"IO_Graph\":[{\"name\":\"s\"}]}\n\n",
		"{\"name\":\"x\",\"IO_Gr\\u0061ph\":[{\"name\":\"\\u0073\"}]}",
		"tasks:\r\n  - func: s\r\n",
		"%YAML 1.2\n---\ntasks:\n  - func: s\n...\n",
		"{tasks: [{func: s}]}",
		"\"tasks\": [{\"func\": 's'}] # comment",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct leat_diags *diags;
		struct leat_workflow *wf = parse(texts[i], strlen(texts[i]), &diags);
		bool flow = i == 6; /* begins like JSON, and is none */

		if (!wf != flow)
			leat_diags_print(diags, stderr, false);
		assert_int_equal(!wf, flow);
		if (wf) {
			assert_int_equal(wf->n_steps, 1);
			assert_string_equal(wf->steps[0].name, "s");
			assert_int_equal(leat_diags_count(diags, LEAT_WARNING), 0);
		}
		leat_workflow_free(wf);
		leat_diags_free(diags);
	}
}

static void test_nul_bytes(void **state)
{
	static const char text[] = "{ \"name\": \"x\0y\" }";
	struct leat_diags *diags;
	char got[128];

	(void)state;
	assert_null(parse(text, sizeof(text) - 1, &diags));
	first_of(diags, got, sizeof(got));
	assert_string_equal(got, "1:13 L-FILE-ENCODING");
	leat_diags_free(diags);
}

/* A text of `head`, then `n` times `repeated`, then `tail`. */
static char *repeat(const char *head, const char *repeated, size_t n, const char *tail)
{
	size_t size = strlen(head) + n * strlen(repeated) + strlen(tail) + 1;
	char *text = malloc(size), *p;

	assert_non_null(text);
	p = stpcpy(text, head);
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, repeated);
	strcpy(p, tail);
	return text;
}

static void test_deep(void **state)
{
	static const char *const brackets[] = {"[", "{\"a\":", "- "};
	struct leat_diags *diags;

	(void)state;
	for (size_t i = 0; i < sizeof(brackets) / sizeof(brackets[0]); i++) {
		char *text = repeat("", brackets[i], 10000, "x");

		assert_null(parse(text, strlen(text), &diags));
		assert_int_equal(leat_diags_count(diags, LEAT_ERROR), 1);
		leat_diags_free(diags);
		free(text);
	}
}

static void test_large(void **state)
{
	struct leat_diags *diags;
	struct leat_workflow *wf;
	char *text = repeat("{\"name\":\"x\",\"IO_Graph\":[{\"name\":\"s\",\"input_stream\":[\"f\"",
			    ",\"file\"", 200000, "]}]}");

	(void)state;
	wf = parse(text, strlen(text), &diags);
	assert_non_null(wf);
	assert_int_equal(wf->steps[0].inputs.n, 200001);
	leat_workflow_free(wf);
	leat_diags_free(diags);
	free(text);
}

static void test_unreadable(void **state)
{
	static const struct {
		const char *path, *code;
	} files[] = {{"/nonexistent/x.json", "L-FILE-READ"},
		     {"/", "L-FILE-READ"},
		     {"/dev/zero", "L-FILE-BIG"},
		     {"/dev/null", "L-FILE-EMPTY"}};
	struct leat_diags *diags;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		assert_null(leat_lang_load(files[i].path, &diags));
		assert_true(leat_diags_has(diags, files[i].code));
		leat_diags_free(diags);
	}
}

/* --- Words ------------------------------------------------------------------- */

/* Words are shown as <word>; what cannot be split as its reason. */
static const struct words_row {
	const char *text, *words;
	char shell;
} words_rows[] = {
	{"", "", 0},
	{" \t\n ", "", 0},
	{"a", "<a>", 0},
	{"  a  b\tc\n", "<a><b><c>", 0},
	{"a 'b c' d", "<a><b c><d>", 0},
	{"a \"b c\" d", "<a><b c><d>", 0},
	{"a'b'\"c\"d", "<abcd>", 0},
	{"'' \"\"", "<><>", 0},
	{"a\\ b", "<a b>", 0},
	{"\\'a\\\"", "<'a\">", 0},
	{"'a\\b'", "<a\\b>", 0},
	{"\"a\\b\"", "<a\\b>", 0},
	{"\"a\\\"b\\\\c\\$d\"", "<a\"b\\c$d>", 0},
	{"a \\\n b", "<a><b>", 0},
	{"a\\\nb", "<ab>", 0},
	{"\"a\\\nb\"", "<ab>", 0},
	{"a \\\n", "<a>", 0},
	{"a 'b", "a ' is not closed", 0},
	{"a \"b", "a \" is not closed", 0},
	{"a \"b\\\"", "a \" is not closed", 0},
	{"a \\", "a \\ at the end escapes nothing", 0},
	{"a | b", "<a><|><b>", '|'},
	{"a >b", "<a><>b>", '>'},
	{"a 'x>y' \">\" \\>", "<a><x>y><>><>>", 0},
	{"a $HOME", "<a><$HOME>", '$'},
	{"a \"$(b)\"", "<a><$(b)>", '$'},
	{"a '$HOME' 5$ \"$\"", "<a><$HOME><5$><$>", 0},
	{"ls *.c", "<ls><*.c>", '*'},
	{"tar --exclude=*.c", "<tar><--exclude=*.c>", 0},
	{"a QUAL>20 x|y p&q", "<a><QUAL>20><x|y><p&q>", 0},
	{"a 2>b", "<a><2>b>", '>'},
	{"a& b", "<a&><b>", '&'},
	{"a && b", "<a><&&><b>", '&'},
	{"a `b`", "<a><`b`>", '`'},
	{"a; b", "<a;><b>", ';'},
};

static void test_words_put(void **state)
{
	static const struct {
		const char *word, *text;
	} cases[] = {
		{"plain", "plain"},
		{"-o=/a/b.c,d:e@f%g+h_i", "-o=/a/b.c,d:e@f%g+h_i"},
		{"", "''"},
		{"two words", "'two words'"},
		{"it's", "'it'\\''s'"},
		{"'", "''\\'''"},
		{"$x `y` \\ \"z\" *", "'$x `y` \\ \"z\" *'"},
		{"line\nline", "'line\nline'"},
		{"{filename}", "'{filename}'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *why = NULL;
		char *text = NULL, **argv = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		leat_words_put(out, cases[i].word);
		fclose(out);
		assert_string_equal(cases[i].text, text);
		assert_int_equal(0, leat_words_split(text, &argv, &why));
		assert_string_equal(cases[i].word, argv[0]);
		assert_null(argv[1]);
		leat_words_free(argv);
		free(text);
	}
}

static void test_words(void **state)
{
	char got[256];

	(void)state;
	for (size_t i = 0; i < sizeof(words_rows) / sizeof(words_rows[0]); i++) {
		const struct words_row *row = &words_rows[i];
		const char *why = "";
		char **argv = NULL;
		int ret = leat_words_split(row->text, &argv, &why);
		size_t n = 0;

		got[0] = '\0';
		if (ret) {
			assert_int_equal(ret, -EINVAL);
			snprintf(got, sizeof(got), "%s", why);
		}
		for (char **arg = argv; arg && *arg; arg++)
			n += (size_t)snprintf(got + n, sizeof(got) - n, "<%s>", *arg);
		assert_string_equal(got, row->words);
		assert_int_equal(leat_words_shell(row->text), row->shell);
		leat_words_free(argv);
	}
	leat_words_free(NULL);
}

/* --- The workflow's directory -------------------------------------------------- */

static void check_dir(const struct leat_workflow *wf, const char *given, const char *expected)
{
	char *dir = leat_lang_dir(wf, given);

	assert_non_null(dir);
	assert_string_equal(dir, expected);
	free(dir);
}

static void test_dir(void **state)
{
	char path[] = "/etc/flows/x.yaml", below[] = "run/./a/", above[] = "/elsewhere";
	struct leat_workflow wf = {.path = path, .dir = below};

	(void)state;
	assert_int_equal(chdir("/usr"), 0);
	check_dir(NULL, NULL, "/usr");
	check_dir(&wf, NULL, "/etc/flows/run/a");
	wf.dir = above;
	check_dir(&wf, NULL, "/elsewhere");
	wf.dir = NULL;
	check_dir(&wf, NULL, "/usr");
	check_dir(&wf, "lib//x/", "/usr/lib/x");
	check_dir(&wf, "/", "/");
	check_dir(&wf, ".", "/usr");
	setenv("CAPIO_DIR", "/capio", 1);
	check_dir(&wf, NULL, "/capio");
	setenv("LEAT_DIR", "leat", 1);
	check_dir(&wf, NULL, "/usr/leat");
	check_dir(&wf, "/given", "/given");
	unsetenv("LEAT_DIR");
	unsetenv("CAPIO_DIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syntax),    cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_nul_bytes), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_large),     cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_words),     cmocka_unit_test(test_words_put),
		cmocka_unit_test(test_dir),
	};

	unsetenv("LEAT_DIR");
	unsetenv("CAPIO_DIR");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
