/* leat serve: the daemon alone; the steps are started by others. */
#include "driver/serve.h"

#include "base/log.h"
#include "cli/command.h"
#include "cli/daemon.h"
#include "cli/timeline.h"
#include "cli/workflow.h"
#include "control/status.h"
#include "timeline/result.h"

#include <stdlib.h>
#include <string.h>

static const struct leat_option options[] = {
	{.name = "timeout",
	 .type = LEAT_OPTION_SECONDS,
	 .argument = "SECONDS",
	 .env = "LEAT_TIMEOUT",
	 .doc = "Give up when a step that others wait for has not started within this time. "
		"Without it, leat waits for ever."},
	LEAT_OPTION_ROW_CHART,
	LEAT_OPTION_ROW_TIMELINE,
	LEAT_OPTION_ROW_LOG,
	LEAT_OPTION_ROW_ON_VIOLATION,
	LEAT_OPTION_ROW_STRICT,
	LEAT_OPTION_ROW_ENFORCE,
	LEAT_OPTION_ROW_SEALED,
	LEAT_OPTION_ROW_MEMORY,
	LEAT_OPTION_ROW_SPILL_DIR,
	LEAT_OPTION_ROW_LISTEN,
	{.name = "quiet",
	 .letter = 'q',
	 .type = LEAT_OPTION_FLAG,
	 .env = "LEAT_QUIET",
	 .doc = "Do not print the summary."},
	LEAT_OPTION_ROW_DIR,
	LEAT_OPTION_ROW_RUNTIME_DIR,
	{0},
};

/* Print the summary and write the timeline. True if that is done, and all steps that came have
 * ended well. */
static bool print_summary(const struct leat_args *args, const struct leat_cli_workflow *w,
			  struct leat_cli_timeline *timeline, const char *json)
{
	struct leat_result result;
	bool good;
	int error = leat_result_init(&result, w->wf);

	result.enforced = leat_cli_enforces(args);
	result.sealed = leat_args_flag(args, "sealed");
	if (error == 0)
		error = leat_status_result(json, &result);
	if (error < 0)
		leat_error("the daemon's summary cannot be read: %s", strerror(-error));
	leat_result_report_unmade(&result);
	if (error == 0)
		leat_cli_summary(args, &result);
	good = error == 0 && leat_cli_timeline_write(timeline, &result, w->wf, w->dir) == 0;
	for (size_t i = 0; good && i < result.n_steps; i++) {
		const struct leat_step_result *s = &result.steps[i];

		good = s->status == 0 && (s->end_ns || !s->start_ns);
	}
	leat_result_release(&result);
	return good;
}

static int serve(const struct leat_args *args, const struct leat_cli_workflow *w,
		 struct leat_cli_timeline *timeline)
{
	struct leat_cli_daemon daemon = {0};
	struct leat_serve_config config = {.timeout_s = leat_args_seconds(args, "timeout"),
					   .timeline =
						   timeline->out || leat_args_flag(args, "chart"),
					   .anybody_waits = leat_segment_anybody_waits,
					   .ctx = &daemon.segment};
	char *summary = NULL;
	int status = leat_cli_daemon_start(&daemon, args, w, true);

	if (status)
		goto out;
	config.control = daemon.control;
	fprintf(stderr, "leat: serving %s in %s; steps may start\n", w->wf->name, w->dir);
	status = leat_driver_serve(&config, &summary);
	if (summary && !print_summary(args, w, timeline, summary))
		status = LEAT_EXIT_FAILURE;
out:
	free(summary);
	leat_cli_daemon_end(&daemon);
	return status;
}

/* Actions run in processes that leat run starts and ends with their steps. */
static bool has_no_actions(const struct leat_workflow *wf)
{
	for (size_t i = 0; i < wf->n_steps; i++)
		if (wf->steps[i].action_file) {
			leat_error("step %s has actions, which only leat run calls",
				   wf->steps[i].name);
			return false;
		}
	return true;
}

static int serve_command(const struct leat_args *args)
{
	struct leat_cli_timeline timeline = {0};
	struct leat_cli_workflow w;
	int status = LEAT_EXIT_SELF;

	if (!leat_cli_workflow_open(&w, args, args->operands[0], LEAT_CLI_WRITABLE))
		return LEAT_EXIT_SELF;
	if (leat_cli_enforceable(args, w.wf) && has_no_actions(w.wf))
		status = leat_cli_timeline_open(&timeline, args);
	if (timeline.out || (!timeline.path && status == LEAT_EXIT_OK))
		status = serve(args, &w, &timeline);
	leat_cli_timeline_close(&timeline);
	leat_cli_workflow_close(&w);
	return status;
}

const struct leat_command leat_command_serve = {
	.name = "serve",
	.summary = "Serve a workflow whose steps are started elsewhere",
	.starts_run = true,
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.run = serve_command,
};
