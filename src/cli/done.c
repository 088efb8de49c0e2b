/* leat done: no further instance of a step will start. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/workflow.h"
#include "daemon/daemon.h"
#include "control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct leat_option options[] = {
	LEAT_OPTION_ROW_DIR,
	LEAT_OPTION_ROW_RUNTIME_DIR,
	{0},
};

static int done_command(const struct leat_args *args)
{
	struct leat_control *control = NULL;
	char *dir = leat_cli_directory(NULL, args);
	int status = LEAT_EXIT_FAILURE;

	if (!dir || leat_cli_connect(args, dir, LEAT_CONTROL, &control) < 0)
		goto out;
	status = LEAT_EXIT_OK;
	for (int i = 0; i < args->n_operands; i++) {
		int result = leat_control_step_done(control, args->operands[i]);

		if (result < 0) {
			leat_error("step %s: %s", args->operands[i],
				   result == -ENOENT              ? "the workflow has no such step"
				   : leat_control_is_lost(result) ? "the daemon is gone"
								  : strerror(-result));
			status = LEAT_EXIT_FAILURE;
		}
	}
out:
	leat_control_close(control);
	free(dir);
	return status;
}

const struct leat_command leat_command_done = {
	.name = "done",
	.summary = "Declare that no further instance of a step will start",
	.page = "leat-exec",
	.operands = "STEP...",
	.min_operands = 1,
	.max_operands = -1,
	.options = options,
	.run = done_command,
};
