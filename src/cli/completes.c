/* What a word of a command line is completed with, whatever the shell. */
#include "cli/completion.h"

#include <ctype.h>
#include <string.h>

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
