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

static int report_once(struct leat_stream *s, const struct leat_clash *k, enum leat_conflict kind)
{
	bool before;
	int rc = leat_uses_mark_reported(s, k->name, &before);

	if (!rc && !before)
		leat_conflict_report(s, k, kind);
	return rc;
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

/* ---- co-producers that look before they make it ---- */

/* May what it finds there depend on the other producers? One that reads it, too, waits for them. */
static bool is_one_of_several(const struct leat_stream *s, const struct leat_name_state *n,
			      const struct leat_file_rule *rule, int step, const char *name)
{
	return has_others(s, rule->producers, step) &&
	       leat_rule_role(s, step, rule) == LEAT_ROLE_PRODUCER && !(n && n->versioned) &&
	       !leat_name_has_versions(s, name);
}

/* Does the step go by whether another producer has made the file? One that has made it knows. */
static bool looks_for_others(const struct leat_stream *s, const struct leat_name_state *n,
			     const struct leat_file_rule *rule, int step, const char *name)
{
	return !leat_name_is_made_by(n, step) && is_one_of_several(s, n, rule, step, name);
}

/* Does it know only its own part of the file, to which another one, which a batch runs before, may
 * still come? Who has a part already is waited for. */
static bool looks_at_part(const struct leat_stream *s, const struct leat_name_state *n,
			  const struct leat_file_rule *rule, int step, const char *name)
{
	if (!leat_name_is_made_by(n, step) || !is_one_of_several(s, n, rule, step, name))
		return false;
	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps))
		if (leat_order_ends_before(s, o, step) && !leat_step_is_over(&s->steps[o]))
			return true;
	return false;
}

static int note_partaker(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_used *used;

	/* Behind a mount that may be the beginning of an open to write. */
	if (ev->code != LEAT_USE_READ || ev->flags & LEAT_EVF_INTACT)
		return 0;
	used = leat_used_get(s, ev->name, NULL);
	if (!used)
		return -ENOMEM;
	leat_used_add(s, used->uses, LEAT_PARTAKERS, ev->step);
	return 0;
}

