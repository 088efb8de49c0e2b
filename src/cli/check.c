/* leat check: all that is wrong with a workflow file, or another view of it. */
#include "base/log.h"
#include "cli/check_verify.h"
#include "cli/command.h"
#include "cli/workflow.h"
#include "lang/output/canonical.h"
#include "lang/output/graph.h"

#include <string.h>

static const struct leat_option options[] = {
	{.name = "canonical",
	 .letter = 'c',
	 .type = LEAT_OPTION_FLAG,
	 .doc = "Print the workflow in the CAPIO-CL syntax of 2025, whatever it was written in."},
	{.name = "graph",
	 .letter = 'g',
	 .type = LEAT_OPTION_CHOICE,
	 .argument = "FORMAT",
	 .range = "text|dot|json",
	 .doc = "Print which step passes which files to which."},
	LEAT_VERIFY_OPTION_ROWS,
	LEAT_OPTION_ROW_RESOURCES,
	LEAT_OPTION_ROW_DIR,
	{0},
};

static bool is_view(const struct leat_args *args)
{
	return leat_args_flag(args, "canonical") || leat_args_text(args, "graph");
}

/* Print it as asked for; without that, nothing. */
static int print_views(const struct leat_args *args, const struct leat_workflow *wf)
{
	const char *format = leat_args_text(args, "graph");
	int result = 0;

	if (leat_args_flag(args, "canonical"))
		result = leat_canonical_write(wf, stdout);
	if (result == 0 && format)
		result = leat_graph_write(wf, format, stdout);
	if (result < 0)
		leat_error("%s: %s", wf->path, strerror(-result));
	return result < 0 ? LEAT_EXIT_FAILURE : LEAT_EXIT_OK;
}

static int check_command(const struct leat_args *args)
{
	struct leat_cli_workflow w;
	int status;
	bool verify = leat_args_flag(args, "verify");
	unsigned needs = verify ? LEAT_CLI_DEADLOCKS : is_view(args) ? 0 : LEAT_CLI_INPUTS;

	/* A picture of the workflow needs no data, and how it comes to a deadlock is to be shown.
	 */
	if (!leat_cli_workflow_open(&w, args, args->operands[0], needs | LEAT_CLI_RESOURCES))
		return LEAT_EXIT_FAILURE;
	status = print_views(args, w.wf);
	if (status == LEAT_EXIT_OK && verify)
		status = leat_cli_verify(args, w.wf);
	leat_cli_workflow_close(&w);
	return status;
}

const struct leat_command leat_command_check = {
	.name = "check",
	.summary = "Look for mistakes in a workflow file",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.run = check_command,
};
