/* Names and the tree they form. */
#include "stream/state/names.h"
#include "stream/state/lifecycle.h"
#include "stream/state/makers.h"
#include "stream/state/ports.h"
#include "stream/state/queue.h"
#include "stream/state/roles.h"
#include "stream/state/shown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leat_name_state *leat_name_find(const struct leat_stream *s, const char *text)
{
	void **recent = leat_recent_place(s->recent, text);
	struct leat_name_state *n = *recent;

	if (n && strcmp(n->text, text) == 0)
		return n;
	HASH_FIND_STR(s->names, text, n);
	if (n)
		*recent = n;
	return n;
}

bool leat_link_add(struct leat_stream *s, struct leat_link **list, struct leat_name_state *n)
{
	struct leat_link *link = leat_heap_alloc(1, sizeof(*link));

	if (!link) {
		s->error = -ENOMEM;
		return false;
	}
	link->name = n;
	LL_PREPEND(*list, link);
	return true;
}

void leat_links_free(struct leat_link *list)
{
	struct leat_link *link, *next;

	LL_FOREACH_SAFE(list, link, next)
	{
		leat_heap_free(link);
	}
}

/* A dependency that no step declares as a file is done when the steps that may
 * make what it stands for are. */
static bool subscribe_steps(struct leat_stream *s, struct leat_name_state *n, const char *dep)
{
	for (int step = 0; step < s->n_steps; step++)
		if (leat_step_may_make(s, step, dep) &&
		    !leat_link_add(s, &s->steps[step].dependents, n))
			return false;
	return true;
}

static bool subscribe_dependency(struct leat_stream *s, struct leat_name_state *n, const char *text)
{
	struct leat_name_state *dep = NULL;

	if (!leat_pattern_is_wild(text)) {
		dep = leat_name_get(s, text);
		if (!dep)
			return false;
	}
	return dep && dep->governed ? leat_link_add(s, &dep->dependents, n)
				    : subscribe_steps(s, n, text);
}

/* False when out of memory. */
static bool subscribe(struct leat_stream *s, struct leat_name_state *n)
{
	const struct leat_names *deps = n->rule->deps;
	bool by_count = n->rule->commit == LEAT_COMMIT_ON_TERMINATION && n->rule->count;
	const uint64_t *set = n->rule->producers;

	for (int step = leat_steps_next(set, 0, s->n_steps); step < s->n_steps;
	     step = leat_steps_next(set, step + 1, s->n_steps)) {
		if (!leat_link_add(s, &s->steps[step].names, n))
			return false;
		s->steps[step].ends_count = s->steps[step].ends_count || by_count;
	}
	for (size_t i = 0; deps && i < deps->n; i++)
		if (!subscribe_dependency(s, n, deps->v[i].text))
			return false;
	return true;
}

static struct leat_name_state *parent_of(struct leat_stream *s, const char *text)
{
	const char *slash = strrchr(text, '/');
	struct leat_name_state *parent;
	char *dir;

	dir = slash ? strndup(text, (size_t)(slash - text)) : strdup("");
	if (!dir)
		return NULL;
	parent = leat_name_get(s, dir);
	free(dir);
	return parent;
}

bool leat_stream_spells_out(const struct leat_stream *s, const char *name)
{
	struct leat_exact *exact;

	HASH_FIND_STR(s->exact, name, exact);
	return exact;
}

static struct leat_name_state *make(struct leat_stream *s, const char *text)
{
	struct leat_name_state *n = leat_heap_alloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->text = leat_heap_copy(text);
	n->rule = leat_match(s->m, text);
	n->parent = *text ? parent_of(s, text) : NULL;
	if (!n->text || !n->rule || (*text && !n->parent))
		goto fail;
	n->governed = leat_rule_governs(s, n->rule);
	n->versioned = n->governed && leat_name_has_versions(s, text);
	n->exact = leat_stream_spells_out(s, text);
	HASH_ADD_KEYPTR(hh, s->names, n->text, strlen(n->text), n);
	if (!n->hh.tbl)
		goto fail;
	if (n->parent)
		DL_PREPEND(n->parent->children, n);
	return n;
fail:
	leat_heap_free(n->text);
	leat_heap_free(n);
	return NULL;
}

static void link_remove(struct leat_link **list, const struct leat_name_state *n)
{
	struct leat_link *link, *next;

	LL_FOREACH_SAFE(*list, link, next)
	{
		if (link->name != n)
			continue;
		LL_DELETE(*list, link);
		leat_heap_free(link);
	}
}

