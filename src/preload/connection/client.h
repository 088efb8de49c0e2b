/* This process as a client of the daemon: a connection for each thread, and the thread's scratch
 * area. */
#ifndef LEAT_PRELOAD_CONNECTION_CLIENT_H
#define LEAT_PRELOAD_CONNECTION_CLIENT_H

#include "client/await.h"
#include "client/channel.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the daemon said at the first connection; never changes. */
struct leat_server_info {
	struct leat_shm *shm;
	uint64_t shm_ino; /* tells another daemon's segment from this one */
	uint64_t store_dev, dir_dev;
	int store_fd; /* hidden descriptors */
	int dir_fd;
	int shm_fd; /* for the next program */
	int32_t step;
	bool acts;            /* it has actions, which are called at opens and closes */
	bool of_program;      /* no connection is handed on */
	char mount[PATH_MAX]; /* the store as getcwd and /proc show it */
	size_t mount_length;
	char exec_prefix[PATH_MAX]; /* path by which other programs reach the store */
};

/* So much of it as one program tells the next. */
enum { LEAT_TOLD_STORE, LEAT_TOLD_DIR, LEAT_TOLD_SHM, LEAT_TOLD_FDS };
struct leat_server_told {
	int fds[LEAT_TOLD_FDS]; /* hidden descriptors */
	int32_t step;
	uint64_t store_dev;
	const char *mount, *exec_prefix;
};

/* As whom a connection was made, see user.h. */
struct leat_user_snapshot {
	uint32_t changes;
	uint32_t uid, gid; /* effective */
};

/* One for each thread that ever met a path inside. */
struct leat_thread {
	int conn;     /* hidden descriptor, -1: none */
	uint32_t pid; /* that connected */
	struct leat_user_snapshot user;
	bool transient; /* a vfork child's connection, for this guard only */
	bool checked;   /* under this guard: the connection is this process', for its user */
	bool opens;     /* the last it has asked is to open a file */
	struct leat_channel channel;
	struct leat_server_info *private_server; /* learnt by it; owned */
	char below[2][PATH_MAX];
	char walk[3][PATH_MAX];
	char name[PATH_MAX];
	char msg[LEAT_WIRE_MAX]; /* request, then its reply */
};

/* While held, all signals are blocked and the scratch area is the holder's. Never
 * nested, never held during a wait. */
struct leat_guard {
	struct leat_thread *t;
	uint64_t mask;
};

/* Once, before any other call. `forked` is called in a fork child that made the fork unseen,
 * as soon as it asks something: what else it has of its parent is to be forgotten. */
void leat_client_init(void (*forked)(void));

/* 0 or -EIO (and nothing is held), after saying why on standard error. */
int leat_guard_acquire(struct leat_guard *g);
void leat_guard_release(struct leat_guard *g);

/* The functions below are called under a guard. */

/* What the daemon said, connecting first if nobody has; *server stays valid for
 * ever. 0 or -EIO, after saying once on standard error why. */
int leat_client_server(struct leat_thread *t, const struct leat_server_info **server);

/* Connect if need be. 0 or -EIO. */
int leat_client_connect(struct leat_thread *t);

/* The thread's way to the daemon, by t->msg; it connects by itself. */
struct leat_channel *leat_client_channel(struct leat_thread *t);

/* False, after saying so once, when the daemon is gone. */
bool leat_client_alive(struct leat_thread *t);

/* What follows is between the files of this layer. A descriptor of ours, out of
 * the program's way: its new number. */
int leat_client_put_away(const struct leat_thread *t, int fd);
/* Close it. */
void leat_client_drop(const struct leat_thread *t, int fd);
/* The first to be welcomed publishes what it learnt from t->msg; others only check
 * that it is the same daemon. Takes both descriptors over. 0 or -errno. */
int leat_client_take_server(struct leat_thread *t, int fds[2]);
/* The same from what the program before has told. Takes nothing over on failure. 0 or -errno. */
int leat_client_share_server(struct leat_thread *t, const struct leat_server_told *told);
/* This thread's area, NULL if it has none. */
struct leat_thread *leat_client_self(void);
void leat_client_set_self(struct leat_thread *t);
/* What all threads know, NULL as long as nobody does. */
struct leat_server_info *leat_server_shared(void);
/* False: somebody has published his. */
bool leat_server_share(struct leat_server_info *w);

/* --- without a guard --- */

/* What the daemon said, or NULL when no thread has connected yet. */
const struct leat_server_info *leat_server_known(void);

/* Record of a slot, or NULL for 0 and for numbers that are none. */
struct leat_shm_file *leat_client_file(uint32_t slot);

/* The step's account, or a dummy. */
struct leat_shm_step *leat_client_step(void);

/* What its reads and writes are held to; one that is not set, if nobody knows. */
struct leat_shm_limit *leat_client_limit(void);

/* As leat_channel_ask. */
int leat_client_ask(const struct leat_msg *question, uint32_t *seq);

/* Is the daemon there? True also if there is no memory to look: the next request will tell. */
bool leat_client_is_alive(void);

/* How a thread of this process waits, signals open; never under a guard. */
void leat_wait_init(struct leat_awaiter *a);

/* Wait for the state of `slot` to change from `seq`, signals open, at most a
 * second. 0: look again; -EIO: the daemon is gone. */
int leat_wait_slot(uint32_t slot, uint32_t seq);

/* Where the step has actions: file `slot` was opened, or closed, as description `ofd`; wait until
 * they have been called for it. 0 or -EIO. */
int leat_wait_acted(uint32_t slot, uint64_t ofd, bool closed);

/* Report a violation. 0: it is only a warning; -EIO: fail the call. */
int leat_client_violation(uint32_t code, uint32_t slot, uint64_t offset, uint64_t length);

/* Send a one-way message, see leat_channel_report; what goes wrong is said once and shows at the
 * next call. */
void leat_client_report(const struct leat_msg *report);

/* Tell why a program or a call was refused; `fatal`: the step cannot end well any more. */
void leat_client_refused(const char *program, const char *why, bool fatal);

/* From here on there may be no way to the daemon: connect, and have the programs that this one
 * starts connect at once, too. */
void leat_client_confine(void);

/* In a fork child: forget the parent's connections, and close them. */
void leat_client_fork_child(void);

/* The process ends normally. */
void leat_client_exiting(int status);

/* Has the daemon heard of process `pid`, this one or a vfork child, by this program or by one
 * before it? Then it takes the process's end for a death unless it is told otherwise. */
bool leat_client_is_known(uint32_t pid);
/* The program before this one has spoken to the daemon: when the process ends it has to say so,
 * whether or not this program ever speaks. Init only. */
void leat_client_note_known(uint32_t pid);

/* Another descriptor is to get the number of hidden `fd`: move ours. 0 or -EBUSY. */
int leat_client_vacate(int fd);

#endif
