#include "stream/conflicts/directories.h"
#include "stream/conflicts/order.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/steps.h"

#include <errno.h>
#include <string.h>

static bool comes_before(const struct leat_stream *s, const uint64_t *set, int step)
{
	for (int o = leat_steps_next(set, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(set, o + 1, s->n_steps))
		if (leat_order_of(s, o, step) == LEAT_BEFORE)
			return true;
	return false;
}

/* Is the directory there in a batch, whatever the others do? */
static bool is_made_before(const struct leat_stream *s, struct leat_uses *u, int step)
{
	return comes_before(s, leat_used_set(s, u, LEAT_MAKERS), step) ||
	       comes_before(s, leat_used_set(s, u, LEAT_TRIERS), step);
}

/* Whoever makes the directory, too, or tries to, knows what to do in either case. */
static bool is_mistaken(const struct leat_stream *s, struct leat_uses *u, int step)
{
	return leat_used_has(s, u, LEAT_MISTAKERS, step) &&
	       !leat_used_has(s, u, LEAT_MAKERS, step) && !leat_used_has(s, u, LEAT_TRIERS, step) &&
	       !leat_used_has(s, u, LEAT_OWNERS, step) &&
	       (leat_used_has(s, u, LEAT_SEEKERS, step) || !is_made_before(s, u, step));
}

bool leat_directory_is_passed(const struct leat_stream *s, struct leat_uses *u, int step)
{
	return leat_used_has(s, u, LEAT_PASSERS, step) && is_mistaken(s, u, step) &&
	       !leat_used_has(s, u, LEAT_SEEKERS, step);
}

void leat_directory_looked(struct leat_stream *s, struct leat_uses *u, int step, bool guess)
{
	if (!guess)
		leat_used_drop(s, u, LEAT_PASSERS, step);
	else if (is_mistaken(s, u, step))
		leat_used_add(s, u, LEAT_PASSERS, step);
}

/* Does it go by that? */
static bool is_misled(const struct leat_stream *s, struct leat_uses *u, int step)
{
	return is_mistaken(s, u, step) && !leat_directory_is_passed(s, u, step);
}

/* It found the directory, which is perhaps not there in a batch. If it then makes something in it,
 * it would have made the directory, too ([ -d d ] || mkdir d; echo >d/x). */
bool leat_directory_is_excused(const struct leat_stream *s, struct leat_uses *u, int step)
{
	return s->mistaken && is_misled(s, u, step) && !leat_used_has(s, u, LEAT_SEEKERS, step);
}

static void report_mistaken(struct leat_stream *s, struct leat_uses *u, const char *name, int step)
{
	struct leat_clash k = {.name = name,
			       .step = step,
			       .other = u->maker,
			       .use = LEAT_USE_READ,
			       .before = LEAT_USE_MKDIR};

	if (leat_used_has(s, u, LEAT_SEEKERS, step))
		k = (struct leat_clash){.name = name,
					.step = u->maker,
					.other = step,
					.use = LEAT_USE_MKDIR,
					.before = LEAT_USE_SEEK};
	u->reported = true;
	leat_conflict_report(s, &k, LEAT_CONFLICT);
}

void leat_directory_mistaken(struct leat_stream *s, struct leat_uses *u, const char *name, int step,
			     int maker)
{
	u->maker = maker;
	leat_used_add(s, u, LEAT_MISTAKERS, step);
	s->mistaken = true;
	if (leat_step_is_over(&s->steps[step]) && is_misled(s, u, step))
		report_mistaken(s, u, name, step);
}

void leat_directory_found(struct leat_stream *s, struct leat_uses *u, const struct leat_clash *k)
{
	int maker = leat_order_early(s, leat_used_set(s, u, LEAT_MAKERS), NULL, k->step);

	if (maker >= 0 && !is_made_before(s, u, k->step))
		leat_directory_mistaken(s, u, k->name, k->step, maker);
}

void leat_directory_made(struct leat_stream *s, struct leat_uses *u, const struct leat_clash *k)
{
	const uint64_t *seekers = leat_used_set(s, u, LEAT_SEEKERS);

	for (int o = leat_steps_next(seekers, 0, s->n_steps); o < s->n_steps && !u->reported;
	     o = leat_steps_next(seekers, o + 1, s->n_steps))
		if (leat_order_is_early(s, o, k->step))
			leat_directory_mistaken(s, u, k->name, o, k->step);
	leat_used_add(s, u, LEAT_MAKERS, k->step);
}

/* A consumer waits until it is complete, unless it is streamed. */
static bool is_found_early(const struct leat_stream *s, const struct leat_file_rule *rule, int step,
			   const char *name, enum leat_use use)
{
	const struct leat_name_state *n = leat_name_find(s, name);

	return (use == LEAT_USE_READ || use == LEAT_USE_NEED) &&
	       (!leat_steps_has(rule->consumers, step) || rule->fire == LEAT_FIRE_NO_UPDATE) &&
	       !(n && leat_state_is_final(n->state));
}

static bool is_taken_away(enum leat_use use)
{
	return use == LEAT_USE_REMOVE || use == LEAT_USE_MOVE || use == LEAT_USE_REPLACE;
}

static void report_taken_away(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_used *used = leat_used_find(s, ev->name);
	struct leat_clash k = {.name = ev->name,
			       .step = ev->step,
			       .use = (enum leat_use)ev->code,
			       .before = LEAT_USE_READ};

	if (!used || used->uses->reported)
		return;
	k.other = leat_order_early(s, leat_used_set(s, used->uses, LEAT_READERS), NULL, ev->step);
	if (k.other < 0)
		return;
	used->uses->reported = true;
	leat_conflict_report(s, &k, LEAT_CONFLICT);
}

int leat_directory_use(struct leat_stream *s, const struct leat_event *ev,
		       const struct leat_file_rule *rule)
{
	const enum leat_use use = (enum leat_use)ev->code;
	struct leat_used *used;

	if (is_taken_away(use))
		report_taken_away(s, ev);
	if (!is_found_early(s, rule, ev->step, ev->name, use))
		return 0;
	used = leat_used_get(s, ev->name, NULL);
	if (!used)
		return -ENOMEM;
	leat_used_add(s, used->uses, LEAT_READERS, ev->step);
	return 0;
}

bool leat_directory_use_is_news(const struct leat_stream *s, const struct leat_file_rule *rule,
				int step, const char *name, enum leat_use use)
{
	const struct leat_used *used = leat_used_find(s, name);

	if (is_taken_away(use))
		return used && !used->uses->reported;
	return is_found_early(s, rule, step, name, use) &&
	       !(used && leat_used_has(s, used->uses, LEAT_READERS, step));
}

void leat_directories_step_over(struct leat_stream *s, int step)
{
	struct leat_used *n, *next;

	if (!s->mistaken)
		return;
	HASH_ITER(hh, s->used, n, next)
	{
		if (!n->uses->reported && is_misled(s, n->uses, step))
			report_mistaken(s, n->uses, n->text, step);
	}
}

bool leat_directory_excuses_above(const struct leat_stream *s, const char *name, int step)
{
	size_t length = s->mistaken ? strlen(name) : 0;
	const struct leat_used *n;

	while ((n = leat_used_above(s, name, &length)))
		if (leat_directory_is_excused(s, n->uses, step))
			return true;
	return false;
}

void leat_directory_tried(struct leat_stream *s, const char *name, int step)
{
	size_t length = s->mistaken ? strlen(name) : 0;
	struct leat_used *n;

	while ((n = leat_used_above(s, name, &length)))
		if (leat_directory_is_excused(s, n->uses, step))
			leat_used_add(s, n->uses, LEAT_TRIERS, step);
}

bool leat_stream_is_mistaken(const struct leat_stream *s, int step, const char *name)
{
	const struct leat_used *n = s->mistaken && step >= 0 ? leat_used_find(s, name) : NULL;

	return (n && !n->uses->reported && is_mistaken(s, n->uses, step)) ||
	       (step >= 0 && leat_directory_excuses_above(s, name, step));
}
