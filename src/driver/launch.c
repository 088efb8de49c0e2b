/* Launching a step again and again, for versions of its inputs; and how many run at once. */
#include "driver/internal.h"

#include "base/cpus.h"
#include "base/log.h"
#include "base/nproc.h"
#include "base/str.h"
#include "lang/syntax/words.h"
#include "model/view.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool has_versions(const struct leat_step *step)
{
	for (size_t i = 0; i < step->n_inports; i++)
		if (leat_inport_has_versions(&step->inports[i]))
			return true;
	return false;
}

static bool names_file(const struct leat_step *step)
{
	for (char **arg = step->argv; *arg; arg++)
		if (strstr(*arg, LEAT_LAUNCH_FILENAME))
			return true;
	return false;
}

bool leat_launch_may_rest(const struct leat_step *step)
{
	return has_versions(step) && step->relaunch != LEAT_RELAUNCH_NEVER;
}

bool leat_launch_waits(const struct leat_step *step)
{
	return has_versions(step) && (step->relaunch == LEAT_RELAUNCH_ALWAYS || names_file(step));
}

int leat_launch_ask(struct leat_driver *d, size_t step)
{
	struct leat_run_step *s = &d->steps[step];
	int result;

	if (s->more == LEAT_MORE_WAIT)
		return -EAGAIN;
	s->more = LEAT_MORE_ASK;
	result = leat_control_ask_relaunch(d->config->control, (int)step,
					   s->state == LEAT_STEP_RETURNED);
	/* What comes with the answer may say already that there is one. */
	if (result != -EAGAIN)
		s->more = LEAT_MORE_ASK;
	else if (s->more == LEAT_MORE_ASK)
		s->more = LEAT_MORE_WAIT;
	if (!leat_control_is_lost(result))
		leat_driver_advance(d, step, LEAT_STEP_EVENT_ANSWERED);
	if (result)
		return result;
	free(s->file);
	s->file = strdup(leat_control_why(d->config->control));
	return s->file ? 0 : -ENOMEM;
}

/* ---- arguments ---- */

/* The file of a step that is launched once: its first input, as it sees it. */
static const char *only_file(const struct leat_step *step)
{
	const char *name = step->n_inports  ? step->inports[0].seen.text
			   : step->inputs.n ? step->inputs.v[0].text
					    : "";

	return step->dir && leat_path_is_below(name, step->dir) ? name + strlen(step->dir) + 1
								: name;
}

/* `text` with the file's name in each place for it. */
static char *replace(const char *text, const char *file)
{
	char *out = strdup(text);

	for (char *at = out; at && (at = strstr(at, LEAT_LAUNCH_FILENAME));) {
		size_t before = (size_t)(at - out);
		char *next = leat_strf("%.*s%s%s", (int)before, out, file,
				       at + strlen(LEAT_LAUNCH_FILENAME));

		free(out);
		out = next;
		at = out ? out + before + strlen(file) : NULL;
	}
	return out;
}

char **leat_launch_argv(const struct leat_step *model, const char *file)
{
	char **argv;
	size_t n = 0;

	while (model->argv[n])
		n++;
	argv = calloc(n + 1, sizeof(*argv));
	for (size_t i = 0; argv && i < n; i++) {
		argv[i] = replace(model->argv[i], file ? file : only_file(model));
		if (!argv[i]) {
			leat_words_free(argv);
			return NULL;
		}
	}
	return argv;
}

/* ---- how many at once ---- */

/* At least as many as there are tasks, so that a workflow without ensembles is never held up. */
size_t leat_launch_most(const struct leat_driver_config *config, unsigned cpus)
{
	const struct leat_workflow *wf = config->plan->wf;
	size_t tasks = 0;

	for (size_t i = 0; i < wf->n_steps; i++)
		tasks += wf->steps[i].instance == 0;
	return config->jobs ? config->jobs : tasks > cpus ? tasks : cpus;
}

/* Processes and threads that run at the same time at least: those of leat, and each step's. */
static uint64_t count_at_once(const struct leat_driver_config *config)
{
	enum { OURS = 5 }; /* the daemon, and its threads */
	const struct leat_workflow *wf = config->plan->wf;
	size_t instances = 0, most = leat_launch_most(config, leat_count_cpus());
	uint64_t n = OURS;

	for (size_t i = 0; i < wf->n_steps; i++) {
		const struct leat_step *step = &wf->steps[i];

		if (step->staged || leat_launch_waits(step))
			continue;
		if (step->ensemble > 1 && instances++ >= most)
			continue;
		n += step->nprocs;
	}
	return n;
}

bool leat_launch_is_possible(const struct leat_driver_config *config)
{
	uint64_t n = config->resources ? 0 : count_at_once(config);
	char *why = leat_nproc_lack(n);

	if (why)
		leat_error("this run needs at least %llu processes and threads at a time, and %s: "
			   "raise the limit, or run it as a batch (--plain)",
			   (unsigned long long)n, why);
	free(why);
	return !why;
}

size_t leat_launch_free(const struct leat_driver *d)
{
	size_t busy = 0, most = leat_launch_most(d->config, d->result->cpus);

	/* Computing units decide, unless a number was asked for. */
	if (leat_schedule_is_used(d) && !d->config->jobs)
		return SIZE_MAX;

	for (size_t i = 0; i < d->wf->n_steps && busy < most; i++)
		busy += leat_driver_is_busy(d, i);
	return most - busy;
}
