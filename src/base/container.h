/* Programs that start others in a root directory or mount namespace of their own: engines of
 * containers, and small tools. What runs inside can neither load the interception library nor find
 * the daemon; see docs/howto/containers.md. */
#ifndef LEAT_BASE_CONTAINER_H
#define LEAT_BASE_CONTAINER_H

#include <stdbool.h>

enum leat_container {
	LEAT_CONTAINER_NONE, /* no such program */
	/* It enters them itself: what it binds is what it sees, a mount over the workflow's
	 * directory too. */
	LEAT_CONTAINER_ENTERS,
	/* The same, started by an ordinary user, as root of a user namespace with the subordinate
	 * ids of that user. */
	LEAT_CONTAINER_USERS,
	/* It has a daemon start them, from where nothing of the run is to be seen. */
	LEAT_CONTAINER_DAEMON,
};

/* What `path`, a program, is by its name, started by root (by effective id) or another user; of
 * podman also by its arguments and environment (either may be NULL). Any thread;
 * async-signal-safe; allocates nothing. */
enum leat_container leat_container_of(const char *path, char *const argv[], char *const envp[],
				      bool by_root);

/* What to say of it, behind its name: "PROGRAM is ...". Static text, NULL for NONE. */
const char *leat_container_obstacle(enum leat_container kind);

#endif
