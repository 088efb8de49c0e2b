/* The store: a directory tree in memory that holds the declared outputs of a
 * run. A tmpfs in a mount namespace of its own, so that nothing of it is to be
 * seen in the machine's tree and nothing outlives the last descriptor on it;
 * where namespaces are forbidden, a private directory in /dev/shm. */
#ifndef LEAT_STORE_STORE_H
#define LEAT_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct leat_store;

/* Make a store of at most `size_bytes` on the directory `mount_point`, which must exist. Falls back
 * to /dev/shm when the kernel forbids mounting (or LEAT_STORE=shm asks for it). Must be called
 * while the process has one thread. 0 or -errno. */
int leat_store_create(const char *mount_point, uint64_t size_bytes, struct leat_store **store);

/* The fallback: a private directory in /dev/shm. 0 or -errno. */
int leat_store_create_private(struct leat_store **store);

/* Give its top the times and the default list of the directory `dir_fd`, and if root runs leat
 * owner and mode: users that processes of the run become may do in the one what they may do in the
 * other. A directory in /dev/shm, where strangers might come by, stays shut. 0 or -errno. */
int leat_store_mirror(struct leat_store *store, int dir_fd);

/* Remove what the store keeps in the machine's tree and let it go; NULL is
 * allowed; errno is preserved. The mount point itself stays. */
void leat_store_destroy(struct leat_store *store);

/* Descriptor of its directory; owned by the store. */
int leat_store_fd(const struct leat_store *store);

/* Path of its directory as getcwd and /proc show it to every process. */
const char *leat_store_path(const struct leat_store *store);

/* Device number its files have. */
dev_t leat_store_dev(const struct leat_store *store);

/* True if it is a directory in /dev/shm: slower, without huge pages. */
bool leat_store_is_private(const struct leat_store *store);

/* How large it may be and how much of that is in use. In /dev/shm that is what all
 * users of it have together. 0 or -errno. */
int leat_store_usage(const struct leat_store *store, uint64_t *budget_bytes, uint64_t *used_bytes);

/* Change how large it may be: not below what is in use. 0 or -errno; -ENOTSUP in /dev/shm. */
int leat_store_resize(const struct leat_store *store, uint64_t size_bytes);

/* Remove private directories of this user whose daemon is dead. */
void leat_store_clean_stale(void);

#endif
