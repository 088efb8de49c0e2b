#include "stream/state/used.h"

#include <string.h>

uint64_t *leat_used_set(const struct leat_stream *s, struct leat_uses *u, enum leat_who who)
{
	return u->sets + who * leat_steps_words(s->m);
}

bool leat_used_has(const struct leat_stream *s, struct leat_uses *u, enum leat_who who, int step)
{
	return leat_steps_has(leat_used_set(s, u, who), step);
}

void leat_used_add(const struct leat_stream *s, struct leat_uses *u, enum leat_who who, int step)
{
	leat_steps_add(leat_used_set(s, u, who), step);
}

void leat_used_drop(const struct leat_stream *s, struct leat_uses *u, enum leat_who who, int step)
{
	leat_used_set(s, u, who)[step / 64] &= ~(UINT64_C(1) << (step % 64));
}

static struct leat_used *find(const struct leat_stream *s, const char *path, size_t length)
{
	struct leat_used *n;

	HASH_FIND(hh, s->used, path, length, n);
	return n;
}

struct leat_used *leat_used_find(const struct leat_stream *s, const char *name)
{
	return find(s, name, strlen(name));
}

struct leat_used *leat_used_above(const struct leat_stream *s, const char *path, size_t *length)
{
	struct leat_used *n = NULL;

	while (!n && *length) {
		while (--*length && path[*length] != '/')
			;
		n = *length ? find(s, path, *length) : NULL;
	}
	return n;
}

static struct leat_uses *uses_new(struct leat_stream *s)
{
	return leat_heap_alloc(1, sizeof(struct leat_uses) +
					  LEAT_WHO * leat_steps_words(s->m) * sizeof(uint64_t));
}

static void uses_unref(struct leat_uses *u)
{
	if (!--u->names)
		leat_heap_free(u);
}

static void replace_uses(struct leat_used *n, struct leat_uses *uses)
{
	uses->names++;
	uses_unref(n->uses);
	n->uses = uses;
}

static struct leat_used *add(struct leat_stream *s, const char *name, struct leat_uses *uses)
{
	struct leat_used *n = leat_heap_alloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->text = leat_heap_copy(name);
	n->uses = uses ? uses : uses_new(s);
	if (n->text && n->uses) {
		HASH_ADD_KEYPTR(hh, s->used, n->text, strlen(n->text), n);
		n->uses->names++;
		if (n->hh.tbl)
			return n;
		uses_unref(n->uses);
	} else if (!uses) {
		leat_heap_free(n->uses);
	}
	leat_heap_free(n->text);
	leat_heap_free(n);
	return NULL;
}

struct leat_used *leat_used_get(struct leat_stream *s, const char *name, struct leat_uses *uses)
{
	struct leat_used *n = leat_used_find(s, name);

	if (!n)
		return add(s, name, uses);
	if (uses && uses != n->uses)
		replace_uses(n, uses);
	return n;
}

void leat_used_free(struct leat_stream *s)
{
	struct leat_used *n, *next;

	HASH_ITER(hh, s->used, n, next)
	{
		HASH_DEL(s->used, n);
		uses_unref(n->uses);
		leat_heap_free(n->text);
		leat_heap_free(n);
	}
}
