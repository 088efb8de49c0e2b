/* Messages between client and daemon over a Unix SEQPACKET socket. One message
 * is one packet: a header, a fixed body by type, then strings. Numbers are in
 * host order (both ends are on one machine). Every request but the one-way
 * ones has exactly one reply, sent at once: a call that has to wait is answered
 * -EAGAIN and sleeps on shared memory, never on the socket. */
#ifndef LEAT_WIRE_WIRE_H
#define LEAT_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAT_WIRE_VERSION 12
#define LEAT_WIRE_MAX 65536 /* largest packet, bytes */

enum leat_msg_type {
	/* client requests */
	LEAT_MSG_HELLO = 1,  /* -> WELCOME, with 2 descriptors: store directory, shared segment */
	LEAT_MSG_RESOLVE,    /* -> RESOLVED: may this path call go on, and where */
	LEAT_MSG_CHANGE,     /* -> ANSWER: rename, unlink, rmdir, link executed by the daemon */
	LEAT_MSG_LIST,       /* -> NAMES: next part of a directory listing */
	LEAT_MSG_IDENTIFY,   /* -> RESOLVED: which file is this inherited descriptor */
	LEAT_MSG_REPLACE_FD, /* with a descriptor -> REPLACED_FD, with the one to use in its place
			      */
	/* client's questions about an open file -> ANSWER: 0 yes, -EAGAIN ask again when the file's
	 * record has changed, -errno what the call is to fail with */
	LEAT_MSG_ASK_READ,   /* are these bytes there */
	LEAT_MSG_ASK_WHOLE,  /* is the file complete */
	LEAT_MSG_ASK_WRITE,  /* may it be written: -EIO after a violation that is an error */
	LEAT_MSG_ASK_SPACE,  /* a write found no space: has some been made; -ENOSPC there is none */
	LEAT_MSG_ASK_BUDGET, /* before a write to a store that is larger than the budget: has the
			      * budget space for so much more; -ENOSPC it has none */
	LEAT_MSG_ASK_ASIDE,  /* of a mount's server: is the file where a program that cannot ask for
			      * space may write it, on disk or where it has to stay */
	LEAT_MSG_ASK_TRUE_SIZE, /* is the kernel's size of the file its length, from now on */
	LEAT_MSG_ASK_ACTIONS,   /* have the step's actions been called; -EIO they failed */
	LEAT_MSG_SYNC,          /* -> ANSWER: all that was sent before it has been handled */
	/* one way */
	LEAT_MSG_OPENED,     /* the call allowed by RESOLVE has ended */
	LEAT_MSG_CLOSED,     /* a descriptor with an ofd was closed: look whether it was the last
			      */
	LEAT_MSG_EXTENT,     /* bytes beyond the frontier were written */
	LEAT_MSG_TRUNCATED,  /* the file was truncated or extended to length */
	LEAT_MSG_DROP,       /* a consumer has read up to there, and nobody needs it again */
	LEAT_MSG_PREFAULT,   /* these bytes will be written soon: have clear memory there */
	LEAT_MSG_READ,       /* something was read of a version, description ofd */
	LEAT_MSG_WROTE,      /* description ofd (0: any of the file) is about to change it */
	LEAT_MSG_WRITTEN,    /* bytes of a file that several steps write were written */
	LEAT_MSG_EXITING,    /* the process (pid; 0: the sender) is about to exit normally */
	LEAT_MSG_VIOLATED,   /* a violation the client saw */
	LEAT_MSG_EARLY_SIZE, /* a consumer took the size of a growing file for its final one */
	LEAT_MSG_REFUSED,    /* an exec was refused: text says which program and why; error != 0: or
			      * this process cannot go on, and its step has failed */
	LEAT_MSG_KILLED, /* the kernel killed a process of the step for want of memory, out of the
			  * daemon's sight: text says where, and by which limit */
	/* control: leat run, exec, done, top */
	LEAT_MSG_ASK_LAUNCH,   /* -> ANSWER: may a staged step start */
	LEAT_MSG_ASK_RELAUNCH, /* -> ANSWER: may a step be launched for a further version of its
				* inputs */
	LEAT_MSG_ASK_SETTLED,  /* -> ANSWER: is the step complete, so that it need not run again */
	LEAT_MSG_STOPPING,   /* -> ANSWER; processes are about to be stopped: files that they close
			      * from now on, whose step has ended before, are not complete */
	LEAT_MSG_STEP_START, /* -> ANSWER; the step's root process is pid */
	LEAT_MSG_STEP_END,   /* -> ANSWER; status as from waitpid */
	LEAT_MSG_STEP_DONE,  /* -> ANSWER; no further instance will start */
	LEAT_MSG_STATUS,     /* -> TEXT: JSON of steps, files, waits */
	LEAT_MSG_FINISH,     /* -> TEXT when all is permanent; the daemon then ends; more: with the
			      * timeline */
	LEAT_MSG_ABORT,      /* -> ANSWER; fail what is not committed and end */
	LEAT_MSG_ACTED,      /* -> ANSWER; what became of an ACT */
	LEAT_MSG_REAPED,  /* one way; process pid, which a step left behind, ended with status; of
			   * another user in root's run: its child */
	LEAT_MSG_BECOMES, /* -> ANSWER; pid, such a user's, is about to become the program text,
			   * which will say HELLO; "": it did not */
	LEAT_MSG_END_OF_REQUESTS,
	/* daemon's replies */
	LEAT_MSG_WELCOME = 64,
	LEAT_MSG_RESOLVED,
	LEAT_MSG_ANSWER,
	LEAT_MSG_NAMES,
	LEAT_MSG_TEXT,
	LEAT_MSG_REPLACED_FD,
	/* daemon to a control connection that asked for it (unsolicited) */
	LEAT_MSG_EVENT,
	LEAT_MSG_ACT, /* and from there to the process of the actions, which says ACTED */
};

