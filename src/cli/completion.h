/* Completion of command lines by shells, made of the tables of commands and options. One thread. */
#ifndef LEAT_CLI_COMPLETION_H
#define LEAT_CLI_COMPLETION_H

#include "cli/command.h"

enum leat_completes {
	LEAT_COMPLETES_NOTHING, /* by nobody's knowledge: a number, a name */
	LEAT_COMPLETES_FILES,
	LEAT_COMPLETES_DIRECTORIES,
	LEAT_COMPLETES_WORDS,    /* those of `words` */
	LEAT_COMPLETES_COMMANDS, /* leat's */
	LEAT_COMPLETES_PROGRAMS, /* then the program's arguments */
};

struct leat_completion {
	enum leat_completes what;
	const char *words; /* separated by |; borrowed */
};

/* What the value of an option, or the operands of a command, can be. */
struct leat_completion leat_completion_of_option(const struct leat_option *option);
struct leat_completion leat_completion_of_operands(const struct leat_command *command);

/* Print the words of a choice, each followed by `end`. */
void leat_completion_print_words(const char *words, const char *end, FILE *out);

/* Print the shell's script, for `commands`, which end with NULL. */
void leat_completion_bash(const struct leat_command *const *commands, FILE *out);
void leat_completion_zsh(const struct leat_command *const *commands, FILE *out);

#endif
