/* Subordinate ids: ranges of them that administrators give to users, for what these start in user
 * namespaces. Source: subuid(5), newuidmap(1). */
#ifndef LEAT_BASE_SUBID_H
#define LEAT_BASE_SUBID_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { LEAT_SUBID_MOST = 339 }; /* the kernel takes 340 with the user's own id */

struct leat_subid {
	uint32_t first, count;
};

struct leat_subids {
	size_t n;
	struct leat_subid v[LEAT_SUBID_MOST];
};

/* Those of the user `name`, whose number is `uid`, in `path` (a file as /etc/subuid). No file:
 * none. 0 or -errno; -E2BIG: more than there is space for. Any thread. */
int leat_subid_read(const char *path, const char *name, uid_t uid, struct leat_subids *ids);

/* Map them into the user namespace of another process, which is new and has no map: `own` to 0, and
 * them to 1 and up, as rootless engines of containers do; by `tool` (newuidmap or newgidmap), which
 * says on standard error what is wrong. 0; -ENOENT: the tool cannot be executed; -EPERM: it has
 * failed; -errno. */
int leat_subid_map(const char *tool, pid_t member, uint32_t own, const struct leat_subids *ids);

#endif