/* What actions are called for. */
enum leat_act {
	LEAT_ACT_BEFORE_LAUNCH = 1,
	LEAT_ACT_BEFORE_OPEN,
	LEAT_ACT_AFTER_OPEN,
	LEAT_ACT_AFTER_CLOSE, /* the true last close of a description */
	LEAT_ACT_ON_COMMIT,
	LEAT_ACT_AFTER_EXIT,
	LEAT_ACT_KINDS,
	LEAT_ACT_GO_ON = LEAT_ACT_KINDS, /* the broadcast that is waited for has come */
};

/* What a RESOLVE is for, and which fields of it count beside the path. */
enum leat_op {
	LEAT_OP_OPEN = 1, /* flags, mode: as for openat; pid */
	LEAT_OP_STAT,     /* stat, getxattr...: waits for the commit; flags AT_SYMLINK_NOFOLLOW */
	LEAT_OP_CHDIR,
	LEAT_OP_EXEC,     /* flags AT_SYMLINK_NOFOLLOW; no_wait */
	LEAT_OP_MKDIR,    /* mode */
	LEAT_OP_MAKE,     /* mknod, symlink, bind: a new name; mode, with the type as for mknod */
	LEAT_OP_META,     /* chmod, chown, utimensat, setxattr by path; flags AT_SYMLINK_NOFOLLOW;
			   * rights, and by them mode, uid, gid */
	LEAT_OP_TRUNCATE, /* truncate by path; length */
	LEAT_OP_ACCESS,   /* access, readlink, O_PATH: waits as OPEN for reading does, not for the
			   * commit; flags AT_SYMLINK_NOFOLLOW; mode: as for access */
};

/* Which rights a META changes. */
#define LEAT_META_MODE 1u  /* the mode, to `mode`: of chmod, or of an access control list */
#define LEAT_META_OWNER 2u /* the owner, to `uid` and `gid` */
#define LEAT_META_LIST 4u  /* an access control list is set or removed */

