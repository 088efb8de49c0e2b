/* Several producers of one name, which in a batch run one after the other, and here perhaps at the
 * same time: who looks at it finds what that one finds there, or it is reported. Who writes which
 * bytes of it is judged in shared.c. */
#include "stream/conflicts/turns.h"
#include "stream/conflicts/conflict.h"
#include "stream/conflicts/declared.h"
#include "stream/conflicts/directories.h"
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

/* May what it finds there depend on others? Who reads it, too, waits for them. */
static bool is_one_of_several(const struct leat_stream *s, const struct leat_name_state *n,
			      const struct leat_file_rule *rule, int step, const char *name)
{
	return !leat_steps_within(s, rule->producers, step) &&
	       leat_rule_role(s, step, rule) == LEAT_ROLE_PRODUCER && !(n && n->versioned) &&
	       !leat_name_has_versions(s, name);
}

bool leat_stream_is_one_of_several(struct leat_stream *s, int step, const char *name)
{
	const struct leat_file_rule *rule = leat_match(s->m, name);

	return rule && step >= 0 && is_one_of_several(s, leat_name_find(s, name), rule, step, name);
}

/* Has it taken it away, or away from this name? */
static bool has_removed(const struct leat_name_state *n, int step)
{
	return n && !n->content && (int)n->remover - 1 == step;
}

/* Of a file that several write each tells what it writes. */
static bool has_written(const struct leat_name_state *n, int step)
{
	const struct leat_content *c = n ? n->content : NULL;
	const struct leat_part *part = c && c->shared ? leat_content_find_part(c, step) : NULL;

	if (!part || c->creator == step)
		return leat_name_is_made_by(n, step);
	return part->did || part->published || part->cut;
}

static bool has_changed(const struct leat_stream *s, const struct leat_name_state *n,
			const struct leat_used *used, int step)
{
	return has_written(n, step) || has_removed(n, step) ||
	       (used && leat_used_has(s, used->uses, LEAT_CHANGERS, step));
}

/* ---- what another one has done that a batch runs after it ---- */

/* Who has done so; -1: nobody. */
static int find_later(const struct leat_stream *s, const struct leat_name_state *n,
		      const struct leat_used *used, const struct leat_file_rule *rule, int step)
{
	if (n && n->content && n->content->is_dir)
		return -1;
	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps))
		if (has_changed(s, n, used, o) && leat_order_ends_before(s, step, o))
			return o;
	return -1;
}

static enum leat_use use_of(const struct leat_name_state *n, int step, enum leat_use look)
{
	/* What was found is gone since. */
	if (has_removed(n, step) && look == LEAT_USE_READ && (int)n->removed_maker - 1 == step)
		return LEAT_USE_CREATE;
	if (has_removed(n, step) || (look == LEAT_USE_SEEK && !(n && n->content)))
		return LEAT_USE_REMOVE;
	if (!leat_name_is_made_by(n, step))
		return LEAT_USE_RIGHTS;
	return n->content->creator == step ? LEAT_USE_CREATE : LEAT_USE_WRITE;
}

static int report_later(struct leat_stream *s, const struct leat_name_state *n, const char *name,
			int step, int later, enum leat_use look)
{
	const struct leat_clash k = {
		.name = name,
		.step = step,
		.other = later,
		.use = look,
		.before = use_of(n, later, look),
	};

	return leat_uses_report_once(s, &k, LEAT_CONFLICT);
}

/* ---- what another one may still do that a batch runs before it ---- */

static bool is_preceded_by_work(const struct leat_stream *s, const struct leat_file_rule *rule,
				int step)
{
	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps))
		if (leat_order_ends_before(s, o, step) && !leat_step_is_over(&s->steps[o]))
			return true;
	return false;
}

/* ---- looks ---- */

/* As what the look is to be noted; LEAT_WHO: it is not. */
static enum leat_who kind_of_look(const struct leat_stream *s, const struct leat_file_rule *rule,
				  int step, enum leat_use use)
{
	if (use == LEAT_USE_SEEK)
		return LEAT_SEEKERS;
	return use == LEAT_USE_READ && is_preceded_by_work(s, rule, step) ? LEAT_HASTY : LEAT_WHO;
}

static int note_look(struct leat_stream *s, const char *name, int step, enum leat_who who,
		     bool guess)
{
	struct leat_used *used = leat_used_get(s, name, NULL);

	if (!used)
		return -ENOMEM;
	leat_used_add(s, used->uses, who, step);
	if (guess)
		leat_used_add(s, used->uses, LEAT_GUESSERS, step);
	s->guessed = s->guessed || guess;
	return 0;
}

