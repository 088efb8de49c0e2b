/* A file is a row of words: for each text how many calls it has, and where. */
#include <sys/syscall.h>

#include "preload/engine/sites_x86_64.h"

#include "preload/core/call.h"
#include "preload/engine/code_x86_64.h"
#include "preload/engine/kept.h"
#include "preload/engine/scan_x86_64.h"

#define MAX_WORDS (LEAT_MAX_SITES + LEAT_MAX_TEXTS)

/* before main: one thread */
static uint32_t words[MAX_WORDS + 1];
static size_t load(const char *dir, uint64_t id)
{
	long fd = leat_kept_open(dir, id, ""), n;

	if (fd < 0)
		return 0;
	n = leat_raw(SYS_read, fd, (long)words, sizeof(words), 0, 0, 0);
	leat_raw(SYS_close, fd, 0, 0, 0, 0, 0);
	return n > 0 ? (size_t)n / sizeof(*words) : 0;
}

/* The page will be written anyway: writing now spares a fault for reading it. */
static void touch(uint8_t *p)
{
	__asm__ volatile("orb $0, %0" : "+m"(*p));
}

static bool load_text(const struct leat_code *code, const uint32_t *where, size_t count,
		      struct leat_patch_sites *sites)
{
	for (size_t i = 0; i < count; i++) {
		if (where[i] >= code->size)
			return false;
		touch(code->text + where[i]);
		if (!leat_scan_at(code, where[i], sites))
			return false;
	}
	return true;
}

bool leat_sites_load(const char *dir, const struct leat_texts *texts,
		     struct leat_patch_sites *sites)
{
	size_t n, at = 0, before = sites->count;

	n = load(dir, texts->id);
	if (!n || n > MAX_WORDS)
		return false;
	for (size_t i = 0; i < texts->count; i++) {
		size_t count = at < n ? words[at++] : n;

		if (count > n - at || !load_text(&texts->text[i].code, words + at, count, sites)) {
			sites->count = before;
			return false;
		}
		at += count;
	}
	return at == n;
}

static size_t gather(const struct leat_texts *texts, const struct leat_patch_sites *sites)
{
	size_t n = 0;

	for (size_t i = 0; i < texts->count; i++) {
		const struct leat_code *code = &texts->text[i].code;
		uint32_t *count = &words[n++];

		*count = 0;
		for (size_t k = 0; k < sites->count; k++) {
			const uint8_t *call = leat_scan_call(&sites->site[k]);

			if (!call || call < code->text || call >= code->text + code->size)
				continue;
			words[n++] = (uint32_t)(call - code->text);
			++*count;
		}
	}
	return n;
}

void leat_sites_save(const char *dir, const struct leat_texts *texts,
		     const struct leat_patch_sites *sites)
{
	long fd = leat_kept_begin(dir, texts->id, ""), n;
	size_t size;

	if (fd < 0)
		return;
	size = gather(texts, sites) * sizeof(*words);
	n = leat_raw(SYS_write, fd, (long)words, (long)size, 0, 0, 0);
	leat_kept_end(n == (long)size);
	leat_raw(SYS_close, fd, 0, 0, 0, 0, 0);
}
