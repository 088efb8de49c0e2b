#include "stream/versions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_exact(struct leat_stream *s, const char *text)
{
	struct leat_exact *e;

	HASH_FIND_STR(s->exact, text, e);
	if (e || leat_pattern_is_wild(text))
		return 0;
	e = leat_heap_alloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->text = text;
	HASH_ADD_KEYPTR(hh, s->exact, e->text, strlen(e->text), e);
	if (e->hh.tbl)
		return 0;
	leat_heap_free(e);
	return -ENOMEM;
}

static int add_step(struct leat_stream *s, int step)
{
	const struct leat_step *model = &s->wf->steps[step];

	s->steps[step].expected = model->instances ? model->instances : 1;
	for (size_t i = 0; i < model->outputs.n; i++)
		if (add_exact(s, model->outputs.v[i].text))
			return -ENOMEM;
	return 0;
}

struct leat_stream *leat_stream_new(struct leat_matcher *m, const struct leat_workflow *wf,
				    const struct leat_stream_ops *ops, void *ctx)
{
	struct leat_stream *s = leat_heap_alloc(1, sizeof(*s));
	struct leat_name_state *root;

	if (!s)
		return NULL;
	s->m = m;
	s->wf = wf;
	s->ops = *ops;
	s->ctx = ctx;
	s->dirty_step = -1;
	s->steps = leat_heap_alloc(wf->n_steps + 1, sizeof(*s->steps));
	if (!s->steps)
		goto fail;
	s->n_steps = (int)wf->n_steps;
	for (int step = 0; step < s->n_steps; step++)
		if (add_step(s, step))
			goto fail;
	if (leat_versions_init(s))
		goto fail;
	root = leat_name_get(s, "");
	if (!root || !leat_content_new(s, root, -1, true))
		goto fail;
	leat_settle(s);
	return s;
fail:
	leat_stream_free(s);
	return NULL;
}

static void free_steps(struct leat_stream *s)
{
	for (int step = 0; step < s->n_steps; step++) {
		leat_inputs_free(s, step);
		leat_links_free(s->steps[step].names);
		leat_links_free(s->steps[step].dependents);
		leat_heap_free(s->steps[step].why);
	}
	leat_heap_free(s->steps);
}

static void free_ofds(struct leat_stream *s)
{
	struct leat_ofd *o, *next;

	HASH_ITER(hh, s->ofds, o, next)
	{
		HASH_DEL(s->ofds, o);
		o->content->writers--;
		leat_content_release(s, o->content);
		leat_heap_free(o);
	}
}

void leat_stream_free(struct leat_stream *s)
{
	struct leat_waiter *w, *next_waiter;
	struct leat_name_state *n, *next_name;
	struct leat_exact *e, *next_exact;
	int saved = errno;

	if (!s)
		return;
	HASH_ITER(hh, s->waiters, w, next_waiter)
	{
		leat_waiter_free(s, w);
	}
	HASH_ITER(hh, s->names, n, next_name)
	{
		if (n->content)
			leat_content_detach(s, n);
	}
	free_ofds(s);
	leat_versions_free(s);
	leat_uses_free(s);
	leat_names_free(s);
	HASH_ITER(hh, s->exact, e, next_exact)
	{
		HASH_DEL(s->exact, e);
		leat_heap_free(e);
	}
	free_steps(s);
	leat_heap_free(s);
	errno = saved;
}

/* ---- facts ---- */

static int apply_cancel(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_waiter *w;

	HASH_FIND(hh, s->waiters, &ev->waiter, sizeof(ev->waiter), w);
	if (w)
		leat_waiter_free(s, w);
	return 0;
}

enum { NEEDS_STEP = 1, NEEDS_NAME = 2 };

static const struct {
	int (*apply)(struct leat_stream *s, const struct leat_event *ev);
	unsigned needs;
} facts[LEAT_EV_KINDS] = {
	[LEAT_EV_STEP_START] = {leat_step_start, NEEDS_STEP},
	[LEAT_EV_STEP_END] = {leat_step_end, NEEDS_STEP},
	[LEAT_EV_STEP_CLOSED] = {leat_step_closed, NEEDS_STEP},
	[LEAT_EV_PROC_EXIT] = {leat_fact_exit, 0},
	[LEAT_EV_PRESENT] = {leat_fact_present, NEEDS_NAME},
	[LEAT_EV_CREATE] = {leat_fact_create, NEEDS_NAME},
	[LEAT_EV_OPEN] = {leat_fact_open, NEEDS_NAME},
	[LEAT_EV_CLOSE] = {leat_fact_close, 0},
	[LEAT_EV_EXTENT] = {leat_fact_extent, 0},
	[LEAT_EV_TRUNCATE] = {leat_fact_truncate, NEEDS_NAME},
	[LEAT_EV_RENAME] = {leat_fact_rename, NEEDS_NAME},
	[LEAT_EV_UNLINK] = {leat_fact_unlink, NEEDS_NAME},
	[LEAT_EV_CANCEL] = {apply_cancel, 0},
	[LEAT_EV_VIOLATION] = {leat_fact_violation, NEEDS_NAME},
	[LEAT_EV_TAKE] = {leat_fact_take, NEEDS_STEP | NEEDS_NAME},
	[LEAT_EV_READ] = {leat_fact_read, 0},
	[LEAT_EV_RETURN] = {leat_fact_return, 0},
	[LEAT_EV_LAUNCH] = {leat_fact_launch, NEEDS_STEP},
	[LEAT_EV_WRITE] = {leat_fact_write, 0},
	[LEAT_EV_SERVE] = {leat_fact_serve, NEEDS_STEP | NEEDS_NAME},
	[LEAT_EV_WRITTEN] = {leat_fact_written, NEEDS_STEP | NEEDS_NAME},
	[LEAT_EV_USE] = {leat_fact_use, NEEDS_STEP | NEEDS_NAME},
	[LEAT_EV_RIGHTS] = {leat_fact_rights, NEEDS_STEP | NEEDS_NAME},
};

