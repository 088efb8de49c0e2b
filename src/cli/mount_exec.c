/* leat mount-exec: what the driver and the interception library put in front of a program that the
 * library cannot follow. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/workflow.h"
#include "mount/mount.h"

#include <stdlib.h>

static const struct leat_option options[] = {
	LEAT_OPTION_ROW_DIR,
	LEAT_OPTION_ROW_RUNTIME_DIR,
	{0},
};

/* leat's variable, else CAPIO's spelling of it. */
static const char *get_variable(const char *name, const char *capio_name)
{
	const char *value = getenv(name);

	return value && *value ? value : getenv(capio_name);
}

static int mount_exec_command(const struct leat_args *args)
{
	const char *workflow = get_variable("LEAT_WORKFLOW_NAME", "CAPIO_WORKFLOW_NAME");
	const char *step = get_variable("LEAT_APP_NAME", "CAPIO_APP_NAME");
	const char *key = getenv("LEAT_KEY");
	struct leat_mount_spec spec = {.step = step,
				       .key = key ? key : "",
				       .sealed = getenv("LEAT_SEAL") != NULL,
				       .workflow = workflow ? workflow : "",
				       .program = args->operands[0],
				       .argv = args->operands + 1};
	char *dir = NULL, *runtime_dir = NULL;
	int status = LEAT_EXIT_SELF;

	if (!step)
		leat_error("mount-exec: missing step: name it with LEAT_APP_NAME");
	else if ((dir = leat_cli_directory(NULL, args)) &&
		 leat_cli_runtime_dir(args, &runtime_dir)) {
		spec.dir = dir;
		spec.runtime_dir = runtime_dir;
		spec.ranged = leat_mount_is_ranged(spec.program, spec.argv);
		status = leat_mount_exec(&spec);
	}
	free(runtime_dir);
	free(dir);
	return status;
}

const struct leat_command leat_command_mount_exec = {
	.name = "mount-exec",
	.summary = "Become a program whose files lie behind a mount",
	.page = "leat",
	.operands = "PROGRAM ARGUMENT0 [ARGUMENT...]",
	.min_operands = 1,
	.max_operands = -1,
	.options_first = true,
	.hidden = true,
	.options = options,
	.run = mount_exec_command,
};
