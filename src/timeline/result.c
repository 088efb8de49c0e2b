#include "timeline/result.h"

#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int leat_result_init(struct leat_result *r, const struct leat_workflow *wf)
{
	*r = (struct leat_result){.n_steps = wf->n_steps};
	r->steps = calloc(wf->n_steps ? wf->n_steps : 1, sizeof(*r->steps));
	if (!r->steps)
		return -ENOMEM;
	for (size_t i = 0; i < wf->n_steps; i++)
		r->steps[i].name = wf->steps[i].name;
	return 0;
}

static void free_unmade(struct leat_unmade_file *f)
{
	free(f->name);
	free(f->step);
	free(f->remover);
}

void leat_result_release(struct leat_result *r)
{
	for (size_t i = 0; r->steps && i < r->n_steps; i++) {
		free(r->steps[i].cause);
		free(r->steps[i].log);
	}
	for (size_t i = 0; i < r->n_lost; i++) {
		free(r->lost[i].name);
		free(r->lost[i].step);
		free(r->lost[i].why);
	}
	for (size_t i = 0; i < r->n_unmade; i++)
		free_unmade(&r->unmade[i]);
	for (size_t i = 0; i < r->n_problems; i++)
		free(r->problems[i]);
	free(r->unmade);
	free(r->problems);
	free(r->lost);
	free(r->steps);
	free(r->samples);
	leat_timeline_release(&r->timeline);
	leat_learned_free(r->learned);
	*r = (struct leat_result){0};
}

void leat_result_blame(struct leat_step_result *s, const char *format, ...)
{
	va_list ap;

	if (s->cause)
		return;
	va_start(ap, format);
	s->cause = leat_vstrf(format, ap);
	va_end(ap);
}

int leat_result_lose(struct leat_result *r, const char *name, const char *step, const char *why)
{
	struct leat_lost_file *grown = reallocarray(r->lost, r->n_lost + 1, sizeof(*grown));
	struct leat_lost_file *f;

	if (!grown)
		return -ENOMEM;
	r->lost = grown;
	f = &grown[r->n_lost];
	*f = (struct leat_lost_file){strdup(name), strdup(step), strdup(why)};
	if (f->name && f->step && f->why) {
		r->n_lost++;
		return 0;
	}
	free(f->name);
	free(f->step);
	free(f->why);
	return -ENOMEM;
}

int leat_result_miss(struct leat_result *r, const char *name, const char *step, const char *remover,
		     bool error)
{
	struct leat_unmade_file *grown, *f;

	for (size_t i = 0; i < r->n_unmade; i++)
		if (!strcmp(r->unmade[i].name, name))
			return 0;
	grown = reallocarray(r->unmade, r->n_unmade + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->unmade = grown;
	f = &grown[r->n_unmade];
	*f = (struct leat_unmade_file){strdup(name), strdup(step), strdup(remover), error};
	if (f->name && f->step && f->remover) {
		r->n_unmade++;
		return 0;
	}
	free_unmade(f);
	return -ENOMEM;
}

/* The line that is reported. NULL when out of memory. */
static char *describe_unmade(const struct leat_unmade_file *f)
{
	if (*f->remover)
		return leat_strf("step %s has removed %s, an output of step %s; leave it there, or "
				 "take it out of that step's outputs",
				 f->remover, f->name, f->step);
	return leat_strf("step %s ended with status 0 but did not make its output %s; take it out "
			 "of the step's outputs, or give it as a pattern if it may be missing",
			 f->step, f->name);
}

const struct leat_unmade_file *leat_result_report_unmade(struct leat_result *r)
{
	const struct leat_unmade_file *first = NULL;

	for (size_t i = 0; i < r->n_unmade; i++) {
		const struct leat_unmade_file *f = &r->unmade[i];
		char *text = describe_unmade(f);

		if (text)
			leat_result_note(r, text);
		leat_log(f->error ? LEAT_LOG_ERROR : LEAT_LOG_WARNING, "%s", text ? text : f->name);
		free(text);
		if (f->error && !first)
			first = f;
	}
	return first;
}

const struct leat_unmade_file *leat_result_unmade(const struct leat_result *r, const char *step)
{
	for (size_t i = 0; i < r->n_unmade; i++)
		if (!strcmp(r->unmade[i].step, step))
			return &r->unmade[i];
	return NULL;
}

void leat_result_note(struct leat_result *r, const char *text)
{
	char **grown = reallocarray(r->problems, r->n_problems + 1, sizeof(*grown));

	if (!grown)
		return;
	r->problems = grown;
	grown[r->n_problems] = strdup(text);
	if (grown[r->n_problems])
		r->n_problems++;
}

bool leat_step_is_good(const struct leat_step_result *s)
{
	return s->skipped || (s->end_ns && s->status == 0 && !s->spoiled && !s->refused);
}

const char *leat_step_word(const struct leat_step_result *s)
{
	if (s->skipped)
		return "skipped";
	if (s->refused)
		return "not run";
	if (!s->start_ns)
		return "not started";
	if (!s->end_ns)
		return "running";
	return leat_step_is_good(s) ? "ok" : "failed";
}

static bool is_busy(const struct leat_step_result *s)
{
	return s->start_ns && !s->end_ns && !s->counters.waiting;
}

/* Part of a CPU for each of `threads`. */
static double share(unsigned cpus, unsigned threads)
{
	return threads > cpus ? (double)cpus / threads : 1;
}

/* When more threads want to run than there are CPUs, each gets a part of one.
 * A step alone would have to share with those that are not of the run, only. */
static void share_cpus(struct leat_result *r)
{
	const double look_ns = (double)r->sample_ns / (r->looks_skipped + 1);
	unsigned busy = 0, all, others;
	double lost;

	for (size_t i = 0; i < r->n_steps; i++)
		busy += is_busy(&r->steps[i]);
	all = r->runnable ? r->runnable : busy;
	others = all > busy ? all - busy : 0;
	if (!r->cpus || all <= r->cpus)
		return;
	lost = 1 - share(r->cpus, all) / share(r->cpus, others + 1);
	for (size_t i = 0; i < r->n_steps; i++)
		if (is_busy(&r->steps[i]))
			r->steps[i].shared_ns += (uint64_t)(look_ns * lost);
}

/* Every second sample is as good as all once they are finer than any chart. */
static void thin_out(struct leat_result *r)
{
	for (size_t i = 1; 2 * i < r->n_samples; i++)
		memcpy(r->samples + i * r->n_steps, r->samples + 2 * i * r->n_steps, r->n_steps);
	r->n_samples = (r->n_samples + 1) / 2;
	r->looks_skipped = 2 * r->looks_skipped + 1;
	r->sample_ns *= 2;
}

static bool make_space(struct leat_result *r)
{
	size_t space = r->samples_space ? 2 * r->samples_space : 256;
	uint8_t *grown;

	if (r->n_samples == LEAT_MAX_SAMPLES)
		thin_out(r);
	if (r->n_samples < r->samples_space)
		return true;
	grown = reallocarray(r->samples, space, r->n_steps);
	if (!grown)
		return false;
	r->samples = grown;
	r->samples_space = space;
	return true;
}

void leat_result_sample(struct leat_result *r)
{
	uint8_t *row;

	share_cpus(r);
	if (r->n_samples && r->looks++ < r->looks_skipped)
		return;
	r->looks = 0;
	if (!make_space(r))
		return;
	row = r->samples + r->n_samples++ * r->n_steps;
	for (size_t i = 0; i < r->n_steps; i++)
		row[i] = r->steps[i].counters.waiting > 0;
}
