/* Will all who have a file open follow it to another place? */
#ifndef LEAT_DAEMON_SPACE_HOLDERS_H
#define LEAT_DAEMON_SPACE_HOLDERS_H

#include <stdbool.h>
#include <sys/types.h>

/* True if all processes that have the inode open, but for this one, use the library, or are among
 * the `n` servers of mounts, and will follow it. Any thread. */
bool leat_holders_follow(dev_t dev, ino_t ino, const pid_t *servers, size_t n);

#endif
