/* What one process of a run has found in libc, in files for those after it. */
#ifndef LEAT_PRELOAD_ENGINE_KEPT_H
#define LEAT_PRELOAD_ENGINE_KEPT_H

#include <linux/limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Files of what is known of texts with this id are in `dir`, each with a suffix of its own. One
 * thread, before main. */

/* Its name. False: too long. Any thread. */
bool leat_kept_path(char out[PATH_MAX], const char *dir, uint64_t id, const char *suffix);
/* Open one to read; negative: there is none. */
long leat_kept_open(const char *dir, uint64_t id, const char *suffix);
/* Open one that is there, or that another process began to make a moment ago, for which it waits:
 * at most 0.1 s after that. Negative: there is none; leat_kept_done says when that is over. */
long leat_kept_await(const char *dir, uint64_t id, const char *suffix);
/* It is made, or will not be: nobody waits any more. */
void leat_kept_done(const char *dir, uint64_t id, const char *suffix);
/* A new one, to read and write, that nobody sees until it is whole. Negative: not here. */
long leat_kept_begin(const char *dir, uint64_t id, const char *suffix);
/* It is whole, or else goes away. True: others see it now. Its descriptor stays open. */
bool leat_kept_end(bool whole);
/* A file that says all by being there. At the start it is another name, where it can be, of one
 * that this process found or made: ext4 looks at all that were removed a moment ago before it gives
 * a new one. What goes wrong costs time only. At the start one thread, before main; else any. */
void leat_kept_note(const char *dir, uint64_t id, const char *suffix, bool is_start);

#endif
