/* Messages about names: what they stand for, changes of them, listings. */
#ifndef LEAT_WIRE_NAMES_H
#define LEAT_WIRE_NAMES_H

#include "wire/message.h"

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
	LEAT_OP_LOOK,     /* behind a mount, after STAT: the directory is what the call looks at,
			   * and not on its way */
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
	uint32_t mistaken;   /* STAT: in a batch the directory is perhaps not there; if the call is
			      * to make it, RESOLVE with MKDIR, too, and LOOK, if it looks at it */
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

#endif
