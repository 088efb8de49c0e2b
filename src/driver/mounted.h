/* A command line that runs a program with its files behind a mount. */
#ifndef LEAT_DRIVER_MOUNTED_H
#define LEAT_DRIVER_MOUNTED_H

/* "leat mount-exec PROGRAM ARGV...": `command` is the path of leat. Freed with free(), its strings
 * are borrowed; NULL: no memory. */
char **leat_mounted_argv(const char *command, const char *program, char *const *argv);

#endif
