/* A connection to the daemon for each thread: what waits is a connection. */
#ifndef LEAT_MOUNT_DAEMON_CONNECTION_H
#define LEAT_MOUNT_DAEMON_CONNECTION_H

#include "mount/internal.h"

/* A thread's connection to the daemon. */
struct leat_connection {
	struct leat_mount *m;
	int fd; /* -1: none */
	struct leat_caller user;
	struct leat_connection *other; /* owned; for another user than the server's */
	_Alignas(8) char msg[LEAT_WIRE_MAX];
};

/* Start a message in connection->msg. */
void *leat_connection_begin(struct leat_connection *connection, enum leat_msg_type type);
/* Send it, one way. 0 or -EIO. */
int leat_connection_send(struct leat_connection *connection);
/* Send it and receive the reply into connection->msg. 0 or -EIO. */
int leat_connection_roundtrip(struct leat_connection *connection, enum leat_msg_type reply);
/* This thread's connection. -EIO if there is no daemon. */
int leat_connection_get(struct leat_mount *m, struct leat_connection **connection);
/* That by which the daemon acts as `user`; only for a server of root's. */
int leat_connection_get_as(struct leat_mount *m, const struct leat_caller *user,
			   struct leat_connection **connection);
/* Connect for the first time and learn what the daemon says of itself. Logs an error. */
int leat_connection_first(struct leat_mount *m);
/* Send a fact. */
int leat_connection_fact(struct leat_connection *connection, enum leat_msg_type type,
			 const struct leat_msg_fact *fact);
/* Ask about a call on an open file: 0, -EAGAIN (*seq to sleep on), or -errno. */
int leat_connection_ask(struct leat_connection *connection, uint32_t call, uint32_t slot,
			uint64_t offset, uint64_t length, uint32_t *seq);
/* Report a violation. 0: only a warning; -EIO: fail the call. */
int leat_connection_violation(struct leat_connection *connection, uint32_t code, uint32_t slot,
			      uint64_t offset, uint64_t length);
/* Say that process `pid` (0: this one) ends normally with `status`, or (LEAT_WIRE_CUT_SHORT) that
 * its empty closes are not to count. Returns when it was heard. */
int leat_connection_exiting(struct leat_connection *connection, pid_t pid, int status);
/* Say that a process behind the mount, by the number that RESOLVE had, has ended. The same. */
int leat_connection_ended(struct leat_connection *connection, pid_t pid, bool killed);
/* `fd` may be of a place the file has left: *new is what is to take its place, -1 if it is good.
 * -EAGAIN (*seq to sleep on): not yet; -ESTALE: it is not of this file. *home: where that is. */
int leat_connection_replace_fd(struct leat_connection *connection, uint32_t slot, int fd,
			       uint32_t *seq, uint32_t *home, int *new);
/* False once the daemon is gone. */
bool leat_connection_alive(struct leat_connection *connection);

#endif