enum leat_change {
	LEAT_CHANGE_RENAME = 1, /* flags as renameat2 */
	LEAT_CHANGE_UNLINK,
	LEAT_CHANGE_RMDIR,
	LEAT_CHANGE_LINK, /* flags as linkat */
	/* A directory's mode, owner or attributes were changed in the store or on disk: in the
	 * other, too, if it is there; flags LEAT_ALIKE_... */
	LEAT_CHANGE_ALIKE,
};

#define LEAT_ALIKE_FROM_STORE 1u
#define LEAT_ALIKE_TIMES 2u      /* of access and change, too */
#define LEAT_ALIKE_ATTRIBUTES 4u /* attributes user.*, too */

/* Where the daemon says a path is. */
enum leat_location {
	LEAT_LOCATION_ASIS = 1, /* make the call as the program wrote it (outside, or on disk); if
				 * `path` is not empty it is absolute and used instead */
	LEAT_LOCATION_STORE,    /* `path` relative to the store's directory */
	LEAT_LOCATION_DISK,     /* `path` relative to the workflow's directory */
	LEAT_LOCATION_SPILL,    /* `path` is absolute: what memory had no space for */
};

/* How a descriptor on the file must be treated by the client. */
enum leat_kind {
	LEAT_KIND_NONE,      /* not ours */
	LEAT_KIND_COUNTED,   /* only bytes are counted: committed input, plain file */
	LEAT_KIND_CONSUMER,  /* still growing: reads wait until covered */
	LEAT_KIND_PRODUCER,  /* last close matters */
	LEAT_KIND_PUBLISHER, /* last close matters and bytes are published as written */
	LEAT_KIND_DIR,       /* listing comes from the daemon */
};

/* Offset of the byte whose OFD lock marks a live open description: ofd k holds
 * a write lock on byte LEAT_OFD_LOCK + k. The kernel drops it at the true last
 * close (dup, fork, exec, mmap and SCM_RIGHTS included). Byte-range locks of
 * programs are cut off below. */
#define LEAT_OFD_LOCK 0x7000000000000000ull

/* What memory had no space for lies in a directory of that name and six more letters, in
 * the workflow's directory or elsewhere, as it would lie in the workflow's. /proc shows
 * descriptors so. */
#define LEAT_SPILL_PREFIX ".leat-spill-"

struct leat_msg {
	uint16_t version;
	uint16_t type;
	uint32_t size;     /* whole packet, bytes */
	uint64_t reserved; /* the sender is known by its socket */
};

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
	/* strings: workflow directory (real path), store's mount point as getcwd shows it,
	 * path through which exec'd programs reach the store, error text */
};

struct leat_msg_resolve {
	struct leat_msg h;
	uint32_t op;     /* enum leat_op, which says what of the following counts */
	uint32_t flags;  /* of the system call */
	uint32_t mode;   /* of the system call */
	uint32_t pid;    /* behind a mount: who opens, as its server knows it; 0: not known */
	uint32_t rights; /* LEAT_META_... */
	uint32_t uid;    /* all ones: stays as it is */
	uint32_t gid;
	uint32_t no_wait; /* 1: a name that is not there is waited for only if an output spells it
			     out */
	uint64_t length;  /* bytes that the file is to have */
	/* strings: path below the workflow's directory, not normalised ("" = the directory) */
};

struct leat_msg_resolved {
	struct leat_msg h;
	int32_t error; /* -errno for the call; -EAGAIN: wait on slot/seq, then resolve again */
	uint32_t location;
	uint32_t kind;
	uint32_t slot;       /* index of the file's shared record; 0 = none */
	uint32_t seq;        /* with -EAGAIN: value of seq to sleep on */
	uint32_t generation; /* else: the file's location generation, shm/state.h */
	uint32_t flags;      /* OPEN: open flags to use instead of the program's */
	uint32_t reserved;
	uint64_t ofd; /* OPEN for writing, or of a version to read it (then READ is to be sent once
		       * something was): byte to lock is LEAT_OFD_LOCK + ofd; 0 = none */
	uint32_t input; /* OPEN, IDENTIFY: the step is a consumer of it; no lock on it conflicts */
	uint32_t lasting; /* 1: STAT, ACCESS and OPEN for reading will get this answer until the
			   * counters in shared memory (shm/state.h, "names") move */
	uint32_t changes; /* of the slot, when this was said */
	uint32_t intact;  /* OPEN, IDENTIFY: it has changed nothing yet, and WROTE is to be sent
			     before */
			  /* strings: path (see enum leat_location) */
};

