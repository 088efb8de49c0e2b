/* Permanent files: from the store to the disk, whole or not at all. The calls
 * that copy may run in any thread. */
#ifndef LEAT_STORE_PERSIST_H
#define LEAT_STORE_PERSIST_H

#include <stdbool.h>
#include <sys/stat.h>

/* Names that leat gives to files it has not finished writing. */
#define LEAT_TEMPORARY_PREFIX ".leat-"

/* True for such a name; directory listings leave it out. */
bool leat_is_temporary_name(const char *name);

/* Copy the open regular file `in` to `path` below `disk_fd`: to a temporary
 * name beside it, with mode, owner and times, synced, then renamed over
 * whatever is there. The directory exists. On failure the temporary file is
 * removed. 0 or -errno. Any thread. */
int leat_persist_file(int disk_fd, const char *path, int in);

/* The same for a symlink to `target` of that owner. Any thread. */
int leat_persist_symlink(int disk_fd, const char *path, const char *target, uid_t uid, gid_t gid);

/* Remove from the directory of `path` what a daemon that was killed did not get to rename; what a
 * living one is at stays. Any thread. */
void leat_persist_clean_stale(int disk_fd, const char *path);

/* Sync the directory that holds `path`, so that its renames last. 0 or -errno. Any thread. */
int leat_persist_sync_parent(int disk_fd, const char *path);

/* Give `path` below `disk_fd` mode, owner and times of `st` where they differ.
 * 0 or -errno. */
int leat_persist_meta(int disk_fd, const char *path, const struct stat *st);

#endif
