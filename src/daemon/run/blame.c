/* Which step is to blame for what is missing or has failed. */
#include "daemon/run/blame.h"

#include "base/str.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"

int leat_step_culprit(const struct leat_daemon *d, const struct leat_file_rule *rule)
{
	int n = (int)d->wf->n_steps;

	for (int i = leat_steps_next(rule->producers, 0, n); i < n;
	     i = leat_steps_next(rule->producers, i + 1, n))
		if (d->steps[i].status)
			return i;
	return -1;
}

/* Has a step failed that may make what the name or pattern stands for? */
static bool has_failed(const struct leat_daemon *d, const char *input)
{
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		const struct leat_names *outputs = &d->wf->steps[i].outputs;

		for (size_t k = 0; d->steps[i].status && k < outputs->n; k++)
			if (leat_pattern_overlap(outputs->v[k].text, input))
				return true;
	}
	return false;
}

const char *leat_step_failed_input(const struct leat_daemon *d, int step)
{
	const struct leat_names *inputs = &d->wf->steps[step].inputs;

	for (size_t i = 0; i < inputs->n; i++)
		if (leat_stream_state(d->stream, inputs->v[i].text) == LEAT_FILE_FAILED ||
		    has_failed(d, inputs->v[i].text))
			return inputs->v[i].text;
	return NULL;
}

int leat_step_never_made(struct leat_daemon *d, const char *name)
{
	const struct leat_file_rule *rule;

	if (leat_pattern_is_wild(name) || leat_file_find(d, name))
		return -1;
	rule = leat_match(d->matcher, name);
	return rule ? leat_step_culprit(d, rule) : -1;
}

char *leat_step_blame(const struct leat_daemon *d, int step)
{
	const char *reason = d->steps[step].reason;

	return leat_strf("step %s, which produces it, failed: %s", d->wf->steps[step].name,
			 reason ? reason : "unknown reason");
}
