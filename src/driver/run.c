#include "driver/internal.h"

#include "base/clock.h"
#include "base/cpus.h"
#include "base/format.h"
#include "base/log.h"
#include "base/str.h"
#include "driver/actor.h"
#include "driver/loop.h"
#include "wire/wire.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static void draw_progress(struct leat_driver *d)
{
	uint64_t now_ns = leat_clock_ns(), bytes = 0;
	size_t waiting = 0, over = leat_driver_count(d, leat_driver_step_is_over);
	char text[160], seconds[24], amount[24];

	if (!d->console.progress || now_ns - d->last_progress_ns < 200000000u)
		return;
	d->last_progress_ns = now_ns;
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		const struct leat_counters *c = &d->result->steps[i].counters;

		waiting += d->steps[i].state == LEAT_STEP_PENDING ||
			   (leat_driver_step_runs(d->steps[i].state) && c->waiting);
		bytes += c->bytes_in;
	}
	snprintf(text, sizeof(text), "%zu running, %zu waiting, %zu of %zu done",
		 d->wf->n_steps - waiting - over, waiting, over, d->wf->n_steps);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %s%s%s",
		 d->config->counters ? leat_format_bytes(bytes, amount) : "",
		 d->config->counters ? " streamed, " : "",
		 leat_format_seconds(now_ns - d->result->start_ns, seconds));
	leat_console_progress(&d->console, text);
}

static void take_samples(struct leat_driver *d)
{
	if (!d->config->counters)
		return;
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (leat_driver_step_runs(d->steps[i].state))
			leat_driver_note_counters(d, i);
		else
			d->result->steps[i].counters.waiting = 0;
	d->result->runnable = leat_count_runnable(d->result->cpus);
	leat_result_sample(d->result);
}

static void begin_finish(struct leat_driver *d)
{
	d->result->end_ns = leat_clock_ns();
	leat_driver_go_on(d, LEAT_DRIVER_EVENT_FINISH);
	if (d->config->control && !d->control_lost &&
	    leat_control_finish(d->config->control, d->config->timeline) < 0)
		leat_driver_lose_daemon(d);
	if (!d->config->control)
		leat_driver_report_unmade(d);
	if (!d->config->control || d->control_lost) {
		leat_driver_go_on(d, LEAT_DRIVER_EVENT_END);
		uv_stop(&d->loop);
	}
}

static void on_space(uv_timer_t *timer)
{
	struct leat_driver *d = timer->data;

	bool may_start = leat_schedule_watch(d);

	if (may_start || ((!leat_schedule_is_used(d) || d->config->jobs) && leat_launch_free(d)))
		leat_driver_look_around(d);
}

/* Nobody tells when a step begins to wait for another's files, and leaves its CPU to one more. */
static void watch_space(struct leat_driver *d)
{
	if (!d->crowded)
		uv_timer_stop(&d->space_timer);
	else if (!uv_is_active((uv_handle_t *)&d->space_timer))
		uv_timer_start(&d->space_timer, on_space, LEAT_SPACE_MS, LEAT_SPACE_MS);
}

void leat_driver_look_around(struct leat_driver *d)
{
	if (d->phase >= LEAT_DRIVER_FINISHING)
		return;
	do {
		d->look = false;
		leat_driver_start_steps(d);
		leat_actors_run(d);
	} while (d->look);
	watch_space(d);
	leat_driver_record_ends(d);
	if (leat_driver_count(d, leat_driver_step_is_over) == d->wf->n_steps &&
	    leat_actors_gone(d) && leat_driver_all_gone(d))
		begin_finish(d);
}

static void on_tick(uv_timer_t *timer)
{
	struct leat_driver *d = timer->data;

	leat_driver_stop_tick(d);
	if (d->phase < LEAT_DRIVER_FINISHING)
		take_samples(d);
	leat_schedule_look_at_daemon(d);
	leat_actors_tick(d);
	draw_progress(d);
	leat_driver_look_around(d);
}

static void on_signal(uv_signal_t *handle, int signo)
{
	struct leat_driver *d = handle->data;

	if (signo == SIGCHLD)
		leat_driver_reap(d);
	else
		leat_driver_interrupt(d, signo);
	leat_driver_look_around(d);
}

