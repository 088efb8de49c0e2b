/* Which steps used a name, and whether that can have gone as in a batch: two of them use it one
 * after the other there, and here perhaps at the same time. Source: docs/explanation/conflicts.md.
 */
#include "stream/conflicts/uses.h"
#include "stream/conflicts/aliases.h"
#include "stream/conflicts/conflict.h"
#include "stream/conflicts/directories.h"
#include "stream/conflicts/order.h"
#include "stream/state/names.h"
#include "stream/state/staged.h"
#include "stream/state/steps.h"
#include "stream/state/used.h"

#include <errno.h>
#include <string.h>

static bool is_change(enum leat_use use)
{
	return use >= LEAT_USE_APPEND;
}

/* ---- names that no step declares as its output ---- */

/* Did a step of that set use it too early? Then that is reported. */
static bool clashes(struct leat_stream *s, struct leat_uses *u, enum leat_who who,
		    struct leat_clash *k)
{
	const enum leat_use did[LEAT_OWNERS] = {u->last,       LEAT_USE_APPEND, LEAT_USE_READ,
						LEAT_USE_SEEK, LEAT_USE_NEED,   LEAT_USE_MKDIR};
	const uint64_t *but = who == LEAT_NEEDERS ? leat_used_set(s, u, LEAT_MAKERS) : NULL;

	k->other = leat_order_early(s, leat_used_set(s, u, who), but, k->step);
	if (k->other < 0)
		return false;
	k->before = did[who];
	u->reported = true;
	leat_conflict_report(s, k, LEAT_CONFLICT);
	return true;
}

/* Bytes of both are there, in some order. */
static void note_appender(struct leat_stream *s, struct leat_uses *u, struct leat_clash *k)
{
	k->other = leat_order_early(s, leat_used_set(s, u, LEAT_APPENDERS), NULL, k->step);
	if (k->other >= 0 && !u->warned) {
		u->warned = true;
		leat_conflict_report(s, k, LEAT_CONFLICT_APPENDED);
	}
	leat_used_add(s, u, LEAT_APPENDERS, k->step);
}

static void note_writer(struct leat_stream *s, struct leat_uses *u, struct leat_clash *k)
{
	memset(u->sets, 0, LEAT_OWNERS * leat_steps_words(s->m) * sizeof(*u->sets));
	leat_used_add(s, u, LEAT_WRITERS, k->step);
	u->last = k->use;
}

/* ---- names that are private to some step ---- */

static void report_private(struct leat_stream *s, struct leat_uses *u, struct leat_clash *k,
			   enum leat_conflict kind)
{
	u->reported = true;
	leat_conflict_report(s, k, kind);
}

static void note_symlink(struct leat_stream *s, struct leat_uses *u, struct leat_clash *k)
{
	k->other = leat_order_early(s, leat_used_set(s, u, LEAT_OWNERS), NULL, k->step);
	if (k->other < 0 || u->reported)
		return;
	u->reported = true;
	leat_conflict_report(s, k, LEAT_CONFLICT_SYMLINK);
}

static bool keeps(const struct leat_stream *s, int step, const char *name)
{
	return leat_step_keeps(&s->wf->steps[step], name);
}

/* What the step has done to it; 0: nothing. Whoever was forgotten (struct leat_uses) has a later
 * one in the sets for whom the same holds. */
static enum leat_use use_by(const struct leat_stream *s, struct leat_uses *u, int step)
{
	const enum leat_use did[LEAT_OWNERS] = {u->last,       LEAT_USE_APPEND, LEAT_USE_READ,
						LEAT_USE_SEEK, LEAT_USE_NEED,   LEAT_USE_MKDIR,
						LEAT_USE_MKDIR};

	for (enum leat_who who = LEAT_WRITERS; who <= LEAT_TRIERS; who++)
		if (leat_used_has(s, u, who, step))
			return did[who];
	return 0;
}

/* `step` makes its own: who has looked for it would have found that in a batch, and who has made it
 * anew would have changed what a link leads to. */
