/* leat completion: what a shell needs to complete leat's command lines. */
#include "cli/completion.h"

#include "base/log.h"

#include <ctype.h>
#include <string.h>

static const struct {
	const char *name;
	void (*print)(FILE *out);
} shells[] = {{"bash", leat_completion_bash}, {"zsh", leat_completion_zsh}};

/* What is named by `text` as usage lines and tables of options do. */
static struct leat_completion named(const char *text)
{
	struct leat_completion c = {.what = LEAT_COMPLETES_NOTHING};

	if (islower((unsigned char)*text))
		return (struct leat_completion){LEAT_COMPLETES_WORDS, text};
	if (strstr(text, "FILE") || strstr(text, "LOG") || strstr(text, "WORKLOAD"))
		c.what = LEAT_COMPLETES_FILES;
	else if (strstr(text, "DIRECTORY"))
		c.what = LEAT_COMPLETES_DIRECTORIES;
	return c;
}

struct leat_completion leat_completion_of_option(const struct leat_option *option)
{
	if (option->type == LEAT_OPTION_CHOICE)
		return (struct leat_completion){LEAT_COMPLETES_WORDS, option->range};
	if (option->type == LEAT_OPTION_TEXT && option->argument)
		return named(option->argument);
	return (struct leat_completion){.what = LEAT_COMPLETES_NOTHING};
}

struct leat_completion leat_completion_of_operands(const struct leat_command *command)
{
	if (strstr(command->operands, "PROGRAM") || strstr(command->operands, "COMMAND"))
		return (struct leat_completion){.what = command->options_first
								? LEAT_COMPLETES_PROGRAMS
								: LEAT_COMPLETES_COMMANDS};
	return named(command->operands);
}

void leat_completion_print_words(const char *words, const char *end, FILE *out)
{
	while (*words) {
		size_t length = strcspn(words, "|");

		fprintf(out, "%.*s%s", (int)length, words, end);
		words += length + (words[length] == '|');
	}
}

static const struct leat_option options[] = {
	{0},
};

static int completion_command(const struct leat_args *args)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (strcmp(args->operands[0], shells[i].name) == 0) {
			shells[i].print(stdout);
			return LEAT_EXIT_OK;
		}
	leat_error("completion: there is none for %s; for bash and zsh there is",
		   args->operands[0]);
	return LEAT_EXIT_USAGE;
}

const struct leat_command leat_command_completion = {
	.name = "completion",
	.summary = "Print a script by which a shell completes command lines of leat",
	.operands = "bash|zsh",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.run = completion_command,
};
