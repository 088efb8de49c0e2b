#include "stream/verify/seen.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool put(uint64_t *table, uint64_t size, uint64_t hash)
{
	uint64_t at = hash & (size - 1);

	while (table[at] && table[at] != hash)
		at = (at + 1) & (size - 1);
	if (table[at])
		return false;
	table[at] = hash;
	return true;
}

static int grow(struct verify_seen *seen)
{
	uint64_t size = seen->size ? 4 * seen->size : 512;
	uint64_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (uint64_t i = 0; i < seen->size; i++)
		if (seen->table[i])
			put(table, size, seen->table[i]);
	free(seen->table);
	seen->table = table;
	seen->size = size;
	return 0;
}

int leat_verify_seen_put(struct verify_seen *seen, uint64_t hash)
{
	if (2 * seen->n >= seen->size && grow(seen))
		return -ENOMEM;
	if (!put(seen->table, seen->size, hash ? hash : 1))
		return 0;
	seen->n++;
	return 1;
}

void leat_verify_seen_release(struct verify_seen *seen)
{
	free(seen->table);
	*seen = (struct verify_seen){.n = 0};
}
