/* Files that several steps write, as they declare: each may write a part of its own, whoever comes
 * first. What one writes where another has written depends on chance. Source:
 * docs/explanation/conflicts.md. */
#include "stream/conflicts/shared.h"
#include "stream/conflicts/conflict.h"
#include "stream/conflicts/order.h"
#include "stream/conflicts/uses.h"
#include "stream/state/content.h"
#include "stream/state/names.h"
#include "stream/state/ofds.h"
#include "stream/state/ports.h"
#include "stream/state/roles.h"

#include <errno.h>

enum { APPENDED = 1, PLACED = 2 };

/* ---- which files ---- */

/* Is it surely meant to be one file of several steps? A pattern of each of them may cover it by the
 * way. */
static bool is_spelled_out(const struct leat_stream *s, const struct leat_file_rule *rule,
			   const char *name)
{
	unsigned n = 0;

	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps && n < 2;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps))
		n += leat_names_has(&s->wf->steps[o].outputs, name);
	return n > 1;
}

static bool has_other_part(const struct leat_content *c, int step)
{
	for (size_t i = 0; i < c->n_parts; i++)
		if (c->parts[i].step != step && c->parts[i].step >= 0)
			return true;
	return false;
}

bool leat_stream_is_shared(struct leat_stream *s, int step, const char *name)
{
	const struct leat_file_rule *rule = leat_match(s->m, name);
	const struct leat_name_state *n = leat_name_find(s, name);

	if (!rule || step < 0 || !leat_rule_governs(s, rule) ||
	    !leat_steps_has(rule->producers, step) || leat_steps_within(s, rule->producers, step) ||
	    leat_name_has_versions(s, name))
		return false;
	return (n && n->content && has_other_part(n->content, step)) ||
	       is_spelled_out(s, rule, name);
}

/* What others wrote before anybody had to report where is taken for all that is there. */
static int claim(struct leat_content *c, int step, uint64_t length)
{
	int rc = 0;

	for (size_t i = 0; i < c->n_parts && length && !rc; i++) {
		struct leat_part *part = &c->parts[i];

		if (part->step == step || !part->opened)
			continue;
		part->did |= part->opened;
		rc = leat_extents_add(&part->written, 0, length);
	}
	return rc;
}

int leat_share_open(struct leat_stream *s, const struct leat_name_state *n,
		    const struct leat_event *ev)
{
	struct leat_content *c = n->content;
	int rc = 0;

	if (!c->shared && leat_stream_is_shared(s, ev->step, n->text)) {
		c->shared = true;
		rc = claim(c, ev->step, ev->length);
	}
	if (!rc && ev->flags & LEAT_EVF_TRUNC)
		rc = leat_share_cut(s, n, c, ev->step, 0);
	return rc;
}

void leat_share_begin(struct leat_content *c, int step, bool appends)
{
	leat_content_find_part(c, step)->opened |= appends ? APPENDED : PLACED;
}

/* ---- what has been done ---- */

static enum leat_use use_of(unsigned did)
{
	return did & APPENDED ? LEAT_USE_APPEND : LEAT_USE_WRITE;
}

/* 0 or -ENOMEM. */
static int report_shared(struct leat_stream *s, const struct leat_clash *k)
{
	bool before;
	int rc = leat_uses_mark_reported(s, k->name, &before);

	if (!rc && !before)
		leat_conflict_report(s, k, LEAT_CONFLICT_SHARED);
	return rc;
}

/* The first bytes of `range` that are in `x`, too. False: there are none. */
static bool find_common(const struct leat_extents *x, struct leat_range range,
			struct leat_range *common)
{
	for (size_t i = 0; i < x->n && x->v[i].begin < range.end; i++) {
		if (x->v[i].end <= range.begin)
			continue;
		common->begin = range.begin > x->v[i].begin ? range.begin : x->v[i].begin;
		common->end = range.end < x->v[i].end ? range.end : x->v[i].end;
		return true;
	}
	return false;
}

/* Bytes beyond what a step has cut it to, which in a batch comes after: there they would be gone.
 */
static bool is_cut_later(const struct leat_stream *s, const struct leat_part *other, int step,
			 uint64_t end)
{
	return other->cut && end > other->cut_to && leat_runs_before(s->m, step, other->step);
}

/* Does it differ from the batch that `k->step` did so to `range`, after `other` did its part? */
static bool clashes(const struct leat_stream *s, const struct leat_part *other, unsigned did,
		    struct leat_range range, struct leat_clash *k)
{
	k->other = other->step;
	k->before = use_of(other->did);
	k->use = use_of(did);
	k->at = (struct leat_range){0};
	if ((other->did | did) == (APPENDED | PLACED) && other->did)
		return true;
	if (did == PLACED && find_common(&other->written, range, &k->at))
		return true;
	k->before = LEAT_USE_TRUNCATE;
	k->at = (struct leat_range){other->cut_to, range.end};
	return is_cut_later(s, other, k->step, range.end);
}

