/* The daemon of a run, and who looks at it: for leat run and leat serve. */
#ifndef LEAT_CLI_DAEMON_H
#define LEAT_CLI_DAEMON_H

#include "cli/listen_run.h"
#include "cli/segment.h"
#include "cli/workflow.h"
#include "control/control.h"

struct leat_cli_daemon {
	pid_t pid;                    /* 0: not started */
	struct leat_control *control; /* owned */
	char *runtime_dir;            /* owned; absolute, NULL: the default */
	struct leat_segment segment;  /* the steps' counters */
	struct leat_listen_run watched;
	struct leat_listen *listen; /* owned; NULL: without --listen */
};

/* Start the daemon for `w` with the options --log, --memory, --spill-dir, --on-violation, --strict,
 * --enforce and --runtime-dir, connect to it, map its counters, and answer to --listen. 0, else the
 * exit status, logged; then too leat_cli_daemon_end is due. It must stay where it is. */
int leat_cli_daemon_start(struct leat_cli_daemon *daemon, const struct leat_args *args,
			  const struct leat_cli_workflow *w, bool serve);

/* Are violations of the workflow file warnings only? */
bool leat_cli_warns(const struct leat_args *args);

/* Is --enforce asked for, or what implies it? */
bool leat_cli_enforces(const struct leat_args *args);

/* Can it, if asked for, hold all steps? Logs what it cannot. */
bool leat_cli_enforceable(const struct leat_args *args, const struct leat_workflow *wf);

/* Close all that, and see to it that the daemon is gone. */
void leat_cli_daemon_end(struct leat_cli_daemon *daemon);

/* Rows of the options named above. */
#define LEAT_OPTION_ROW_LOG                                                                        \
	{                                                                                          \
		.name = "log", .letter = 'l', .type = LEAT_OPTION_TEXT, .argument = "FILE",        \
		.env = "LEAT_EVENT_LOG",                                                           \
		.doc = "Write each fact, question and decision of the run to this file, for leat " \
		       "replay."                                                                   \
	}
#define LEAT_OPTION_ROW_ON_VIOLATION                                                               \
	{                                                                                          \
		.name = "on-violation", .type = LEAT_OPTION_CHOICE, .argument = "ACTION",          \
		.fallback = "fatal", .range = "fatal|warn", .env = "LEAT_ON_VIOLATION",            \
		.doc = "What to do when a step breaks a promise of the workflow file, such as "    \
		       "changing bytes under no_update that have been read: let the run fail, or " \
		       "only say so."                                                              \
	}
#define LEAT_OPTION_ROW_STRICT                                                                     \
	{                                                                                          \
		.name = "strict", .type = LEAT_OPTION_FLAG, .env = "LEAT_STRICT",                  \
		.doc = "Fail the run when a step ends with status 0 and has not made an output "   \
		       "that it names without wildcards. Without this option that is an error of " \
		       "permanent files only, and a warning of others."                            \
	}
#define LEAT_OPTION_ROW_ENFORCE                                                                    \
	{                                                                                          \
		.name = "enforce", .letter = 'e', .type = LEAT_OPTION_FLAG, .env = "LEAT_ENFORCE", \
		.doc = "Let each step read only its inputs and what it writes, and write only "    \
		       "its "                                                                      \
		       "outputs. All else in the workflow's directory is EACCES, and named."       \
	}
#define LEAT_OPTION_ROW_SEALED                                                                     \
	{                                                                                          \
		.name = "sealed", .type = LEAT_OPTION_FLAG, .env = "LEAT_SEALED",                  \
		.doc = "As --enforce, by the kernel: each step sees the directory through a "      \
		       "mount "                                                                    \
		       "of its own and can reach nothing else of the run, whatever system calls "  \
		       "it makes."                                                                 \
	}
#define LEAT_OPTION_ROW_MEMORY                                                                     \
	{                                                                                          \
		.name = "memory", .letter = 'm', .type = LEAT_OPTION_SIZE, .argument = "SIZE",     \
		.env = "LEAT_MEMORY",                                                              \
		.doc = "Memory for files, with suffix k, M, G or T, which is never exceeded. "     \
		       "Half of the machine's, or of a tighter limit of a control group, if not "  \
		       "given."                                                                    \
	}
#define LEAT_OPTION_ROW_SPILL_DIR                                                                  \
	{                                                                                          \
		.name = "spill-dir", .type = LEAT_OPTION_TEXT, .argument = "DIRECTORY",            \
		.env = "LEAT_SPILL_DIR",                                                           \
		.doc = "Where files go that do not fit into memory: into a directory in this "     \
		       "one that is removed at the end. The workflow's directory if not given."    \
	}

#endif