static void on_event(void *ctx, int error, const char *text)
{
	struct leat_driver *d = ctx;

	if (error == LEAT_WIRE_LAUNCHABLE) {
		size_t step = strtoul(text, NULL, 10);

		d->look = step < d->wf->n_steps;
		if (d->look)
			d->steps[step].more = LEAT_MORE_LOOK;
		return;
	}
	/* What fails because the run was interrupted is no news. */
	if (d->interrupted && error == -EIO)
		return;
	leat_console_progress(&d->console, NULL);
	leat_result_note(d->result, text);
	if (error == -ENOEXEC)
		leat_error("%s: cannot be intercepted; give the step `staged: true`", text);
	else if (error)
		leat_error("%s", text);
	else
		leat_warn("%s", text);
	/* A file that failed or a program refused makes a step fail, whose status counts. */
	if (error && error != -EIO && error != -ENOEXEC)
		leat_driver_fail(d, LEAT_EXIT_OWN_FAILURE, "%.*s", (int)strcspn(text, "\n"), text);
}

static void on_act(void *ctx, const struct leat_msg_act *m)
{
	leat_actors_act(ctx, m);
}

static void finished(struct leat_driver *d, int error)
{
	if (error)
		leat_driver_fail(d, LEAT_EXIT_OWN_FAILURE, "the run ended with an error: %s",
				 strerror(error < 0 ? -error : error));
	if (d->phase == LEAT_DRIVER_FINISHING) /* the daemon has not summed up */
		leat_driver_go_on(d, LEAT_DRIVER_EVENT_END);
	uv_stop(&d->loop);
}

static void on_control(uv_poll_t *poll, int status, int events)
{
	struct leat_driver *d = poll->data;
	char *text = NULL;
	int error = 0;
	int result;

	/* After an error nobody is called again, and what the daemon said before it is there. */
	do
		result = leat_control_receive(d->config->control, &error, &text);
	while (status < 0 && result == 0);
	(void)events;
	if (result > 0) {
		leat_driver_take_summary(d, text);
		leat_schedule_look_at_daemon(d); /* it has brought the last file to disk */
		free(text);
		finished(d, error);
	} else if (result < 0) {
		leat_driver_lose_daemon(d);
		if (d->phase >= LEAT_DRIVER_FINISHING)
			finished(d, 0);
	}
	if (d->look)
		leat_driver_look_around(d);
}

static int watch(struct leat_driver *d)
{
	static const int signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	int result = uv_timer_init(&d->loop, &d->tick);

	d->tick.data = d;
	d->space_timer.data = d;
	if (result == 0)
		result = uv_timer_init(&d->loop, &d->space_timer);
	if (result == 0)
		result = uv_timer_start(&d->tick, on_tick, LEAT_TICK_MS, LEAT_TICK_MS);
	if (result == 0)
		result = leat_loop_watch_signals(&d->loop, d->signals, signals, 5, on_signal, d);
	if (result < 0 || !d->config->control)
		return result;
	leat_control_on_event(d->config->control, on_event, d);
	leat_control_on_act(d->config->control, on_act, d);
	result = uv_poll_init(&d->loop, &d->control_poll, leat_control_fd(d->config->control));
	d->control_poll.data = d;
	if (result == 0)
		result = uv_poll_start(&d->control_poll, UV_READABLE, on_control);
	return result;
}

static void unwatch(struct leat_driver *d)
{
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		leat_pump_stop(d, i);
		leat_process_close(&d->steps[i].process);
	}
	leat_console_progress(&d->console, NULL);
	if (d->config->control)
		leat_control_on_event(d->config->control, NULL, NULL);
	if (d->config->control)
		leat_control_on_act(d->config->control, NULL, NULL);
	leat_loop_close(&d->loop);
}