static void note_owner(struct leat_stream *s, struct leat_uses *u, struct leat_clash *k, bool links)
{
	for (int o = 0; o < s->n_steps && !u->reported; o++) {
		bool read = leat_used_has(s, u, LEAT_READERS, o);
		bool found = leat_used_has(s, u, LEAT_FINDERS, o);
		struct leat_clash c = {
			.name = k->name, .step = o, .other = k->step, .before = k->use};

		c.use = found && read ? LEAT_USE_READ : found ? LEAT_USE_SEEK : use_by(s, u, o);
		if (!leat_order_is_early(s, o, k->step) || keeps(s, o, k->name))
			continue;
		if (found)
			report_private(s, u, &c, LEAT_CONFLICT_PRIVATE);
		else if (links && c.use)
			report_private(s, u, &c, LEAT_CONFLICT_LINKED);
	}
	leat_used_add(s, u, LEAT_OWNERS, k->step);
	leat_used_drop(s, u, LEAT_LINKERS, k->step);
	if (links)
		leat_used_add(s, u, LEAT_LINKERS, k->step);
}

/* Does the call depend on what another step has left there? Not if the step has made it anew. */
static bool finds(struct leat_uses *u, const struct leat_stream *s, const struct leat_clash *k)
{
	return k->use != LEAT_USE_CREATE && k->use != LEAT_USE_TRUNCATE &&
	       k->use != LEAT_USE_MKDIR && k->use != LEAT_USE_NEED && k->use != LEAT_USE_REPLACE &&
	       !leat_used_has(s, u, LEAT_WRITERS, k->step) &&
	       !leat_used_has(s, u, LEAT_MAKERS, k->step);
}

