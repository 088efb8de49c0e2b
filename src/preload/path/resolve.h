/* The order of things in a call on a path: is it inside, what does the daemon say, wait if it says
 * so, then make the call where it says. */
#ifndef LEAT_PRELOAD_PATH_RESOLVE_H
#define LEAT_PRELOAD_PATH_RESOLVE_H

#include "preload/connection/client.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum { LEAT_OUTSIDE = 1 };

/* What is to be done with which path. */
struct leat_target {
	uint32_t op; /* enum leat_op */
	int dirfd;
	const char *path;
	/* what else the op needs, as leat_msg_resolve has it */
	uint32_t flags;
	uint32_t mode;
	uint32_t rights;
	uint32_t uid, gid;
	uint64_t length;
	bool no_wait;
	bool follow; /* `path` is outside, but its last component is a symlink: follow it */
};

/* Where the daemon says it is. */
struct leat_resolved {
	struct leat_guard guard;
	int dirfd; /* make the call on (dirfd, path) */
	const char *path;
	uint32_t location; /* enum leat_location */
	uint32_t kind;     /* enum leat_kind */
	uint32_t slot;
	uint32_t flags;
	uint32_t generation; /* of the shared record */
	uint64_t ofd;
	bool input;      /* the step is a consumer of it */
	bool intact;     /* the open has changed nothing */
	uint64_t common; /* if `lasting`: the counters as they were before */
	uint32_t changes;
	bool lasting; /* the answer may be remembered (path/resolve_cache.h) */
};

/* Bring a path call to the daemon and wait as long as it says. Returns
 * LEAT_OUTSIDE: not ours, make the call as it is; 0: make it on the resolved, all
 * signals are blocked until leat_resolved_leave; -errno: fail it so. */
int leat_resolve(struct leat_resolved *resolved, const struct leat_target *target);

/* The call ended with `rc`: was it that the file has been moved since the resolved was entered?
 * Then leat_resolve_again and make it again, for as often as LEAT_MAX_MOVES: a file that moves each
 * time it is looked at is none. */
#define LEAT_MAX_MOVES 100u
static inline bool leat_resolved_has_moved(const struct leat_resolved *resolved, long rc)
{
	return rc == -ENOENT && resolved->slot;
}
/* 0, or -errno and the resolved is left. */
int leat_resolve_again(struct leat_resolved *resolved, const struct leat_target *target);

/* The end of a call that changes nothing. */
void leat_resolved_leave(struct leat_resolved *resolved);
/* The end of an open or a change: if it failed (rc < 0) that is reported. Returns
 * rc. */
long leat_resolved_result(struct leat_resolved *resolved, long rc);
/* The end of a change of what stat shows (LEAT_OP_META, LEAT_OP_TRUNCATE): as leat_resolved_result,
 * and whoever remembers it looks again. */
long leat_resolved_changed(struct leat_resolved *resolved, long rc);
/* The end of mkdir, mknod and symlink: it is reported at once that the name is
 * there (or not), so that nobody is woken for a name that is still to come. */
long leat_resolved_made(struct leat_resolved *resolved, long rc);

/* The answer is good for later calls as well: remember it, and what stat shows of the file
 * if `st` is not NULL. Does nothing if it is not. */
void leat_resolved_remember(const struct leat_resolved *resolved, const struct stat *st);

/* The resolved as one string, for system calls that take no directory descriptor.
 * Lives in the thread's scratch area until the resolved is left. */
const char *leat_resolved_path(struct leat_resolved *resolved);

#endif
