/* What belongs to the running command and lies beside it. Any thread. */
#ifndef LEAT_BASE_INSTALLED_H
#define LEAT_BASE_INSTALLED_H

#include <stdbool.h>

/* The real path of what the environment variable names (NULL: there is none for it), or else of the
 * first of `paths` that is there; they are relative to the folder of the executable and end with
 * NULL. The caller's; NULL: none is there. */
char *leat_find_installed(const char *const *paths, const char *variable);

/* Put the function of that name, of a module that dlopen has loaded, into the pointer at `fn`.
 * False: it has none, and the pointer is NULL. */
bool leat_find_function(void *module, const char *name, void *fn);

/* libleat.so, or what LEAT_LIBRARY names. The caller's, or NULL. */
char *leat_find_library(void);

#endif