struct leat_msg_ask_read {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t offset;
	uint64_t length;
};

struct leat_msg_ask_whole {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
};

struct leat_msg_ask_write {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
};

struct leat_msg_ask_space {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t attempt; /* how often it has been asked for this write */
	uint64_t length;  /* bytes to write */
};

struct leat_msg_ask_budget {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t length; /* bytes to write */
};

struct leat_msg_ask_aside {
	struct leat_msg h;
	uint32_t slot;
	int32_t pid;      /* the program, which was started with the file open for writing */
	uint64_t attempt; /* how often it has been asked for this file */
};

/* For a consumer that has the kernel read at an offset which others may move. */
struct leat_msg_ask_true_size {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
};

struct leat_msg_ask_actions {
	struct leat_msg h;
	uint32_t slot;
	uint32_t closed; /* 0: the description was opened; 1: closed */
	uint64_t ofd;
};

struct leat_msg_ask_launch {
	struct leat_msg h;
	uint32_t step;
	uint32_t reserved;
};

/* ANSWER: 0 it may, and the text is the file that the launch is for, as the step sees it; -EAGAIN
 * not yet: an EVENT with LEAT_WIRE_LAUNCHABLE says when to ask again; -ENOENT never again; -EIO a
 * producer failed, which is the text. */
struct leat_msg_ask_relaunch {
	struct leat_msg h;
	uint32_t step;
	uint32_t
		ended; /* 0: it has not been launched yet; 1: a launch of it has just ended, well */
};

/* ANSWER: 0 it ended well, and all it makes is final and, if permanent, on disk; -EAGAIN not yet;
 * -EIO never. */
struct leat_msg_ask_settled {
	struct leat_msg h;
	uint32_t step;
	uint32_t reserved;
};

/* leat_msg_text.error of an EVENT that is no news: the step whose number is the text may be
 * launched now. */
#define LEAT_WIRE_LAUNCHABLE 1

struct leat_msg_answer {
	struct leat_msg h;
	int32_t error; /* 0 go on; -EAGAIN wait; else fail the call so */
	uint32_t slot;
	uint32_t seq;
	uint32_t reserved;
	/* strings: text for a person (control), may be "" */
};

struct leat_msg_change {
	struct leat_msg h;
	uint32_t change;
	uint32_t flags;
	/* strings: path, second path ("" if none); one that is absolute lies outside */
};

/* `handle` 0: start a listing of the directory `path`, later calls name it. A handle
 * is good on every connection of the run (threads and children share directory
 * streams); one the daemon has forgotten is answered -ESTALE, and the client
 * starts anew with its cookie. */
struct leat_msg_list {
	struct leat_msg h;
	uint64_t handle;
	uint64_t cookie;  /* names already taken: the first `cookie` ones are left out */
	uint32_t release; /* 1: forget the handle (one-way) */
	uint32_t reserved;
	/* strings: path */
};

struct leat_msg_names {
	struct leat_msg h;
	int32_t error; /* -EAGAIN: wait on slot/seq */
	uint32_t slot;
	uint32_t seq;
	uint32_t count; /* entries in this part; 0 = end */
	uint64_t handle;
	uint64_t cookie; /* for the next call */
	/* then `count` packed entries: uint64_t ino, uint8_t type (DT_*), string */
};

struct leat_msg_identify {
	struct leat_msg h;
	uint64_t dev;
	uint64_t ino;
	uint32_t flags; /* F_GETFL */
	uint32_t reserved;
	/* strings: path as /proc/self/fd shows it */
};

/* The file was moved to another place while it was open. */
struct leat_msg_replace_fd {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
};

