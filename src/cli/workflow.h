/* What several subcommands do first: load a workflow, find its directory. */
#ifndef LEAT_CLI_WORKFLOW_H
#define LEAT_CLI_WORKFLOW_H

#include "cli/options.h"
#include "model/workflow.h"

struct leat_cli_workflow {
	struct leat_workflow *wf; /* owned */
	char *dir;                /* owned; real path of its directory */
	char *action_command; /* owned; leat-action, if a step has actions and they were loaded */
};

/* What must hold beside a workflow file that is right in itself. */
enum leat_cli_needs {
	LEAT_CLI_INPUTS = 1,   /* the inputs that no step makes exist */
	LEAT_CLI_WRITABLE = 2, /* the directory is writable */
	LEAT_CLI_DEADLOCKS =
		4, /* nothing: a deadlock that is foreseen is printed, and no reason to stop */
	LEAT_CLI_ACTIONS = 8,    /* the actions can be loaded */
	LEAT_CLI_RESOURCES = 16, /* nothing: option --resources may name a description */
	LEAT_CLI_HERE = 32, /* the resources describe this machine; of it alone they are then */
};

/* Load and check `file`, print what is wrong with it, and find its directory (option
 * --dir). `needs`: enum leat_cli_needs. False after a message. */
bool leat_cli_workflow_open(struct leat_cli_workflow *w, const struct leat_args *args,
			    const char *file, unsigned needs);
void leat_cli_workflow_close(struct leat_cli_workflow *w);

/* Print the diagnostics of `file` to standard error. */
struct leat_diags;
void leat_cli_print_diags(const struct leat_diags *diags);

/* The real path of the directory that --dir, LEAT_DIR, CAPIO_DIR or the working
 * directory names, freed by the caller; NULL after a message. */
char *leat_cli_directory(const struct leat_workflow *wf, const struct leat_args *args);

/* What --runtime-dir or LEAT_RUNTIME_DIR say, as an absolute path in *path, freed by the
 * caller; NULL if they say nothing. False after a message. */
bool leat_cli_runtime_dir(const struct leat_args *args, char **path);

/* Connect to the daemon that serves `dir`. 0 or -errno, logged. `kind`: daemon/daemon.h. */
struct leat_control;
int leat_cli_connect(const struct leat_args *args, const char *dir, unsigned kind,
		     struct leat_control **control);

/* Seconds an action may take (option --action-timeout). */
unsigned leat_cli_action_timeout(const struct leat_args *args);

/* Path of libleat.so, freed by the caller; NULL after a message. */
char *leat_cli_library(void);

/* Path of this command, freed by the caller, if programs that cannot be intercepted can have a
 * mount here; else NULL. */
char *leat_cli_mount(void);

#endif
