/* What was done to files, one function a kind of event. */
#include "stream/sequence.h"

#include <errno.h>
#include <stdlib.h>

bool leat_name_produced_by(const struct leat_name_state *n, int step)
{
	return n->governed && step >= 0 && leat_steps_has(n->rule->producers, step);
}

void leat_fact_check_amended(struct leat_stream *s, const struct leat_name_state *n, int step,
			     const char *what)
{
	int amender = (int)n->amender - 1;

	if (amender >= 0 && amender != step && !leat_state_is_final(n->state) &&
	    leat_name_produced_by(n, step) && leat_is_upstream(s->m, step, amender) &&
	    !leat_is_upstream(s->m, amender, step))
		leat_violation_report(s, LEAT_VIOLATION_AMENDED, n->text, step, what);
}

void leat_fact_take_away(const struct leat_stream *s, struct leat_name_state *n, int step)
{
	if (step < 0 || !n->governed || n->versioned ||
	    leat_rule_role(s, step, n->rule) != LEAT_ROLE_CONSUMER)
		return;
	n->taken = (unsigned)step + 1;
	if (n->parent)
		n->parent->taken_below = true;
}

/* Whoever changes a declared file without being its producer, or after it was
 * passed on as complete, breaks what the workflow file says. */
void leat_fact_check_change(struct leat_stream *s, const struct leat_name_state *n, int step,
			    bool changes, const char *what)
{
	if (!n->governed)
		return;
	if (leat_name_produced_by(n, step)) {
		if (n->state == LEAT_FILE_COMMITTED || n->state == LEAT_FILE_GONE)
			leat_violation_report(s, LEAT_VIOLATION_AFTER_COMMIT, n->text, step, what);
		leat_fact_check_amended(s, n, step, what);
	} else if (changes && leat_rule_role(s, step, n->rule) == LEAT_ROLE_CONSUMER) {
		leat_violation_report(s, LEAT_VIOLATION_UNDECLARED, n->text, step, what);
	}
}

const char *leat_stream_passed_on(const struct leat_stream *s, const char *name)
{
	const struct leat_name_state *n = leat_name_find(s, name), *at;

	if (!n || !n->content || leat_state_is_final(n->state))
		return NULL;
	DL_FOREACH2(n->content->names, at, same_next)
	{
		if (at->governed && at->state == LEAT_FILE_COMMITTED)
			return at->text;
	}
	return NULL;
}

/* A file may have several names: it is not to be changed after it was passed on by one of them. */
static void check_change_of_file(struct leat_stream *s, const struct leat_name_state *n, int step,
				 bool changes, const char *what)
{
	const char *other = leat_stream_passed_on(s, n->text);

	leat_fact_check_change(s, other ? leat_name_find(s, other) : n, step, changes, what);
}

void leat_fact_parents(struct leat_stream *s, struct leat_name_state *n, int step)
{
	for (struct leat_name_state *dir = n->parent; dir && *dir->text; dir = dir->parent) {
		if (!dir->content) {
			if (!leat_content_new(s, dir, -1, true))
				return;
			dir->content->old = dir->governed;
		}
		if (leat_name_produced_by(dir, step) && dir->content->old) {
			dir->content->old = false;
			leat_touch(s, dir);
		}
	}
}

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

static struct leat_ofd *find_ofd(const struct leat_stream *s, uint64_t id)
{
	struct leat_ofd *o;

	HASH_FIND(hh, s->ofds, &id, sizeof(id), o);
	return o;
}