/* Who has looked at its own part of it, but in a batch would have found that of `step`, too? */
static int check_partakers(struct leat_stream *s, struct leat_used *used,
			   const struct leat_name_state *n, int step)
{
	const uint64_t *partakers = leat_used_set(s, used->uses, LEAT_PARTAKERS);
	struct leat_clash k = {
		.name = n->text, .step = step, .use = LEAT_USE_WRITE, .before = LEAT_USE_READ};

	for (int o = leat_steps_next(partakers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(partakers, o + 1, s->n_steps)) {
		if (!leat_name_is_made_by(n, o) || !leat_order_ends_before(s, step, o))
			continue;
		k.other = o;
		return report_once(s, &k, LEAT_CONFLICT);
	}
	return 0;
}

/* Who made the file that is there, but in a batch begins after `step` ends; -1: nobody. */
static int find_later_maker(const struct leat_stream *s, const struct leat_name_state *n,
			    const struct leat_file_rule *rule, int step)
{
	int maker = n && n->content && !n->content->is_dir ? n->content->creator : -1;

	return maker >= 0 && leat_steps_has(rule->producers, maker) &&
			       leat_order_ends_before(s, step, maker)
		       ? maker
		       : -1;
}

int leat_declared_look(struct leat_stream *s, const struct leat_event *ev,
		       const struct leat_file_rule *rule)
{
	const struct leat_name_state *n = leat_name_find(s, ev->name);
	struct leat_clash k = {.name = ev->name,
			       .step = ev->step,
			       .use = LEAT_USE_READ,
			       .before = LEAT_USE_CREATE};
	struct leat_used *used;

	if (looks_at_part(s, n, rule, ev->step, ev->name))
		return note_partaker(s, ev);
	if (!looks_for_others(s, n, rule, ev->step, ev->name))
		return 0;
	if (ev->code == LEAT_USE_READ) {
		k.other = find_later_maker(s, n, rule, ev->step);
		if (k.other < 0)
			return 0;
		if (!(ev->flags & LEAT_EVF_INTACT))
			return report_once(s, &k, LEAT_CONFLICT);
	} else if (ev->code != LEAT_USE_SEEK) {
		return 0;
	}
	used = leat_used_get(s, ev->name, NULL);
	if (!used)
		return -ENOMEM;
	leat_used_add(s, used->uses, ev->code == LEAT_USE_SEEK ? LEAT_SEEKERS : LEAT_FORERUNNERS,
		      ev->step);
	if (ev->flags & LEAT_EVF_INTACT) {
		leat_used_add(s, used->uses, LEAT_GUESSERS, ev->step);
		s->guessed = true;
	}
	return 0;
}

bool leat_declared_look_is_news(const struct leat_stream *s, const struct leat_file_rule *rule,
				int step, const char *name, enum leat_use use)
{
	const struct leat_name_state *n = leat_name_find(s, name);
	const struct leat_used *used = leat_used_find(s, name);

	if (used && used->uses->reported)
		return false;
	if (use == LEAT_USE_READ && looks_at_part(s, n, rule, step, name))
		return !used || !leat_used_has(s, used->uses, LEAT_PARTAKERS, step);
	if (!looks_for_others(s, n, rule, step, name))
		return false;
	if (use == LEAT_USE_SEEK)
		return !used || !leat_used_has(s, used->uses, LEAT_SEEKERS, step);
	return use == LEAT_USE_READ && find_later_maker(s, n, rule, step) >= 0 &&
	       !(used && leat_used_has(s, used->uses, LEAT_FORERUNNERS, step));
}

void leat_declared_opened(struct leat_stream *s, const struct leat_name_state *n, int step)
{
	struct leat_used *used = leat_name_produced_by(n, step) ? leat_used_find(s, n->text) : NULL;

	if (!used)
		return;
	leat_used_drop(s, used->uses, LEAT_SEEKERS, step);
	leat_used_drop(s, used->uses, LEAT_GUESSERS, step);
	leat_used_drop(s, used->uses, LEAT_FORERUNNERS, step);
	if (check_partakers(s, used, n, step))
		s->error = -ENOMEM;
}

/* Who made what the step has found, though it comes after it. That may be gone again. */
static int find_forerun(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	int maker = n ? find_later_maker(s, n, n->rule, step) : -1;

	return n && maker < 0 ? leat_uses_remaker(s, n->text, step) : maker;
}

/* Who made what the step has looked for in vain, though it comes before it. */
static int find_missed(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	int maker = n && n->content && !n->content->is_dir ? n->content->creator : -1;

	return maker >= 0 && leat_name_produced_by(n, maker) &&
			       leat_order_ends_before(s, maker, step)
		       ? maker
		       : -1;
}

/* It has not made what it looked for, and so has gone by what it found. */
static void judge_guess(struct leat_stream *s, struct leat_used *used, int step)
{
	const struct leat_name_state *n = leat_name_find(s, used->text);
	struct leat_clash found = {.name = used->text,
				   .step = step,
				   .other = -1,
				   .use = LEAT_USE_READ,
				   .before = LEAT_USE_CREATE},
			  missed = {.name = used->text,
				    .step = -1,
				    .other = step,
				    .use = LEAT_USE_CREATE,
				    .before = LEAT_USE_SEEK};

	if (leat_used_has(s, used->uses, LEAT_FORERUNNERS, step))
		found.other = find_forerun(s, n, step);
	if (leat_used_has(s, used->uses, LEAT_SEEKERS, step))
		missed.step = find_missed(s, n, step);
	leat_used_drop(s, used->uses, LEAT_GUESSERS, step);
	if ((found.other >= 0 && report_once(s, &found, LEAT_CONFLICT)) ||
	    (missed.step >= 0 && report_once(s, &missed, LEAT_CONFLICT)))
		s->error = -ENOMEM;
}

void leat_declared_step_over(struct leat_stream *s, int step)
{
	struct leat_used *used, *next;

	if (!s->guessed)
		return;
	HASH_ITER(hh, s->used, used, next)
	{
		if (leat_used_has(s, used->uses, LEAT_GUESSERS, step))
			judge_guess(s, used, step);
	}
}

int leat_declared_made(struct leat_stream *s, const struct leat_name_state *n, int step,
		       enum leat_use use)
{
	struct leat_used *used = leat_name_produced_by(n, step) ? leat_used_find(s, n->text) : NULL;
	struct leat_clash k = {.name = n->text, .step = step, .use = use, .before = LEAT_USE_SEEK};
	const uint64_t *seekers;

	if (!used || n->versioned || leat_name_has_versions(s, n->text))
		return 0;
	seekers = leat_used_set(s, used->uses, LEAT_SEEKERS);
	for (int o = leat_steps_next(seekers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(seekers, o + 1, s->n_steps)) {
		if (leat_rule_role(s, o, n->rule) != LEAT_ROLE_PRODUCER ||
		    !leat_order_ends_before(s, step, o) ||
		    (leat_used_has(s, used->uses, LEAT_GUESSERS, o) &&
		     !leat_step_is_over(&s->steps[o])))
			continue;
		k.other = o;
		return report_once(s, &k, LEAT_CONFLICT);
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

	return report_once(s, &k, LEAT_CONFLICT_TAKEN);
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

	if (k.other >= 0 && report_once(s, &k, LEAT_CONFLICT_TAKEN))
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
		k.before = LEAT_USE_REMOVE;
		return report_once(s, &k, LEAT_CONFLICT);
	}
	/* Directories are made and looked at by several, to the same effect. */
	if (allowed || (ev->flags & LEAT_EVF_DIR && k.use < LEAT_USE_APPEND))
		return 0;
	if (leat_steps_has(rule->producers, ev->step))
		return check_co_producer(s, n, rule, &k);
	if (meets_later_producer(s, n, rule, &k) || meets_later_consumer(s, n, rule, &k))
		return report_once(s, &k, LEAT_CONFLICT);
	check_stranger(s, rule, &k);
	return 0;
}
