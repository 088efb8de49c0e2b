/* leat help: the commands, one command, and what the man pages take from here. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/man.h"

#include <string.h>

static const struct leat_option options[] = {
	{.name = "man",
	 .type = LEAT_OPTION_TEXT,
	 .argument = "FILE",
	 .doc = "Print the man page FILE with its lists of options made anew."},
	{.name = "man-codes",
	 .type = LEAT_OPTION_FLAG,
	 .doc = "Print the man page of all diagnostics."},
	{0},
};

static void print_overview(const struct leat_command *const *commands)
{
	puts("leat streams files between the steps of a workflow of unmodified programs.\n\n"
	     "Usage: leat COMMAND [OPTIONS] ...\n\nCommands:");
	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\nleat help COMMAND lists a command's options; leat --version prints the version.");
}

static int help_command(const struct leat_args *args)
{
	const char *page = leat_args_text(args, "man");
	const struct leat_command *command;

	if (page) {
		int result = leat_man_refresh(page, args->commands, stdout);

		if (result < 0)
			leat_error("cannot make the page %s: %s", page, strerror(-result));
		return result < 0 ? LEAT_EXIT_FAILURE : LEAT_EXIT_OK;
	}
	if (leat_args_flag(args, "man-codes")) {
		leat_man_codes(stdout);
		return LEAT_EXIT_OK;
	}
	if (args->n_operands == 0) {
		print_overview(args->commands);
		return LEAT_EXIT_OK;
	}
	command = leat_command_find(args->commands, args->operands[0]);
	if (!command)
		return leat_command_unknown(args->commands, args->operands[0]);
	leat_options_help(command, stdout);
	return LEAT_EXIT_OK;
}

const struct leat_command leat_command_help = {
	.name = "help",
	.summary = "Explain a command",
	.page = "leat",
	.operands = "[COMMAND]",
	.max_operands = 1,
	.options = options,
	.run = help_command,
};
