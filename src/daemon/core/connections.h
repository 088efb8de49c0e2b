/* Connections and the processes behind them. */
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
	bool waiting;              /* was last told to wait, */
	uint32_t waiting_slot;     /* on that file */
	bool asked;                /* the rules were asked while its message was handled */
	struct leat_live *pending; /* opened by its last RESOLVE */
	struct leat_file *making;  /* a directory, node or symlink its last RESOLVE allowed */
	unsigned making_flags;     /* LEAT_EVF_DIR or 0 */
	int passed;                /* descriptor that came with the message being handled, or -1 */
	struct leat_file *held;    /* where its last RESOLVE allowed a call that it may be making */
	uint64_t held_ns;          /* since when */
	bool steady;               /* calls that only look are held, too */
	struct leat_file *cramped; /* waits for room to write this one */
	struct leat_packet *outbox, *outbox_tail;
	struct leat_conn *prev, *next;           /* of the daemon */
	struct leat_conn *proc_prev, *proc_next; /* of the process */
};

/* One process; lives until the kernel says it is gone. */
struct leat_proc {
	UT_hash_handle hh;
	struct leat_daemon *d;
	pid_t pid;
	int pidfd;
	uv_poll_t poll;
	int step;           /* -1: control */
	long rank;          /* in its MPI job; -1: none, or nobody asks */
	pid_t rank_first;   /* the first process of that rank, */
	uint64_t rank_born; /* and when it began (base/pidstat.h) */
	bool mount;         /* it answers for the mount of a program */
	bool exiting;       /* said so: a normal end */
	bool cut_short;     /* but not of all it speaks for */
	int status;
	bool gone;
	struct leat_conn *conns;
};

int leat_clients_start(struct leat_daemon *d);
/* Close all connections and process watches. */
void leat_clients_stop(struct leat_daemon *d);

/* Send the packet built in `buf` (size in its header); kept until the client
 * takes it. A client that is gone is noticed elsewhere. */
void leat_conn_send(struct leat_conn *c, const void *buf);
/* The same with a descriptor, which stays the caller's. Only as the reply to a request. */
void leat_conn_send_fd(struct leat_conn *c, const void *buf, int fd);
/* End it, saying why in the log if `why` is not NULL. */
void leat_conn_drop(struct leat_conn *c, const char *why);
/* What it was allowed to make has been tried: tell the rules if it is there. */
void leat_conn_made(struct leat_conn *c);
/* Process `pid` behind the mount whose server `p` is has ended. */
void leat_proc_ended_behind(struct leat_proc *p, int pid, bool killed);
/* Handle what the process has sent so far. */
void leat_proc_drain(struct leat_proc *p);
/* Take what its connections have told already, up to the first that wants an answer. */
void leat_proc_hear(struct leat_proc *p);

/* ---- process.c ---- */

/* The record of the process at the other end. NULL when out of memory or when it is gone. */
struct leat_proc *leat_proc_get(struct leat_daemon *d, pid_t pid);
/* Was it told to wait, for what has not come since? Who waited for a commit goes on without a
 * message. */
bool leat_conn_waits(const struct leat_conn *c);
/* What processes of the step have told, each up to what it wants an answer to, and which of them
 * have ended, whichever connection is read first: they may have told, or waited for, each other. */
void leat_procs_hear(struct leat_daemon *d, int step);
/* See which processes of the step are gone, without waiting for the loop. */
void leat_procs_reap(struct leat_daemon *d, int step);
/* Has another process of its step died, of which nobody has been told yet? */
bool leat_proc_died_beside(const struct leat_proc *p);
void leat_procs_free(struct leat_daemon *d);

/* ---- dispatch.c ---- */

/* Handle one packet of `size` bytes. 0 or -EPROTO: the client must be dropped. */
int leat_dispatch(struct leat_conn *c, const void *msg, size_t size);

/* ---- handlers; each answers by leat_conn_send. 0 or -EPROTO ---- */

int leat_handle_hello(struct leat_conn *c, const void *msg);
int leat_handle_resolve(struct leat_conn *c, const void *msg);
int leat_handle_ask(struct leat_conn *c, const void *msg);
int leat_handle_change(struct leat_conn *c, const void *msg);
int leat_handle_list(struct leat_conn *c, const void *msg);
int leat_handle_identify(struct leat_conn *c, const void *msg);
int leat_handle_opened(struct leat_conn *c, const void *msg);
int leat_handle_closed(struct leat_conn *c, const void *msg);
int leat_handle_extent(struct leat_conn *c, const void *msg);
int leat_handle_truncated(struct leat_conn *c, const void *msg);
int leat_handle_drop(struct leat_conn *c, const void *msg);
int leat_handle_ahead(struct leat_conn *c, const void *msg);
int leat_handle_read(struct leat_conn *c, const void *msg);
int leat_handle_wrote(struct leat_conn *c, const void *msg);
int leat_handle_written(struct leat_conn *c, const void *msg);
int leat_handle_exiting(struct leat_conn *c, const void *msg);
int leat_handle_violated(struct leat_conn *c, const void *msg);
int leat_handle_becomes(struct leat_conn *c, const void *msg);
int leat_handle_refused(struct leat_conn *c, const void *msg);
int leat_handle_step_start(struct leat_conn *c, const void *msg);
int leat_handle_step_end(struct leat_conn *c, const void *msg);
int leat_handle_step_done(struct leat_conn *c, const void *msg);
int leat_handle_reaped(struct leat_conn *c, const void *msg);
int leat_handle_status(struct leat_conn *c, const void *msg);
int leat_handle_finish(struct leat_conn *c, const void *msg);
int leat_handle_abort(struct leat_conn *c, const void *msg);
int leat_handle_switch(struct leat_conn *c, const void *msg);

/* An ANSWER with `text` (may be NULL); -EAGAIN takes slot and seq of `f`. */
void leat_reply_answer(struct leat_conn *c, int error, struct leat_file *f, const char *text);
/* Text in as many TEXT packets as it takes. */
void leat_reply_text(struct leat_conn *c, int error, const char *text);

/* Forget the listings a client left behind. */
void leat_catalogs_free(struct leat_daemon *d);

#endif
