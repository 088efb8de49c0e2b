/* A FUSE mount for one program: in a mount namespace of its own and, for an ordinary user, in a
 * user namespace in which it keeps its ids, or is root. One thread only. Source:
 * mount_namespaces(7), user_namespaces(7), fuse(4). */
#ifndef LEAT_BASE_ENTER_H
#define LEAT_BASE_ENTER_H

#include <stdbool.h>

/* Why it could not be done: static text, the end of a sentence, and the error. */
struct leat_obstacle {
	const char *what;
	int error; /* -errno */
};

struct leat_enter {
	const char *dir;  /* is covered */
	const char *name; /* its type is "fuse." and this; its source is `dir` */
	bool checked;     /* the kernel checks permissions where other users may come in */
	bool ranged;      /* an ordinary user is root inside, and his subordinate ids are mapped as
			   * rootless engines of containers do it */
};

/* Enter the namespaces and mount; *fd is the connection. *own_users: it took a user namespace,
 * where nobody but this user is known, and his subordinate ids. 0, or -errno and *why. */
int leat_enter_mount(const struct leat_enter *e, int *fd, bool *own_users,
		     struct leat_obstacle *why);

/* Could that be done here? Tried in a short-lived child. 0, or -errno and *why. */
int leat_enter_try(bool ranged, struct leat_obstacle *why);

#endif
