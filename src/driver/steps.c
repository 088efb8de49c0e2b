/* Starting steps and learning of their ends. */
#include "driver/internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/confine.h"
#include "driver/environment.h"
#include "driver/mounted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

size_t leat_driver_count(const struct leat_driver *d, enum leat_step_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < d->wf->n_steps; i++)
		n += d->steps[i].state == state;
	return n;
}

static void note_counters(struct leat_driver *d, size_t step)
{
	if (d->config->counters)
		d->config->counters(d->config->counters_ctx, step,
				    &d->result->steps[step].counters);
}

static bool is_mounted(const struct leat_driver *d, size_t step)
{
	return d->config->mount_command && d->config->plan->mounted[step];
}

/* As leat_process_fork. */
static int fork_step(struct leat_driver *d, size_t step, char **envp)
{
	const struct leat_driver_config *config = d->config;
	struct leat_process_spec spec = {.program = config->plan->programs[step],
					 .argv = d->wf->steps[step].argv,
					 .envp = envp,
					 .dir = config->dir,
					 .own_group = true,
					 .confined = config->enforce && leat_confine_possible(),
					 .capture = true};
	char **argv = NULL;
	int result;

	if (is_mounted(d, step)) {
		argv = leat_mounted_argv(config->mount_command, spec.program, spec.argv);
		if (!argv)
			return -ENOMEM;
		spec.argv = argv;
		spec.program = config->mount_command;
	}
	result = leat_process_fork(&spec, &d->steps[step].process);
	free(argv);
	return result;
}

/* The daemon is told before the step's first instruction runs. */
static int start_process(struct leat_driver *d, size_t step, char **envp, const char *key)
{
	const struct leat_driver_config *config = d->config;
	struct leat_run_step *s = &d->steps[step];
	int result = fork_step(d, step, envp);

	if (result < 0)
		return result;
	s->state = LEAT_STEP_RUNNING;
	d->result->steps[step].start_ns = leat_clock_ns();
	result = leat_pump_start(d, step);
	if (result == 0 && config->control)
		result = leat_control_step_start(config->control, d->wf->steps[step].name,
						 s->process.pid, config->plan->programs[step], key);
	if (result == 0)
		result = leat_process_release(&s->process);
	else
		leat_process_abandon(&s->process);
	return result;
}

/* A child that could not execute ends by itself and is reaped as the step's end. */
static void not_started(struct leat_driver *d, size_t step, int error)
{
	const char *program = d->config->plan->programs[step];
	char why[400];

	snprintf(why, sizeof(why), "cannot start %s: %s", program, strerror(-error));
	leat_console_progress(&d->console, NULL);
	leat_error("step %s: %s", d->wf->steps[step].name, why);
	if (d->steps[step].state == LEAT_STEP_PENDING)
		leat_driver_refuse(d, step, why);
	else
		leat_result_blame(&d->result->steps[step], "%s", why);
	leat_driver_fail_step(d,
			      error == -ENOENT   ? LEAT_PLAN_NOT_FOUND
			      : error == -EACCES ? LEAT_PLAN_CANNOT_EXECUTE
						 : LEAT_EXIT_OWN_FAILURE,
			      step);
}

static void start_step(struct leat_driver *d, size_t step)
{
	const struct leat_driver_config *config = d->config;
	const struct leat_step *model = &d->wf->steps[step];
	struct leat_environment_spec spec = {
		.dir = config->dir,
		.step = model->name,
		.workflow = d->wf->name,
		.runtime_dir = config->runtime_dir,
		.library = model->staged || is_mounted(d, step) ? NULL : config->library,
		.mount = config->mount_command};
	char key[LEAT_KEY_SIZE] = "", **envp;
	int result = config->enforce ? leat_confine_key(key) : 0;

	spec.key = config->enforce ? key : NULL;
	spec.sealed = config->sealed;
	envp = result ? NULL : leat_environment_new(&spec);
	if (envp)
		result = start_process(d, step, envp, key);
	else if (!result)
		result = -ENOMEM;
	leat_environment_free(envp);
	if (leat_control_is_lost(result))
		leat_driver_lose_daemon(d);
	if (result < 0)
		not_started(d, step, result);
}

/* -EAGAIN, or -ECANCELED and why not. */
static int wait_for_turn(struct leat_driver *d, size_t step, char *why, size_t why_size)
{
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		if (i == step || leat_step_is_good(&d->result->steps[i]) ||
		    d->steps[i].state != LEAT_STEP_ENDED ||
		    !leat_is_upstream(d->config->plan->matcher, (int)i, (int)step))
			continue;
		snprintf(why, why_size, "step %s, which makes its input, %s", d->wf->steps[i].name,
			 d->result->steps[i].refused ? "did not run" : "failed");
		return -ECANCELED;
	}
	return leat_driver_count(d, LEAT_STEP_RUNNING) ? -EAGAIN : 0;
}

