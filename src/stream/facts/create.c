/* Names come to show contents. */
#include "stream/facts/create.h"
#include "stream/conflicts/declared.h"
#include "stream/conflicts/shared.h"
#include "stream/conflicts/turns.h"
#include "stream/facts/checks.h"
#include "stream/facts/promises.h"
#include "stream/flow/versions.h"
#include "stream/rules/commit.h"
#include "stream/rules/transition.h"
#include "stream/state/content.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/queue.h"

#include <errno.h>

void leat_fact_parents(struct leat_stream *s, struct leat_name_state *n, int step)
{
	for (struct leat_name_state *dir = n->parent; dir && *dir->text; dir = dir->parent) {
		if (!dir->content) {
			if (!leat_content_new(s, dir, -1, true))
				return;
			dir->content->old = dir->governed;
			dir->content->left_over = step < 0;
		}
		if (dir->content->left_over && step >= 0) {
			dir->content->left_over = false;
			leat_touch(s, dir);
		}
		if (leat_name_produced_by(dir, step) && dir->content->old) {
			dir->content->old = false;
			leat_touch(s, dir);
		}
	}
}

/* A second name for what `ev->to` names; NULL if that was never mentioned. */
static struct leat_content *link_source(struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_name_state *from = ev->to ? leat_name_find(s, ev->to) : NULL;

	return from ? from->content : NULL;
}

int leat_fact_create(struct leat_stream *s, const struct leat_event *ev)
{
	bool is_dir = ev->flags & LEAT_EVF_DIR;
	struct leat_content *source = link_source(s, ev);
	struct leat_name_state *n = leat_name_get(s, ev->name);
	int rc;

	if (!n)
		return -ENOMEM;
	/* Directories have one name. */
	if (source && (is_dir || source->is_dir))
		return -EINVAL;
	/* A step that has outputs in another step's directory may make that. */
	if (!is_dir || leat_name_produced_by(n, ev->step) ||
	    !leat_step_writes_below(s->m, ev->step, n->text))
		leat_fact_check_change(s, n, ev->step, true,
				       is_dir   ? "made as a directory"
				       : ev->to ? "made as a link"
						: "created");
	if (n->content && n->content == source)
		return 0;
	/* By a staged step, whose end is the first that is seen of what it makes. */
	if (leat_name_produced_by(n, ev->step) && leat_declared_first_after(s, n, ev->step) >= 0)
		leat_fact_check_streamed(s, n, ev->step, "replaced");
	rc = leat_share_adopt(s, n, ev->step);
	if (rc)
		return rc;
	if (n->content && !(is_dir && n->content->is_dir))
		leat_content_detach(s, n);
	if (source) {
		source->linked = s->linked = true;
		leat_content_attach(s, source, n);
	} else if (!n->content && !leat_content_new(s, n, ev->step, is_dir)) {
		return -ENOMEM;
	}
	leat_fact_parents(s, n, ev->step);
	leat_fact_publish(s, n, ev->step);
	leat_turn_opened(s, n, ev->step);
	if (is_dir)
		leat_shown_check_gain(s, n, ev->step, NULL);
	rc = is_dir ? 0
		    : leat_turn_changed(s, n, ev->step, ev->to ? LEAT_USE_LINK : LEAT_USE_CREATE,
					true);
	if (rc)
		return rc;
	return leat_share_adopted(s, n->content, ev->step, ev->length);
}

int leat_fact_present(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_name_state *n = leat_name_get(s, ev->name);
	struct leat_content *c;

	if (!n)
		return -ENOMEM;
	if (n->content)
		return 0;
	c = leat_content_new(s, n, -1, ev->flags & LEAT_EVF_DIR);
	if (!c)
		return -ENOMEM;
	c->old = n->governed;
	c->left_over = c->is_dir;
	c->size_bytes = ev->length;
	/* It was decided too early that it will never come. */
	leat_name_advance(s, n, LEAT_FILE_EVENT_FOUND);
	leat_fact_parents(s, n, -1);
	return leat_extents_add(&c->extents, 0, ev->length);
}

void leat_fact_publish(struct leat_stream *s, struct leat_name_state *n, int step)
{
	struct leat_content *c = n->content;
	struct leat_part *part;

	c->old = n->governed && !leat_name_produced_by(n, step);
	leat_touch(s, n);
	if (leat_name_produced_by(n, step))
		leat_versions_made(s, n, step);
	if (!leat_name_produced_by(n, step) || c->is_dir || c->writers || c->broken)
		return;
	/* Giving it its name says that it is whole, empty or not. */
	part = leat_content_part(s, c, step);
	if (part && !leat_commit_closes(n)) {
		part->data_closes++;
		part->closes++;
	}
	if (part)
		part->published = true;
	leat_pending_drop(s, c);
	/* By all its names. */
	leat_content_touch(s, c);
}
