/* leat: one command, its subcommands in a table. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/nested.h"
#include "cli/suggest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct leat_command leat_commands[] = {
	{.name = "run",
	 .summary = "Run a workflow: all its steps at once, their files streamed",
	 .starts_run = true,
	 .operands = "FILE",
	 .min_operands = 1,
	 .max_operands = 1,
	 .options = leat_run_options,
	 .run = leat_cli_run},
	{.name = "check",
	 .summary = "Look for mistakes in a workflow file",
	 .operands = "FILE",
	 .min_operands = 1,
	 .max_operands = 1,
	 .options = leat_check_options,
	 .run = leat_cli_check},
	{.name = "serve",
	 .summary = "Serve a workflow whose steps are started by somebody else",
	 .starts_run = true,
	 .operands = "FILE",
	 .min_operands = 1,
	 .max_operands = 1,
	 .options = leat_serve_options,
	 .run = leat_cli_serve},
	{.name = "exec",
	 .summary = "Run a command as a step of the workflow that is served",
	 .operands = "COMMAND [ARGUMENT...]",
	 .min_operands = 1,
	 .max_operands = -1,
	 .options_first = true,
	 .options = leat_exec_options,
	 .run = leat_cli_exec},
	{.name = "done",
	 .summary = "Tell that no further instance of a step will start",
	 .operands = "STEP...",
	 .min_operands = 1,
	 .max_operands = -1,
	 .options = leat_done_options,
	 .run = leat_cli_done},
	{.name = "status",
	 .summary = "Show the steps and files of the run that is going on",
	 .operands = "",
	 .options = leat_status_options,
	 .run = leat_cli_status},
	{.name = "top",
	 .summary = "Watch the run that is going on",
	 .operands = "",
	 .options = leat_top_options,
	 .run = leat_cli_top},
	{.name = "replay",
	 .summary = "Drive the rules with the event log of a run and compare",
	 .operands = "FILE LOG",
	 .min_operands = 2,
	 .max_operands = 2,
	 .options = leat_replay_options,
	 .run = leat_cli_replay},
	{.name = "trace",
	 .summary = "Record what a command does to files",
	 .operands = "[COMMAND [ARGUMENT...]]",
	 .max_operands = -1,
	 .options_first = true,
	 .options = leat_trace_options,
	 .run = leat_cli_trace},
	{.name = "map",
	 .summary = "Tell which task caused what a trace tells",
	 .operands = "TRACE|DIRECTORY|LOG...",
	 .min_operands = 1,
	 .max_operands = -1,
	 .options = leat_map_options,
	 .run = leat_cli_map},
	{.name = "report",
	 .summary = "Show where the time for input and output goes, of what traces tell",
	 .operands = "TRACE|LOG...",
	 .min_operands = 1,
	 .max_operands = -1,
	 .options = leat_report_options,
	 .run = leat_cli_report},
	{.name = "simulate",
	 .summary = "Try constraints of storage bandwidth on a workload, without running it",
	 .operands = "RESOURCES WORKLOAD",
	 .min_operands = 2,
	 .max_operands = 2,
	 .options = leat_simulate_options,
	 .run = leat_cli_simulate},
	{.name = "probe",
	 .summary = "Measure the bandwidth of a storage device and describe it",
	 .operands = "DIRECTORY",
	 .min_operands = 1,
	 .max_operands = 1,
	 .options = leat_probe_options,
	 .run = leat_cli_probe},
	{.name = "mount-exec",
	 .summary = "Become a program whose files lie behind a mount",
	 .operands = "PROGRAM ARGUMENT0 [ARGUMENT...]",
	 .min_operands = 1,
	 .max_operands = -1,
	 .options_first = true,
	 .hidden = true,
	 .options = leat_mount_exec_options,
	 .run = leat_cli_mount_exec},
	{.name = "help",
	 .summary = "Explain a command",
	 .operands = "[COMMAND]",
	 .max_operands = 1,
	 .options = leat_help_options,
	 .run = leat_cli_help},
	{0},
};

const struct leat_command *leat_command_find(const char *name)
{
	for (const struct leat_command *c = leat_commands; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

int leat_command_unknown(const char *name)
{
	struct leat_suggest s = {0};

	for (const struct leat_command *c = leat_commands; c->name; c++)
		if (!c->hidden)
			leat_suggest_offer(&s, name, c->name);
	if (s.word)
		leat_error("unknown command %s; did you mean leat %s?", name, s.word);
	else
		leat_error("unknown command %s; leat help lists them", name);
	return LEAT_EXIT_USAGE;
}

/* `argv`: with the name of the program. */
static int dispatch(int argc, char **argv)
{
	const struct leat_command *command = leat_command_find(argv[1]);
	struct leat_args args;
	int parsed;

	if (!command)
		return leat_command_unknown(argv[1]);
	parsed = leat_options_parse(command, argc - 1, argv + 1, &args);
	if (parsed < 0)
		return LEAT_EXIT_USAGE;
	if (parsed)
		return LEAT_EXIT_OK;
	return command->starts_run && leat_cli_is_nested() ? leat_cli_nest(argv)
							   : command->run(&args);
}

/* A descriptor of ours must not be taken for a standard one that was closed. */
static bool hold_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int main(int argc, char **argv)
{
	static char help[] = "help";
	int status;

	if (!hold_standard_descriptors())
		return LEAT_EXIT_SELF;
	if (argc < 2 || !*argv[1]) {
		leat_error("missing command; leat help lists them");
		return LEAT_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("leat " LEAT_VERSION "\nwith: " LEAT_WITH "\nwithout: " LEAT_WITHOUT);
		status = LEAT_EXIT_OK;
	} else {
		if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
			argv[1] = help;
		if (argv[1][0] == '-') {
			leat_error("unknown option %s; usage: leat COMMAND [OPTIONS]", argv[1]);
			return LEAT_EXIT_USAGE;
		}
		status = dispatch(argc, argv);
	}
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && status == LEAT_EXIT_OK) {
		leat_error("cannot write to standard output: %s", strerror(errno ? errno : EIO));
		return LEAT_EXIT_FAILURE;
	}
	return status;
}
