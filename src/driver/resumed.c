/* Going on where the last run ended, and letting the next one do so. */
#include "driver/internal.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

/* What the step made last time is there: for the rules it has ended well. */
static int report_skipped(struct leat_driver *d, size_t step)
{
	const char *name = d->wf->steps[step].name;
	int result;

	if (!d->config->control)
		return 0;
	result = leat_control_step_start(d->config->control, name, 0, "", "", false);
	return result < 0 ? result : leat_control_step_end(d->config->control, name, 0, 0);
}

void leat_driver_begin_record(struct leat_driver *d)
{
	struct leat_resume *resume = d->config->resume;

	if (resume)
		leat_resume_begin(resume);
	for (size_t i = 0; resume && i < d->wf->n_steps; i++) {
		struct leat_step_result *r = &d->result->steps[i];
		int error;

		r->resume = leat_resume_why(resume, i);
		r->skipped = leat_resume_skips(resume, i);
		if (!r->skipped)
			continue;
		leat_driver_advance(d, i, LEAT_STEP_EVENT_REFUSE);
		error = report_skipped(d, i);
		if (error < 0) {
			leat_error("step %s: the daemon does not take it as done: %s", r->name,
				   strerror(-error));
			leat_driver_fail(d, LEAT_EXIT_OWN_FAILURE, "step %s could not be skipped",
					 r->name);
		}
	}
}

/* A step's inputs are good only if those who made them have ended well. Steps on a common cycle
 * cannot wait for each other here. */
static bool upstream_is_complete(const struct leat_driver *d, size_t step)
{
	struct leat_matcher *m = d->config->plan->matcher;

	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (leat_is_strictly_upstream(m, (int)i, (int)step) &&
		    !leat_resume_is_complete(d->config->resume, i))
			return false;
	return true;
}

static bool is_settled(const struct leat_driver *d, size_t step)
{
	if (!d->config->control)
		return !leat_result_unmade(d->result, d->wf->steps[step].name);
	if (d->phase == LEAT_DRIVER_SUMMED_UP)
		return d->result->steps[step].settled;
	return !d->control_lost && leat_control_ask_settled(d->config->control, (int)step) == 0;
}

void leat_driver_record_ends(struct leat_driver *d)
{
	struct leat_resume *resume = d->config->resume;

	for (size_t i = 0; resume && i < d->wf->n_steps; i++) {
		size_t step = d->config->plan->order[i];

		if (leat_driver_step_is_over(d->steps[step].state) &&
		    leat_step_is_good(&d->result->steps[step]) &&
		    !leat_resume_is_complete(resume, step) && upstream_is_complete(d, step) &&
		    is_settled(d, step))
			leat_resume_complete(resume, step);
	}
}

static void record_failure(struct leat_driver *d, size_t step)
{
	const struct leat_step_result *r = &d->result->steps[step];
	const struct leat_unmade_file *unmade = leat_result_unmade(d->result, r->name);
	char why[600], status[48];

	if (leat_step_is_good(r) && unmade && *unmade->remover)
		snprintf(why, sizeof(why), "its output %s was removed by step %s", unmade->name,
			 unmade->remover);
	else if (leat_step_is_good(r) && unmade)
		snprintf(why, sizeof(why), "its output %s was not made", unmade->name);
	else if (leat_step_is_good(r))
		snprintf(why, sizeof(why), "%s",
			 d->exit_status ? d->why : "not all of its files could be kept");
	else
		snprintf(why, sizeof(why), "%s%s%s", leat_format_status(r, status),
			 r->cause ? ": " : "", r->cause ? r->cause : "");
	leat_resume_incomplete(d->config->resume, step, why);
}

void leat_driver_record_outcome(struct leat_driver *d)
{
	struct leat_resume *resume = d->config->resume;

	if (!resume)
		return;
	leat_driver_record_ends(d);
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		size_t step = d->config->plan->order[i];
		const struct leat_step_result *r = &d->result->steps[step];
		/* A promise broken late, or an output removed, may be of what was complete. */
		bool taken_back = d->phase == LEAT_DRIVER_SUMMED_UP &&
				  (!r->settled || leat_result_unmade(d->result, r->name));

		if (r->skipped)
			continue;
		if (taken_back || !upstream_is_complete(d, step) ||
		    !leat_resume_is_complete(resume, step))
			record_failure(d, step);
	}
	leat_resume_finish(resume, d->config->control);
}
