/* leat status: what the run in a directory is doing. */
#include "control/status.h"

#include "base/log.h"
#include "cli/command.h"
#include "cli/workflow.h"
#include "daemon/daemon.h"
#include "control/control.h"

#include <stdlib.h>
#include <string.h>

static const struct leat_option options[] = {
	{.name = "json",
	 .letter = 'j',
	 .type = LEAT_OPTION_FLAG,
	 .doc = "Print the daemon's whole status, as JSON."},
	LEAT_OPTION_ROW_DIR,
	LEAT_OPTION_ROW_RUNTIME_DIR,
	{0},
};

static int status_command(const struct leat_args *args)
{
	struct leat_control *control = NULL;
	char *dir = leat_cli_directory(NULL, args);
	char *json = NULL;
	int status = LEAT_EXIT_FAILURE;
	int result;

	if (!dir || leat_cli_connect(args, dir, LEAT_CONTROL, &control) < 0)
		goto out;
	result = leat_control_status(control, &json);
	if (result == 0 && leat_args_flag(args, "json"))
		puts(json);
	else if (result == 0)
		result = leat_status_print(json, stdout);
	if (result < 0)
		leat_error("the daemon of %s does not report its status: %s", dir,
			   strerror(-result));
	else
		status = LEAT_EXIT_OK;
out:
	free(json);
	leat_control_close(control);
	free(dir);
	return status;
}

const struct leat_command leat_command_status = {
	.name = "status",
	.summary = "Show the steps and files of the run that is going on",
	.page = "leat-serve",
	.operands = "",
	.options = options,
	.run = status_command,
};