int leat_turn_look(struct leat_stream *s, const struct leat_event *ev,
		   const struct leat_file_rule *rule)
{
	const struct leat_name_state *n = leat_name_find(s, ev->name);
	const bool guess = ev->flags & LEAT_EVF_INTACT;
	const enum leat_use use = (enum leat_use)ev->code;
	enum leat_who who;
	int later, rc = 0;

	if ((use != LEAT_USE_READ && use != LEAT_USE_SEEK) ||
	    !is_one_of_several(s, n, rule, ev->step, ev->name))
		return 0;
	/* Behind a mount that may be the beginning of an open to write. */
	if (guess && leat_name_is_made_by(n, ev->step))
		return 0;
	later = find_later(s, n, leat_used_find(s, ev->name), rule, ev->step);
	if (later >= 0 && !guess)
		return report_later(s, n, ev->name, ev->step, later, use);
	if (later >= 0)
		rc = note_look(s, ev->name, ev->step, LEAT_FORERUNNERS, true);
	who = kind_of_look(s, rule, ev->step, use);
	return rc || who == LEAT_WHO ? rc : note_look(s, ev->name, ev->step, who, guess);
}

bool leat_turn_look_is_news(const struct leat_stream *s, const struct leat_file_rule *rule,
			    int step, const char *name, enum leat_use use)
{
	const struct leat_name_state *n = leat_name_find(s, name);
	const struct leat_used *used = leat_used_find(s, name);
	enum leat_who who;

	if ((use != LEAT_USE_READ && use != LEAT_USE_SEEK) || (used && used->uses->reported) ||
	    !is_one_of_several(s, n, rule, step, name))
		return false;
	who = kind_of_look(s, rule, step, use);
	return (who != LEAT_WHO && !(used && leat_used_has(s, used->uses, who, step))) ||
	       (find_later(s, n, used, rule, step) >= 0 &&
		!(used && leat_used_has(s, used->uses, LEAT_FORERUNNERS, step)));
}

/* ---- changes ---- */

void leat_turn_opened(struct leat_stream *s, const struct leat_name_state *n, int step)
{
	struct leat_used *used = leat_name_produced_by(n, step) ? leat_used_find(s, n->text) : NULL;

	if (!used)
		return;
	if (leat_used_has(s, used->uses, LEAT_GUESSERS, step)) {
		leat_used_drop(s, used->uses, LEAT_HASTY, step);
		leat_used_drop(s, used->uses, LEAT_OVERTAKEN, step);
	}
	leat_used_drop(s, used->uses, LEAT_SEEKERS, step);
	leat_used_drop(s, used->uses, LEAT_GUESSERS, step);
	leat_used_drop(s, used->uses, LEAT_FORERUNNERS, step);
}

/* Of the steps in set `who`, which have looked, the first that in a batch begins after `step` ends;
 * -1: none. One that has perhaps only looked to make it is judged at its end. */
static int find_overtaken(struct leat_stream *s, struct leat_used *used, enum leat_who who,
			  int step)
{
	const uint64_t *set = leat_used_set(s, used->uses, who);

	for (int o = leat_steps_next(set, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(set, o + 1, s->n_steps)) {
		if (!leat_order_ends_before(s, step, o))
			continue;
		if (!leat_used_has(s, used->uses, LEAT_GUESSERS, o) ||
		    leat_step_is_over(&s->steps[o]))
			return o;
		if (who == LEAT_HASTY)
			leat_used_add(s, used->uses, LEAT_OVERTAKEN, o);
	}
	return -1;
}

static int report_overtaken(struct leat_stream *s, struct leat_used *used, enum leat_who who,
			    int step, enum leat_use use)
{
	const struct leat_clash k = {
		.name = used->text,
		.step = step,
		.other = find_overtaken(s, used, who, step),
		.use = use,
		.before = who == LEAT_SEEKERS ? LEAT_USE_SEEK : LEAT_USE_READ,
	};

	return k.other < 0 ? 0 : leat_uses_report_once(s, &k, LEAT_CONFLICT);
}

/* `step` makes it anew: in a batch the step that took it away, which comes later, would have taken
 * that. */
static int report_remade(struct leat_stream *s, const struct leat_name_state *n, int step,
			 enum leat_use use)
{
	const struct leat_clash k = {
		.name = n->text,
		.step = step,
		.other = (int)n->remover - 1,
		.use = use,
		.before = LEAT_USE_REMOVE,
	};

	return k.other < 0 || !leat_order_ends_before(s, step, k.other)
		       ? 0
		       : leat_uses_report_once(s, &k, LEAT_CONFLICT);
}

static int changed_by_name(struct leat_stream *s, const struct leat_name_state *n, int step,
			   enum leat_use use, bool made)
{
	const bool is_told = use == LEAT_USE_TRUNCATE || use == LEAT_USE_RIGHTS;
	struct leat_used *used;
	int rc;

	if (step < 0 || !n->governed || !leat_name_produced_by(n, step) ||
	    !is_one_of_several(s, n, n->rule, step, n->text))
		return 0;
	rc = made ? report_remade(s, n, step, use) : 0;
	if (rc)
		return rc;
	/* What has been made or written, or is gone, is seen by that. */
	used = is_told ? leat_used_get(s, n->text, NULL) : leat_used_find(s, n->text);
	if (!used)
		return is_told ? -ENOMEM : 0;
	if (is_told)
		leat_used_add(s, used->uses, LEAT_CHANGERS, step);
	rc = report_overtaken(s, used, LEAT_HASTY, step, use);
	return rc || !made ? rc : report_overtaken(s, used, LEAT_SEEKERS, step, use);
}

int leat_turn_changed(struct leat_stream *s, const struct leat_name_state *n, int step,
		      enum leat_use use, bool made)
{
	const bool by_all = use == LEAT_USE_WRITE || use == LEAT_USE_APPEND ||
			    use == LEAT_USE_TRUNCATE || use == LEAT_USE_RIGHTS;
	const struct leat_name_state *m;
	int rc = 0;

	if (!by_all || !n->content)
		return changed_by_name(s, n, step, use, made);
	DL_FOREACH2(n->content->names, m, same_next)
	{
		if (!rc)
			rc = changed_by_name(s, m, step, use, made);
	}
	return rc;
}

/* ---- at its end ---- */

/* Who changed what it has gone by, though it comes before it; -1: that cannot be told any more. */
static int find_changer(const struct leat_stream *s, const struct leat_name_state *n,
			const struct leat_used *used, const struct leat_file_rule *rule, int step)
{
	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps))
		if ((leat_name_is_made_by(n, o) || has_changed(s, n, used, o)) &&
		    leat_order_ends_before(s, o, step))
			return o;
	return -1;
}

