/* Steps that use a declared output otherwise than they declare. */
#include "stream/conflicts/declared.h"
#include "stream/conflicts/conflict.h"
#include "stream/conflicts/order.h"
#include "stream/conflicts/uses.h"
#include "stream/state/content.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/ports.h"
#include "stream/state/roles.h"
#include "stream/state/steps.h"
#include "stream/state/used.h"

#include <errno.h>

static bool has_others(const struct leat_stream *s, const uint64_t *set, int step)
{
	return !leat_steps_within(s, set, step);
}

static bool destroys(enum leat_use use)
{
	return use == LEAT_USE_TRUNCATE || use >= LEAT_USE_REMOVE;
}

bool leat_name_is_made_by(const struct leat_name_state *n, int step)
{
	return n && n->content &&
	       (n->content->creator == step || leat_content_find_part(n->content, step));
}

/* What they write over each other thereafter is no news. */
static int report_declared(struct leat_stream *s, const struct leat_clash *k)
{
	bool before;

	leat_conflict_report(s, k, LEAT_CONFLICT);
	return leat_uses_mark_reported(s, k->name, &before);
}

/* Several steps may make one file together, but not each its own by the same name. Two that make
 * theirs at the same moment have not opened it yet, either of them. 0 or -ENOMEM. */
static int check_co_producer(struct leat_stream *s, const struct leat_name_state *n,
			     const struct leat_file_rule *rule, struct leat_clash *k)
{
	int rc = leat_uses_remake(s, k->name, k->step, &k->other);

	k->before = LEAT_USE_WRITE;
	if (!rc && k->other >= 0)
		return report_declared(s, k);
	if (rc)
		return rc;
	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps)) {
		if (!leat_order_is_early(s, o, k->step) || !leat_name_is_made_by(n, o))
			continue;
		k->other = o;
		return report_declared(s, k);
	}
	return 0;
}

/* ---- steps that do not declare it ---- */

/* Who did not say that it reads the file waits for it, as if it came after its producer. So it is
 * in the batch, unless it runs before that there. Who is upstream of it sees it as it is. */
static void check_stranger(struct leat_stream *s, const struct leat_file_rule *rule,
			   struct leat_clash *k)
{
	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps)) {
		if (leat_order_of(s, o, k->step) != LEAT_NO_ORDER ||
		    leat_runs_before(s->m, o, k->step))
			continue;
		k->other = o;
		k->before = LEAT_USE_CREATE;
		leat_conflict_report(s, k, LEAT_CONFLICT);
		return;
	}
}

/* Who comes before its producer finds what that has made already, or changes it. */
static bool meets_later_producer(struct leat_stream *s, const struct leat_name_state *n,
				 const struct leat_file_rule *rule, struct leat_clash *k)
{
	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps)) {
		if (leat_order_of(s, o, k->step) != LEAT_AFTER || !leat_name_is_made_by(n, o))
			continue;
		k->other = o;
		k->before = n->content->creator == o ? LEAT_USE_CREATE : LEAT_USE_WRITE;
		return true;
	}
	return false;
}

/* The file is final though no producer has made it, and a consumer has been let at it, or got
 * ENOENT: whoever comes before changes it too late. */
static bool meets_later_consumer(struct leat_stream *s, const struct leat_name_state *n,
				 const struct leat_file_rule *rule, struct leat_clash *k)
{
	if (!n || k->use < LEAT_USE_APPEND || !leat_state_is_final(n->state) ||
	    (n->state == LEAT_FILE_COMMITTED && !n->seen))
		return false;
	for (int o = leat_steps_next(rule->consumers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->consumers, o + 1, s->n_steps)) {
		if (leat_order_of(s, o, k->step) != LEAT_AFTER || !s->steps[o].started)
			continue;
		k->other = o;
		k->before = n->state == LEAT_FILE_GONE ? LEAT_USE_SEEK : LEAT_USE_READ;
		return true;
	}
	return false;
}

