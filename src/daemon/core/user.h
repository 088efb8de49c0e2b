/* Clients that became another user than the daemon's: what the daemon does for them in the
 * file system it does as them. Event loop only. */
#ifndef LEAT_DAEMON_CORE_USER_H
#define LEAT_DAEMON_CORE_USER_H

#include "store/tree.h"

#include <stdbool.h>
#include <sys/types.h>

struct leat_user;

/* The user at the other end of the connection `fd`. 0 and *user (owned by the caller, freed by
 * free(3)), NULL for the daemon's own and for root; -EPERM: one that has no business here;
 * -ENOSYS: the kernel cannot say what such a user may; -ENOMEM, -errno. `pid` is set in any
 * case. */
int leat_user_of(int fd, pid_t *pid, struct leat_user **user);

/* One more of the same, NULL for NULL or when out of memory. */
struct leat_user *leat_user_copy(const struct leat_user *user);
uid_t leat_user_id(const struct leat_user *user);

/* The calls of the same names (base/beneath.h), as `user` (NULL: the daemon). 0 or -errno. */
int leat_user_find(const struct leat_user *user, struct leat_tree *t, const char *path,
		   enum leat_find how, struct leat_found *found);
/* An O_PATH descriptor of it, or -errno. */
int leat_user_hold(const struct leat_user *user, int top, const char *path);
int leat_user_stat(const struct leat_user *user, int top, const char *path, struct stat *st);
int leat_user_unlink(const struct leat_user *user, int top, const char *path, int flags);
int leat_user_rename(const struct leat_user *user, int from_top, const char *from, int to_top,
		     const char *to, unsigned flags);
int leat_user_link(const struct leat_user *user, int from_top, const char *from, int to_top,
		   const char *to);
/* `mode` as for access(2); -EACCES if not. */
int leat_user_access(const struct leat_user *user, int top, const char *path, int mode);

/* Any call, as `user`. Its result, or -errno. */
int leat_user_do(const struct leat_user *user, int (*call)(void *ctx), void *ctx);

/* May the user make, move and remove names in `path`'s directory? 0, -EACCES, or -errno. */
int leat_user_may_make(const struct leat_user *user, struct leat_tree *t, const char *path);
/* The same in that root: a directory in both may be shut in one of them only. */
int leat_user_may_make_in(const struct leat_user *user, struct leat_tree *t, enum leat_root root,
			  const char *path);

#endif
