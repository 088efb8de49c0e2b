/* Files of several names: what is done by one of them is done to all. */
#include "stream/conflicts/aliases.h"
#include "stream/conflicts/conflict.h"
#include "stream/conflicts/order.h"
#include "stream/conflicts/uses.h"
#include "stream/state/names.h"
#include "stream/state/steps.h"

/* ---- who has read it ---- */

void leat_alias_note_reader(struct leat_name_state *n, int step)
{
	n->readers |= leat_seen_bit(step);
}

static bool has_read(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	return n->readers & leat_seen_bit(step) &&
	       (s->n_steps <= 64 || leat_steps_has(n->rule->consumers, step));
}

/* ---- waits ---- */

/* May it still change the file? If it has failed, what it has left is not what is to be read. */
static bool is_to_come(const struct leat_stream *s, int step)
{
	return !leat_step_is_over(&s->steps[step]) || s->steps[step].failures;
}

/* A producer of `m`, and not of `n`, that in a batch ends before `step`. */
static int find_producer(const struct leat_stream *s, const struct leat_name_state *m,
			 const struct leat_name_state *n, int step)
{
	const uint64_t *set = m->rule->producers;

	if (!m->governed || m->state == LEAT_FILE_COMMITTED || m->state == LEAT_FILE_GONE)
		return -1;
	for (int o = leat_steps_next(set, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(set, o + 1, s->n_steps))
		if (!leat_name_produced_by(n, o) && is_to_come(s, o) &&
		    leat_order_of(s, o, step) == LEAT_BEFORE)
			return o;
	return -1;
}

/* Who has it open for writing, by a name that nobody declares or that is gone. */
static int find_writer(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	const struct leat_content *c = n->content;

	for (size_t i = 0; c->writers && i < c->n_parts; i++) {
		const struct leat_part *o = &c->parts[i];

		if (o->step >= 0 && o->writers && !leat_name_produced_by(n, o->step) &&
		    leat_order_of(s, o->step, step) == LEAT_BEFORE)
			return o->step;
	}
	return -1;
}

/* Who reads it as `m`, or is to, and in a batch ends before `step` changes it as `n`. */
static int find_reader(const struct leat_stream *s, const struct leat_name_state *m,
		       const struct leat_name_state *n, int step)
{
	for (int o = 0; m->governed && o < s->n_steps; o++)
		if ((leat_steps_has(m->rule->consumers, o) || has_read(s, m, o)) &&
		    !leat_name_produced_by(n, o) && !leat_step_is_over(&s->steps[o]) &&
		    leat_order_of(s, o, step) == LEAT_BEFORE)
			return o;
	return -1;
}

int leat_alias_before(const struct leat_stream *s, const struct leat_name_state *n, int step,
		      bool changes, struct leat_name_state **by)
{
	struct leat_name_state *m;
	int o;

	*by = NULL;
	if (!n->content || !n->content->linked)
		return -1;
	DL_FOREACH2(n->content->names, m, same_next)
	{
		o = m == n ? -1 : find_producer(s, m, n, step);
		if (o >= 0) {
			*by = m;
			return o;
		}
		o = m == n || !changes ? -1 : find_reader(s, m, n, step);
		if (o >= 0)
			return o;
	}
	return find_writer(s, n, step);
}

/* ---- conflicts ---- */

static bool has_changed(const struct leat_part *o)
{
	return o->step >= 0 && (o->opened || o->did || o->cut);
}

/* One of the names by which that step may write it; NULL: it is gone. */
static const struct leat_name_state *name_of(const struct leat_content *c, int step)
{
	const struct leat_name_state *m, *undeclared = NULL;

	DL_FOREACH2(c->names, m, same_next)
	{
		if (leat_name_produced_by(m, step))
			return m;
		if (!m->governed)
			undeclared = m;
	}
	return undeclared;
}

/* Does nothing come of it any more that would change the file? */
static bool is_done(const struct leat_stream *s, const struct leat_content *c,
		    const struct leat_part *o)
{
	const struct leat_name_state *m;
	bool passed_on = false;

	if (leat_step_is_over(&s->steps[o->step]))
		return !o->writers;
	DL_FOREACH2(c->names, m, same_next)
	{
		if (!leat_name_produced_by(m, o->step))
			continue;
		if (m->state != LEAT_FILE_COMMITTED)
			return false;
		passed_on = true;
	}
	return passed_on && !o->writers;
}

/* Was it changed by `o` too early, or perhaps, for `step` to use it now? */
static bool is_early(const struct leat_stream *s, const struct leat_content *c,
		     const struct leat_part *o, int step)
{
	enum leat_order order = leat_order_of(s, o->step, step);

	return order == LEAT_AFTER ||
	       (order == LEAT_NO_ORDER &&
		!(leat_runs_before(s->m, o->step, step) && is_done(s, c, o)));
}

static const struct leat_part *find_early(const struct leat_stream *s,
					  const struct leat_name_state *n, int step)
{
	const struct leat_content *c = n->content;

	if (!c || !c->linked || c->alias_reported || !n->governed || leat_name_produced_by(n, step))
		return NULL;
	for (size_t i = 0; i < c->n_parts; i++) {
		const struct leat_part *o = &c->parts[i];

		if (has_changed(o) && o->step != step && !leat_name_produced_by(n, o->step) &&
		    is_early(s, c, o, step))
			return o;
	}
	return NULL;
}

bool leat_alias_is_early(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	return find_early(s, n, step);
}

static void report(struct leat_stream *s, struct leat_content *c, const struct leat_clash *k)
{
	if (c->alias_reported)
		return;
	c->alias_reported = c->warned = true;
	leat_conflict_report(s, k, LEAT_CONFLICT_ALIAS);
}

void leat_alias_read(struct leat_stream *s, const struct leat_name_state *n, int step)
{
	const struct leat_part *o = find_early(s, n, step);
	const struct leat_name_state *by = o ? name_of(n->content, o->step) : NULL;

	if (o)
		report(s, n->content,
		       &(struct leat_clash){.name = n->text,
					    .by = by ? by->text : NULL,
					    .step = step,
					    .other = o->step,
					    .use = LEAT_USE_READ,
					    .before = o->cut ? LEAT_USE_TRUNCATE : LEAT_USE_WRITE});
}

/* Both write it as they declare, by one of its names: each a part of its own (shared.h). */
static bool is_shared(const struct leat_content *c, int a, int b)
{
	const struct leat_name_state *m;

	DL_FOREACH2(c->names, m, same_next)
	{
		if (leat_name_produced_by(m, a) && leat_name_produced_by(m, b))
			return true;
	}
	return false;
}

static void check_writers(struct leat_stream *s, struct leat_content *c, struct leat_clash *k)
{
	for (size_t i = 0; i < c->n_parts; i++) {
		const struct leat_part *o = &c->parts[i];
		const struct leat_name_state *m = name_of(c, o->step);

		if (!has_changed(o) || o->step == k->step || !is_early(s, c, o, k->step) ||
		    is_shared(c, o->step, k->step))
			continue;
		k->name = m ? m->text : k->by;
		k->other = o->step;
		k->before = o->cut ? LEAT_USE_TRUNCATE : LEAT_USE_WRITE;
		report(s, c, k);
	}
}

static void check_readers(struct leat_stream *s, struct leat_content *c,
			  const struct leat_name_state *m, struct leat_clash *k)
{
	for (int o = 0; o < s->n_steps; o++) {
		if (!s->steps[o].started || !has_read(s, m, o) ||
		    !leat_order_is_early(s, o, k->step))
			continue;
		k->name = m->text;
		k->other = o;
		k->before = LEAT_USE_READ;
		report(s, c, k);
	}
}

/* A name that nobody declares has its uses (uses.h). */
static int use_undeclared(struct leat_stream *s, const struct leat_name_state *m,
			  const struct leat_clash *k)
{
	if (m->rule->excluded || leat_uses_is_cache(m->text) ||
	    !leat_undeclared_is_news(s, k->step, m->text, k->use))
		return 0;
	return leat_undeclared_use(
		s, &(struct leat_event){
			   .kind = LEAT_EV_USE, .step = k->step, .name = m->text, .code = k->use});
}

int leat_alias_changed(struct leat_stream *s, struct leat_content *c,
		       const struct leat_name_state *by, int step, enum leat_use use)
{
	struct leat_clash k = {.by = by->text, .step = step, .use = use};
	const struct leat_name_state *m;
	int rc = 0;

	if (step < 0 || c->alias_reported)
		return 0;
	check_writers(s, c, &k);
	DL_FOREACH2(c->names, m, same_next)
	{
		if (m == by || leat_name_produced_by(m, step))
			continue;
		if (m->governed)
			check_readers(s, c, m, &k);
		else if (by->governed && !rc)
			rc = use_undeclared(s, m, &k);
	}
	return rc;
}
