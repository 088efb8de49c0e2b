/* Its form is that of glibc's sysdeps/generic/dl-cache.h; since 2.32 it stands alone, before behind
 * a table of an older form. */
#include "preload/exec/cache.h"

#include "preload/core/call.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH "/etc/ld.so.cache"
#define OLD_MAGIC "ld.so-1.7.0"
#define MAGIC "glibc-ld.so.cache1.1"

/* Flags of libraries of glibc for this machine. */
#if defined(__x86_64__)
#define OWN_FLAGS 0x0303
#elif defined(__aarch64__)
#define OWN_FLAGS 0x0a03
#else
#define OWN_FLAGS 0x1003
#endif

struct old_header {
	char magic[12];
	uint32_t n;
};
struct old_entry {
	int32_t flags;
	uint32_t key, value;
};
struct header {
	char magic[20];
	uint32_t n, text_size;
	uint8_t flags, unused[3];
	uint32_t extension, more[3];
};
struct entry {
	int32_t flags;
	uint32_t key, value; /* offsets of the name and the path from the header */
	uint32_t os_version;
	uint64_t hwcap;
};

static void find_table(struct leat_cache *c)
{
	const struct old_header *old = (const void *)c->at;
	size_t at = 0;

	if (c->size >= sizeof *old && memcmp(old->magic, OLD_MAGIC, strlen(OLD_MAGIC)) == 0) {
		at = sizeof *old + (size_t)old->n * sizeof(struct old_entry);
		at = (at + 7) & ~(size_t)7;
	}
	if (c->size < sizeof(struct header) || at > c->size - sizeof(struct header) ||
	    memcmp(c->at + at, MAGIC, strlen(MAGIC)) != 0)
		return;
	c->table = c->at + at;
	c->table_size = c->size - at;
}

static void map(struct leat_cache *c)
{
	long fd = leat_raw(SYS_openat, AT_FDCWD, (long)PATH, O_RDONLY | O_CLOEXEC, 0, 0, 0), at;
	long size;

	c->is_read = true;
	if (fd < 0)
		return;
	size = leat_raw(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0);
	at = size > 0 ? leat_raw(SYS_mmap, 0, size, PROT_READ, MAP_PRIVATE, fd, 0) : -1;
	leat_raw(SYS_close, fd, 0, 0, 0, 0, 0);
	if (at < 0 && at > -4096)
		return;
	c->at = (const char *)at;
	c->size = (size_t)size;
	find_table(c);
}

static const char *text_at(const struct leat_cache *c, uint32_t at)
{
	if (at >= c->table_size || strnlen(c->table + at, c->table_size - at) == c->table_size - at)
		return NULL;
	return c->table + at;
}

const char *leat_cache_find(struct leat_cache *c, const char *name)
{
	const struct header *h;
	const struct entry *entries;

	if (!c->is_read)
		map(c);
	if (!c->table)
		return NULL;
	h = (const void *)c->table;
	entries = (const void *)(h + 1);
	for (size_t i = 0; i < h->n && i < (c->table_size - sizeof *h) / sizeof *entries; i++) {
		const char *key = entries[i].flags == OWN_FLAGS ? text_at(c, entries[i].key) : NULL;

		if (key && strcmp(key, name) == 0)
			return text_at(c, entries[i].value);
	}
	return NULL;
}

void leat_cache_release(struct leat_cache *c)
{
	if (c->at)
		leat_raw(SYS_munmap, (long)c->at, (long)c->size, 0, 0, 0, 0);
	*c = (struct leat_cache){0};
}