static int check(struct leat_stream *s, struct leat_content *c, unsigned did,
		 struct leat_range range, struct leat_clash *k)
{
	int rc = 0;

	for (size_t i = 0; i < c->n_parts && !rc; i++) {
		const struct leat_part *other = &c->parts[i];

		if (other->step == k->step || other->step < 0 ||
		    !leat_order_is_early(s, other->step, k->step))
			continue;
		if (clashes(s, other, did, range, k)) {
			rc = report_shared(s, k);
		} else if (did == APPENDED && other->did == APPENDED && !c->warned) {
			c->warned = true;
			leat_conflict_report(s, k, LEAT_CONFLICT_APPENDED);
		}
	}
	return rc;
}

int leat_fact_written(struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_range range = {ev->offset, leat_range_end(ev->offset, ev->length)};
	struct leat_content *c = leat_content_of(s, ev);
	struct leat_clash k = {.name = ev->name, .step = ev->step};
	const unsigned did = ev->code ? APPENDED : PLACED;
	struct leat_part *part;
	int rc;

	if (!c)
		return -EINVAL;
	part = ev->length ? leat_content_part(s, c, ev->step) : NULL;
	if (!part)
		return s->error;
	part->did |= did;
	rc = check(s, c, did, range, &k);
	return rc ? rc : leat_extents_add(&part->written, range.begin, range.end);
}

static bool is_undone(const struct leat_stream *s, const struct leat_part *other, int step,
		      uint64_t length)
{
	const struct leat_extents *x = &other->written;

	/* What is appended lies elsewhere after a cut, be it to a greater length. */
	if (other->did & APPENDED && leat_runs_before(s->m, step, other->step))
		return true;
	return (x->n && x->v[x->n - 1].end > length) ||
	       (is_cut_later(s, other, step, length) && length != other->cut_to);
}

int leat_share_cut(struct leat_stream *s, const struct leat_name_state *n, struct leat_content *c,
		   int step, uint64_t length)
{
	struct leat_part *part = leat_content_find_part(c, step);
	int rc = 0;

	for (size_t i = 0; i < c->n_parts && !rc; i++) {
		struct leat_part *other = &c->parts[i];

		if (c->shared && other->step != step && other->step >= 0 && step >= 0 &&
		    leat_order_is_early(s, other->step, step) && is_undone(s, other, step, length))
			rc = report_shared(
				s, &(struct leat_clash){.name = n->text,
							.step = step,
							.other = other->step,
							.use = LEAT_USE_TRUNCATE,
							.before = other->did ? use_of(other->did)
									     : LEAT_USE_TRUNCATE});
		leat_extents_truncate(&other->written, length);
	}
	if (part) {
		part->cut = true;
		part->cut_to = length;
	}
	return rc;
}

/* ---- staged steps ---- */

/* Has `other` made or changed the file, while the staged step worked on one of its own on disk? Two
 * staged ones that spell it out have worked on it one after the other. */
static bool has_made(const struct leat_stream *s, const struct leat_content *c,
		     const struct leat_part *other)
{
	return !s->wf->steps[other->step].staged &&
	       (other->opened || other->published || other->cut || c->creator == other->step);
}

int leat_share_adopt(struct leat_stream *s, const struct leat_name_state *n, int step)
{
	const struct leat_content *c = n->content;
	int rc = 0;

	if (step < 0 || !s->wf->steps[step].staged || !c || c->is_dir ||
	    !leat_name_produced_by(n, step))
		return 0;
	for (size_t i = 0; i < c->n_parts && !rc; i++) {
		const struct leat_part *other = &c->parts[i];

		if (other->step == step || !leat_name_produced_by(n, other->step) ||
		    !leat_order_is_early(s, other->step, step) || !has_made(s, c, other))
			continue;
		rc = report_shared(s, &(struct leat_clash){.name = n->text,
							   .step = step,
							   .other = other->step,
							   .use = LEAT_USE_WRITE,
							   .before = LEAT_USE_WRITE});
	}
	return rc;
}

int leat_share_adopted(struct leat_stream *s, struct leat_content *c, int step, uint64_t length)
{
	struct leat_part *part;

	if (step < 0 || !s->wf->steps[step].staged || c->is_dir)
		return 0;
	part = leat_content_part(s, c, step);
	if (!part)
		return -ENOMEM;
	part->opened = part->did = PLACED;
	/* It may have truncated it. */
	part->cut = true;
	part->cut_to = length;
	return length ? leat_extents_add(&part->written, 0, length) : 0;
}
