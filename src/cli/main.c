/* leat: one command; each subcommand is a file. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/nested.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* `argv`: with the name of the program. */
static int dispatch(int argc, char **argv)
{
	const struct leat_command *command = leat_command_find(leat_commands, argv[1]);
	struct leat_args args;
	int parsed;

	if (!command)
		return leat_command_unknown(leat_commands, argv[1]);
	parsed = leat_options_parse(command, argc - 1, argv + 1, &args);
	if (parsed < 0)
		return LEAT_EXIT_USAGE;
	if (parsed)
		return LEAT_EXIT_OK;
	args.commands = leat_commands;
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
