/* Calls of programs behind the mount after which they would see the files below it instead: a bind
 * of a directory above the workflow's without the mounts in it, and another process's mount
 * namespace. The kernel asks us before it makes them; see filter.c, seccomp_unotify(2). */
#ifndef LEAT_MOUNT_GUARD_BYPASS_H
#define LEAT_MOUNT_GUARD_BYPASS_H

#include "mount/daemon/call.h"

/* A call of `pid` fails, and with it the step: `why` comes behind the program's name. */
void leat_bypass_fail(struct leat_mount *m, pid_t pid, const char *why);
/* The same because nobody knows whether an empty version of `name` was taken. */
void leat_bypass_fail_unread(struct leat_mount *m, pid_t pid, const char *name);
/* Answer what comes by the listener, which the program's process sends to m->peer (taken over). */
int leat_bypass_watch(struct leat_mount *m);

#endif