static bool meets_owner(struct leat_stream *s, struct leat_uses *u, struct leat_clash *k)
{
	const uint64_t *owners = leat_used_set(s, u, LEAT_OWNERS);

	for (int o = leat_steps_next(owners, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(owners, o + 1, s->n_steps)) {
		bool found = finds(u, s, k), links = leat_used_has(s, u, LEAT_LINKERS, o);

		if (!leat_order_is_early(s, k->step, o) || !(found || links) ||
		    keeps(s, k->step, k->name))
			continue;
		k->other = o;
		report_private(s, u, k, found ? LEAT_CONFLICT_PRIVATE : LEAT_CONFLICT_LINKED);
		return true;
	}
	return false;
}

/* Has it looked at the directory, or made it? Then it knows what to do where there is none. */
static bool knows(const struct leat_stream *s, struct leat_uses *u, int step)
{
	return (leat_used_has(s, u, LEAT_READERS, step) && !leat_directory_is_passed(s, u, step)) ||
	       leat_used_has(s, u, LEAT_SEEKERS, step) || leat_used_has(s, u, LEAT_MAKERS, step);
}

static void note_look(struct leat_stream *s, struct leat_uses *u, const struct leat_clash *k)
{
	const enum leat_who who = k->use == LEAT_USE_SEEK   ? LEAT_SEEKERS
				  : k->use == LEAT_USE_NEED ? LEAT_NEEDERS
							    : LEAT_READERS;

	leat_used_add(s, u, who, k->step);
}

/* Directories that both make are one, for who makes them or looks before. */
static bool meets_maker(struct leat_stream *s, struct leat_uses *u, struct leat_clash *k)
{
	if (k->use == LEAT_USE_NEED)
		return !knows(s, u, k->step) && clashes(s, u, LEAT_MAKERS, k);
	return k->use == LEAT_USE_MKDIR && clashes(s, u, LEAT_NEEDERS, k);
}

static void note(struct leat_stream *s, struct leat_uses *u, struct leat_clash *k)
{
	bool changes = is_change(k->use), appends = k->use == LEAT_USE_APPEND;

	if (k->use == LEAT_USE_NEED && leat_directory_is_excused(s, u, k->step)) {
		leat_used_add(s, u, LEAT_TRIERS, k->step);
		return;
	}
	if (u->reported || meets_owner(s, u, k) || clashes(s, u, LEAT_WRITERS, k) ||
	    (!appends && clashes(s, u, LEAT_APPENDERS, k)) || meets_maker(s, u, k) ||
	    (changes && (clashes(s, u, LEAT_READERS, k) || clashes(s, u, LEAT_SEEKERS, k) ||
			 clashes(s, u, LEAT_NEEDERS, k))))
		return;
	if (finds(u, s, k))
		leat_used_add(s, u, LEAT_FINDERS, k->step);
	if (appends)
		note_appender(s, u, k);
	else if (changes)
		note_writer(s, u, k);
	else
		note_look(s, u, k);
	if (k->use == LEAT_USE_READ)
		leat_directory_found(s, u, k);
	if (k->use == LEAT_USE_MKDIR)
		leat_directory_made(s, u, k);
}

/* The nearest directory above that was moved, or NULL. */
static struct leat_used *find_moved(const struct leat_stream *s, const char *name)
{
	size_t length = s->moved ? strlen(name) : 0;
	struct leat_used *n;

	while ((n = leat_used_above(s, name, &length)))
		if (n->moved)
			return n;
	return NULL;
}

static bool is_below(const char *name, const char *dir)
{
	size_t length = strlen(dir);

	return strncmp(name, dir, length) == 0 && name[length] == '/';
}

/* What is below a directory that moves, or was looked for where it comes to, is changed. */
static int note_moved(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_used *n, *next;

	HASH_ITER(hh, s->used, n, next)
	{
		if (is_below(n->text, ev->name)) {
			struct leat_clash k = {.name = n->text,
					       .step = ev->step,
					       .other = -1,
					       .use = (enum leat_use)ev->code};

			note(s, n->uses, &k);
		}
	}
	n = leat_used_find(s, ev->name);
	n->moved = s->moved = true;
	return 0;
}

int leat_undeclared_use(struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_used *source = ev->to ? leat_used_find(s, ev->to) : NULL;
	struct leat_clash k = {
		.name = ev->name, .step = ev->step, .other = -1, .use = (enum leat_use)ev->code};
	struct leat_used *n = leat_used_get(s, ev->name, NULL), *above;

	if (!n)
		return -ENOMEM;
	above = find_moved(s, ev->name);
	if (above && !above->uses->reported)
		clashes(s, above->uses, LEAT_WRITERS, &k);
	if (k.use == LEAT_USE_OWN) {
		note_owner(s, n->uses, &k, ev->flags & LEAT_EVF_SYMLINK);
		return 0;
	}
	if (ev->flags & LEAT_EVF_SYMLINK)
		note_symlink(s, n->uses, &k);
	if (k.use == LEAT_USE_MKDIR && ev->flags & LEAT_EVF_INTACT)
		leat_used_add(s, n->uses, LEAT_TRIERS, k.step);
	else
		note(s, n->uses, &k);
	if (k.use == LEAT_USE_READ && ev->flags & LEAT_EVF_DIR)
		leat_directory_looked(s, n->uses, k.step, ev->flags & LEAT_EVF_INTACT);
	if (k.use == LEAT_USE_NEED || k.use == LEAT_USE_MKDIR)
		leat_directory_tried(s, ev->name, k.step);
	if (ev->flags & LEAT_EVF_DIR && (k.use == LEAT_USE_MOVE || k.use == LEAT_USE_REPLACE))
		return note_moved(s, ev);
	/* From now on it is the same file by both names. */
	if (source && !leat_used_get(s, ev->name, source->uses))
		return -ENOMEM;
	return 0;
}

int leat_uses_remake(struct leat_stream *s, const char *name, int step, int *other)
{
	struct leat_used *n = leat_used_get(s, name, NULL);

	if (!n)
		return -ENOMEM;
	*other = leat_order_early(s, leat_used_set(s, n->uses, LEAT_WRITERS), NULL, step);
	leat_used_add(s, n->uses, LEAT_WRITERS, step);
	return 0;
}

int leat_uses_remaker(const struct leat_stream *s, const char *name, int step)
{
	struct leat_used *n = leat_used_find(s, name);

	return n ? leat_order_early(s, leat_used_set(s, n->uses, LEAT_WRITERS), NULL, step) : -1;
}

int leat_uses_mark_reported(struct leat_stream *s, const char *name, bool *before)
{
	struct leat_used *n = leat_used_get(s, name, NULL);

	if (!n)
		return -ENOMEM;
	*before = n->uses->reported;
	n->uses->reported = true;
	return 0;
}

int leat_uses_report_once(struct leat_stream *s, const struct leat_clash *k,
			  enum leat_conflict kind)
{
	bool before;
	int rc = leat_uses_mark_reported(s, k->name, &before);

	if (!rc && !before)
		leat_conflict_report(s, k, kind);
	return rc;
}

/* Has nobody else looked at it since? */
static bool is_quiet(const struct leat_stream *s, struct leat_uses *u, int step)
{
	return leat_steps_within(s, leat_used_set(s, u, LEAT_READERS), step) &&
	       leat_steps_within(s, leat_used_set(s, u, LEAT_SEEKERS), step) &&
	       leat_steps_within(s, leat_used_set(s, u, LEAT_NEEDERS), step);
}

static bool is_news(const struct leat_stream *s, struct leat_uses *u, int step, enum leat_use use)
{
	bool writes = leat_used_has(s, u, LEAT_WRITERS, step) &&
		      leat_steps_within(s, leat_used_set(s, u, LEAT_WRITERS), step);
	bool alone = leat_steps_within(s, leat_used_set(s, u, LEAT_APPENDERS), step);

	if (u->reported)
		return false;
	switch (use) {
	case LEAT_USE_OWN:
		return !leat_used_has(s, u, LEAT_OWNERS, step);
	case LEAT_USE_NEED:
		return (!knows(s, u, step) && !leat_used_has(s, u, LEAT_NEEDERS, step)) ||
		       leat_directory_is_excused(s, u, step);
	case LEAT_USE_MKDIR:
		return !leat_used_has(s, u, LEAT_MAKERS, step);
	case LEAT_USE_APPEND:
		return !leat_used_has(s, u, LEAT_APPENDERS, step) || !(u->warned || alone) ||
		       !is_quiet(s, u, step);
	case LEAT_USE_SEEK:
		return !alone || !(leat_used_has(s, u, LEAT_SEEKERS, step) || writes);
	case LEAT_USE_READ:
		return !alone || !(leat_used_has(s, u, LEAT_READERS, step) || writes);
	default:
		return !writes || !alone || !is_quiet(s, u, step);
	}
}

bool leat_undeclared_is_news(const struct leat_stream *s, int step, const char *name,
			     enum leat_use use)
{
	const struct leat_used *n = leat_used_find(s, name);

	return !n || s->moved || is_news(s, n->uses, step, use) ||
	       (use == LEAT_USE_NEED && leat_directory_excuses_above(s, name, step));
}

bool leat_undeclared_is_early(const struct leat_stream *s, int step, const char *name)
{
	const enum leat_who changers[] = {LEAT_WRITERS, LEAT_APPENDERS, LEAT_MAKERS};
	const struct leat_used *n = leat_used_find(s, name);

	for (size_t i = 0; n && i < sizeof(changers) / sizeof(*changers); i++)
		if (leat_order_early(s, leat_used_set(s, n->uses, changers[i]), NULL, step) >= 0)
			return true;
	return false;
}

/* The first of `set` that runs before `step` and has not ended, or, if it `made` what is there, has
 * failed; -1: none. */
static int find_holder(const struct leat_stream *s, const uint64_t *set, int step, bool made)
{
	for (int o = leat_steps_next(set, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(set, o + 1, s->n_steps)) {
		const struct leat_step_state *st = &s->steps[o];

		if (leat_order_of(s, o, step) == LEAT_BEFORE &&
		    (!leat_step_is_over(st) || (made && st->failures)))
			return o;
	}
	return -1;
}

bool leat_uses_is_cache(const char *name)
{
	const char *at = strstr(name, "__pycache__");

	return at && (at == name || at[-1] == '/');
}

int leat_stream_unseen(const struct leat_stream *s, int step, const char *name)
{
	return leat_uses_is_cache(name) ? -1 : leat_staged_before(s, step, NULL);
}

static int find_other_name(const struct leat_stream *s, int step, const char *name, bool writes)
{
	const struct leat_name_state *n = leat_name_find(s, name);
	struct leat_name_state *by;

	return n && !n->rule->excluded ? leat_alias_before(s, n, step, writes, &by) : -1;
}

int leat_stream_holder(const struct leat_stream *s, int step, const char *name, bool writes)
{
	const struct leat_used *n = step < 0 ? NULL : leat_used_find(s, name);
	int holder = n ? find_holder(s, leat_used_set(s, n->uses, LEAT_WRITERS), step, true) : -1;

	if (n && holder < 0)
		holder = find_holder(s, leat_used_set(s, n->uses, LEAT_APPENDERS), step, true);
	if (n && writes && holder < 0)
		holder = find_holder(s, leat_used_set(s, n->uses, LEAT_READERS), step, false);
	if (holder < 0 && step >= 0 && s->linked)
		holder = find_other_name(s, step, name, writes);
	return holder < 0 && writes ? leat_stream_unseen(s, step, name) : holder;
}

int leat_stream_private_owner(const struct leat_stream *s, int step, const char *name)
{
	const struct leat_used *n = step < 0 ? NULL : leat_used_find(s, name);

	return n ? leat_order_early(s, leat_used_set(s, n->uses, LEAT_OWNERS), NULL, step) : -1;
}
