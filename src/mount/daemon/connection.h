/* A connection to the daemon for each thread: what waits is a connection. */
#ifndef LEAT_MOUNT_DAEMON_CONNECTION_H
#define LEAT_MOUNT_DAEMON_CONNECTION_H

#include "client/channel.h"
#include "mount/internal.h"

/* A thread's connection to the daemon. */
struct leat_connection {
	struct leat_mount *m;
	int fd; /* -1: none */
	struct leat_caller user;
	struct leat_connection *other; /* owned; for another user than the server's */
	struct leat_channel channel;
	_Alignas(8) char msg[LEAT_WIRE_MAX];
};

/* What is said on it, by connection->msg. */
struct leat_channel *leat_connection_channel(struct leat_connection *connection);
/* This thread's connection. -EIO if there is no daemon. */
int leat_connection_get(struct leat_mount *m, struct leat_connection **connection);
/* That by which the daemon acts as `user`; only for a server of root's. */
int leat_connection_get_as(struct leat_mount *m, const struct leat_caller *user,
			   struct leat_connection **connection);
/* Connect for the first time and learn what the daemon says of itself. Logs an error. */
int leat_connection_first(struct leat_mount *m);
/* Say that process `pid` (0: this one) ends normally with `status`, or (LEAT_WIRE_CUT_SHORT) that
 * its empty closes are not to count. Returns when it was heard. */
int leat_connection_exiting(struct leat_connection *connection, pid_t pid, int status);
/* Say that a process behind the mount, by the number that RESOLVE had, has ended. The same. */
int leat_connection_ended(struct leat_connection *connection, pid_t pid, bool killed);
/* As leat_channel_replace_fd; -EAGAIN: *seq to sleep on; 0: *generation is where the file is. */
int leat_connection_replace_fd(struct leat_connection *connection, uint32_t slot, int fd,
			       uint32_t *seq, uint32_t *generation, int *new);
/* False once the daemon is gone. */
bool leat_connection_alive(struct leat_connection *connection);

#endif
