#include "driver/serve.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/oom.h"
#include "driver/loop.h"
#include "control/status.h"

#include <signal.h>
#include <stdlib.h>
#include <uv.h>

enum { LOOK_EVERY_MS = 1000, EXIT_OWN_FAILURE = 125 };

struct server {
	const struct leat_serve_config *config;
	uv_loop_t loop;
	uv_poll_t control_poll;
	uv_timer_t tick;
	uv_signal_t signals[4];
	uint64_t missed_since_ns; /* somebody waits for a step that has not come; 0: nobody */
	bool finishing;           /* or aborted */
	int exit_status;
	char *summary; /* owned */
	struct leat_oom oom;
};

static void lose_daemon(struct server *s)
{
	leat_report_lost_daemon("the daemon", &s->oom);
	s->exit_status = EXIT_OWN_FAILURE;
	uv_stop(&s->loop);
}

static void finish(struct server *s)
{
	if (s->finishing)
		return;
	s->finishing = true;
	if (leat_control_finish(s->config->control, s->config->timeline) < 0)
		lose_daemon(s);
}

/* Nobody came in time: those who wait are released with an error. */
static void give_up(struct server *s, const char *missing)
{
	leat_error("%s did not come within %g s; giving up", missing, s->config->timeout_s);
	s->exit_status = EXIT_OWN_FAILURE;
	s->finishing = true;
	uv_poll_stop(&s->control_poll);
	leat_control_abort(s->config->control);
	uv_stop(&s->loop);
}

static void look_for_missing(struct server *s, const char *missing)
{
	uint64_t now_ns = leat_clock_ns();
	uint64_t since_s;

	if (!*missing) {
		s->missed_since_ns = 0;
		return;
	}
	if (!s->missed_since_ns)
		s->missed_since_ns = now_ns;
	since_s = (now_ns - s->missed_since_ns) / 1000000000u;
	if (s->config->timeout_s > 0 && (double)since_s >= s->config->timeout_s)
		give_up(s, missing);
}

static void on_tick(uv_timer_t *timer)
{
	struct server *s = timer->data;
	char missing[200] = "";
	char *text = NULL;

	if (s->finishing)
		return;
	if (s->config->anybody_waits(s->config->ctx) &&
	    leat_control_status(s->config->control, &text) == 0)
		leat_status_missing(text, missing, sizeof(missing));
	free(text);
	look_for_missing(s, missing);
}

static void on_signal(uv_signal_t *handle, int signo)
{
	(void)signo;
	finish(handle->data);
}

static void on_event(void *ctx, int error, const char *text)
{
	(void)ctx;
	if (error)
		leat_error("%s", text);
	else
		leat_warn("%s", text);
}

static void on_control(uv_poll_t *poll, int status, int events)
{
	struct server *s = poll->data;
	int error = 0;
	int result =
		status < 0 ? status : leat_control_receive(s->config->control, &error, &s->summary);

	(void)events;
	if (result == 0)
		return;
	if (result < 0) {
		lose_daemon(s);
		return;
	}
	if (error)
		s->exit_status = EXIT_OWN_FAILURE;
	uv_stop(&s->loop);
}

static int watch(struct server *s)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	int result = uv_timer_init(&s->loop, &s->tick);

	s->tick.data = s;
	if (result == 0)
		result = uv_timer_start(&s->tick, on_tick, LOOK_EVERY_MS, LOOK_EVERY_MS);
	if (result == 0)
		result = leat_loop_watch_signals(&s->loop, s->signals, signals, 4, on_signal, s);
	leat_control_on_event(s->config->control, on_event, s);
	if (result == 0)
		result = uv_poll_init(&s->loop, &s->control_poll,
				      leat_control_fd(s->config->control));
	s->control_poll.data = s;
	if (result == 0)
		result = uv_poll_start(&s->control_poll, UV_READABLE, on_control);
	return result;
}

int leat_driver_serve(const struct leat_serve_config *config, char **summary)
{
	struct server s = {.config = config};
	int result = uv_loop_init(&s.loop);

	*summary = NULL;
	if (result < 0) {
		leat_error("cannot serve: %s", uv_strerror(result));
		return EXIT_OWN_FAILURE;
	}
	leat_oom_begin(&s.oom, 0);
	result = watch(&s);
	if (result == 0) {
		uv_run(&s.loop, UV_RUN_DEFAULT);
	} else {
		leat_error("cannot serve: %s", uv_strerror(result));
		s.exit_status = EXIT_OWN_FAILURE;
	}
	leat_control_on_event(config->control, NULL, NULL);
	leat_loop_close(&s.loop);
	leat_oom_end(&s.oom);
	*summary = s.summary;
	return s.exit_status;
}
