/* The option tables: parsing, precedence, ranges, help and mdoc. */
#include "cli/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct leat_option *more(void)
{
	static const struct leat_option rows[] = {
		{.name = "other", .type = LEAT_OPTION_TEXT, .argument = "Y", .doc = "Of others."},
		{0},
	};

	return rows;
}

static const struct leat_option options[] = {
	{.name = "flag",
	 .letter = 'f',
	 .type = LEAT_OPTION_FLAG,
	 .env = "T_FLAG",
	 .doc = "A flag."},
	{.name = "text",
	 .letter = 't',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "TEXT",
	 .env = "T_TEXT",
	 .fallback = "nothing",
	 .doc = "A text. Two sentences."},
	{.name = "choice",
	 .type = LEAT_OPTION_CHOICE,
	 .argument = "WORD",
	 .range = "red|green",
	 .doc = "A choice."},
	{.name = "count",
	 .type = LEAT_OPTION_NUMBER,
	 .argument = "N",
	 .range = "1..10",
	 .doc = "A number."},
	{.name = "wait", .type = LEAT_OPTION_SECONDS, .argument = "S", .doc = "Seconds."},
	{.name = "size", .type = LEAT_OPTION_SIZE, .argument = "SIZE", .doc = "Bytes."},
	{.name = "many",
	 .letter = 'm',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "X",
	 .doc = "Some.",
	 .many = true},
	{.rows = more},
	{.name = "last", .type = LEAT_OPTION_FLAG, .doc = "Behind them."},
	{0},
};

static const struct leat_command command = {.name = "try",
					    .summary = "A command",
					    .operands = "FILE",
					    .min_operands = 1,
					    .max_operands = 2,
					    .options = options};

static const struct leat_command first = {.name = "first",
					  .summary = "Options first",
					  .operands = "COMMAND...",
					  .min_operands = 1,
					  .max_operands = -1,
					  .options_first = true,
					  .options = options};

#define MAX_WORDS 10

/* Parse the words after the command's name. */
static int parse(const struct leat_command *c, struct leat_args *args, const char *const *words)
{
	static char *argv[MAX_WORDS + 2];
	static char copies[MAX_WORDS][64];
	int n = 0;

	argv[n++] = copies[MAX_WORDS - 1];
	strcpy(argv[0], c->name);
	for (; words[n - 1]; n++)
		argv[n] = strcpy(copies[n - 1], words[n - 1]);
	argv[n] = NULL;
	return leat_options_parse(c, n, argv, args);
}

static void test_values(void **state)
{
	struct leat_args args;

	(void)state;
	assert_int_equal(0, parse(&command, &args,
				  (const char *const[]){"-f", "file", "--text=x", "--size", "1.5k",
							"--count", "10", "--wait", "0.25", NULL}));
	assert_true(leat_args_flag(&args, "flag"));
	assert_string_equal("x", leat_args_text(&args, "text"));
	assert_int_equal(1536, leat_args_size_bytes(&args, "size"));
	assert_int_equal(10, leat_args_number(&args, "count"));
	assert_true(leat_args_seconds(&args, "wait") == 0.25);
	assert_null(leat_args_text(&args, "choice"));
	assert_int_equal(1, args.n_operands);
	assert_string_equal("file", args.operands[0]);
}

static void test_precedence(void **state)
{
	struct leat_args args;

	(void)state;
	assert_int_equal(0, parse(&command, &args, (const char *const[]){"file", NULL}));
	assert_string_equal("nothing", leat_args_text(&args, "text"));
	assert_false(leat_args_flag(&args, "flag"));
	setenv("T_TEXT", "environment", 1);
	setenv("T_FLAG", "1", 1);
	assert_int_equal(0, parse(&command, &args, (const char *const[]){"file", NULL}));
	assert_string_equal("environment", leat_args_text(&args, "text"));
	assert_true(leat_args_flag(&args, "flag"));
	assert_int_equal(0,
			 parse(&command, &args, (const char *const[]){"file", "-t", "line", NULL}));
	assert_string_equal("line", leat_args_text(&args, "text"));
	setenv("T_FLAG", "no", 1);
	assert_int_equal(0, parse(&command, &args, (const char *const[]){"file", NULL}));
	assert_false(leat_args_flag(&args, "flag"));
	unsetenv("T_TEXT");
	unsetenv("T_FLAG");
}

