/* Names as the kernel shows them: of descriptors, links in /proc, the working directory. Any time.
 */
#ifndef LEAT_PRELOAD_PATH_NAMES_H
#define LEAT_PRELOAD_PATH_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The path below the workflow's directory of a name as the kernel shows it, of
 * the store's files as well, or NULL. */
const char *leat_path_of_name(const char *name);

/* Translate a name of the kernel's in place to what a batch would show. Returns
 * its length, or -ERANGE if that does not fit `size`. */
long leat_path_translate(char *name, size_t size);

/* May a file that the kernel names so lie in the store? The daemon knows. */
bool leat_path_may_be_store(const char *name);

#endif
