/* What the others ask of a step. */
#include "driver/internal.h"

#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

void leat_driver_advance(struct leat_driver *d, size_t step, enum leat_driver_step_event event)
{
	enum leat_driver_step_state state = d->steps[step].state;
	enum leat_driver_step_state next = leat_driver_step_next(state, event);

	if (next != LEAT_STEP_STATES) {
		d->steps[step].state = next;
		return;
	}
	leat_console_progress(&d->console, NULL);
	leat_error("this is a bug of leat: step %s is %s, where it cannot be %s",
		   d->wf->steps[step].name, leat_driver_step_state_name(state),
		   leat_driver_step_event_name(event));
}

void leat_driver_go_on(struct leat_driver *d, enum leat_driver_phase_event event)
{
	enum leat_driver_phase next = leat_driver_phase_next(d->phase, event);

	if (next != LEAT_DRIVER_PHASES) {
		d->phase = next;
		return;
	}
	leat_console_progress(&d->console, NULL);
	leat_error("this is a bug of leat: the run is %s, where it cannot be %s",
		   leat_driver_phase_name(d->phase), leat_driver_phase_event_name(event));
}

size_t leat_driver_count(const struct leat_driver *d, bool (*is)(enum leat_driver_step_state))
{
	size_t n = 0;

	for (size_t i = 0; i < d->wf->n_steps; i++)
		n += is(d->steps[i].state);
	return n;
}

bool leat_driver_is_busy(const struct leat_driver *d, size_t step)
{
	struct leat_counters now = {0};

	if (!leat_driver_step_runs(d->steps[step].state))
		return false;
	if (d->config->counters)
		d->config->counters(d->config->counters_ctx, step, &now);
	return !now.waiting;
}

int leat_driver_make_dir(const struct leat_driver *d, size_t step)
{
	const char *within = d->wf->steps[step].dir;
	char *dir = within ? leat_path_join(d->config->dir, within) : NULL;
	int result = 0;

	if (within && !dir)
		result = -ENOMEM;
	else if (within && mkdir(dir, 0777) < 0 && errno != EEXIST)
		result = -errno;
	free(dir);
	return result;
}
