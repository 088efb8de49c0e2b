/* Connections: one for each thread of a client, and for leat itself. Event loop only. */
#ifndef LEAT_DAEMON_CORE_CONNECTIONS_H
#define LEAT_DAEMON_CORE_CONNECTIONS_H

#include "daemon/core/state.h"

/* A packet that could not be sent at once. */
struct leat_packet {
	struct leat_packet *next;
	size_t size;
	char data[];
};

/* One connection: one thread of a client, or leat itself. */
struct leat_conn {
	struct leat_daemon *d;
	uint64_t id; /* also its id as a waiter */
	int fd;
	uv_poll_t poll;
	struct leat_proc *proc; /* NULL after its end */
	pid_t pid;
	struct leat_user *user; /* owned; NULL: the daemon's own, or root */
	int step;               /* -1: control, or before hello */
	uint32_t control;       /* LEAT_CONTROL... */
	pid_t instance;         /* of `leat exec`: the command it looks after; 0 none, */
	int instance_step;      /* and its step */
	bool has_rank;          /* it is known: */
	long rank;              /* in its MPI job; -1 none */
	bool hello;             /* has said it */
	bool bounded;           /* control of somebody who may only ask for the status */
	bool closing;
	bool waiting;                     /* was last answered -EAGAIN, */
	uint32_t waiting_slot;            /* on that file */
	bool asked;                       /* the rules were asked while its message was handled */
	struct leat_description *pending; /* opened by its last RESOLVE */
	struct leat_file *making;  /* a directory, node or symlink its last RESOLVE allowed */
	unsigned making_flags;     /* LEAT_EVF_DIR or 0 */
	int passed;                /* descriptor that came with the message being handled, or -1 */
	struct leat_file *held;    /* where its last RESOLVE allowed a call that it may be making */
	uint64_t held_ns;          /* since when */
	bool steady;               /* calls that only look are held, too */
	struct leat_file *cramped; /* waits for space to write this one */
	struct leat_packet *outbox, *outbox_tail;
	struct leat_conn *prev, *next;           /* of the daemon */
	struct leat_conn *proc_prev, *proc_next; /* of the process */
};

/* Read from it from now on. */
void leat_conn_start(struct leat_conn *c);
/* Send the packet built in `buf` (size in its header); kept until the client
 * takes it. A client that is gone is noticed elsewhere. */
void leat_conn_send(struct leat_conn *c, const void *buf);
/* The same with a descriptor, which stays the caller's. Only as the reply to a request. */
void leat_conn_send_fd(struct leat_conn *c, const void *buf, int fd);
/* What it has not taken yet is sent before it is closed, or for some seconds. */
void leat_conn_send_rest(struct leat_conn *c);
/* One packet to a socket, if there is space at once. 0 or -errno. */
int leat_packet_send(int fd, const void *data, size_t size);
/* End it, saying why in the log if `why` is not NULL. */
void leat_conn_drop(struct leat_conn *c, const char *why);
/* Was it answered -EAGAIN, for what has not come since? Who waited for a commit goes on without a
 * message. */
bool leat_conn_waits(const struct leat_conn *c);

/* Handle what the process has sent so far. */
void leat_proc_drain(struct leat_proc *p);
/* The same of each connection up to the first message that wants an answer. */
void leat_proc_read_reports(struct leat_proc *p);

#endif
