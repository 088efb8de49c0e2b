/* Who may use a file: what calls change of it. */
#ifndef LEAT_PRELOAD_HOOKS_META_RIGHTS_H
#define LEAT_PRELOAD_HOOKS_META_RIGHTS_H

#include "preload/core/call.h"
#include "preload/path/resolve.h"

/* What the call (chmod, chown, setxattr and the like) changes of it, for a LEAT_OP_META: rights,
 * mode, uid and gid of `target`; other calls leave them as they are. */
void leat_rights_of(const struct leat_syscall *c, struct leat_target *target);

/* The same of a call by the descriptor `fd`: may it be made? 0 or -errno. */
long leat_rights_by_fd(const struct leat_syscall *c, int fd);

#endif
