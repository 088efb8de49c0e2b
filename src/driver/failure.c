/* The first thing that goes wrong, and that the run comes to its end for it. */
#include "driver/internal.h"

#include "base/clock.h"
#include "driver/loop.h"

#include <stdarg.h>
#include <stdio.h>

#define NS_PER_MS 1000000u

void leat_driver_fail(struct leat_driver *d, int exit_status, const char *format, ...)
{
	va_list ap;

	if (!d->exit_status) {
		d->exit_status = exit_status;
		va_start(ap, format);
		vsnprintf(d->why, sizeof(d->why), format, ap);
		va_end(ap);
	}
	if (d->stop != LEAT_STOP_NONE)
		return;
	d->stop = LEAT_STOP_WAITING;
	d->stop_at_ns = leat_clock_ns() + LEAT_STOP_GRACE_MS * (uint64_t)NS_PER_MS;
}

void leat_driver_fail_step(struct leat_driver *d, int exit_status, size_t step)
{
	const char *name = d->wf->steps[step].name;

	if (!d->config->keep_going) {
		leat_driver_fail(d, exit_status, "step %s failed", name);
	} else if (!d->exit_status) {
		d->exit_status = exit_status;
		snprintf(d->why, sizeof(d->why), "step %s failed", name);
	}
}

void leat_driver_lose_daemon(struct leat_driver *d)
{
	if (d->control_lost)
		return;
	d->control_lost = true;
	leat_console_progress(&d->console, NULL);
	leat_report_lost_daemon("the daemon of this run", &d->oom);
	uv_poll_stop(&d->control_poll);
	leat_driver_fail(d, LEAT_EXIT_OWN_FAILURE, "the daemon of this run has ended");
}
