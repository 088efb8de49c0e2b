/* An open file: each open of the kernel is one of ours. */
#ifndef LEAT_MOUNT_NAMES_HANDLE_H
#define LEAT_MOUNT_NAMES_HANDLE_H

#include "client/reading.h"
#include "mount/internal.h"
#include "shm/word.h"

struct leat_handle {
	struct leat_handle *prev, *next;         /* of its node */
	struct leat_handle *all_prev, *all_next; /* of the mount */
	struct leat_node *node;
	struct leat_mount *m;
	int fd;                      /* owned */
	struct leat_word generation; /* where its file is, shm/state.h */
	int flags;                   /* of the open */
	uint32_t kind;               /* enum leat_kind */
	uint32_t slot;
	uint64_t ofd;
	bool intact; /* open for writing: before it changes something that is to be reported */
	bool read_reported; /* of a version: that it was read is reported */
	bool look_reported; /* that something of it was looked at is */
	bool unread;        /* a program has closed it, an empty version, and read nothing of it */
	bool flushed;       /* a program has closed it, perhaps for good, and opens wait for that */
	int32_t backing;    /* passthrough: the kernel's id of fd, 0: none */
	bool reported;      /* a violation was reported */
	bool abnormal;      /* the last to close it was killed */
	pid_t closer;       /* the last process to close it, 0: none, or it is gone */
	bool sized,
		trusted; /* a consumer was shown a size; asked for what only that can have told */
	uint64_t size_seen, read_end;
	struct leat_glance glance; /* of a version */
	const char *map;           /* owned; the file's bytes, once it is final */
	size_t map_size;
	struct leat_mount_listing *listing; /* owned; of a directory */
	bool unlisted;                      /* nobody has asked for its names yet */
	uint64_t record_id;                 /* in the trace; 0: it is not in it */
	pid_t record_pid;                   /* who opened it, or closed a descriptor of it last */
};

static inline struct leat_handle *leat_handle_of(const struct fuse_file_info *fi)
{
	return (struct leat_handle *)(uintptr_t)fi->fh;
}

#endif
