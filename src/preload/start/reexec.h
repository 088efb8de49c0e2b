/* Starting this program anew, in another way, before it has done anything. */
#ifndef LEAT_PRELOAD_START_REEXEC_H
#define LEAT_PRELOAD_START_REEXEC_H

#include <stdbool.h>

/* With libleat-wrap.so in place of this library. Returns only on failure: -errno. */
int leat_reexec_with_wrappers(char **envp);

/* If it has a library that refuses to be loaded after this one, as the run time of AddressSanitizer
 * does. */
void leat_put_first(char **envp);

/* Was this program started by leat itself? What was put by for it has its names again in `envp`;
 * `was_put_by`: there was something. */
bool leat_reexec_take_begun(char **envp, bool *was_put_by);

/* This program, which was, if the loader has not loaded what it was to load. Returns if it has;
 * else only on failure, with -errno. Once the hooks are there. */
int leat_reexec_begun(char **envp, bool was_put_by);

/* With its files behind a mount. Returns only on failure. */
void leat_reexec_mounted(char **envp);

#endif