/* May this step start now? 0; -EAGAIN: later; else never, `why` in words. */
static int may_start(struct leat_driver *d, size_t step, char *why, size_t why_size)
{
	int result;

	if (d->stop != LEAT_STOP_NONE) {
		snprintf(why, why_size, "%s", d->why);
		return -ECANCELED;
	}
	if (!d->config->control)
		return wait_for_turn(d, step, why, why_size);
	if (!d->wf->steps[step].staged)
		return 0;
	result = leat_control_ask_launch(d->config->control, (int)step);
	if (result == 0 || result == -EAGAIN)
		return result;
	snprintf(why, why_size, "%s", leat_control_why(d->config->control));
	if (!*why)
		snprintf(why, why_size, "%s", strerror(-result));
	return result;
}

void leat_driver_refuse(struct leat_driver *d, size_t step, const char *why)
{
	struct leat_step_result *r = &d->result->steps[step];

	d->steps[step].state = LEAT_STEP_ENDED;
	r->refused = true;
	leat_result_blame(r, "%s", why);
	if (!d->config->control || d->control_lost)
		return;
	if (leat_control_step_fail(d->config->control, d->wf->steps[step].name, why) < 0)
		leat_debug("step %s: the daemon did not take that it will not run",
			   d->wf->steps[step].name);
}

/* What keeps a step from running is a failure of its own only if nothing has failed before:
 * a file that cannot be brought to disk for it. */
static void give_up_step(struct leat_driver *d, size_t step, const char *why)
{
	leat_driver_refuse(d, step, why);
	if (!d->exit_status)
		leat_driver_fail(d, LEAT_EXIT_OWN_FAILURE, "step %s could not run",
				 d->wf->steps[step].name);
	if (!d->interrupted) {
		leat_console_progress(&d->console, NULL);
		leat_error("step %s is not run: %s", d->wf->steps[step].name, why);
	}
}

void leat_driver_start_steps(struct leat_driver *d)
{
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		size_t step = d->config->plan->order[i];
		char why[400] = "";
		int result;

		if (d->steps[step].state != LEAT_STEP_PENDING)
			continue;
		result = may_start(d, step, why, sizeof(why));
		if (result == 0)
			start_step(d, step);
		else if (leat_control_is_lost(result))
			leat_driver_lose_daemon(d); /* which is why it is not run next time */
		else if (result != -EAGAIN)
			give_up_step(d, step, why);
		else if (!d->config->control)
			return;
	}
}

static void report_failure(struct leat_driver *d, size_t step)
{
	const struct leat_step_result *r = &d->result->steps[step];
	const char *cause = r->cause ? r->cause : "";
	char status[48] = "";

	leat_console_progress(&d->console, NULL);
	if (r->status || !*cause)
		leat_format_status(r, status);
	leat_error("step %s failed: %s%s%s", d->wf->steps[step].name, status,
		   *status && *cause ? ": " : "", cause);
}

/* The daemon may know better how it ended. */
static void tell_end(struct leat_driver *d, size_t step, int status)
{
	struct leat_control *c = d->config->control;
	int result;

	if (!c || d->control_lost)
		return;
	result = leat_control_step_end(c, d->wf->steps[step].name, d->steps[step].process.pid,
				       status);
	if (leat_control_is_lost(result)) {
		leat_driver_lose_daemon(d);
	} else if (*leat_control_why(c)) {
		d->result->steps[step].spoiled = true;
		leat_result_blame(&d->result->steps[step], "%s", leat_control_why(c));
	} else if (result < 0) {
		leat_debug("step %s: the daemon did not take its end", d->wf->steps[step].name);
	}
}

static void step_ended(struct leat_driver *d, size_t step, int status)
{
	struct leat_run_step *s = &d->steps[step];

	s->state = LEAT_STEP_ENDED;
	s->just_ended = true;
	d->result->steps[step].end_ns = leat_clock_ns();
	d->result->steps[step].status = status;
	note_counters(d, step);
	tell_end(d, step, status);
}

static long step_of(const struct leat_driver *d, pid_t pid)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->steps[i].state == LEAT_STEP_RUNNING && d->steps[i].process.pid == pid)
			return (long)i;
	return -1;
}

/* Of steps that were found ended at once, the failure of one is likely the
 * cause of those downstream of it: it is the one to look at first. */
static void fail_ended_steps(struct leat_driver *d)
{
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		size_t step = d->config->plan->order[i];
		int status = d->result->steps[step].status;

		if (!d->steps[step].just_ended)
			continue;
		d->steps[step].just_ended = false;
		if (leat_step_is_good(&d->result->steps[step]))
			continue;
		if (!d->interrupted && d->stop < LEAT_STOP_TERM)
			report_failure(d, step);
		leat_driver_fail_step(
			d, status ? leat_process_exit_status(status) : LEAT_EXIT_OWN_FAILURE, step);
	}
}

void leat_driver_reap(struct leat_driver *d)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		long step = step_of(d, pid);

		if (step >= 0)
			step_ended(d, (size_t)step, status);
	}
	fail_ended_steps(d);
}
