/* What became of files: from the daemon, or, where there is none, from what is known of steps. */
#include "driver/internal.h"

#include "base/log.h"
#include "driver/status.h"

#include <string.h>

void leat_driver_take_summary(struct leat_driver *d, const char *json)
{
	int error = leat_status_losses(json, d->result);

	if (error)
		leat_error("the daemon's summary is not what it should be: %s", strerror(-error));
	d->summed_up = error == 0;
}

/* Outputs may be patterns: then nobody knows the names. */
static void lose_outputs(struct leat_driver *d, size_t step, const char *why)
{
	const struct leat_step *model = &d->wf->steps[step];

	for (size_t i = 0; i < model->outputs.n; i++)
		if (leat_result_lose(d->result, model->outputs.v[i].text, model->name, why) < 0)
			leat_error("out of memory");
}

void leat_driver_count_losses(struct leat_driver *d)
{
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		const struct leat_step_result *r = &d->result->steps[i];
		char why[600], status[48];

		if (leat_step_is_good(r) && !d->config->control)
			continue;
		snprintf(why, sizeof(why), "step %s: %s%s%s", r->name,
			 leat_format_status(r, status), r->cause ? ": " : "",
			 r->cause ? r->cause : "");
		lose_outputs(d, i,
			     leat_step_is_good(r) ? "the daemon ended before it was known to be "
						    "complete"
						  : why);
	}
}
