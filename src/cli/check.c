/* leat check: all that is wrong with a workflow file, or another view of it. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/workflow.h"
#include "lang/canonical.h"
#include "lang/graph.h"
#include "lang/lang.h"

#include <string.h>

const struct leat_option leat_check_options[] = {
	{.name = "canonical",
	 .letter = 'c',
	 .type = LEAT_OPTION_FLAG,
	 .doc = "Print the workflow in the CAPIO-CL syntax of 2025, whatever it was written in."},
	{.name = "graph",
	 .letter = 'g',
	 .type = LEAT_OPTION_CHOICE,
	 .argument = "FORMAT",
	 .range = "text|dot|json",
	 .doc = "Print which step gives which files to which."},
	LEAT_OPTION_ROW_DIR,
	{0},
};
