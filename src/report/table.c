#include "report/table.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, size, hash) ((hash) = (unsigned)leat_hash((const char *)(key), size, 0))
#include <uthash.h>

struct leat_table_entry {
	UT_hash_handle hh;
	uint32_t number;
	char key[];
};

static struct leat_table_entry *find(const struct leat_table *t, const void *key, size_t size)
{
	struct leat_table_entry *e;

	HASH_FIND(hh, t->entries, key, size, e);
	return e;
}

uint32_t leat_table_find(const struct leat_table *t, const void *key, size_t size)
{
	const struct leat_table_entry *e = find(t, key, size);

	return e ? e->number : LEAT_TABLE_NONE;
}

int leat_table_put(struct leat_table *t, const void *key, size_t size, uint32_t number)
{
	struct leat_table_entry *e = find(t, key, size);

	if (e) {
		e->number = number;
		return 0;
	}
	e = calloc(1, sizeof(*e) + size);
	if (!e)
		return -ENOMEM;
	e->number = number;
	memcpy(e->key, key, size);
	HASH_ADD_KEYPTR(hh, t->entries, e->key, size, e);
	if (!e->hh.tbl) {
		free(e);
		return -ENOMEM;
	}
	t->n++;
	return 0;
}

static void drop(struct leat_table *t, struct leat_table_entry *e)
{
	HASH_DEL(t->entries, e);
	free(e);
	t->n--;
}

void leat_table_remove(struct leat_table *t, const void *key, size_t size)
{
	struct leat_table_entry *e = find(t, key, size);

	if (e)
		drop(t, e);
}

uint32_t leat_table_remove_oldest(struct leat_table *t)
{
	uint32_t number;

	if (!t->entries)
		return LEAT_TABLE_NONE;
	number = t->entries->number;
	drop(t, t->entries);
	return number;
}

void leat_table_release(struct leat_table *t)
{
	while (t->entries)
		drop(t, t->entries);
}
