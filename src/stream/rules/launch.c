/* Steps that are launched for versions of their inputs, one after another. */
#include "stream/rules/launch.h"
#include "stream/flow/consume.h"
#include "stream/flow/links.h"
#include "stream/flow/rank_end.h"
#include "stream/flow/sequence.h"
#include "stream/rules/answer.h"
#include "stream/state/ports.h"
#include "stream/state/steps.h"

#include "model/version.h"
#include "model/view.h"

static unsigned taken_now(const struct leat_stream *s, int step, const struct leat_inport *in)
{
	const struct leat_flow_link *link;
	unsigned n = 0;

	LL_FOREACH(s->links, link)
	{
		if (link->step == step && link->in == in)
			n += link->taken_now;
	}
	return n;
}

/* Complete or failed or, where the rule has it so, growing. */
bool leat_link_is_open(struct leat_stream *s, const struct leat_flow_link *link,
		       const struct leat_delivery *d)
{
	const struct leat_question q = {.step = link->step, .call = LEAT_CALL_OPEN};
	struct leat_blocker b = {.step = -1};

	return leat_decide_name(s, d->name, &q, &b) != LEAT_WAIT;
}

/* What the link has for a launch. */
static struct leat_delivery *ready(struct leat_stream *s, const struct leat_flow_link *link)
{
	struct leat_delivery *d, *best = NULL;

	DL_FOREACH(link->due, d)
	{
		if (!leat_link_is_open(s, link, d))
			continue;
		best = d;
		if (link->in->flow != LEAT_FLOW_LATEST)
			break;
	}
	return best;
}

/* The link that is behind with what it has given, of those that have something. */
static struct leat_flow_link *next_link(struct leat_stream *s, int step,
					const struct leat_inport *in, struct leat_delivery **d)
{
	struct leat_flow_link *link, *best = NULL;
	struct leat_delivery *found;

	LL_FOREACH(s->links, link)
	{
		if (link->step != step || link->in != in || !(found = ready(s, link)) ||
		    (best && best->taken <= link->taken))
			continue;
		best = link;
		*d = found;
	}
	return best;
}

/* A launch has opened version `n`, and not taken it. */
static struct leat_entry *entry_of(const struct leat_stream *s, int step,
				   const struct leat_name_state *n)
{
	struct leat_sequence *q, *next;
	struct leat_entry *e;

	HASH_ITER(hh, s->sequences, q, next)
	{
		e = q->key.step == step ? leat_sequence_entry(q, n) : NULL;
		if (e)
			return e;
	}
	return NULL;
}

/* A launch of a step that is launched for each version was for the first that is due, whether it
 * looked at it or not. */
static void take_unseen(struct leat_stream *s, int step, const struct leat_inport *in)
{
	struct leat_delivery *d;
	struct leat_flow_link *link = next_link(s, step, in, &d);
	struct leat_entry *e;

	if (!link || taken_now(s, step, in))
		return;
	e = entry_of(s, step, d->name);
	if (e) {
		leat_entry_taken(s, e);
		leat_sequence_settle(s, e->sequence);
		return;
	}
	link->taken++;
	leat_link_pass(s, link, d->name, true);
	leat_link_wake(s, link);
}

/* A launch that took nothing was for what it looked at: it may have wanted no more of it. */
static void take_glanced(struct leat_stream *s, int step)
{
	struct leat_sequence *q, *next;
	struct leat_cursor *p;

	HASH_ITER(hh, s->sequences, q, next)
	{
		if (q->key.step != step || taken_now(s, step, q->port->in))
			continue;
		LL_FOREACH(q->cursors, p)
		{
			p->read = p->read || p->glanced;
			leat_cursor_settle(s, p, true);
		}
	}
}

