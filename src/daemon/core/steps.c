#include "daemon/core/steps.h"

#include "base/str.h"
#include "daemon/core/problems.h"
#include "model/version.h"

#include <string.h>

const char *leat_step_state_name(const struct leat_step_run *s)
{
	if (s->status)
		return "failed";
	if (leat_run_is_live(s->state))
		return "running";
	return s->state == LEAT_RUN_WAITING ? "waiting" : "done";
}

bool leat_steps_any_staged(const struct leat_daemon *d)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->wf->steps[i].staged)
			return true;
	return false;
}

enum leat_persist_by leat_steps_persist_by(const struct leat_daemon *d)
{
	return leat_steps_any_staged(d) ? LEAT_PERSIST_NAMELESS : LEAT_PERSIST_NAMED;
}

void leat_step_run_advance(struct leat_daemon *d, int step, enum leat_run_event event)
{
	struct leat_step_run *s = &d->steps[step];
	enum leat_run_state next = leat_run_next(s->state, event);

	if (next != LEAT_RUN_STATES)
		s->state = next;
	else
		leat_problem_add(d, 0, "this is a bug of leat: step %s %s where it is %s",
				 d->wf->steps[step].name, leat_run_event_name(event),
				 leat_run_state_name(s->state));
}

void leat_step_spoil(struct leat_daemon *d, int step, const char *name)
{
	struct leat_step_run *s = &d->steps[step];
	char title[LEAT_VERSION_TITLE];

	if (s->running && !s->spoiled)
		s->spoiled = leat_strf("its input %s failed",
				       *name ? leat_version_title(name, title) : ".");
}

bool leat_step_missed(struct leat_daemon *d, int step, const char *name)
{
	struct leat_step_run *s = &d->steps[step];
	bool reported = s->missed;

	if (s->running && !s->spoiled)
		s->spoiled = leat_strf("one of its ranks came too late for a version of %s", name);
	s->missed = true;
	return !reported;
}

void leat_step_cramped(struct leat_daemon *d, int step, const char *name)
{
	struct leat_step_run *s = step >= 0 ? &d->steps[step] : NULL;

	if (s && s->running && !s->spoiled)
		s->spoiled = leat_strf("leat had no space for what it wrote to %s", name);
}

void leat_steps_spoil(struct leat_daemon *d, const char *why)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->steps[i].running && !d->steps[i].spoiled)
			d->steps[i].spoiled = strdup(why);
}

void leat_steps_taint(struct leat_daemon *d, const struct leat_file_rule *rule, int step)
{
	for (int i = 0; i < (int)d->wf->n_steps; i++)
		if (i == step || (rule && (leat_steps_has(rule->producers, i) ||
					   leat_steps_has(rule->consumers, i))))
			d->steps[i].tainted = true;
}
