/* The subcommands of leat as data. Each is a file NAME.c with its `const struct leat_command
 * leat_command_NAME` and a word of `commands` in meson.build; this gives dispatch, help, completion
 * and the lists in man/. */
#ifndef LEAT_CLI_COMMAND_H
#define LEAT_CLI_COMMAND_H

#include "cli/options.h"

enum {
	LEAT_EXIT_OK = 0,
	LEAT_EXIT_FAILURE = 1,
	LEAT_EXIT_USAGE = 2,
	LEAT_EXIT_SELF = 125, /* run, exec: leat's own failure, not a step's */
	LEAT_EXIT_CANNOT_EXECUTE = 126,
	LEAT_EXIT_NOT_FOUND = 127,
};

struct leat_command {
	const char *name;
	const char *summary; /* one line, no full stop */
	const char *page;    /* the man page; NULL: leat-NAME */
	/* As in the usage line, which also says how they are completed: "FILE", "DIRECTORY",
	 * "STEP", "COMMAND", "yes|no". */
	const char *operands;
	int min_operands;
	int max_operands;                  /* -1: any number */
	bool options_first;                /* options end at the first operand */
	bool hidden;                       /* for leat's own use */
	bool starts_run;                   /* has a daemon, or steps, of its own */
	const struct leat_option *options; /* ends with a row without name; may be NULL */
	/* Returns the exit status. */
	int (*run)(const struct leat_args *args);
};

/* All subcommands in the order of leat help, then NULL. For main.c: a command finds them in its
 * leat_args. */
extern const struct leat_command *const leat_commands[];

/* The command of that name, or NULL. `commands` ends with NULL, as below. */
const struct leat_command *leat_command_find(const struct leat_command *const *commands,
					     const char *name);

/* Print "leat: unknown command ..." with the nearest one that exists. Returns LEAT_EXIT_USAGE. */
int leat_command_unknown(const struct leat_command *const *commands, const char *name);

#endif
