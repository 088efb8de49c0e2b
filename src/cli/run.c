/* leat run: preflight, daemon, steps, summary. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/daemon.h"
#include "cli/preview.h"
#include "cli/timeline.h"
#include "cli/trace_run.h"
#include "cli/workflow.h"
#include "driver/driver.h"
#include "model/view.h"
#include "mount/mount.h"
#include "stream/stream.h"
#include "wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct leat_option options[] = {
	{.name = "plain",
	 .type = LEAT_OPTION_FLAG,
	 .doc = "Run the steps one after another on plain files, producers before consumers, as a "
		"batch script would. Nothing is intercepted."},
	{.name = "dry-run",
	 .letter = 'n',
	 .type = LEAT_OPTION_FLAG,
	 .doc = "Print what would be started, step by step: directory, command, environment, and "
		"how files are given. Nothing is started, made or written."},
	LEAT_OPTION_ROW_CHART,
	LEAT_OPTION_ROW_TIMELINE,
	LEAT_OPTION_ROW_TRACE,
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
	 .doc = "Write the outcome of the run to this file, as JSON: each step with its end and "
		"its cause, and each file that is not complete."},
	{.name = "jobs",
	 .letter = 'j',
	 .type = LEAT_OPTION_NUMBER,
	 .argument = "N",
	 .range = "1..65535",
	 .env = "LEAT_JOBS",
	 .doc = "Run at most N instances of ensembles at once, those that wait for others' files "
		"not "
		"counted (default: as many as there are CPUs, or tasks)."},
	{.name = "pin",
	 .type = LEAT_OPTION_FLAG,
	 .env = "LEAT_PIN",
	 .doc = "Give each running step a CPU of its own, or one for each of its \"nprocs\" "
		"processes. If there are too few, they are shared, the least used first."},
	{.name = "mpi-launcher",
	 .type = LEAT_OPTION_TEXT,
	 .argument = "COMMAND",
	 .env = "LEAT_MPI_LAUNCHER",
	 .doc = "Start steps with \"nprocs\" above 1 by COMMAND -n N PROGRAM (default: srun in a "
		"Slurm job, else mpirun, else mpiexec)."},
	{.name = "action-timeout",
	 .type = LEAT_OPTION_NUMBER,
	 .argument = "SECONDS",
	 .range = "1..86400",
	 .env = "LEAT_ACTION_TIMEOUT",
	 .doc = "An action that takes longer for one event is stopped, and its step fails "
		"(default: 60)."},
	LEAT_OPTION_ROW_RESOURCES,
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

/* After the daemon was started: it is a fork of this process, and no part of what is traced. */
static int run_traced(const struct leat_args *args, const struct leat_driver_config *config,
		      struct leat_result *result, bool plain)
{
	struct leat_cli_trace_run trace;
	int status = leat_cli_trace_run_begin(&trace, args, plain), end;

	if (status)
		return status;
	status = leat_driver_run(config, result);
	end = leat_cli_trace_run_end(&trace, config->plan, result, plain);
	return status ? status : end;
}

static int run_streamed(const struct leat_args *args, const struct leat_cli_workflow *w,
			struct leat_driver_config *config, struct leat_result *result)
{
	char *library = leat_cli_library(), *mount = leat_cli_mount();
	struct leat_cli_daemon daemon = {0};
	int status = LEAT_EXIT_SELF;

	if (!library || !leat_launch_is_possible(config))
		goto out;
	status = leat_cli_daemon_start(&daemon, args, w, false);
	if (status)
		goto out;
	config->library = library;
	config->tracer = leat_args_text(args, "trace") ? library : NULL;
	config->mount_command = mount;
	config->control = daemon.control;
	config->runtime_dir = daemon.runtime_dir;
	config->daemon_pid = daemon.pid;
	config->counters = leat_segment_counters;
	config->counters_ctx = &daemon.segment;
	status = run_traced(args, config, result, false);
out:
	config->counters_ctx = NULL;
	leat_cli_daemon_end(&daemon);
	free(library);
	free(mount);
	return status;
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
	int error = leat_result_write_json(result, w->wf, w->dir, out);

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
	struct leat_cli_timeline timeline;
	struct leat_result result;
	FILE *report;
	int status = leat_cli_timeline_open(&timeline, args);

