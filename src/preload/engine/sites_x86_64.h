/* Sites found by one process of a run, kept for those after it: reading 1.4 MB of text takes longer
 * than all else that is done before main. What is kept are places of system call instructions; each
 * is looked at as if it were just found. */
#ifndef LEAT_PRELOAD_ENGINE_SITES_X86_64_H
#define LEAT_PRELOAD_ENGINE_SITES_X86_64_H

#include "preload/engine/code_x86_64.h"
#include "preload/engine/scan_x86_64.h"

#include <linux/limits.h>
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

/* Files of what is known of texts with this id are in `dir`, each with a suffix of its own. One
 * thread, before main. */

/* Its name. False: too long. Any thread. */
bool leat_kept_path(char out[PATH_MAX], const char *dir, uint64_t id, const char *suffix);
/* Open one to read; negative: there is none. */
long leat_kept_open(const char *dir, uint64_t id, const char *suffix);
/* A new one, to read and write, that nobody sees until it is whole. Negative: not here. */
long leat_kept_begin(const char *dir, uint64_t id, const char *suffix);
/* It is whole, or else goes away. True: others see it now. Its descriptor stays open. */
bool leat_kept_end(bool whole);
/* A file that says all by being there. At the start it is another name, where it can be, of one
 * that this process found or made: ext4 looks at all that were removed a moment ago before it gives
 * a new one. What goes wrong costs time only. At the start one thread, before main; else any. */
void leat_kept_mark(const char *dir, uint64_t id, const char *suffix, bool is_start);

/* The sites of the texts, which must be writable, as kept in `dir`. False: nothing (good) is kept
 * there, and *sites is unchanged. */
bool leat_sites_recall(const char *dir, const struct leat_texts *texts,
		       struct leat_patch_sites *sites);

/* Keep them. What goes wrong costs time only. */
void leat_sites_keep(const char *dir, const struct leat_texts *texts,
		     const struct leat_patch_sites *sites);

#endif