static int setup(struct leat_driver *d)
{
	int widest = 0;
	int result = uv_loop_init(&d->loop);

	if (result < 0)
		return result;
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		int width = (int)strlen(d->wf->steps[i].name);

		d->steps[i].process = (struct leat_driver_process){0, -1, -1, -1, -1};
		widest = width > widest ? width : widest;
	}
	leat_console_init(&d->console, d->config->quiet, widest);
	result = leat_pin_init(d);
	if (result == 0)
		result = leat_schedule_init(d);
	if (result < 0)
		return result;
	/* Background children of steps come to us when their parents end. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	return watch(d);
}

/* A step may come to a good end though a process of it was killed, or to another bad one. */
static void report_kills(struct leat_driver *d)
{
	uint64_t kills = leat_oom_kills(&d->oom);
	char *why, *text;

	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->result->steps[i].status && leat_oom_is_status(d->result->steps[i].status))
			return; /* it was told of that step */
	why = kills ? leat_oom_explain(&d->oom) : NULL;
	text = why ? leat_strf("the kernel killed %llu process%s while this ran, %s",
			       (unsigned long long)kills, kills == 1 ? "" : "es", why)
		   : NULL;
	if (text) {
		leat_warn("%s", text);
		leat_result_note(d->result, text);
	}
	free(why);
	free(text);
}

static void note_cpu_time(struct leat_result *r, pid_t daemon, const struct leat_cpu_time *before)
{
	struct leat_cpu_time now;

	leat_read_cpu_time(daemon, &now);
	if (now.all_ns <= before->all_ns || now.used_ns < before->used_ns ||
	    now.own_ns < before->own_ns)
		return;
	r->cpu_ns = now.all_ns - before->all_ns;
	r->cpu_used_ns = now.used_ns - before->used_ns;
	r->cpu_own_ns = now.own_ns - before->own_ns;
}

static const struct leat_driver_events events = {
	.left = leat_driver_left,
	.actions_failed = leat_driver_actions_failed,
	.changed = leat_driver_look_around,
};

int leat_driver_run(const struct leat_driver_config *config, struct leat_result *result)
{
	struct leat_driver d = {
		.config = config, .wf = config->plan->wf, .result = result, .events = &events};
	struct leat_cpu_time before;
	int error;

	d.steps = calloc(d.wf->n_steps ? d.wf->n_steps : 1, sizeof(*d.steps));
	if (!d.steps) {
		leat_error("out of memory");
		return LEAT_EXIT_OWN_FAILURE;
	}
	result->streamed = config->counters != NULL;
	result->cpus = leat_count_cpus();
	result->sample_ns = LEAT_TICK_MS * (uint64_t)1000000;
	result->start_ns = leat_clock_ns();
	leat_read_cpu_time(config->daemon_pid, &before);
	leat_oom_begin(&d.oom, 0);
	error = setup(&d);
	if (error == 0) {
		leat_driver_forget_outputs(&d);
		leat_driver_begin_record(&d);
		leat_schedule_begin(&d);
		leat_driver_look_around(&d);
		uv_run(&d.loop, UV_RUN_DEFAULT);
	} else {
		leat_error("cannot start the run: %s", uv_strerror(error));
		leat_driver_fail(&d, LEAT_EXIT_OWN_FAILURE, "the run could not be started");
	}
	leat_driver_kill_all(&d);
	leat_actors_free(&d);
	unwatch(&d);
	report_kills(&d);
	leat_driver_keep_outputs(&d);
	if (d.phase != LEAT_DRIVER_SUMMED_UP)
		leat_driver_count_losses(&d);
	if (error == 0)
		leat_driver_record_outcome(&d);
	if (d.console.failed_errno) {
		leat_error("cannot write the steps' output: %s", strerror(d.console.failed_errno));
		leat_driver_fail(&d, LEAT_EXIT_OWN_FAILURE, "output could not be written");
	}
	if (!result->end_ns)
		result->end_ns = leat_clock_ns();
	note_cpu_time(result, config->daemon_pid, &before);
	if (leat_schedule_report(&d) < 0)
		leat_error("out of memory: what was learned of I/O tasks is not reported");
	leat_schedule_release(&d);
	leat_pin_release(&d);
	for (size_t i = 0; i < d.wf->n_steps; i++) {
		free(d.steps[i].file);
		leat_kept_release(&d.steps[i].printed);
	}
	free(d.steps);
	leat_oom_end(&d.oom);
	result->exit_status = d.exit_status;
	memcpy(result->why, d.why, sizeof(result->why));
	return d.exit_status;
}
