/* Starting steps and learning of their ends. */
#include "driver/actor.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/nproc.h"
#include "base/confine.h"
#include "driver/start.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void leat_driver_note_counters(struct leat_driver *d, size_t step)
{
	if (!d->config->counters)
		return;
	d->config->counters(d->config->counters_ctx, step, &d->result->steps[step].counters);
	leat_schedule_look(d, step);
}

/* As leat_process_fork. */
static int fork_step(struct leat_driver *d, size_t step, char **envp)
{
	struct leat_start start;
	struct leat_process_spec spec = {.envp = envp,
					 .own_group = true,
					 .confined = d->config->enforce && leat_confine_possible(),
					 .capture = true};
	int result = leat_start_init(&start, d->config, step, d->steps[step].file);

	spec.program = start.program;
	spec.argv = start.argv;
	spec.dir = start.dir;
	if (!result)
		result = leat_driver_make_dir(d, step);
	if (!result)
		result = leat_process_fork(&spec, &d->steps[step].process);
	leat_start_release(&start);
	return result;
}

/* STEP_START is sent before the step's first instruction runs. */
static int start_process(struct leat_driver *d, size_t step, char **envp,
			 const struct leat_environment_spec *spec)
{
	const struct leat_driver_config *config = d->config;
	struct leat_run_step *s = &d->steps[step];
	int result = fork_step(d, step, envp);

	if (result < 0)
		return result;
	d->n_free -= d->n_free > 0;
	if (s->state == LEAT_STEP_PENDING)
		d->result->steps[step].start_ns = leat_clock_ns();
	leat_pin_step(d, step);
	leat_driver_advance(d, step, LEAT_STEP_EVENT_LAUNCH);
	s->acted = LEAT_ACTED_NOT;
	leat_schedule_started(d, step);
	result = leat_pump_start(d, step);
	if (result == 0 && config->control)
		result = leat_control_step_start(config->control, d->wf->steps[step].name,
						 s->process.pid, config->plan->programs[step],
						 spec->key ? spec->key : "", spec->library);
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
	char *limit = error == -EAGAIN ? leat_nproc_limit() : NULL;
	char why[400];

	snprintf(why, sizeof(why), "cannot start %s: %s%s%s", program, strerror(-error),
		 limit ? ": " : "", limit ? limit : "");
	free(limit);
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
	char key[LEAT_KEY_SIZE] = "", **envp;
	int result = d->config->enforce ? leat_confine_key(key) : 0;
	const struct leat_environment_spec spec = leat_start_environment(d->config, step, key);

	envp = result ? NULL : leat_environment_new(&spec);
	if (envp)
		result = start_process(d, step, envp, &spec);
	else if (!result)
		result = -ENOMEM;
	leat_environment_free(envp);
	if (leat_control_is_lost(result))
		leat_driver_lose_daemon(d);
	if (result < 0)
		not_started(d, step, result);
}