/* All descriptors of one open file description are given the same new one. If no descriptor
 * comes with it, the old one is good. */
struct leat_msg_replaced_fd {
	struct leat_msg h;
	int32_t error; /* -EAGAIN: wait on seq; -ESTALE: not this file's */
	uint32_t generation;
	uint32_t seq;
	uint32_t reserved;
};

/* The call that the last RESOLVE of this connection allowed has ended. */
struct leat_msg_opened {
	struct leat_msg h;
	int32_t error; /* 0 or -errno */
	uint32_t reserved;
};

struct leat_msg_closed {
	struct leat_msg h;
	uint32_t slot;
	uint32_t killed; /* 1: by the end of a process that was killed, which never counts */
	uint64_t ofd;
};

/* EXTENT, PREFAULT: these bytes of the file. */
struct leat_msg_range {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t offset;
	uint64_t length;
};

struct leat_msg_truncated {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t ofd; /* by which description; 0: not known */
	uint64_t length;
};

struct leat_msg_drop {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t read_end; /* all bytes before it were read */
};

struct leat_msg_read {
	struct leat_msg h;
	uint64_t ofd;
	uint32_t how;    /* enum leat_read, eventlog/call.h */
	uint32_t partly; /* 1: that was all there was yet of a version that was not complete */
	uint64_t end;    /* of what was read */
};

struct leat_msg_wrote {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t ofd;
};

struct leat_msg_written {
	struct leat_msg h;
	uint32_t slot;
	uint32_t appended; /* 1: at the file's end (O_APPEND) */
	uint64_t ofd;
	uint64_t offset;
	uint64_t length;
};

/* Whether it is fatal the client learns by an ASK_WRITE sent behind it: -EIO. */
struct leat_msg_violated {
	struct leat_msg h;
	uint32_t slot;
	uint32_t code; /* enum leat_violation, eventlog/call.h, but for EARLY_SIZE */
	uint64_t offset;
	uint64_t length;
};

/* A violation only if the final size is larger. */
struct leat_msg_early_size {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t read_end; /* of what was read */
	uint64_t size;     /* that was seen */
};

/* leat_msg_step.status of EXITING: it ends normally, but is the server of a mount, and a program
 * behind it that had closed a file empty was killed. */
#define LEAT_WIRE_CUT_SHORT (-1)

/* The second string of an EXITING of a mount's server about a process behind it, by the
 * number that RESOLVE had. status: CUT_SHORT if it was killed. */
#define LEAT_WIRE_BEHIND "behind"

/* EXITING, STEP_START (status 1: its program loads the library), STEP_END, STEP_DONE, ABORT,
 * REAPED, BECOMES */
struct leat_msg_step {
	struct leat_msg h;
	int32_t pid;
	int32_t status;
	/* strings: step name, text. STEP_START: step name, the program as it is found from the
	 * workflow's directory, key in the environment of the step's processes */
};

/* STATUS, FINISH, TEXT, REFUSED, KILLED, EVENT */
struct leat_msg_text {
	struct leat_msg h;
	int32_t error;
	uint32_t more; /* 1: another TEXT follows with the rest */
		       /* strings: text */
};

/* Call the actions of a step for one of its processes. */
struct leat_msg_act {
	struct leat_msg h;
	uint64_t id; /* 0: it is the driver's */
	int32_t step;
	uint32_t rank;
	uint32_t act;
	int32_t status;  /* AFTER_EXIT: as from waitpid */
	uint32_t writes; /* the file was opened for writing */
	uint32_t reserved;
	/* strings: the file, as the step sees it */
};

/* They have been called, the first time also to say what for. */
struct leat_msg_acted {
	struct leat_msg h;
	uint64_t id;
	int32_t step;
	uint32_t rank;
	int32_t error;  /* -errno: they failed, text says how; -EAGAIN: they wait for a broadcast */
	uint32_t wants; /* bit 1 << act: what they are to be called for */
	uint32_t served; /* 1: what the process has written is to be passed on */
	uint32_t reserved;
	/* strings: text */
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
