/* The subcommands of leat as data: the table in main.c gives dispatch, help,
 * and the pages in man/. */
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
	const char *summary;  /* one line, no full stop */
	const char *operands; /* as in the usage line: "FILE" */
	int min_operands;
	int max_operands;                  /* -1: any number */
	bool options_first;                /* options end at the first operand */
	bool hidden;                       /* for leat's own use */
	bool starts_run;                   /* has a daemon, or steps, of its own */
	const struct leat_option *options; /* ends with a row without name; may be NULL */
	/* Returns the exit status. */
	int (*run)(const struct leat_args *args);
};

/* All subcommands, ending with a row without name. */
extern const struct leat_command leat_commands[];

/* The command of that name, or NULL. */
const struct leat_command *leat_command_find(const char *name);

/* Print "leat: unknown command ..." with the nearest one that exists. Returns LEAT_EXIT_USAGE. */
int leat_command_unknown(const char *name);

int leat_cli_check(const struct leat_args *args);
int leat_cli_run(const struct leat_args *args);
int leat_cli_serve(const struct leat_args *args);
int leat_cli_exec(const struct leat_args *args);
int leat_cli_done(const struct leat_args *args);
int leat_cli_status(const struct leat_args *args);
int leat_cli_top(const struct leat_args *args);
int leat_cli_map(const struct leat_args *args);
int leat_cli_replay(const struct leat_args *args);
int leat_cli_trace(const struct leat_args *args);
int leat_cli_report(const struct leat_args *args);
int leat_cli_simulate(const struct leat_args *args);
int leat_cli_probe(const struct leat_args *args);
int leat_cli_mount_exec(const struct leat_args *args);
int leat_cli_help(const struct leat_args *args);

extern const struct leat_option leat_check_options[];
extern const struct leat_option leat_run_options[];
extern const struct leat_option leat_serve_options[];
extern const struct leat_option leat_exec_options[];
extern const struct leat_option leat_done_options[];
extern const struct leat_option leat_status_options[];
extern const struct leat_option leat_top_options[];
extern const struct leat_option leat_map_options[];
extern const struct leat_option leat_replay_options[];
extern const struct leat_option leat_trace_options[];
extern const struct leat_option leat_report_options[];
extern const struct leat_option leat_simulate_options[];
extern const struct leat_option leat_probe_options[];
extern const struct leat_option leat_mount_exec_options[];
extern const struct leat_option leat_help_options[];

#endif