/* None of its ranks will take anything any more, whichever did. */
static void launch_over(struct leat_stream *s, int step)
{
	const struct leat_step *model = &s->wf->steps[step];
	struct leat_sequence *q, *next;
	struct leat_cursor *p;

	HASH_ITER(hh, s->sequences, q, next)
	{
		if (q->key.step == step)
			LL_FOREACH(q->cursors, p)
			{
				leat_cursor_settle(s, p, true);
			}
	}
	leat_sequences_settle(s, step);
	take_glanced(s, step);
	for (size_t i = 0; i < model->n_inports; i++)
		if (model->relaunch == LEAT_RELAUNCH_ALWAYS &&
		    leat_inport_has_versions(&model->inports[i]))
			take_unseen(s, step, &model->inports[i]);
}

int leat_fact_launch(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_flow_link *link;
	int rc;

	rc = leat_step_advance(&s->steps[ev->step],
			       ev->code ? LEAT_PHASE_EVENT_LAUNCH : LEAT_PHASE_EVENT_LAUNCH_OVER);
	if (rc)
		return rc;
	if (!ev->code) {
		launch_over(s, ev->step);
		return 0;
	}
	s->steps[ev->step].launches++;
	leat_rank_end_clear(s, ev->step);
	leat_sequences_launch(s, ev->step);
	LL_FOREACH(s->links, link)
	{
		if (link->step == ev->step)
			link->taken_now = 0;
	}
	return 0;
}

/* Is there one more of this inport? */
static enum leat_answer inport_more(struct leat_stream *s, int step, const struct leat_inport *in,
				    struct leat_blocker *blocker)
{
	struct leat_delivery *d = NULL;
	enum leat_answer answer = LEAT_NOENT;

	if (next_link(s, step, in, &d))
		return d->name->state == LEAT_FILE_FAILED ? LEAT_FAILED : LEAT_GO;
	for (size_t i = 0; i < in->n_sources; i++) {
		int maker = in->sources[i].step;

		if (s->steps[maker].failures)
			return LEAT_FAILED;
		if (leat_step_is_quiet(&s->steps[maker]))
			continue;
		*blocker = (struct leat_blocker){.step = maker};
		answer = LEAT_WAIT;
	}
	return answer;
}

/* Where the workflow does not say, a step is launched again if it has taken one version of each,
 * and ended. */
static bool may_relaunch(const struct leat_stream *s, int step)
{
	const struct leat_step *model = &s->wf->steps[step];
	bool any = false;

	for (size_t i = 0; i < model->n_inports; i++) {
		if (!leat_inport_has_versions(&model->inports[i]))
			continue;
		any = true;
		if (model->relaunch == LEAT_RELAUNCH_FOUND_OUT && s->steps[step].started &&
		    taken_now(s, step, &model->inports[i]) != 1)
			return false;
	}
	/* The first launch may be for a version, too, whose name it is given. */
	return any && (model->relaunch != LEAT_RELAUNCH_NEVER || !s->steps[step].started);
}

enum leat_answer leat_decide_more(struct leat_stream *s, const struct leat_question *q,
				  struct leat_blocker *blocker)
{
	const struct leat_step *model = &s->wf->steps[q->step];
	enum leat_answer result = LEAT_GO;

	if (!may_relaunch(s, q->step))
		return LEAT_NOENT;
	for (size_t i = 0; i < model->n_inports; i++) {
		enum leat_answer answer = LEAT_GO;

		if (leat_inport_has_versions(&model->inports[i]))
			answer = inport_more(s, q->step, &model->inports[i], blocker);
		if (answer == LEAT_FAILED || answer == LEAT_NOENT)
			return answer;
		if (answer == LEAT_WAIT)
			result = LEAT_WAIT;
	}
	return result;
}

bool leat_stream_next(struct leat_stream *s, int step, char out[PATH_MAX])
{
	const struct leat_step *model = &s->wf->steps[step];

	for (size_t i = 0; i < model->n_inports; i++) {
		const struct leat_inport *in = &model->inports[i];
		struct leat_delivery *d = NULL;
		const struct leat_flow_link *link =
			leat_inport_has_versions(in) ? next_link(s, step, in, &d) : NULL;
		uint64_t number;

		if (link)
			return leat_view_seen(s->wf, model, in, link->source,
					      leat_version_base(d->name->text, &number), out);
	}
	return false;
}