static void name_free(struct leat_stream *s, struct leat_name_state *n)
{
	leat_recent_forget(s->recent, n);
	HASH_DEL(s->names, n);
	leat_links_free(n->dependents);
	leat_shown_free(n);
	leat_heap_free(n->text);
	leat_heap_free(n);
}

/* Take back a name that nobody refers to yet but what it has subscribed to: half of that is not
 * enough to learn of its end. */
static void take_back(struct leat_stream *s, struct leat_name_state *n)
{
	struct leat_name_state *other;

	for (int step = 0; step < s->n_steps; step++) {
		link_remove(&s->steps[step].names, n);
		link_remove(&s->steps[step].dependents, n);
	}
	for (other = s->names; other; other = other->hh.next)
		link_remove(&other->dependents, n);
	if (n->parent)
		DL_DELETE(n->parent->children, n);
	name_free(s, n);
}

struct leat_name_state *leat_name_get(struct leat_stream *s, const char *text)
{
	struct leat_name_state *n = leat_name_find(s, text);

	if (n)
		return n;
	n = make(s, text);
	if (n && n->governed && !subscribe(s, n)) {
		take_back(s, n);
		n = NULL;
	}
	if (!n) {
		s->error = -ENOMEM;
		return NULL;
	}
	if (n->governed)
		leat_touch(s, n);
	return n;
}

void leat_names_free(struct leat_stream *s)
{
	struct leat_name_state *n, *next;

	HASH_ITER(hh, s->names, n, next)
	{
		name_free(s, n);
	}
}

bool leat_name_is_dir(const struct leat_name_state *n)
{
	return n->content ? n->content->is_dir : n->rule->n_files > 0;
}

bool leat_name_is_replaced(const struct leat_name_state *n)
{
	const struct leat_content *c = n->content;

	return n->governed && !leat_state_is_final(n->state) && c && c->is_dir && c->creator >= 0 &&
	       !leat_steps_has(n->rule->producers, c->creator);
}

bool leat_name_is_counted_out(const struct leat_name_state *n)
{
	for (; n; n = n->parent)
		if (n->governed && n->rule->n_files && n->state == LEAT_FILE_COMMITTED)
			return true;
	return false;
}

bool leat_name_is_shown(const struct leat_name_state *n)
{
	if (!n->governed || !n->content)
		return false;
	if (n->state == LEAT_FILE_COMMITTED)
		return true;
	/* The directory above may be complete by the number of files before this one is. What was
	 * shown stays, even if it has lost its files. */
	if (n->content->is_dir &&
	    (n->committed_below || n->shown || leat_name_is_counted_out(n->parent)))
		return true;
	if (n->rule->fire != LEAT_FIRE_NO_UPDATE || leat_state_is_final(n->state))
		return false;
	if (n->content->is_dir)
		return true;
	/* Of names that only a pattern declares any may be a temporary one. */
	return n->exact && n->state == LEAT_FILE_PRODUCED && n->content->size_bytes;
}

static void show(struct leat_stream *s, struct leat_name_state *n, struct leat_name_state *dir)
{
	n->shown_at = ++dir->n_shown;
	DL_DELETE(dir->children, n);
	DL_APPEND(dir->children, n);
	leat_touch(s, dir);
}

static void adjust(unsigned *counter, int by)
{
	*counter = (unsigned)((int)*counter + by);
}

void leat_name_account(struct leat_stream *s, struct leat_name_state *n)
{
	const struct leat_content *c = n->content;
	bool file = n->governed && c && !c->is_dir;
	bool counted = file && !c->old && n->state == LEAT_FILE_COMMITTED;
	bool busy = file && c->writers && !leat_state_is_final(n->state);
	bool shown = leat_name_is_shown(n);
	int committed_by = (int)counted - (int)n->counted;
	int writers_by = (int)busy - (int)n->busy;

	if (shown && !n->shown && n->parent)
		show(s, n, n->parent);
	n->shown = shown;
	n->counted = counted;
	n->busy = busy;
	if (!committed_by && !writers_by)
		return;
	for (struct leat_name_state *dir = n->parent; dir; dir = dir->parent) {
		adjust(&dir->committed_below, committed_by);
		adjust(&dir->writers_below, writers_by);
		if (dir->governed)
			leat_touch(s, dir);
	}
}

bool leat_name_produced_by(const struct leat_name_state *n, int step)
{
	return n->governed && step >= 0 && leat_steps_has(n->rule->producers, step);
}
