/* Ending a run early, and leaving nothing behind. */
#include "driver/internal.h"

#include "base/clock.h"
#include "base/log.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_MS 1000000u

static void send_all(struct leat_driver *d, int signo)
{
	struct leat_leftover unused;

	leat_leftover_find(d, signo, &unused);
}

static void send_stop(struct leat_driver *d, int signo)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (leat_driver_step_runs(d->steps[i].state))
			leat_result_blame(&d->result->steps[i], "stopped, because %s", d->why);
	if (d->config->control && !d->control_lost && d->phase < LEAT_DRIVER_FINISHING &&
	    leat_control_is_lost(leat_control_stopping(d->config->control)))
		leat_driver_lose_daemon(d);
	send_all(d, signo);
}

void leat_driver_interrupt(struct leat_driver *d, int signo)
{
	if (d->interrupted) {
		/* Asked twice: no more patience. */
		d->stop = LEAT_STOP_TERM;
		d->stop_at_ns = 0;
		leat_driver_stop_tick(d);
		return;
	}
	d->interrupted = signo;
	leat_driver_fail(d, 128 + signo, "the run was interrupted by SIG%s", sigabbrev_np(signo));
	send_stop(d, signo);
}

void leat_driver_stop_tick(struct leat_driver *d)
{
	uint64_t now_ns = leat_clock_ns();

	if (d->stop == LEAT_STOP_NONE || now_ns < d->stop_at_ns)
		return;
	if (d->stop < LEAT_STOP_KILL)
		d->stop++;
	d->stop_at_ns = now_ns + LEAT_STOP_GRACE_MS * (uint64_t)NS_PER_MS;
	send_stop(d, d->stop == LEAT_STOP_KILL ? SIGKILL : SIGTERM);
}

bool leat_driver_all_gone(struct leat_driver *d)
{
	struct leat_leftover left;
	uint64_t now_ns = leat_clock_ns();

	leat_leftover_find(d, 0, &left);
	if (left.n == 0)
		return true;
	if (d->phase == LEAT_DRIVER_STEPS) {
		leat_driver_go_on(d, LEAT_DRIVER_EVENT_LINGER);
		d->linger_ns = now_ns;
	}
	if (!d->linger_reported && now_ns - d->linger_ns > 1000 * (uint64_t)NS_PER_MS) {
		leat_console_progress(&d->console, NULL);
		leat_warn("all steps have ended; waiting for processes they left behind: %s",
			  left.names);
		d->linger_reported = true;
	}
	if (d->stop == LEAT_STOP_NONE && !left.writing &&
	    now_ns - d->linger_ns > LEAT_LINGER_MS * (uint64_t)NS_PER_MS) {
		leat_warn("stopping %s: nothing of the run depends on it", left.names);
		d->stop = LEAT_STOP_WAITING;
		d->stop_at_ns = now_ns;
	}
	return false;
}

void leat_driver_kill_all(struct leat_driver *d)
{
	struct leat_leftover left = {.n = 1};

	/* Bounded: a process in an uninterruptible call does not die until it returns. */
	for (int i = 0; left.n && i < 5000; i++) {
		leat_leftover_find(d, SIGKILL, &left);
		leat_driver_reap(d);
		if (left.n)
			usleep(1000);
	}
	if (left.n)
		leat_error("cannot end these processes: %s", left.names);
}
