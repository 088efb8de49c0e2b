/* Who has a file open, as far as locks and leases of the kernel tell; and opening files to look at
 * that. */
#ifndef LEAT_DAEMON_FILES_LOCKS_H
#define LEAT_DAEMON_FILES_LOCKS_H

#include "daemon/core/state.h"

/* Open a file that may have been created without the right to read it, for
 * looking at only. The descriptor, or -errno (-EINVAL: no regular file). */
int leat_open_hard(int top, const char *path);

/* The same of what was just seen there to be a regular file. In a store that only who runs leat
 * writes to nobody puts anything else in its place, and there are no devices: it is not held before
 * it is opened. */
int leat_open_seen(struct leat_daemon *d, enum leat_root root, int dir, const char *name);

/* The same of a file that has not been looked at, if the store has it, and it belongs there. In
 * such a store opening what turns out to be no regular file does nothing, either. -1: it is to be
 * looked for. */
int leat_open_stored(struct leat_daemon *d, const struct leat_file *f);

/* Seen through `fd`, does another description have the byte locked? 1, 0 or -errno. */
int leat_is_locked(int fd, uint64_t byte);
/* Does anybody have the file open for writing? */
bool leat_is_written(int fd);
/* Does anybody but the caller have the file behind `fd` open? (In doubt yes.) */
bool leat_is_open_elsewhere(int fd);

#endif
