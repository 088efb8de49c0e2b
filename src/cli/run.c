/* leat run: preflight, daemon, steps, summary. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/daemon.h"
#include "cli/segment.h"
#include "cli/workflow.h"
#include "driver/console.h"
#include "driver/driver.h"
#include "mount/mount.h"
#include "stream/stream.h"
#include "wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(LEAT_WIRE_LAUNCH == LEAT_CALL_LAUNCH, "two names of one question");

const struct leat_option leat_run_options[] = {
	{.name = "plain",
	 .type = LEAT_OPTION_FLAG,
	 .doc = "Run the steps one after another on plain files, producers before consumers, as a "
		"batch script would. Nothing is intercepted."},
	{.name = "timeline",
	 .letter = 't',
	 .type = LEAT_OPTION_FLAG,
	 .env = "LEAT_TIMELINE",
	 .doc = "Show a chart of when each step ran and when it waited."},
	{.name = "keep-going",
	 .letter = 'k',
	 .type = LEAT_OPTION_FLAG,
	 .env = "LEAT_KEEP_GOING",
	 .doc = "When a step has failed, let the others go on to their ends. Steps that need a "
		"file of it fail, or are not run."},
	{.name = "resume",
	 .letter = 'r',
	 .type = LEAT_OPTION_FLAG,
	 .doc = "Go on where the last run in this directory ended: steps that are complete and "
		"whose command, inputs and outputs are unchanged are not run again."},
	{.name = "report",
	 .type = LEAT_OPTION_TEXT,
	 .argument = "FILE",
	 .env = "LEAT_REPORT",
	 .doc = "Write what became of the run to this file, as JSON: each step with its end and "
		"its cause, and each file that is not complete."},
	LEAT_OPTION_ROW_LOG,
	LEAT_OPTION_ROW_ON_VIOLATION,
	LEAT_OPTION_ROW_ENFORCE,
	LEAT_OPTION_ROW_SEALED,
	LEAT_OPTION_ROW_MEMORY,
	LEAT_OPTION_ROW_SPILL_DIR,
	{.name = "quiet",
	 .letter = 'q',
	 .type = LEAT_OPTION_FLAG,
	 .env = "LEAT_QUIET",
	 .doc = "Show neither what the steps print nor the progress and the summary."},
	LEAT_OPTION_ROW_DIR,
	LEAT_OPTION_ROW_RUNTIME_DIR,
	{0},
};

static bool steps_have_commands(const struct leat_workflow *wf)
{
	for (size_t i = 0; i < wf->n_steps; i++)
		if (!wf->steps[i].argv) {
			leat_error("step %s has no command in %s; serve the file with leat serve, "
				   "and start the step with leat exec --app %s -- COMMAND",
				   wf->steps[i].name, wf->path, wf->steps[i].name);
			return false;
		}
	if (wf->n_steps == 0)
		leat_error("%s has no steps", wf->path);
	return wf->n_steps > 0;
}

static int run_streamed(const struct leat_args *args, const struct leat_cli_workflow *w,
			struct leat_driver_config *config, struct leat_result *result)
{
	char *library = leat_cli_library(), *mount = leat_cli_mount();
	struct leat_cli_daemon daemon = {0};
	struct leat_segment segment = {0};
	int status = LEAT_EXIT_SELF;

	if (!library || leat_cli_daemon_start(&daemon, args, w, false) < 0)
		goto out;
	if (leat_segment_open(&segment, daemon.control, w->wf->n_steps) < 0)
		goto out;
	config->library = library;
	config->mount_command = mount;
	config->control = daemon.control;
	config->runtime_dir = daemon.runtime_dir;
	config->daemon_pid = daemon.pid;
	config->counters = leat_segment_counters;
	config->counters_ctx = &segment;
	status = leat_driver_run(config, result);
out:
	leat_segment_close(&segment);
	leat_cli_daemon_end(&daemon);
	free(library);
	free(mount);
	return status;
}

static void print_result(const struct leat_args *args, const struct leat_result *result)
{
	if (!result->start_ns || leat_args_flag(args, "quiet"))
		return;
	if (leat_args_flag(args, "timeline"))
		leat_timeline_print(result, stdout, leat_console_width(), leat_console_utf8());
	leat_summary_print(result, stdout);
}

/* Open before anything starts, so that what cannot be written is no surprise at the end. */
static bool open_report(const struct leat_args *args, FILE **out)
{
	const char *path = leat_args_text(args, "report");

	*out = path ? fopen(path, "we") : NULL;
	if (path && !*out)
		leat_error("cannot write the report %s: %s", path, strerror(errno));
	return !path || *out;
}

