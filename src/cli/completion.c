/* leat completion: what a shell needs to complete leat's command lines. */
#include "cli/completion.h"

#include "base/log.h"

#include <string.h>

static const struct {
	const char *name;
	void (*print)(const struct leat_command *const *commands, FILE *out);
} shells[] = {{"bash", leat_completion_bash}, {"zsh", leat_completion_zsh}};

static const struct leat_option options[] = {
	{0},
};

static int completion_command(const struct leat_args *args)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (strcmp(args->operands[0], shells[i].name) == 0) {
			shells[i].print(args->commands, stdout);
			return LEAT_EXIT_OK;
		}
	leat_error("completion: there is none for %s; for bash and zsh there is",
		   args->operands[0]);
	return LEAT_EXIT_USAGE;
}

const struct leat_command leat_command_completion = {
	.name = "completion",
	.summary = "Print a script by which a shell completes command lines of leat",
	.operands = "bash|zsh",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.run = completion_command,
};