static int judge(struct leat_stream *s, struct leat_used *used, int step)
{
	/* None of a directory from before the run. */
	const struct leat_name_state *n = leat_name_find(s, used->text);
	const struct leat_file_rule *rule = leat_match(s->m, used->text);
	const bool sought = leat_used_has(s, used->uses, LEAT_SEEKERS, step) && n && n->content &&
			    !n->content->is_dir;
	struct leat_clash k = {.name = used->text, .step = -1, .other = step};
	int later = -1;

	if (!rule)
		return -ENOMEM;
	if (leat_used_has(s, used->uses, LEAT_FORERUNNERS, step)) {
		later = find_later(s, n, used, rule, step);
		if (later < 0)
			later = leat_uses_remaker(s, used->text, step);
	}
	if (later >= 0)
		return report_later(s, n, used->text, step, later,
				    leat_used_has(s, used->uses, LEAT_SEEKERS, step)
					    ? LEAT_USE_SEEK
					    : LEAT_USE_READ);
	if (sought || leat_used_has(s, used->uses, LEAT_OVERTAKEN, step))
		k.step = find_changer(s, n, used, rule, step);
	if (k.step < 0)
		return 0;
	k.use = use_of(n, k.step, LEAT_USE_SEEK);
	k.before = sought ? LEAT_USE_SEEK : LEAT_USE_READ;
	return leat_uses_report_once(s, &k, LEAT_CONFLICT);
}

void leat_turn_step_over(struct leat_stream *s, int step)
{
	struct leat_used *used, *next;

	if (!s->guessed)
		return;
	HASH_ITER(hh, s->used, used, next)
	{
		if (!leat_used_has(s, used->uses, LEAT_GUESSERS, step))
			continue;
		leat_used_drop(s, used->uses, LEAT_GUESSERS, step);
		if (judge(s, used, step))
			s->error = -ENOMEM;
	}
}

/* ---- directories ---- */

/* Who looks for one, or makes something in it, and does not make it itself, has gone by that it was
 * not there. */
static void check_seekers(struct leat_stream *s, struct leat_uses *u, const char *name, int step)
{
	const uint64_t *seekers = leat_used_set(s, u, LEAT_SEEKERS);

	for (int o = leat_steps_next(seekers, 0, s->n_steps); o < s->n_steps && !u->reported;
	     o = leat_steps_next(seekers, o + 1, s->n_steps))
		if (leat_order_ends_before(s, step, o))
			leat_directory_mistaken(s, u, name, o, step);
}

