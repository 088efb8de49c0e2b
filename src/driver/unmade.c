/* Outputs that a step spells out and, having ended well, has not made: the daemon knows, or, where
 * there is none, the directory does. */
#include "driver/internal.h"

#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool is_on_disk(const struct leat_driver *d, const char *name)
{
	char *path = leat_path_join(d->config->dir, name);
	struct stat st;
	bool there = !path || lstat(path, &st) == 0 || errno != ENOENT;

	free(path);
	return there;
}

/* 0 or -ENOMEM. */
static int note(struct leat_driver *d, const struct leat_step *step, const char *name)
{
	const struct leat_file_rule *rule =
		leat_pattern_is_wild(name) ? NULL : leat_match(d->config->plan->matcher, name);
	bool error = d->config->strict || (rule && rule->permanent && !d->config->warn_violations);

	if (!rule || rule->excluded || is_on_disk(d, name))
		return 0;
	return leat_result_miss(d->result, name, step->name, "", error);
}

void leat_driver_note_unmade(struct leat_driver *d, size_t step)
{
	const struct leat_step *model = &d->wf->steps[step];

	if (d->config->control || d->stop != LEAT_STOP_NONE ||
	    !leat_step_is_good(&d->result->steps[step]))
		return;
	for (size_t i = 0; i < model->outputs.n; i++)
		if (note(d, model, model->outputs.v[i].text) < 0)
			leat_error("out of memory");
}

/* Another step that produces it, too, has made it since. */
static void forget_made(struct leat_driver *d)
{
	struct leat_result *r = d->result;
	size_t n = 0;

	for (size_t i = 0; i < r->n_unmade; i++) {
		struct leat_unmade_file f = r->unmade[i];

		if (!is_on_disk(d, f.name)) {
			r->unmade[n++] = f;
			continue;
		}
		free(f.name);
		free(f.step);
		free(f.remover);
	}
	r->n_unmade = n;
}

void leat_driver_report_unmade(struct leat_driver *d)
{
	const struct leat_unmade_file *error;

	if (!d->config->control)
		forget_made(d);
	leat_console_progress(&d->console, NULL);
	error = leat_result_report_unmade(d->result);
	if (error && *error->remover)
		leat_driver_fail(d, LEAT_EXIT_OWN_FAILURE,
				 "step %s has removed %s, an output of step %s", error->remover,
				 error->name, error->step);
	else if (error)
		leat_driver_fail(d, LEAT_EXIT_OWN_FAILURE, "step %s has not made its output %s",
				 error->step, error->name);
}
