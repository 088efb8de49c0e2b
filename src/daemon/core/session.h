/* The session directory of a run: socket, lock, mount point of the store. It is
 * what makes a second run in the same directory impossible. */
#ifndef LEAT_DAEMON_CORE_SESSION_H
#define LEAT_DAEMON_CORE_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct leat_session {
	char base[PATH_MAX]; /* directory of all sessions */
	bool is_default;     /* nobody asked for another one */
	char dir[PATH_MAX];
	char socket[PATH_MAX];
	char store[PATH_MAX]; /* an empty directory to mount on */
	int lock_fd;          /* -1: not held */
	int socket_fd;        /* listening, -1 before leat_session_listen */
};

/* Make or take over the session directory for the workflow directory `real_dir`
 * (a real path) and lock it; `pid` is who is said to use it. Removes what dead
 * daemons of this user left. 0 or -errno with one line in `error`: -EBUSY
 * another run uses it. */
int leat_session_open(struct leat_session *s, const char *runtime_dir, const char *real_dir,
		      pid_t pid, char *error, size_t error_size);

/* Make the file `name` in it anew, for its owner. A descriptor or -errno. */
int leat_session_make(const struct leat_session *s, const char *name);

/* Bind and listen on the socket. 0 or -errno with one line in `error`. */
int leat_session_listen(struct leat_session *s, char *error, size_t error_size);

/* Remove the session directory and unlock it; also when opening failed. */
void leat_session_close(struct leat_session *s);

#endif
