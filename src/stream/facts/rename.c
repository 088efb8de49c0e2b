/* Contents change their names. */
#include "stream/facts/rename.h"
#include "stream/conflicts/turns.h"
#include "stream/facts/checks.h"
#include "stream/facts/create.h"
#include "stream/facts/promises.h"
#include "stream/flow/versions.h"
#include "stream/rules/transition.h"
#include "stream/rules/violation.h"
#include "stream/state/content.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/steps.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A name without content is absent again and its closes are forgotten, unless
 * its life is over: a consumer saw the commit, or nobody is left to write it. */
static void forget(struct leat_stream *s, struct leat_name_state *n)
{
	bool reported =
		n->state == LEAT_FILE_COMMITTED && (n->seen || leat_producers_are_over(s, n->rule));

	leat_content_detach(s, n);
	if (reported || !leat_name_advance(s, n, LEAT_FILE_EVENT_TAKEN_BACK))
		return;
	n->looked = n->relied = false;
	n->seen = 0;
}

static void note_removed(struct leat_name_state *n, int step)
{
	n->remover = (unsigned)(step + 1);
	n->removed_maker = (unsigned)(n->content->creator + 1);
}

/* The content of `from` becomes that of `to`, whose rule now governs it. */
static void move(struct leat_stream *s, struct leat_name_state *from, struct leat_name_state *to,
		 int step)
{
	struct leat_content *c = from->content;

	if (leat_name_produced_by(from, step))
		leat_versions_leave(s, from);
	leat_fact_check_streamed(s, from, step, "renamed");
	leat_fact_check_amended(s, from, step, "renamed");
	leat_fact_take_away(s, from, step, LEAT_USE_MOVE);
	note_removed(from, step);
	leat_shown_check_loss(s, from, step, to->text);
	if (!to->content)
		leat_shown_check_gain(s, to, step, from->text);
	leat_fact_check_streamed(s, to, step, "replaced");
	leat_fact_check_change(s, to, step, true, "replaced");
	if (to->content)
		leat_content_detach(s, to);
	leat_content_attach(s, c, to);
	forget(s, from);
	if (!to->governed && c->creator >= 0)
		leat_link_add(s, &s->steps[c->creator].names, to);
	leat_fact_parents(s, to, step);
	leat_fact_publish(s, to, step);
	leat_turn_opened(s, to, step);
	if (c->is_dir)
		leat_turn_directory_renamed(s, to, step);
	else if (leat_turn_changed(s, from, step, LEAT_USE_MOVE, false) ||
		 leat_turn_changed(s, to, step, LEAT_USE_REPLACE, true))
		s->error = -ENOMEM;
}

/* Everything below directory `from` comes to lie below `to`. The walk sees
 * names made meanwhile only if `to` lies below `from`, which rename(2) refuses. */
static int move_below(struct leat_stream *s, struct leat_name_state *from, const char *to, int step)
{
	struct leat_name_state *child, *target;
	int rc = 0;

	DL_FOREACH(from->children, child)
	{
		char *path;

		if (!child->content)
			continue;
		path = leat_path_join(to, strrchr(child->text, '/') + 1);
		target = path ? leat_name_get(s, path) : NULL;
		if (target && child->content->is_dir)
			rc = move_below(s, child, path, step);
		free(path);
		if (!target)
			return -ENOMEM;
		if (rc)
			return rc;
		move(s, child, target, step);
	}
	return 0;
}

int leat_fact_rename(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_name_state *from = leat_name_get(s, ev->name);
	struct leat_name_state *to = ev->to ? leat_name_get(s, ev->to) : NULL;

	if (!ev->to || leat_path_is_below(ev->to, ev->name) || leat_path_is_below(ev->name, ev->to))
		return -EINVAL;
	if (!from || !to)
		return -ENOMEM;
	/* Two names of one file: rename(2) does nothing. */
	if (from == to || (from->content && from->content == to->content))
		return 0;
	if (!from->content)
		leat_fact_take_away(s, from, ev->step, LEAT_USE_MOVE); /* from before the run */
	if (!from->content && !leat_content_new(s, from, ev->step, ev->flags & LEAT_EVF_DIR))
		return -ENOMEM;
	if (from->content->is_dir) {
		int rc = move_below(s, from, ev->to, ev->step);

		if (rc)
			return rc;
	}
	move(s, from, to, ev->step);
	leat_shown_recount(s, from, ev->step);
	return 0;
}

int leat_fact_unlink(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_name_state *n = leat_name_get(s, ev->name);

	if (!n)
		return -ENOMEM;
	if (!n->content) {
		leat_fact_take_away(s, n, ev->step, LEAT_USE_REMOVE); /* from before the run */
		n->remover = (unsigned)(ev->step + 1);
		return leat_turn_changed(s, n, ev->step, LEAT_USE_REMOVE, false);
	}
	if (leat_versions_removed(s, n, ev->step))
		return 0;
	if (leat_name_produced_by(n, ev->step))
		leat_fact_check_streamed(s, n, ev->step, "removed");
	leat_fact_check_amended(s, n, ev->step, "removed");
	leat_fact_take_away(s, n, ev->step, LEAT_USE_REMOVE);
	note_removed(n, ev->step);
	leat_shown_check_loss(s, n, ev->step, NULL);
	forget(s, n);
	leat_shown_recount(s, n, ev->step);
	return leat_turn_changed(s, n, ev->step, LEAT_USE_REMOVE, false);
}