/* The exit status. */
static int write_report(const struct leat_args *args, const struct leat_cli_workflow *w,
			const struct leat_result *result, FILE *out)
{
	int error = leat_report_write(result, w->wf, w->dir, out);

	if (fclose(out) != 0 && !error)
		error = -errno;
	if (!error)
		return result->exit_status;
	leat_error("cannot write the report %s: %s", leat_args_text(args, "report"),
		   strerror(-error));
	return result->exit_status ? result->exit_status : LEAT_EXIT_SELF;
}

static int run_reported(const struct leat_args *args, const struct leat_cli_workflow *w,
			struct leat_driver_config *config, bool plain)
{
	struct leat_result result;
	FILE *report;
	int status;

	if (!open_report(args, &report))
		return LEAT_EXIT_SELF;
	if (leat_result_init(&result, w->wf) < 0) {
		leat_error("out of memory");
		if (report)
			fclose(report);
		return LEAT_EXIT_SELF;
	}
	result.enforced = config->enforce;
	result.sealed = config->sealed;
	result.exit_status =
		plain ? leat_driver_run(config, &result) : run_streamed(args, w, config, &result);
	print_result(args, &result);
	status = report ? write_report(args, w, &result, report) : result.exit_status;
	leat_result_release(&result);
	return status;
}

/* What will be skipped, and why not; false after a message. */
static bool load_record(const struct leat_args *args, const struct leat_workflow *wf,
			struct leat_resume *resume)
{
	if (!resume) {
		leat_error("out of memory");
		return false;
	}
	if (!leat_args_flag(args, "resume"))
		return true;
	if (leat_resume_load(resume) < 0)
		return false;
	for (size_t i = 0; i < wf->n_steps && !leat_args_flag(args, "quiet"); i++)
		fprintf(stderr, "leat: step %s is %s: %s\n", wf->steps[i].name,
			leat_resume_skips(resume, i) ? "skipped" : "run",
			leat_resume_why(resume, i));
	return true;
}

static int run_plan(const struct leat_args *args, const struct leat_cli_workflow *w,
		    struct leat_plan *plan)
{
	bool plain = leat_args_flag(args, "plain");
	const struct leat_plan_reach reach = {.intercepted = !plain,
					      .sealed = leat_args_flag(args, "sealed"),
					      .can_mount = leat_mount_possible};
	struct leat_driver_config config = {.plan = plan,
					    .dir = w->dir,
					    .enforce = leat_cli_enforces(args),
					    .sealed = leat_args_flag(args, "sealed"),
					    .quiet = leat_args_flag(args, "quiet"),
					    .keep_going = leat_args_flag(args, "keep-going")};
	int status;

	if (plain && leat_plan_is_cyclic(plan))
		return LEAT_EXIT_SELF;
	status = leat_plan_programs(plan, w->dir, &reach);
	if (status)
		return status;
	config.resume = leat_resume_new(w->wf, plan->matcher, w->dir);
	status = LEAT_EXIT_SELF;
	if (load_record(args, w->wf, config.resume))
		status = run_reported(args, w, &config, plain);
	leat_resume_free(config.resume);
	return status;
}

int leat_cli_run(const struct leat_args *args)
{
	struct leat_cli_workflow w;
	struct leat_plan plan;
	int status = LEAT_EXIT_SELF;

	if (leat_args_flag(args, "plain") && leat_cli_enforces(args)) {
		leat_error("--enforce needs interception, and --plain does without: give one of "
			   "them");
		return LEAT_EXIT_USAGE;
	}
	if (!leat_cli_workflow_open(&w, args, args->operands[0],
				    LEAT_CLI_INPUTS | LEAT_CLI_WRITABLE))
		return LEAT_EXIT_SELF;
	if (!steps_have_commands(w.wf) || !leat_cli_enforceable(args, w.wf))
		goto out;
	if (leat_plan_init(&plan, w.wf) < 0) {
		leat_error("out of memory");
		goto out;
	}
	status = run_plan(args, &w, &plan);
	leat_plan_release(&plan);
out:
	leat_cli_workflow_close(&w);
	return status;
}