void leat_driver_refuse(struct leat_driver *d, size_t step, const char *why)
{
	struct leat_step_result *r = &d->result->steps[step];

	leat_driver_advance(d, step, LEAT_STEP_EVENT_REFUSE);
	r->refused = true;
	leat_schedule_ended(d, step, true);
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

static void report_failure(struct leat_driver *d, size_t step)
{
	const struct leat_step_result *r = &d->result->steps[step];
	const char *cause = r->cause ? r->cause : "";
	char status[48] = "";

	leat_console_progress(&d->console, NULL);
	if (r->status || !*cause)
		leat_format_status(r, status);
	leat_pump_drain(d, step);
	leat_driver_keep_output(d, step);
	leat_error("step %s failed: %s%s%s%s%s", d->wf->steps[step].name, status,
		   *status && *cause ? ": " : "", cause, r->log ? "; what it printed is in " : "",
		   r->log ? r->log : "");
}

/* Without a daemon, which knows that better. */
static void blame_limits(struct leat_driver *d, size_t step, int status)
{
	char *why = leat_oom_is_status(status) ? leat_oom_explain(&d->oom) : NULL;

	if (!why && status)
		why = leat_oom_explain_refused(&d->oom);
	if (why)
		leat_result_blame(&d->result->steps[step], "%s", why);
	free(why);
}

/* The daemon may know better how it ended. */
static void report_end(struct leat_driver *d, size_t step, int status)
{
	struct leat_control *c = d->config->control;
	int result;

	if (!c || d->control_lost) {
		blame_limits(d, step, status);
		return;
	}
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
	leat_driver_advance(d, step, LEAT_STEP_EVENT_END);
	d->result->steps[step].end_ns = leat_clock_ns();
	d->result->steps[step].status = status;
	leat_schedule_ended(d, step, !leat_step_is_good(&d->result->steps[step]));
	leat_driver_note_counters(d, step);
	report_end(d, step, status);
	leat_driver_note_unmade(d, step);
}

/* A launch has ended, its actions, if any, being called. */
static void launch_ended(struct leat_driver *d, size_t step, int status)
{
	struct leat_run_step *s = &d->steps[step];

	if (!status && s->state != LEAT_STEP_KILLED && d->config->control && !d->control_lost &&
	    d->stop == LEAT_STOP_NONE && leat_launch_may_rest(&d->wf->steps[step])) {
		leat_pump_stop(d, step);
		leat_process_close(&s->process);
		leat_driver_advance(d, step, LEAT_STEP_EVENT_RETURN);
		leat_schedule_ended(d, step, false);
		leat_driver_note_counters(d, step);
		return;
	}
	step_ended(d, step, status);
}

/* The process of a launch has ended. */
static void process_ended(struct leat_driver *d, size_t step, int status)
{
	struct leat_run_step *s = &d->steps[step];

	/* It was killed because of them. */
	if (s->state == LEAT_STEP_KILLED)
		status = 0;
	else if (leat_actors_exit(d, step, status)) {
		leat_driver_advance(d, step, LEAT_STEP_EVENT_LEAVE);
		s->left = status;
		s->process.pid = 0;
		return;
	}
	launch_ended(d, step, status);
}

static long step_of(const struct leat_driver *d, pid_t pid)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (leat_driver_step_runs(d->steps[i].state) && d->steps[i].process.pid == pid)
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

		if (d->steps[step].state != LEAT_STEP_REAPED)
			continue;
		leat_driver_advance(d, step, LEAT_STEP_EVENT_LOOK);
		if (leat_step_is_good(&d->result->steps[step]))
			continue;
		if (!d->interrupted && d->stop < LEAT_STOP_TERM)
			report_failure(d, step);
		leat_driver_fail_step(
			d, status ? leat_process_exit_status(status) : LEAT_EXIT_OWN_FAILURE, step);
	}
}

/* Its last launch was the last one, if `good`. */
static void end_resting(struct leat_driver *d, size_t step, bool good, const char *why)
{
	if (!good) {
		d->result->steps[step].spoiled = true;
		leat_result_blame(&d->result->steps[step], "%s", why);
	}
	step_ended(d, step, good ? 0 : 1 << 8);
	fail_ended_steps(d);
}

/* No version has come: there was nothing to be launched for. */
static void end_unlaunched(struct leat_driver *d, size_t step)
{
	struct leat_step_result *r = &d->result->steps[step];
	const char *name = d->wf->steps[step].name;
	int result = leat_control_step_start(d->config->control, name, 0, "", "", false);

	r->start_ns = leat_clock_ns();
	if (leat_control_is_lost(result))
		leat_driver_lose_daemon(d);
	step_ended(d, step, 0);
}

/* Those that run beside staged steps wait for these with what they would share by chance: the
 * daemon knows of them before any of the others does something. */
