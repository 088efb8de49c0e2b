#include "trace/ebpf/dirs.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { MOST = 4096 };

struct place {
	UT_hash_handle hh;
	char *outside; /* owned; with the slash at its end */
	char key[];
};

struct leat_ebpf_dirs {
	struct place *places; /* owned, in the order in which they became known */
};

struct leat_ebpf_dirs *leat_ebpf_dirs_new(void)
{
	return calloc(1, sizeof(struct leat_ebpf_dirs));
}

static void forget(struct leat_ebpf_dirs *p, struct place *place)
{
	HASH_DEL(p->places, place);
	free(place->outside);
	free(place);
}

void leat_ebpf_dirs_free(struct leat_ebpf_dirs *p)
{
	struct place *place, *next;

	if (!p)
		return;
	HASH_ITER(hh, p->places, place, next)
	forget(p, place);
	free(p);
}

/* Of the directory that a path is in. The caller frees it; NULL: out of memory. */
static char *key_of(uint64_t space, uint64_t event, const char *path)
{
	return leat_strf("%" PRIu64 " %" PRIu64 " %.*s", space, event,
			 (int)(strrchr(path, '/') - path), path);
}

static struct place *find(const struct leat_ebpf_dirs *p, const char *key)
{
	struct place *place;

	HASH_FIND_STR(p->places, key, place);
	return place;
}

static void add(struct leat_ebpf_dirs *p, const char *key, const char *outside, size_t length)
{
	struct place *place = malloc(sizeof(*place) + strlen(key) + 1);

	if (place)
		place->outside = strndup(outside, length);
	if (!place || !place->outside) {
		free(place);
		return; /* as one that is known no more */
	}
	strcpy(place->key, key);
	if (HASH_COUNT(p->places) >= MOST)
		forget(p, p->places);
	HASH_ADD_KEYPTR(hh, p->places, place->key, strlen(place->key), place);
}

void leat_ebpf_dirs_learn(struct leat_ebpf_dirs *p, uint64_t space, uint64_t event,
			  const char *path, const char *outside)
{
	const char *last = strrchr(path, '/'), *last_outside = strrchr(outside, '/');
	char *key;

	/* A file may be bound under another name. */
	if (!last || !last_outside || strcmp(last, last_outside) != 0 || !last[1])
		return;
	key = key_of(space, event, path);
	if (key && !find(p, key))
		add(p, key, outside, (size_t)(last_outside + 1 - outside));
	free(key);
}

char *leat_ebpf_dirs_name(const struct leat_ebpf_dirs *p, uint64_t space, uint64_t event,
			  const char *path)
{
	const char *last = strrchr(path, '/');
	const struct place *place;
	char *key;

	if (!last)
		return NULL;
	key = key_of(space, event, path);
	place = key ? find(p, key) : NULL;
	free(key);
	return place ? leat_strf("%s%s", place->outside, last + 1) : NULL;
}
