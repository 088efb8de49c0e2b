/* One table of options per command: it gives the parser, --help and the
 * OPTIONS section of the man page. A value comes from the command line, else
 * from the option's environment variable, else from its default. */
#ifndef LEAT_CLI_OPTIONS_H
#define LEAT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct leat_command;

enum leat_option_type {
	LEAT_OPTION_FLAG,
	LEAT_OPTION_TEXT,
	LEAT_OPTION_CHOICE,  /* range: the words, "text|dot|json" */
	LEAT_OPTION_NUMBER,  /* range: "1..1024" */
	LEAT_OPTION_SECONDS, /* range as for NUMBER; decimals allowed, also in it */
	LEAT_OPTION_SIZE,    /* bytes; suffix k, M, G, T (of 1024) */
};

struct leat_option {
	const char *name;
	char letter; /* 0: none */
	enum leat_option_type type;
	const char *argument; /* what --help calls the value; NULL for a flag */
	const char *fallback; /* default as text; NULL: unset */
	const char *range;
	const char *env; /* environment variable, NULL: none */
	const char *doc; /* plain sentences */
	bool many;       /* may be given several times: leat_args_list; not from the environment */
	/* Instead of all above: rows that others know, ending with one without name. */
	const struct leat_option *(*rows)(void);
};

#define LEAT_MAX_OPTIONS 32
#define LEAT_MAX_REPEATED 64 /* values of options that may be given several times */

/* A parsed command line. Everything is borrowed from argv, environ and tables. */
struct leat_args {
	const struct leat_command *command;
	const struct leat_command *const *commands; /* all there are, then NULL; of main.c */
	const char *values[LEAT_MAX_OPTIONS];
	struct {
		const struct leat_option *option;
		const char *value;
	} repeated[LEAT_MAX_REPEATED];
	size_t n_repeated;
	char **operands; /* ends with NULL */
	int n_operands;
};

/* Parse argv[1..] (argv[0] is the command's name). Returns 0; 1 when --help was
 * asked for and printed; -1 after printing one line about what is wrong. */
int leat_options_parse(const struct leat_command *command, int argc, char **argv,
		       struct leat_args *args);

/* Option `n` of the command, from 0; NULL: it has not so many. */
const struct leat_option *leat_option_at(const struct leat_command *command, size_t n);

/* Value of an option by name; the name must be in the command's table. */
bool leat_args_flag(const struct leat_args *args, const char *name);
const char *leat_args_text(const struct leat_args *args, const char *name);
long leat_args_number(const struct leat_args *args, const char *name);
double leat_args_seconds(const struct leat_args *args, const char *name);
uint64_t leat_args_size_bytes(const struct leat_args *args, const char *name);

/* The values of an option that may be given several times, into `values`, in their order; how many
 * there are. */
size_t leat_args_list(const struct leat_args *args, const char *name,
		      const char *values[LEAT_MAX_REPEATED]);

/* Print the command's --help. */
void leat_options_help(const struct leat_command *command, FILE *out);

/* Print the mdoc list of the command's options. */
void leat_options_mdoc(const struct leat_command *command, FILE *out);

/* Rows that several commands have. */
#define LEAT_OPTION_ROW_DIR                                                                        \
	{                                                                                          \
		.name = "dir", .letter = 'd', .type = LEAT_OPTION_TEXT, .argument = "DIRECTORY",   \
		.env = "LEAT_DIR",                                                                 \
		.doc = "The workflow's directory, to which all its paths are relative."            \
	}
#define LEAT_OPTION_ROW_RESOURCES                                                                  \
	{                                                                                          \
		.name = "resources", .type = LEAT_OPTION_TEXT, .argument = "FILE",                 \
		.doc = "The nodes and storage devices that tasks run on, in YAML or as XML of "    \
		       "COMPSs, in place of \"resources\" of the workflow file; leat probe "       \
		       "writes one."                                                               \
	}
#define LEAT_OPTION_ROW_RUNTIME_DIR                                                                \
	{                                                                                          \
		.name = "runtime-dir", .type = LEAT_OPTION_TEXT, .argument = "DIRECTORY",          \
		.env = "LEAT_RUNTIME_DIR",                                                         \
		.doc = "Where sockets and locks of runs are kept; /tmp/leat-UID if not given."     \
	}

#endif