static void announce_staged(struct leat_driver *d)
{
	for (size_t i = 0; i < d->wf->n_steps && d->config->control && !d->announced; i++)
		if (d->wf->steps[i].staged && d->steps[i].state == LEAT_STEP_PENDING)
			leat_control_ask_launch(d->config->control, (int)i);
	d->announced = true;
}

/* It is to wait, be it for a version or for another step, and never will be able to start. */
static void end_waiting(struct leat_driver *d, size_t step, bool good, const char *why)
{
	if (leat_driver_step_rests(d->steps[step].state))
		end_resting(d, step, good, why);
	else if (good)
		end_unlaunched(d, step);
	else
		give_up_step(d, step, why);
}

void leat_driver_start_steps(struct leat_driver *d)
{
	const size_t *order =
		d->config->control ? d->config->plan->launches : d->config->plan->order;

	announce_staged(d);
	d->crowded = false;
	leat_schedule_watch(d);
	d->n_free = leat_launch_free(d);
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		size_t step = order[i];
		char why[400] = "";

		if (d->steps[step].state != LEAT_STEP_PENDING &&
		    !leat_driver_step_rests(d->steps[step].state))
			continue;
		switch (leat_driver_turn(d, step, why, sizeof(why))) {
		case LEAT_TURN_NOW:
			start_step(d, step);
			break;
		case LEAT_TURN_LATER:
			if (!d->config->control)
				return;
			break;
		case LEAT_TURN_NO_MORE:
			end_waiting(d, step, true, why);
			break;
		case LEAT_TURN_NEVER:
			end_waiting(d, step, false, why);
			break;
		case LEAT_TURN_LOST:
			leat_driver_lose_daemon(d); /* which is why it is not run next time */
			break;
		}
	}
}

void leat_driver_left(struct leat_driver *d, size_t step)
{
	struct leat_run_step *s = &d->steps[step];

	if (s->state != LEAT_STEP_LEAVING)
		return;
	launch_ended(d, step, s->left);
	fail_ended_steps(d);
}

void leat_driver_actions_failed(struct leat_driver *d, size_t step, const char *why)
{
	struct leat_run_step *s = &d->steps[step];
	struct leat_step_result *r = &d->result->steps[step];

	if (s->state == LEAT_STEP_PENDING) {
		give_up_step(d, step, why);
		return;
	}
	r->spoiled = true;
	leat_result_blame(r, "%s", why);
	if (s->state == LEAT_STEP_RUNNING || s->state == LEAT_STEP_KILLED) {
		leat_driver_advance(d, step, LEAT_STEP_EVENT_KILL);
		kill(-s->process.pid, SIGKILL); /* it is reaped, and ends */
		return;
	}
	if (!leat_driver_step_is_over(s->state)) {
		step_ended(d, step, 0);
		fail_ended_steps(d);
	} else {
		report_failure(d, step);
		leat_driver_fail_step(d, LEAT_EXIT_OWN_FAILURE, step);
	}
}

/* A child that has ended; 0: none. What the kernel knows of it is lost when it is reaped. */
static pid_t find_ended(void)
{
	siginfo_t info = {0};

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ? 0 : info.si_pid;
}

/* Nobody else knows how it ended. A daemon that is gone has no use for it. */
static void report_orphan(const struct leat_driver *d, pid_t pid, int status)
{
	struct leat_control *c = d->config->control;

	if (c && !d->control_lost && pid != d->config->daemon_pid)
		leat_control_reaped(c, pid, status);
}

void leat_driver_reap(struct leat_driver *d)
{
	int status;
	pid_t pid;

	while ((pid = find_ended()) > 0) {
		long step = step_of(d, pid);

		if (step >= 0)
			leat_driver_note_counters(d, (size_t)step);
		if (waitpid(pid, &status, WNOHANG) != pid)
			break;
		if (step >= 0)
			process_ended(d, (size_t)step, status);
		else if (!leat_actors_reap(d, pid, status))
			report_orphan(d, pid, status);
	}
	fail_ended_steps(d);
}
