/* Questions that change nothing. */
#include "stream/conflicts/declared.h"
#include "stream/flow/links.h"
#include "stream/rules/answer.h"
#include "stream/rules/commit.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/ports.h"
#include "stream/state/roles.h"
#include "stream/state/steps.h"

#include <errno.h>
#include <stdlib.h>

bool leat_stream_has_versions(const struct leat_stream *s, const char *name)
{
	return leat_name_has_versions(s, name);
}

bool leat_stream_made(const struct leat_stream *s, const char *name)
{
	enum leat_file_state state = leat_stream_state(s, name);
	const struct leat_series *series = leat_series_find(s, name);

	return state == LEAT_FILE_PRODUCED || state == LEAT_FILE_COMMITTED ||
	       (series && series->latest);
}

int leat_stream_remover(const struct leat_stream *s, const char *name)
{
	const struct leat_name_state *n = leat_name_find(s, name);

	return n ? (int)n->remover - 1 : -1;
}

int leat_stream_removed_maker(const struct leat_stream *s, const char *name)
{
	const struct leat_name_state *n = leat_name_find(s, name);
	int maker = n ? (int)n->removed_maker - 1 : -1;

	return maker >= 0 && leat_name_produced_by(n, maker) ? maker : -1;
}

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
	return n ? n->shown : leat_producers_are_over(s, rule);
}

bool leat_stream_has_made(const struct leat_stream *s, int step, const char *name)
{
	return leat_name_is_made_by(leat_name_find(s, name), step);
}

int leat_stream_creator(const struct leat_stream *s, const char *name)
{
	const struct leat_name_state *n = leat_name_find(s, name);

	return n && n->content ? n->content->creator : -1;
}

bool leat_stream_has_links(const struct leat_stream *s)
{
	return s->linked;
}

bool leat_stream_is_dir(const struct leat_stream *s, const char *name)
{
	const struct leat_name_state *n = leat_name_find(s, name);

	return n && leat_name_is_dir(n);
}

int leat_stream_maker_before(const struct leat_stream *s, int step, const char *name, bool looks)
{
	const struct leat_name_state *n = step < 0 ? NULL : leat_name_find(s, name);

	return n ? leat_maker_before(s, n, step, looks) : -1;
}

bool leat_stream_awaits_directory(const struct leat_stream *s, int step, const char *dir,
				  bool looks)
{
	return step >= 0 && leat_directory_maker(s, step, dir, looks) >= 0;
}

bool leat_stream_is_left_over(const struct leat_stream *s, int step, const char *dir)
{
	const struct leat_name_state *n = leat_name_find(s, dir);

	return (!n || !n->content || n->content->left_over) &&
	       leat_stream_awaits_directory(s, step, dir, false);
}

bool leat_stream_is_examined(const struct leat_stream *s, int step, const char *name)
{
	const struct leat_name_state *n = leat_name_find(s, name);

	return n && n->looked && n->state == LEAT_FILE_COMMITTED &&
	       leat_declared_first_after(s, n, step) >= 0;
}

bool leat_stream_is_replaced(const struct leat_stream *s, const char *name)
{
	const struct leat_name_state *n = leat_name_find(s, name);

	return n && leat_name_is_replaced(n);
}

void leat_stream_each_below(const struct leat_stream *s, const char *dir,
			    void (*fn)(void *ctx, const char *name), void *ctx)
{
	const struct leat_name_state *top = leat_name_find(s, dir), *n = top;

	while (n) {
		fn(ctx, n->text);
		if (n->children) {
			n = n->children;
			continue;
		}
		while (n != top && !n->next)
			n = n->parent;
		n = n == top ? NULL : n->next;
	}
}

void leat_stream_each_output(const struct leat_stream *s, int step,
			     bool (*fn)(void *ctx, const char *name, enum leat_file_state state),
			     void *ctx)
{
	const struct leat_link *link;

	for (link = s->steps[step].names; link; link = link->next)
		if (!fn(ctx, link->name->text, link->name->state))
			return;
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