bool leat_declared_is_taken(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	return n && n->taken && !n->content &&
	       leat_order_of(s, step, (int)n->taken - 1) == LEAT_BEFORE;
}

static int report_taken(struct leat_stream *s, const struct leat_name_state *n, int step,
			enum leat_use use)
{
	const struct leat_clash k = {.name = n->text,
				     .step = step,
				     .other = (int)n->taken - 1,
				     .use = use,
				     .before = LEAT_USE_REMOVE};

	return leat_uses_report_once(s, &k, LEAT_CONFLICT_TAKEN);
}

int leat_declared_first_after(const struct leat_stream *s, const struct leat_name_state *n,
			      int step)
{
	for (int o = 0; o < s->n_steps; o++)
		if (n->seen & leat_seen_bit(o) && s->steps[o].started &&
		    leat_order_of(s, o, step) == LEAT_AFTER)
			return o;
	return -1;
}

void leat_declared_take(struct leat_stream *s, const struct leat_name_state *n, int step,
			enum leat_use use)
{
	struct leat_clash k = {.name = n->text,
			       .step = step,
			       .other = leat_declared_first_after(s, n, step),
			       .use = use,
			       .before = LEAT_USE_READ};

	if (k.other >= 0 && leat_uses_report_once(s, &k, LEAT_CONFLICT_TAKEN))
		s->error = -ENOMEM;
}

int leat_declared_list(struct leat_stream *s, const struct leat_name_state *dir, int step)
{
	const struct leat_name_state *child;

	/* Python lists the workflow's directory, whatever it looks for there. */
	if (!dir->taken_below || !*dir->text)
		return 0;
	DL_FOREACH(dir->children, child)
	{
		if (leat_declared_is_taken(s, child, step))
			return report_taken(s, child, step, LEAT_USE_SEEK);
	}
	return 0;
}

bool leat_declared_allows(const struct leat_stream *s, const struct leat_file_rule *rule, int step,
			  enum leat_use use)
{
	if (leat_steps_has(rule->producers, step))
		return !destroys(use) || !has_others(s, rule->producers, step);
	return leat_steps_has(rule->consumers, step);
}

int leat_declared_remaker(const struct leat_stream *s, const struct leat_file_rule *rule, int step,
			  const char *name, enum leat_use use)
{
	if (use != LEAT_USE_MKDIR || !leat_steps_has(rule->producers, step))
		return -1;
	return leat_uses_remaker(s, name, step);
}

int leat_declared_use(struct leat_stream *s, const struct leat_event *ev,
		      const struct leat_file_rule *rule)
{
	const struct leat_name_state *n = leat_name_find(s, ev->name);
	struct leat_clash k = {
		.name = ev->name, .step = ev->step, .other = -1, .use = (enum leat_use)ev->code};

	bool allowed = leat_declared_allows(s, rule, ev->step, k.use);

	if ((k.use == LEAT_USE_SEEK || !allowed) && leat_declared_is_taken(s, n, ev->step))
		return report_taken(s, n, ev->step, k.use);
	if ((n && n->versioned) || leat_name_has_versions(s, ev->name))
		return 0;
	k.other = leat_declared_remaker(s, rule, ev->step, ev->name, k.use);
	if (k.other >= 0) {
		k.before = n && n->content ? LEAT_USE_MKDIR : LEAT_USE_REMOVE;
		return leat_uses_report_once(s, &k, LEAT_CONFLICT);
	}
	/* Directories are made and looked at by several, to the same effect. */
	if (allowed || (ev->flags & LEAT_EVF_DIR && k.use < LEAT_USE_APPEND))
		return 0;
	if (leat_steps_has(rule->producers, ev->step))
		return check_co_producer(s, n, rule, &k);
	if (meets_later_producer(s, n, rule, &k) || meets_later_consumer(s, n, rule, &k))
		return leat_uses_report_once(s, &k, LEAT_CONFLICT);
	check_stranger(s, rule, &k);
	return 0;
}
