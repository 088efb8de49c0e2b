/* What consumers were shown is a promise: names by listings, and a directory that is complete by
 * the number of its files. What a producer takes back before is as if it had never been. */
#include "stream/facts/promises.h"
#include "stream/conflicts/turns.h"
#include "stream/rules/settle.h"
#include "stream/rules/transition.h"
#include "stream/rules/violation.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/queue.h"
#include "stream/state/roles.h"
#include "stream/state/shown.h"
#include "stream/state/steps.h"

#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Who lists a directory that nobody declared, and none of whose files are inputs of it, need not
 * care for them: programs look for others there. */
static bool is_concerned(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	return leat_step_consumes(s, step, n) &&
	       (leat_steps_has(n->rule->consumers, step) || n->parent->governed);
}

/* The step, other than `step`, that a listing has shown `n`; -1: none. */
static int listed_by(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	const struct leat_shown_to *l;

	if (!n->shown || n->versioned || !n->parent)
		return -1;
	LL_FOREACH(n->parent->listings, l)
	{
		if (l->step != step && n->shown_at <= l->upto && is_concerned(s, n, l->step))
			return l->step;
	}
	return -1;
}

static bool was_used(const struct leat_name_state *n)
{
	return n->state == LEAT_FILE_COMMITTED && !n->versioned &&
	       (leat_name_is_dir(n) ? n->relied : n->seen);
}

void leat_shown_check_loss(struct leat_stream *s, const struct leat_name_state *n, int step,
			   const char *to)
{
	enum leat_violation kind = LEAT_VIOLATION_LISTED;
	char *what;

	/* One loss is reported once: by the first of the names that it concerns. */
	if (s->reported || !leat_name_produced_by(n, step) || leat_producers_are_over(s, n->rule))
		return;
	if (listed_by(s, n, step) < 0) {
		if (!was_used(n))
			return;
		kind = LEAT_VIOLATION_AFTER_COMMIT;
	}
	what = to ? leat_strf("renamed to %s", to) : NULL;
	leat_violation_report(s, kind, n->text, step, what ? what : to ? "renamed" : "removed");
	free(what);
}

void leat_shown_check_gain(struct leat_stream *s, const struct leat_name_state *n, int step,
			   const char *from)
{
	const struct leat_name_state *dir = n->parent;
	char *what;

	while (dir && !(dir->governed && dir->rule->n_files && dir->relied &&
			dir->state == LEAT_FILE_COMMITTED))
		dir = dir->parent;
	if (s->reported || !dir || (from && !leat_path_is_below(from, dir->text)) ||
	    !leat_name_produced_by(n, step) || leat_producers_are_over(s, n->rule))
		return;
	what = leat_strf("given %s", n->text);
	leat_violation_report(s, LEAT_VIOLATION_AFTER_COMMIT, dir->text, step,
			      what ? what : "given a directory");
	free(what);
}

/* Who has read it has what it would have in a batch, unless it could not have read it there.
 * Whether it may be run concerns who has tried to, or has looked. */
int leat_fact_rights(struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_name_state *n = leat_name_find(s, ev->name);
	bool concerned;

	if (!ev->code || ev->code > (LEAT_RIGHTS_READ | LEAT_RIGHTS_RUN | LEAT_RIGHTS_SHOWN))
		return -EINVAL;
	if (n && leat_turn_changed(s, n, ev->step, LEAT_USE_RIGHTS, false))
		return -ENOMEM;
	if (ev->code == LEAT_RIGHTS_SHOWN || !n || !leat_name_produced_by(n, ev->step) ||
	    leat_producers_are_over(s, n->rule) || !was_used(n))
		return 0;
	concerned = n->looked || ev->code & LEAT_RIGHTS_READ;
	if (concerned)
		leat_violation_report(s, LEAT_VIOLATION_AFTER_COMMIT, n->text, ev->step,
				      "given other permissions");
	return 0;
}

static void check_count(struct leat_stream *s, struct leat_name_state *dir, int step)
{
	unsigned needed = dir->rule->n_files;
	char what[64];

	if (!dir->governed || !dir->content || dir->state != LEAT_FILE_COMMITTED ||
	    dir->committed_below >= needed || leat_producers_are_over(s, dir->rule) ||
	    leat_rule_role(s, step, dir->rule) != LEAT_ROLE_PRODUCER)
		return;
	if (!dir->relied) {
		leat_name_advance(s, dir, LEAT_FILE_EVENT_ONE_FEWER);
		leat_touch(s, dir);
		return;
	}
	snprintf(what, sizeof(what), "left with %u of the %u files that complete it",
		 dir->committed_below, needed);
	if (!s->reported)
		leat_violation_report(s, LEAT_VIOLATION_AFTER_COMMIT, dir->text, step, what);
}

void leat_shown_recount(struct leat_stream *s, const struct leat_name_state *n, int step)
{
	/* A file that only changes its name is missing until it is complete by the new one. */
	leat_settle(s);
	for (struct leat_name_state *dir = n->parent; dir; dir = dir->parent)
		check_count(s, dir, step);
}
