/* Reading the keys of a map by a table, with suggestions for the unknown. */
#include "lang/reader/keys.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"

static const struct leat_key *find_key(const struct leat_key *keys, const char *name)
{
	for (; keys->name; keys++)
		if (!strcmp(keys->name, name))
			return keys;
	return NULL;
}

static const char *canonical_name(const struct leat_key *keys, int slot)
{
	while (keys->kind != LEAT_KEY_TAKEN || keys->slot != slot)
		keys++;
	return keys->name;
}

/* The key that was probably meant: one that `name` begins or that differs by a slip. */
static const char *nearest_key(const struct leat_key *keys, const char *name)
{
	const char *best = NULL;
	unsigned best_distance = UINT_MAX;
	size_t shorter;

	for (; keys->name; keys++) {
		unsigned distance = leat_str_distance(name, keys->name);

		if (strlen(name) > 2 && leat_str_begins(keys->name, name))
			distance = 0;
		if (keys->kind != LEAT_KEY_VARIANT && distance < best_distance) {
			best_distance = distance;
			best = keys->name;
		}
	}
	if (!best)
		return NULL;
	shorter = strlen(best) < strlen(name) ? strlen(best) : strlen(name);
	return best_distance <= (shorter + 1) / 2 ? best : NULL;
}

static void list_keys(const struct leat_key *keys, char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (; keys->name && used < size; keys++)
		if (keys->kind == LEAT_KEY_TAKEN)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s",
						 used ? ", " : "", keys->name);
}

static void report_unknown(struct leat_front *front, const struct leat_value *key,
			   const char *where, const struct leat_key *keys)
{
	const char *meant = nearest_key(keys, key->text);
	char list[512];

	if (meant) {
		leat_lang_report(front->diags, L_KEY_UNKNOWN, key->pos,
				 "unknown key \"%s\" in %s; did you mean \"%s\"?", key->text, where,
				 meant);
		return;
	}
	list_keys(keys, list, sizeof(list));
	leat_lang_report(front->diags, L_KEY_UNKNOWN, key->pos,
			 "unknown key \"%s\" in %s; it has %s", key->text, where, list);
}

/* Put one pair into its slot. */
static void take_pair(struct leat_front *front, const struct leat_value *key,
		      const struct leat_value *value, const struct leat_key *keys,
		      const struct leat_key *known, struct leat_pair *slots)
{
	const char *name = canonical_name(keys, known->slot);

	if (known->kind == LEAT_KEY_VARIANT)
		leat_lang_report(front->diags, L_KEY_SPELLING, key->pos,
				 "\"%s\" is read as \"%s\", its canonical spelling", key->text,
				 name);
	if (slots[known->slot].key) {
		/* The same spelling twice was reported with the syntax. */
		if (strcmp(slots[known->slot].key->text, key->text))
			leat_lang_report(front->diags, L_KEY_TWICE, key->pos,
					 "\"%s\" and \"%s\" (line %d) mean the same: keep one",
					 key->text, slots[known->slot].key->text,
					 slots[known->slot].key->pos.line);
		return;
	}
	slots[known->slot] = (struct leat_pair){key, value};
}

bool leat_keys_read(struct leat_front *front, const struct leat_value *map, const char *where,
		    const struct leat_key *keys, struct leat_pair *slots, size_t n_slots)
{
	memset(slots, 0, n_slots * sizeof(*slots));
	if (map->kind != LEAT_VALUE_MAP) {
		leat_lang_report(front->diags, L_TYPE, map->pos, "%s must be an object, not %s",
				 where, leat_value_describe(map));
		return false;
	}
	for (size_t i = 0; i < map->n; i += 2) {
		const struct leat_value *key = map->v[i];
		const struct leat_key *known = find_key(keys, key->text);

		if (!known)
			report_unknown(front, key, where, keys);
		else
			take_pair(front, key, map->v[i + 1], keys, known, slots);
	}
	return true;
}

void leat_key_missing(struct leat_front *front, struct leat_pos pos, const char *name,
		      const char *where)
{
	leat_lang_report(front->diags, L_KEY_MISSING, pos, "%s has no \"%s\"", where, name);
}