static struct leat_ofd *ofd_new(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_ofd *o = leat_heap_alloc(1, sizeof(*o));

	if (!o)
		return NULL;
	*o = (struct leat_ofd){.id = ev->ofd, .step = ev->step, .node = ev->node, .pid = ev->pid};
	HASH_ADD(hh, s->ofds, id, sizeof(o->id), o);
	if (!o->hh.tbl) {
		leat_heap_free(o);
		return NULL;
	}
	return o;
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

/* A description changes its content, for the first time. */
static void begin_writing(struct leat_stream *s, struct leat_ofd *o)
{
	struct leat_content *c = o->content;
	struct leat_name_state *n;

	o->intact = false;
	leat_share_begin(c, o->step, o->appends);
	DL_FOREACH2(c->names, n, same_next)
	{
		touch_name(s, n, o->step);
		c->held = c->held || (leat_name_produced_by(n, o->step) && has_actions(s, o->step));
	}
	leat_content_touch(s, c);
}

int leat_fact_write(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_ofd *o = find_ofd(s, ev->ofd);

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

	if (!ev->ofd || find_ofd(s, ev->ofd))
		return -EINVAL;
	n = leat_name_get(s, ev->name);
	if (!n)
		return -ENOMEM;
	check_change_of_file(s, n, ev->step, changes, "opened for writing");
	c = content_for_opening(s, n, ev->step, ev->flags & LEAT_EVF_CREAT);
	part = c ? leat_content_part(s, c, ev->step) : NULL;
	o = part ? ofd_new(s, ev) : NULL;
	if (!o)
		return -ENOMEM;
	o->content = c;
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
	return leat_share_open(s, n, ev);
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

static void check_closes(struct leat_stream *s, const struct leat_ofd *o)
{
	const struct leat_content *c = o->content;
	const struct leat_name_state *n;

	DL_FOREACH2(c->names, n, same_next)
	{
		if (!o->late && leat_name_produced_by(n, o->step) &&
		    n->rule->commit == LEAT_COMMIT_ON_CLOSE && n->rule->count &&
		    leat_commit_closes(n) > n->rule->count)
			leat_violation_report(s, LEAT_VIOLATION_CLOSES, n->text, o->step, NULL);
	}
}

/* Does the close say nothing? What the open has undone is as it was, if nobody else writes. */
static bool is_no_close(const struct leat_ofd *o, const struct leat_event *ev)
{
	return o->intact && (!o->undid || ev->length || o->content->old || o->content->writers);
}

static void count_close(struct leat_stream *s, struct leat_ofd *o, const struct leat_event *ev)
{
	struct leat_content *c = o->content;
	struct leat_part *part = leat_content_find_part(c, o->step);

	if (is_no_close(o, ev))
		return;
	c->broken = ev->flags & LEAT_EVF_ABNORMAL;
	/* The step has had its say before: nobody else will tell that this is not all. */
	if (c->broken && o->step >= 0 && leat_step_is_over(&s->steps[o->step]))
		c->lost = o->step;
	if (c->broken)
		return;
	part->closes += !o->intact;
	if (ev->length || (o->exited && !o->killed))
		part->data_closes++;
	else if (o->exited)
		c->broken = true; /* its end was heard of before the close */
	else
		leat_pending_add(s, c, o);
	check_closes(s, o);
}

int leat_fact_close(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_ofd *o = find_ofd(s, ev->ofd);
	struct leat_step_state *st;
	struct leat_content *c;

	if (!o)
		return -EINVAL;
	c = o->content;
	c->writers--;
	leat_content_find_part(c, o->step)->writers--;
	if (ev->length > c->size_bytes)
		c->size_bytes = ev->length;
	count_close(s, o, ev);
	st = o->step >= 0 ? &s->steps[o->step] : NULL;
	if (st && !--st->writers && leat_step_is_over(st))
		leat_touch_step(s, o->step, false);
	leat_content_touch(s, c);
	leat_versions_untouched(s, c);
	HASH_DEL(s->ofds, o);
	leat_heap_free(o);
	return 0;
}

/* Is it of a process behind the mount whose server has ended? */
static bool is_behind(int node, const struct leat_event *ev)
{
	return !ev->node && node && node == ev->pid;
}

int leat_fact_exit(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_ofd *o, *next;

	HASH_ITER(hh, s->ofds, o, next)
	{
		if (!o->exited &&
		    ((o->pid == ev->pid && o->node == ev->node) || is_behind(o->node, ev))) {
			o->exited = true;
			o->killed = ev->status < 0;
		}
	}
	leat_pending_exit(s, ev->node, ev->pid, ev->status >= 0);
	if (!ev->node)
		leat_pending_exit_behind(s, ev->pid, ev->status >= 0);
	return ev->code && ev->step >= 0 ? leat_over_add(s, ev->step, ev->code - 1) : 0;
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
	leat_fact_check_change(s, n, ev->step, true,
			       is_dir   ? "made as a directory"
			       : ev->to ? "made as a link"
					: "created");
	if (n->content && n->content == source)
		return 0;
	rc = leat_share_adopt(s, n, ev->step);
	if (rc)
		return rc;
	if (n->content && !(is_dir && n->content->is_dir))
		leat_content_detach(s, n);
	if (source)
		leat_content_attach(s, source, n);
	else if (!n->content && !leat_content_new(s, n, ev->step, is_dir))
		return -ENOMEM;
	leat_fact_parents(s, n, ev->step);
	leat_fact_publish(s, n, ev->step);
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
	c->size_bytes = ev->length;
	/* It was decided too early that it will never come. */
	if (n->state == LEAT_FILE_GONE)
		leat_name_reset(s, n, LEAT_FILE_ABSENT);
	leat_fact_parents(s, n, -1);
	return leat_extents_add(&c->extents, 0, ev->length);
}

struct leat_content *leat_content_of(const struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_ofd *o = ev->ofd ? find_ofd(s, ev->ofd) : NULL;
	const struct leat_name_state *n = ev->name ? leat_name_find(s, ev->name) : NULL;

	return o ? o->content : n ? n->content : NULL;
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
	check_change_of_file(s, n, ev->step, true, "truncated");
	o = ev->ofd ? find_ofd(s, ev->ofd) : NULL;
	c = ev->ofd ? leat_content_of(s, ev) : content_for_opening(s, n, ev->step, false);
	if (!c)
		return ev->ofd ? -EINVAL : -ENOMEM;
	if (o && o->intact)
		begin_writing(s, o);
	else if (!o)
		touch_name(s, n, ev->step);
	rc = leat_share_cut(s, n, c, ev->step, ev->length);
	set_size(c, ev->length);
	leat_content_touch(s, c);
	return rc;
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