int leat_stream_apply(struct leat_stream *s, const struct leat_event *ev)
{
	int rc;

	if ((unsigned)ev->kind >= LEAT_EV_KINDS || !facts[ev->kind].apply)
		return -EINVAL;
	if (ev->step >= s->n_steps || ev->step < -1 ||
	    (ev->step < 0 && facts[ev->kind].needs & NEEDS_STEP) ||
	    (!ev->name && facts[ev->kind].needs & NEEDS_NAME))
		return -EINVAL;
	s->error = 0;
	s->told = 0;
	rc = facts[ev->kind].apply(s, ev);
	leat_settle(s);
	return rc ? rc : s->error;
}

/* ---- queries ---- */

enum leat_role leat_stream_role(struct leat_stream *s, int step, const char *name)
{
	const struct leat_file_rule *rule = leat_match(s->m, name);

	return rule ? leat_rule_role(s, step, rule) : LEAT_ROLE_PLAIN;
}

enum leat_file_state leat_stream_state(const struct leat_stream *s, const char *name)
{
	const struct leat_name_state *n = leat_name_find(s, name);

	return n ? n->state : LEAT_FILE_ABSENT;
}

bool leat_stream_publishes(struct leat_stream *s, const char *name)
{
	const struct leat_file_rule *rule = leat_match(s->m, name);

	if (!rule || rule->fire != LEAT_FIRE_NO_UPDATE ||
	    leat_state_is_final(leat_stream_state(s, name)))
		return false;
	for (int step = 0; step < s->n_steps; step++)
		if (leat_rule_role(s, step, rule) == LEAT_ROLE_CONSUMER)
			return true;
	return false;
}

uint64_t leat_stream_frontier(const struct leat_stream *s, const char *name)
{
	const struct leat_name_state *n = leat_name_find(s, name);

	return n && n->content ? leat_extents_frontier(&n->content->extents) : 0;
}

const struct leat_range *leat_stream_extents(const struct leat_stream *s, const char *name,
					     size_t *n)
{
	const struct leat_name_state *state = leat_name_find(s, name);

	*n = state && state->content ? state->content->extents.n : 0;
	return *n ? state->content->extents.v : NULL;
}

uint64_t leat_stream_shown(const struct leat_stream *s, const char *dir)
{
	const struct leat_name_state *n = leat_name_find(s, dir);

	return n ? n->n_shown : 0;
}

/* The first child of `dir` that was shown after the first `shown` ones; NULL: none. */
static const struct leat_name_state *first_shown(const struct leat_name_state *dir, uint64_t shown,
						 size_t *n)
{
	const struct leat_name_state *first = NULL,
				     *at = dir->children ? dir->children->prev : NULL;

	for (*n = 0; at && at->shown_at > shown; at = at->prev) {
		first = at;
		++*n;
		if (at == dir->children)
			break;
	}
	return first;
}

ssize_t leat_stream_shown_since(const struct leat_stream *s, const char *dir, uint64_t shown,
				const char ***names)
{
	const struct leat_name_state *d = leat_name_find(s, dir);
	size_t n = 0, taken = 0;
	const struct leat_name_state *at = d ? first_shown(d, shown, &n) : NULL;
	const char **v = calloc(n + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (; at; at = at->next)
		if (at->shown)
			v[taken++] = at->text;
	*names = v;
	return (ssize_t)taken;
}

static bool producers_are_over(const struct leat_stream *s, const struct leat_file_rule *rule)
{
	for (int step = 0; step < s->n_steps; step++)
		if (leat_steps_has(rule->producers, step) && !leat_step_is_over(&s->steps[step]))
			return false;
	return true;
}

bool leat_stream_visible(struct leat_stream *s, int step, const char *name)
{
	const struct leat_file_rule *rule = leat_match(s->m, name);
	const struct leat_name_state *n = leat_name_find(s, name);

	switch (rule ? leat_rule_role(s, step, rule) : LEAT_ROLE_PLAIN) {
	case LEAT_ROLE_PLAIN:
	case LEAT_ROLE_PRODUCER:
		return true;
	case LEAT_ROLE_BOTH:
		if (n && !leat_state_is_final(n->state) && leat_commit_others_done(s, n, step))
			return true;
		break;
	case LEAT_ROLE_CONSUMER:
		break;
	}
	return n ? n->shown : producers_are_over(s, rule);
}

int leat_stream_creator(const struct leat_stream *s, const char *name)
{
	const struct leat_name_state *n = leat_name_find(s, name);

	return n && n->content ? n->content->creator : -1;
}

void leat_stream_each(struct leat_stream *s,
		      void (*fn)(void *ctx, const char *name, enum leat_file_state state),
		      void *ctx)
{
	struct leat_name_state *n, *next;

	HASH_ITER(hh, s->names, n, next)
	{
		fn(ctx, n->text, n->state);
	}
}
