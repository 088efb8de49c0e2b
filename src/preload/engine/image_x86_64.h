/* Texts patched by one process of a run, kept whole for those after it, which map them in the place
 * of their own: no page of libc is copied, no stub written, and a fork has nothing to copy of
 * either. The stubs of a text lie at a fixed distance before it, so that the same jumps lead to
 * them. */
#ifndef LEAT_PRELOAD_ENGINE_IMAGE_X86_64_H
#define LEAT_PRELOAD_ENGINE_IMAGE_X86_64_H

#include "preload/engine/sites_x86_64.h"

#include <stdbool.h>

/* The texts as kept in `dir`, mapped over those of this process, whose library code runs from then
 * on patched. If another process has just begun to make them, it is waited for. False: nothing good
 * is kept there, or there is no space at the right distance, and nothing has changed: others may
 * wait for this process, until leat_image_done. One thread. */
bool leat_image_map(const char *dir, const struct leat_texts *texts);
void leat_image_done(const char *dir, const struct leat_texts *texts);

/* Memory for the stubs at the fixed distance of each text, to read and write. Texts without space
 * there get none. */
void leat_image_reserve(struct leat_texts *texts);

/* May they be kept? True if each has its area, and is, byte for byte, as in its file: breakpoints
 * and probes that somebody has put into this process must not get into others. Before patching. */
bool leat_image_is_clean(const struct leat_texts *texts);

/* Keep the patched texts and their stubs, and map them here as well. What goes wrong costs time
 * only. One thread. */
void leat_image_keep(const char *dir, const struct leat_texts *texts);

#endif
