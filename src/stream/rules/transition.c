/* A file goes from one state to another, and those who wait for it are woken. */
#include "stream/rules/transition.h"
#include "stream/flow/versions.h"
#include "stream/rules/commit.h"
#include "stream/rules/violation.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/queue.h"

#include "base/str.h"

#include <stdlib.h>

static void announce(struct leat_stream *s, struct leat_name_state *n)
{
	if (n->state == LEAT_FILE_FAILED && s->ops.failed) {
		char *why = leat_commit_why(s, n);

		s->ops.failed(s->ctx, n->text, why ? why : "out of memory");
		free(why);
	}
	if (s->ops.state)
		s->ops.state(s->ctx, n->text, n->state);
}

/* Name the file, and the step that made it. */
static void report_one_more(struct leat_stream *s, const struct leat_name_state *dir,
			    const struct leat_name_state *n)
{
	char *what =
		leat_strf("given %s, one file more than the number that completes it,", n->text);

	leat_violation_report(s, LEAT_VIOLATION_AFTER_COMMIT, dir->text, n->content->creator,
			      what ? what
				   : "given one file more than the number that completes it");
	free(what);
}

/* A directory that was complete gets one file more: whoever listed it missed it. */
static void check_complete(struct leat_stream *s, const struct leat_name_state *n)
{
	const struct leat_name_state *dir;

	if (n->state != LEAT_FILE_COMMITTED || leat_name_is_dir(n) || !n->content)
		return;
	for (dir = n->parent; dir; dir = dir->parent)
		if (dir->governed && dir->rule->n_files && dir->state == LEAT_FILE_COMMITTED &&
		    dir->committed_below >= dir->rule->n_files && !n->content->old)
			report_one_more(s, dir, n);
}

/* It is complete by the number of files: so are the directories in it, if they have none, and what
 * was there before the run. */
static void show_others(struct leat_stream *s, const struct leat_name_state *dir)
{
	struct leat_name_state *child, *next;

	/* One that comes to be shown moves to the end of the list. */
	DL_FOREACH_SAFE(dir->children, child, next)
	{
		if (leat_name_is_dir(child)) {
			leat_name_account(s, child);
			show_others(s, child);
		} else if (child->content && child->content->old) {
			leat_touch(s, child);
		}
	}
}

bool leat_name_set_state(struct leat_stream *s, struct leat_name_state *n,
			 enum leat_file_state state)
{
	if (n->state == state)
		return false;
	n->state = state;
	announce(s, n);
	check_complete(s, n);
	if (n->governed && n->rule->n_files && state == LEAT_FILE_COMMITTED)
		show_others(s, n);
	leat_versions_changed(s, n);
	return true;
}

bool leat_name_advance(struct leat_stream *s, struct leat_name_state *n, enum leat_file_event event)
{
	return leat_name_set_state(s, n, leat_file_next(n->state, event));
}
