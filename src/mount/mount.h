/* Programs that the interception library cannot reach (static, Go, musl, set-id) see the workflow's
 * directory through a FUSE mount in a mount namespace of their own. A server process answers for
 * it: a client of the daemon like any other, which decides nothing itself. */
#ifndef LEAT_MOUNT_MOUNT_H
#define LEAT_MOUNT_MOUNT_H

#include <stdbool.h>

/* Environment variable that tells the interception library of the command to start such programs
 * with: the path of `leat`. Set where a mount is possible. */
#define LEAT_MOUNT_VARIABLE "LEAT_MOUNT"

struct leat_mount_spec {
	const char *dir;         /* the workflow's directory, a real path */
	const char *step;        /* name of the step */
	const char *workflow;    /* "" = whatever is served */
	const char *key;         /* by which the daemon knows processes of the step; "" = none */
	const char *runtime_dir; /* NULL: the default */
	bool sealed;         /* the program can do without its mount nothing, see base/confine.h */
	bool ranged;         /* an ordinary user's engine: see leat_mount_is_ranged */
	const char *program; /* path of the file to execute */
	char *const *argv;   /* its arguments, with argv[0] */
};

/* Can this process make such a mount (`ranged`: for such an engine)? Tries it once, in a
 * short-lived child. False sets *why to what is missing, in words (static text). */
bool leat_mount_possible(bool ranged, const char **why);

/* Is it an engine that, started by this user, would first become root in a user namespace with the
 * subordinate ids of its user? Behind the mount it is there from its start, and is told so. */
bool leat_mount_is_ranged(const char *program, char *const argv[]);

/* Start the server, mount, and become the program. Returns only on failure, after a message: the
 * exit status (125 leat's own failure, 126 cannot execute, 127 not found). Called by a process
 * with one thread. */
int leat_mount_exec(const struct leat_mount_spec *spec);

#endif
