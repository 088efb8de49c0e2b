/* Files are opened for writing, and written. */
#include "stream/facts/write.h"
#include "stream/conflicts/aliases.h"
#include "stream/conflicts/shared.h"
#include "stream/conflicts/turns.h"
#include "stream/facts/checks.h"
#include "stream/facts/create.h"
#include "stream/flow/versions.h"
#include "stream/state/content.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/ofds.h"

#include <errno.h>

static struct leat_content *content_for_opening(struct leat_stream *s, struct leat_name_state *n,
						int step, bool created)
{
	if (!n->content) {
		if (!leat_content_new(s, n, created ? step : -1, false))
			return NULL;
		n->content->old = n->governed;
		leat_fact_parents(s, n, step);
	}
	return n->content;
}

/* `step` changes what is behind the name: whatever a producer touches is its own. */
static void touch_name(struct leat_stream *s, struct leat_name_state *n, int step)
{
	if (!leat_name_produced_by(n, step))
		return;
	n->content->old = false;
	leat_versions_made(s, n, step);
}

static void set_size(struct leat_content *c, uint64_t length)
{
	leat_extents_truncate(&c->extents, length);
	c->size_bytes = length;
}

static bool has_actions(const struct leat_stream *s, int step)
{
	return s->wf->steps[step].action_file != NULL;
}

/* By one of its names, which others do not go by. What is reported already is not reported twice.
 */
static void change(struct leat_stream *s, struct leat_content *c, const struct leat_name_state *by,
		   int step, enum leat_use use)
{
	int rc = c->linked && !s->reported ? leat_alias_changed(s, c, by, step, use) : 0;

	if (rc)
		s->error = rc;
}

/* A description changes its content, for the first time. */
static void begin_writing(struct leat_stream *s, struct leat_ofd *o)
{
	struct leat_content *c = o->content;
	struct leat_name_state *n;

	o->intact = false;
	if (c->names)
		change(s, c, o->by->content == c ? o->by : c->names, o->step,
		       o->appends ? LEAT_USE_APPEND : LEAT_USE_WRITE);
	leat_share_begin(c, o->step, o->appends);
	if (o->by->content == c &&
	    leat_turn_changed(s, o->by, o->step, o->appends ? LEAT_USE_APPEND : LEAT_USE_WRITE,
			      false))
		s->error = -ENOMEM;
	DL_FOREACH2(c->names, n, same_next)
	{
		touch_name(s, n, o->step);
		c->held = c->held || (leat_name_produced_by(n, o->step) && has_actions(s, o->step));
	}
	leat_content_touch(s, c);
}

int leat_fact_write(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_ofd *o = leat_ofd_find(s, ev->ofd);

	if (!o)
		return -EINVAL;
	if (o->intact)
		begin_writing(s, o);
	return 0;
}

int leat_fact_open(struct leat_stream *s, const struct leat_event *ev)
{
	bool changes = ev->flags & (LEAT_EVF_TRUNC | LEAT_EVF_CREAT);
	struct leat_name_state *n;
	struct leat_content *c;
	struct leat_part *part;
	struct leat_ofd *o;
	bool made;
	int rc;

	if (!ev->ofd || leat_ofd_find(s, ev->ofd))
		return -EINVAL;
	n = leat_name_get(s, ev->name);
	if (!n)
		return -ENOMEM;
	leat_fact_check_file(s, n, ev->step, changes, "opened for writing");
	made = !n->content && ev->flags & LEAT_EVF_CREAT;
	c = content_for_opening(s, n, ev->step, ev->flags & LEAT_EVF_CREAT);
	part = c ? leat_content_part(s, c, ev->step) : NULL;
	o = part ? leat_ofd_new(s, ev) : NULL;
	if (!o)
		return -ENOMEM;
	o->content = c;
	o->by = n;
	o->late = leat_state_is_final(n->state);
	o->appends = ev->flags & LEAT_EVF_APPEND;
	c->writers++;
	part->writers++;
	if (ev->step >= 0)
		s->steps[ev->step].writers++;
	if (ev->flags & LEAT_EVF_TRUNC) {
		set_size(c, 0);
		c->lost = -1;
	}
	/* Somebody writes on: what was closed empty before was not the end. */
	o->undid = c->pending;
	leat_pending_drop(s, c);
	o->intact = ev->flags & LEAT_EVF_INTACT;
	if (o->intact)
		leat_content_touch(s, c);
	else
		begin_writing(s, o);
	leat_turn_opened(s, n, ev->step);
	rc = leat_share_open(s, n, ev);
	return rc || !made ? rc : leat_turn_changed(s, n, ev->step, LEAT_USE_CREATE, true);
}

int leat_fact_serve(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_name_state *n = leat_name_find(s, ev->name);

	if (!n || !n->content || !has_actions(s, ev->step))
		return -EINVAL;
	n->content->held = false;
	leat_content_touch(s, n->content);
	return 0;
}

int leat_fact_extent(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_content *c = leat_content_of(s, ev);
	uint64_t end;
	int rc;

	if (!c || __builtin_add_overflow(ev->offset, ev->length, &end))
		return -EINVAL;
	rc = leat_extents_add(&c->extents, ev->offset, end);
	if (rc)
		return rc;
	if (end > c->size_bytes)
		c->size_bytes = end;
	leat_content_touch(s, c);
	return 0;
}

int leat_fact_truncate(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_name_state *n = leat_name_get(s, ev->name);
	struct leat_content *c;
	struct leat_ofd *o;
	int rc;

	if (!n)
		return -ENOMEM;
	leat_fact_check_file(s, n, ev->step, true, "truncated");
	o = ev->ofd ? leat_ofd_find(s, ev->ofd) : NULL;
	c = ev->ofd ? leat_content_of(s, ev) : content_for_opening(s, n, ev->step, false);
	if (!c)
		return ev->ofd ? -EINVAL : -ENOMEM;
	if (o && o->intact) {
		begin_writing(s, o);
	} else if (!o) {
		change(s, c, n, ev->step, LEAT_USE_TRUNCATE);
		if (leat_turn_changed(s, n, ev->step, LEAT_USE_TRUNCATE, false))
			return -ENOMEM;
		touch_name(s, n, ev->step);
	}
	rc = leat_share_cut(s, n, c, ev->step, ev->length);
	set_size(c, ev->length);
	leat_content_touch(s, c);
	return rc;
}
