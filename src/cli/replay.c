/* leat replay: the rules must decide again as they did in the run. */
#include "stream/replay.h"

#include "base/log.h"
#include "cli/command.h"
#include "cli/workflow.h"
#include "model/match.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct leat_option options[] = {
	LEAT_OPTION_ROW_DIR,
	{0},
};

static int replay(const struct leat_workflow *wf, const char *path)
{
	struct leat_replay_result result = {0};
	struct leat_matcher *matcher = leat_matcher_new(wf);
	FILE *in = fopen(path, "re");
	int error = in ? 0 : -errno;

	if (!matcher)
		error = -ENOMEM;
	if (error == 0)
		error = leat_replay(matcher, wf, in, stderr, &result);
	if (error < 0)
		leat_error("cannot replay %s: %s", path, strerror(-error));
	else
		printf("%" PRIu64 " events replayed, %" PRIu64 " decisions compared, %" PRIu64
		       " differences\n",
		       result.events, result.decisions, result.differences);
	if (in)
		fclose(in);
	leat_matcher_free(matcher);
	return error < 0 || result.differences ? LEAT_EXIT_FAILURE : LEAT_EXIT_OK;
}

static int replay_command(const struct leat_args *args)
{
	struct leat_cli_workflow w;
	int status;

	if (!leat_cli_workflow_open(&w, args, args->operands[0], 0))
		return LEAT_EXIT_FAILURE;
	status = replay(w.wf, args->operands[1]);
	leat_cli_workflow_close(&w);
	return status;
}

const struct leat_command leat_command_replay = {
	.name = "replay",
	.summary = "Apply the rules to the event log of a run again and compare",
	.operands = "FILE LOG",
	.min_operands = 2,
	.max_operands = 2,
	.options = options,
	.run = replay_command,
};
