/* Messages between client and daemon over a Unix SEQPACKET socket. One message
 * is one packet: a header, a fixed body by type, then strings. Numbers are in
 * host order (both ends are on one machine). Every request but the one-way
 * ones has exactly one reply, sent at once: a call that has to wait is answered
 * -EAGAIN and sleeps on shared memory, never on the socket. */
#ifndef LEAT_WIRE_WIRE_H
#define LEAT_WIRE_WIRE_H

#include "wire/files.h"
#include "wire/message.h"
#include "wire/names.h"
#include "wire/steps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the server of a mount calls itself in HELLO. */
#define LEAT_PROGRAM_MOUNT "leat-mount"

struct leat_msg_hello {
	struct leat_msg h;
	uint32_t control; /* 1: leat itself, no step */
	uint32_t steady;  /* 1: what RESOLVE named stays there until the next message */
			  /* strings: step name, workflow name ("" = whatever is served), program,
			   * key that the step's processes were given ("" = none) */
};

struct leat_msg_welcome {
	struct leat_msg h;
	int32_t error;      /* -errno: text says why */
	int32_t step;       /* index of the step, -1 for control */
	uint64_t store_dev; /* st_dev of the store */
	uint64_t dir_dev;   /* which directory the workflow's is */
	uint64_t dir_ino;
	uint32_t acts;     /* 1: the step has actions: ASK_ACTIONS after opens and closes */
	uint32_t versions; /* 1: it makes versions: an open depends on the closes before it */
	/* 1: what is known of a connection (rank, actions) is of one program: the next program that
	 * the process becomes has another one */
	uint32_t of_program;
	uint32_t reserved;
	/* strings: workflow directory (real path), store's mount point as getcwd shows it,
	 * path through which exec'd programs reach the store, error text */
};

struct leat_msg_answer {
	struct leat_msg h;
	int32_t error; /* 0 go on; -EAGAIN wait; else fail the call so */
	uint32_t slot;
	uint32_t seq;
	uint32_t reserved;
	/* strings: text for a person (control), may be "" */
};

/* Strings are stored one after the other behind the fixed part, each with its
 * terminating 0. These helpers check bounds and never allocate; they are
 * async-signal-safe. */

/* Start a message in `buf` (LEAT_WIRE_MAX bytes): zero the fixed part, set the header. */
void *leat_wire_begin(void *buf, enum leat_msg_type type, size_t fixed_size);
/* Append a string / raw bytes. 0 or -EMSGSIZE. */
int leat_wire_put(void *buf, const char *text);
int leat_wire_put_raw(void *buf, const void *data, size_t size);
/* Check version and size of a received packet of `size` bytes with a fixed part of
 * `fixed_size`. 0 or -EPROTO. */
int leat_wire_check(const void *buf, size_t size, size_t fixed_size);
/* Size of the fixed part for a message type; 0 = unknown type. */
size_t leat_wire_fixed_size(enum leat_msg_type type);
/* The i-th string behind the fixed part, or NULL. */
const char *leat_wire_string(const void *buf, size_t fixed_size, unsigned i);

/* Why a process of a step cannot speak with the daemon, or not any more. It is reported over any
 * way that is left: a message, the shared segment (shm/state.h), or a symlink in the directory
 * LEAT_LOST_LINKS of the session's, which leads to "<cause>\n<program>\n<step>". */
enum leat_lost {
	LEAT_LOST_NOT,
	LEAT_LOST_MEMORY,
	LEAT_LOST_LOCKED,
	LEAT_LOST_FILES,
	LEAT_LOST_FORBIDDEN,
	LEAT_LOST_CLOSED,
	LEAT_LOST_RENAMED,
	LEAT_LOST_UNREACHED,
	LEAT_LOST_USER,
	LEAT_LOST_PROC,
	LEAT_LOST_VERSION,
	LEAT_LOST_SPACE, /* it reaches the daemon, and lacks memory that the library has */
	LEAT_LOST_BROKEN,
	LEAT_LOST_CAUSES,
};
#define LEAT_LOST_LINKS "lost"

/* What befell it ("could not reach the daemon"), for people. */
const char *leat_wire_lost_what(enum leat_lost cause);
/* The cause and the remedy, for people. */
const char *leat_wire_lost(enum leat_lost cause);

/* May a client, whose user is `uid`, believe a daemon of `daemon_uid` (SO_PEERCRED of the connected
 * socket)? Where others can rename directories on the way to the socket it may be anybody's: only
 * root's and one's own are good. Any thread, async-signal-safe. */
static inline bool leat_wire_is_trusted(unsigned daemon_uid, unsigned uid)
{
	return daemon_uid == 0 || daemon_uid == uid;
}

/* The same of the daemon behind a connected socket, for the user this process acts as. Any thread.
 */
bool leat_wire_peer_is_trusted(int fd);

/* Path of the daemon's socket for a workflow directory (real path) into `out`.
 * Base: $LEAT_RUNTIME_DIR, else /tmp/leat-<uid>; then a hash of the directory.
 * `runtime_dir` may be NULL. 0 or -ENAMETOOLONG. No allocation. */
int leat_wire_session_path(const char *runtime_dir, unsigned uid, const char *real_dir, char *out,
			   size_t out_size);

#endif
