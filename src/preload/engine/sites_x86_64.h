/* Sites found by one process of a run, kept for those after it: reading 1.4 MB of text takes longer
 * than all else that is done before main. What is kept are places of system call instructions; each
 * is looked at as if it were just found. */
#ifndef LEAT_PRELOAD_ENGINE_SITES_X86_64_H
#define LEAT_PRELOAD_ENGINE_SITES_X86_64_H

#include "preload/engine/code_x86_64.h"
#include "preload/engine/scan_x86_64.h"

#include <stdbool.h>

#define LEAT_MAX_TEXTS 16

struct leat_text_segment {
	struct leat_code code;
	uint8_t *area; /* of stubs, at a fixed distance; NULL: they are elsewhere */
};

struct leat_texts {
	size_t count;
	struct leat_text_segment text[LEAT_MAX_TEXTS];
	uint64_t id; /* of these texts and of this library, by their build ids; 0: unknown */
};

/* The sites of the texts, which must be writable, as kept in `dir`. False: nothing (good) is kept
 * there, and *sites is unchanged. */
bool leat_sites_load(const char *dir, const struct leat_texts *texts,
		     struct leat_patch_sites *sites);

/* Keep them. What goes wrong costs time only. */
void leat_sites_save(const char *dir, const struct leat_texts *texts,
		     const struct leat_patch_sites *sites);

#endif