static void test_refused(void **state)
{
	static const char *const bad[][5] = {
		{"file", "--nonsense"},  {"file", "--flg"},
		{"file", "-x"},          {"file", "--text"},
		{"file", "-t"},          {"file", "--choice=blue"},
		{"file", "--choice=re"}, {"file", "--choice="},
		{"file", "--count=0"},   {"file", "--count=11"},
		{"file", "--count=1x"},  {"file", "--count="},
		{"file", "--wait=-1"},   {"file", "--wait=nan"},
		{"file", "--size=1Q"},   {"file", "--size=1kk"},
		{"file", "--size=0.5"},  {"file", "--size=0"},
		{"file", "--flag=1"},    {"--flag"},
		{"one", "two", "three"},
	};
	struct leat_args args;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(-1, parse(&command, &args, bad[i]));
}

static void test_options_first(void **state)
{
	struct leat_args args;

	(void)state;
	assert_int_equal(
		0, parse(&first, &args, (const char *const[]){"-t", "a", "cat", "-f", "-x", NULL}));
	assert_int_equal(3, args.n_operands);
	assert_string_equal("-f", args.operands[1]);
	assert_false(leat_args_flag(&args, "flag"));
	assert_int_equal(0, parse(&first, &args, (const char *const[]){"--", "-f", NULL}));
	assert_string_equal("-f", args.operands[0]);
}

static char *print(void (*fn)(const struct leat_command *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fn(&command, out);
	fclose(out);
	return text;
}

static void test_help(void **state)
{
	char *text = print(leat_options_help);

	(void)state;
	assert_non_null(strstr(text, "Usage: leat try [OPTIONS] FILE\n"));
	assert_non_null(strstr(text, "  -t, --text TEXT"));
	assert_non_null(strstr(text, "Default: nothing."));
	assert_non_null(strstr(text, "[$T_TEXT]"));
	assert_non_null(strstr(text, "Values: red|green."));
	free(text);
	text = print(leat_options_mdoc);
	assert_non_null(
		strstr(text, ".It Fl t Ar TEXT , Fl \\-text Ar TEXT\nA text.\nTwo sentences.\n"));
	assert_non_null(strstr(text, ".Ev T_TEXT\n"));
	free(text);
}

static void several_times(void **state)
{
	const char *argv[] = {"try", "--many", "a", "-mb", "--text", "x", "--many=c", "FILE", NULL};
	const char *too_many[2 * LEAT_MAX_REPEATED + 4] = {"try"};
	const char *values[LEAT_MAX_REPEATED];
	struct leat_args args;

	(void)state;
	assert_int_equal(leat_options_parse(&command, 8, (char **)(uintptr_t)argv, &args), 0);
	assert_int_equal(leat_args_list(&args, "many", values), 3);
	assert_string_equal(values[0], "a");
	assert_string_equal(values[1], "b");
	assert_string_equal(values[2], "c");
	assert_int_equal(leat_args_list(&args, "text", values), 0);
	for (size_t i = 0; i <= LEAT_MAX_REPEATED; i++) {
		too_many[1 + 2 * i] = "--many";
		too_many[2 + 2 * i] = "v";
	}
	assert_int_equal(leat_options_parse(&command, 2 * LEAT_MAX_REPEATED + 3,
					    (char **)(uintptr_t)too_many, &args),
			 -1);
}

/* Rows that others know stand where the table names them. */
static void test_rows(void **state)
{
	const char *argv[] = {"try", "--last", "--other", "y", "FILE", NULL};
	char *text = print(leat_options_help);
	struct leat_args args;

	(void)state;
	assert_non_null(strstr(text, "--other Y"));
	assert_true(strstr(text, "--other Y") < strstr(text, "--last"));
	free(text);
	assert_int_equal(leat_options_parse(&command, 5, (char **)(uintptr_t)argv, &args), 0);
	assert_string_equal(leat_args_text(&args, "other"), "y");
	assert_true(leat_args_flag(&args, "last"));
	assert_string_equal(leat_option_at(&command, 0)->name, options[0].name);
	assert_null(leat_option_at(&command, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_times),      cmocka_unit_test(test_values),
		cmocka_unit_test(test_precedence),    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_options_first), cmocka_unit_test(test_help),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
