/* Names of programs and libraries that are about to be started. */
#ifndef LEAT_PRELOAD_PATH_PROGRAM_H
#define LEAT_PRELOAD_PATH_PROGRAM_H

#include <stdbool.h>

/* The name of a program to be run behind a mount, as it is seen there, into `out`
 * (PATH_MAX bytes). 0 or -errno. */
long leat_exec_name(int dirfd, const char *path, int flags, char *out);

/* What the kernel finds by a path, beside what the program does. */
enum leat_sight { LEAT_SIGHT_NOTHING, LEAT_SIGHT_SAME, LEAT_SIGHT_OTHER };
/* Waits for a file that is awaited; one that is not there only if `waits`, or if an output spells
 * its name out. `path` may be a name of the kernel's for what is in the store, if there is `buffer`
 * (PATH_MAX bytes). */
enum leat_sight leat_exec_look(const char *path, bool waits, char *buffer);
/* Is it in the workflow's directory? The same of `buffer`. */
bool leat_exec_is_inside(const char *path, char *buffer);

#endif