	if (status)
		return status;
	if (!open_report(args, &report)) {
		leat_cli_timeline_close(&timeline);
		return LEAT_EXIT_SELF;
	}
	if (leat_result_init(&result, w->wf) < 0) {
		leat_error("out of memory");
		leat_cli_timeline_close(&timeline);
		if (report)
			fclose(report);
		return LEAT_EXIT_SELF;
	}
	config->timeline = timeline.out != NULL;
	result.enforced = config->enforce;
	result.sealed = config->sealed;
	result.exit_status = plain ? run_traced(args, config, &result, true)
				   : run_streamed(args, w, config, &result);
	if (result.start_ns)
		leat_cli_summary(args, &result);
	status = leat_cli_timeline_write(&timeline, &result, w->wf, w->dir);
	if (status && !result.exit_status)
		result.exit_status = status;
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
	if (leat_args_flag(args, "quiet") || leat_args_flag(args, "dry-run"))
		return true;
	for (size_t i = 0; i < wf->n_steps; i++)
		fprintf(stderr, "leat: step %s is %s: %s\n", wf->steps[i].name,
			leat_resume_skips(resume, i) ? "skipped" : "run",
			leat_resume_why(resume, i));
	return true;
}

/* Names that nobody is there to translate. */
static bool can_be_plain(const struct leat_args *args, const struct leat_workflow *wf)
{
	if (leat_args_text(args, "listen")) {
		leat_error("--listen: a run on plain files has no daemon that has metrics; leave "
			   "one of --plain and --listen out");
		return false;
	}
	for (size_t i = 0; i < wf->n_steps; i++) {
		const struct leat_step *step = &wf->steps[i];

		if (step->action_file) {
			leat_error("step %s has actions, which need interception: leave --plain "
				   "out",
				   step->name);
			return false;
		}
		if (!step->n_inports)
			continue;
		leat_error("step %s sees %s %s, which needs interception: leave --plain out",
			   step->name, step->inports[0].seen.text,
			   leat_inport_has_versions(&step->inports[0]) ? "in versions"
								       : "by another name");
		return false;
	}
	return true;
}

/* Nobody knows the devices that steps ask for. */
static bool can_be_scheduled(const struct leat_workflow *wf)
{
	for (size_t i = 0; !wf->resources && i < wf->n_steps; i++) {
		const struct leat_needs *needs = &wf->steps[i].needs;

		if (!needs->device && needs->bandwidth.kind == LEAT_BANDWIDTH_NONE)
			continue;
		leat_error("step %s asks for %s, and no resources are described; name a file of "
			   "them with --resources (leat probe DIRECTORY writes one)",
			   wf->steps[i].name,
			   needs->device ? "a storage device" : "storage bandwidth");
		return false;
	}
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
					    .strict = leat_args_flag(args, "strict"),
					    .warn_violations = leat_cli_warns(args),
					    .jobs = (unsigned)leat_args_number(args, "jobs"),
					    .resources = w->wf->resources,
					    .pin = leat_args_flag(args, "pin"),
					    .keep_going = leat_args_flag(args, "keep-going")};
	int status;

	if (!plain && !can_be_scheduled(w->wf))
		return LEAT_EXIT_SELF;
	if (plain && (leat_plan_is_cyclic(plan) || !can_be_plain(args, w->wf)))
		return LEAT_EXIT_SELF;
	status = leat_plan_launcher(plan, leat_args_text(args, "mpi-launcher"));
	if (!status)
		status = leat_plan_programs(plan, w->dir, &reach);
	if (status)
		return status;
	config.action_command = w->action_command;
	config.action_timeout_s = leat_cli_action_timeout(args);
	config.resume = leat_resume_new(w->wf, plan->matcher, w->dir);
	status = LEAT_EXIT_SELF;
	if (load_record(args, w->wf, config.resume))
		status = leat_args_flag(args, "dry-run") ? leat_cli_preview(args, w, &config)
							 : run_reported(args, w, &config, plain);
	leat_resume_free(config.resume);
	return status;
}

static int run_command(const struct leat_args *args)
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
				    LEAT_CLI_INPUTS | LEAT_CLI_WRITABLE | LEAT_CLI_ACTIONS |
					    LEAT_CLI_RESOURCES | LEAT_CLI_HERE))
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

const struct leat_command leat_command_run = {
	.name = "run",
	.summary = "Run a workflow: all its steps at once, their files streamed",
	.starts_run = true,
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.run = run_command,
};