/* Who made it, if the batch runs all who did so later; -1: nobody, or it would be there. */
static int find_later_makers(const struct leat_stream *s, struct leat_uses *u, int step)
{
	const uint64_t *makers = leat_used_set(s, u, LEAT_MAKERS);
	int later = -1;

	for (int o = leat_steps_next(makers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(makers, o + 1, s->n_steps)) {
		if (!leat_order_ends_before(s, step, o))
			return -1;
		later = o;
	}
	return later;
}

static void check_makers(struct leat_stream *s, struct leat_uses *u, const char *name, int step)
{
	int later = find_later_makers(s, u, step);

	if (later >= 0)
		leat_directory_mistaken(s, u, name, step, later);
}

/* Does it make something in a directory without a look at it, which in a batch is not there yet? */
static int check_needed(struct leat_stream *s, struct leat_uses *u, const char *name, int step)
{
	/* Behind a mount a look is not told from the way to what is made. */
	const bool knows = leat_used_has(s, u, LEAT_MAKERS, step) ||
			   leat_used_has(s, u, LEAT_TRIERS, step) ||
			   leat_used_has(s, u, LEAT_MISTAKERS, step);
	const struct leat_clash k = {.name = name,
				     .step = step,
				     .other = find_later_makers(s, u, step),
				     .use = LEAT_USE_NEED,
				     .before = LEAT_USE_MKDIR};

	return knows || k.other < 0 ? 0 : leat_uses_report_once(s, &k, LEAT_CONFLICT);
}

/* Does it make something in a directory that a later one has taken away? */
static int check_gone(struct leat_stream *s, const struct leat_event *ev,
		      const struct leat_file_rule *rule, const struct leat_name_state *n,
		      struct leat_used *used)
{
	int later = n && n->content ? -1 : find_later(s, n, used, rule, ev->step);

	return later < 0 ? 0 : report_later(s, n, ev->name, ev->step, later, LEAT_USE_SEEK);
}

int leat_turn_directory(struct leat_stream *s, const struct leat_event *ev,
			const struct leat_file_rule *rule)
{
	const struct leat_name_state *n = leat_name_find(s, ev->name);
	const bool flagged = ev->flags & LEAT_EVF_INTACT;
	struct leat_used *used;
	int rc = 0;

	if (!is_one_of_several(s, n, rule, ev->step, ev->name))
		return 0;
	used = leat_used_get(s, ev->name, NULL);
	if (!used)
		return -ENOMEM;
	switch (ev->code) {
	case LEAT_USE_MKDIR:
		if (flagged) {
			leat_used_add(s, used->uses, LEAT_TRIERS, ev->step);
			break;
		}
		check_seekers(s, used->uses, ev->name, ev->step);
		leat_used_add(s, used->uses, LEAT_MAKERS, ev->step);
		break;
	case LEAT_USE_READ:
		check_makers(s, used->uses, ev->name, ev->step);
		leat_directory_looked(s, used->uses, ev->step, flagged);
		break;
	case LEAT_USE_NEED:
		if (!n || !n->content)
			leat_used_add(s, used->uses, LEAT_SEEKERS, ev->step);
		rc = check_gone(s, ev, rule, n, used);
		if (!rc)
			rc = check_needed(s, used->uses, ev->name, ev->step);
		if (leat_directory_is_excused(s, used->uses, ev->step))
			leat_used_add(s, used->uses, LEAT_TRIERS, ev->step);
		leat_directory_tried(s, ev->name, ev->step);
		break;
	case LEAT_USE_REMOVE:
	case LEAT_USE_MOVE:
		/* One from before the run has no state that would tell. */
		if (!leat_used_has(s, used->uses, LEAT_MAKERS, ev->step))
			leat_used_add(s, used->uses, LEAT_CHANGERS, ev->step);
		break;
	default:
		break;
	}
	return rc;
}

void leat_turn_directory_renamed(struct leat_stream *s, const struct leat_name_state *to, int step)
{
	const struct leat_event made = {.name = to->text, .step = step, .code = LEAT_USE_MKDIR};

	if (to->governed && leat_turn_directory(s, &made, to->rule))
		s->error = -ENOMEM;
}

bool leat_turn_directory_is_news(const struct leat_stream *s, const struct leat_file_rule *rule,
				 int step, const char *name, enum leat_use use)
{
	const struct leat_name_state *n = leat_name_find(s, name);
	const struct leat_used *used = leat_used_find(s, name);

	if ((used && used->uses->reported) || !is_one_of_several(s, n, rule, step, name))
		return false;
	switch (use) {
	case LEAT_USE_MKDIR:
		return !used || !leat_used_has(s, used->uses, LEAT_MAKERS, step);
	case LEAT_USE_READ:
		return used && (leat_used_has(s, used->uses, LEAT_MISTAKERS, step) ||
				find_later_makers(s, used->uses, step) >= 0);
	case LEAT_USE_NEED:
		return s->mistaken || (used && find_later_makers(s, used->uses, step) >= 0) ||
		       ((!n || !n->content) &&
			!(used && leat_used_has(s, used->uses, LEAT_SEEKERS, step)));
	default:
		return false;
	}
}
