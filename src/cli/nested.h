/* A run within a step of another run. */
#ifndef LEAT_CLI_NESTED_H
#define LEAT_CLI_NESTED_H

#include <stdbool.h>

/* Is this process one of a step that is intercepted? The daemon of a run of its own would not see
 * the step's files: it asks the kernel, not the library. */
bool leat_cli_is_nested(void);

/* Become the same command behind a mount, where its daemon and all its steps see the files of the
 * step. Returns only where that is not possible, after a message: the exit status. */
int leat_cli_nest(char **argv);

/* Is `dir`, a real path, the directory of the run whose step this is, behind its mount? Then it
 * has a daemon already, though its session is out of sight. Says so. */
bool leat_cli_is_taken(const char *dir);

#endif
