/* A tmpfs in a mount namespace of its own. */
#ifndef LEAT_STORE_TMPFS_H
#define LEAT_STORE_TMPFS_H

#include <limits.h>
#include <stdint.h>

/* fds: its top, and its mount namespace; the caller closes them. 0 or -errno. While the process has
 * one thread. */
int leat_tmpfs_mount(const char *mount_point, uint64_t size_bytes, int fds[2]);

/* How the kernel names the directory `fd` that was mounted at `mount_point`, to all programs: as
 * seen from the root of its mount namespace, which need not be ours (chroot). In `out`, or
 * `mount_point` itself where the kernel does not say. */
const char *leat_tmpfs_path(int fd, const char *mount_point, char out[PATH_MAX]);

/* Change the size of what leat_tmpfs_mount has mounted; -EINVAL: more is in use. 0 or -errno. Any
 * thread. */
int leat_tmpfs_resize(const char *mount_point, int ns_fd, uint64_t size_bytes);

#endif
