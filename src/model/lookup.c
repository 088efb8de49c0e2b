#include "model/lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct leat_lookup *leat_lookup_find(const struct leat_lookup *table, const char *name)
{
	struct leat_lookup *found;

	HASH_FIND_STR(table, name, found);
	return found;
}

int leat_lookup_add(struct leat_lookup **table, const char *name, size_t index)
{
	struct leat_lookup *element = calloc(1, sizeof(*element));

	if (!element)
		return -ENOMEM;
	element->index = index;
	HASH_ADD_KEYPTR(hh, *table, name, strlen(name), element);
	if (!element->hh.tbl) {
		free(element);
		return -ENOMEM;
	}
	return 0;
}

void leat_lookup_free(struct leat_lookup *table)
{
	struct leat_lookup *element, *next;

	HASH_ITER(hh, table, element, next)
	{
		HASH_DEL(table, element);
		free(element);
	}
}
