/* May a step start now? */
#include "driver/actor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What an answer of the daemon means; `said` is what it says in words, or "". */
static enum leat_turn turn_of(int result, const char *reported, char *why, size_t why_size)
{
	if (!result)
		return LEAT_TURN_NOW;
	if (result == -EAGAIN)
		return LEAT_TURN_LATER;
	if (leat_control_is_lost(result))
		return LEAT_TURN_LOST;
	snprintf(why, why_size, "%s", *reported ? reported : strerror(-result));
	return LEAT_TURN_NEVER;
}

/* Without a daemon, after those that it needs, and alone. */
static enum leat_turn wait_for_turn(struct leat_driver *d, size_t step, char *why, size_t why_size)
{
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		if (i == step || leat_step_is_good(&d->result->steps[i]) ||
		    !leat_driver_step_is_over(d->steps[i].state) ||
		    !leat_is_upstream(d->config->plan->matcher, (int)i, (int)step))
			continue;
		snprintf(why, why_size, "step %s, which makes its input, %s", d->wf->steps[i].name,
			 d->result->steps[i].refused ? "did not run" : "failed");
		return LEAT_TURN_NEVER;
	}
	return leat_driver_count(d, leat_driver_step_runs) ? LEAT_TURN_LATER : LEAT_TURN_NOW;
}

/* By its inputs, after what the workflow says. */
static enum leat_turn ask_daemon(struct leat_driver *d, size_t step, char *why, size_t why_size)
{
	struct leat_control *c = d->config->control;
	int result;

	if (leat_driver_step_rests(d->steps[step].state) ||
	    leat_launch_waits(&d->wf->steps[step])) {
		result = leat_launch_ask(d, step);
		if (result == -ENOENT)
			return LEAT_TURN_NO_MORE;
		/* Else it names the file. */
		return turn_of(result, result == -EIO ? leat_control_why(c) : "", why, why_size);
	}
	if (!d->wf->steps[step].staged)
		return LEAT_TURN_NOW;
	result = leat_control_ask_launch(c, (int)step);
	return turn_of(result, leat_control_why(c), why, why_size);
}

static enum leat_turn may_start(struct leat_driver *d, size_t step, char *why, size_t why_size)
{
	if (d->stop != LEAT_STOP_NONE) {
		snprintf(why, why_size, "%s", d->why);
		return LEAT_TURN_NEVER;
	}
	if (!d->config->control)
		return wait_for_turn(d, step, why, why_size);
	if (d->wf->steps[step].ensemble > 1 && !d->n_free) {
		d->crowded = true;
		return LEAT_TURN_LATER;
	}
	if (leat_schedule_is_queued(d, step))
		return LEAT_TURN_NOW;
	if (leat_schedule_is_early(d, step))
		return LEAT_TURN_LATER;
	return ask_daemon(d, step, why, why_size);
}

enum leat_turn leat_driver_turn(struct leat_driver *d, size_t step, char *why, size_t why_size)
{
	enum leat_turn turn = may_start(d, step, why, why_size);

	if (turn != LEAT_TURN_NOW)
		return turn;
	turn = leat_schedule_ask(d, step);
	if (turn == LEAT_TURN_NOW)
		turn = leat_actors_launch(d, step);
	if (turn == LEAT_TURN_NEVER)
		snprintf(why, why_size, "%s", strerror(ENOMEM));
	return turn;
}
