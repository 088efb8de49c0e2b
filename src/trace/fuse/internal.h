/* The fuse tracer inside. The command runs in a mount namespace of its own, in which a FUSE mount
 * covers a directory. The threads of this process that answer for it do each call on the directory
 * itself, and record it. Results are 0 or -errno unless said otherwise. */
#ifndef LEAT_TRACE_FUSE_INTERNAL_H
#define LEAT_TRACE_FUSE_INTERNAL_H

#include "base/people.h"
#include "fuse/session.h"
#include "trace/sink.h"
#include "trace/who.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct file_id;
struct node;

struct overlay {
	const struct leat_trace_request *request; /* borrowed */
	char dir[PATH_MAX];                       /* what is covered, a real path */
	int dir_fd;                               /* owned; taken before it is covered */
	bool own_users;                           /* the mount knows this user only */
	bool as_root;              /* callers may be anybody: create with their ids */
	struct leat_fuse *session; /* owned */
	int go_fd;                 /* owned; a byte lets the command go on; -1: it has */

	/* Protects all below. Never held while a close is answered: see file.c. */
	pthread_mutex_t lock;
	struct leat_trace_sink sink;
	struct leat_trace_who *who;
	struct node *nodes; /* hash of those the kernel knows, but the root */
	struct node *root;
	struct file_id *files; /* hash of all files that were met and have a name */
	uint64_t last_file, last_handle;
	struct handle *handles; /* all that are open */
	struct leat_people people;
	int epoll_fd; /* owned; tells who of them has ended */
	pid_t command;
	int status;     /* of the command, as of wait(2) */
	bool has_ended; /* the command */
};

/* What the calls of one request have in common. */
struct moment {
	int64_t start_ns;
	int64_t cpu_ns; /* of the thread, which waits for us */
	pid_t tid;      /* 0: the kernel's own doing */
	uid_t uid;
	gid_t gid;
};

/* An open file description. */
struct handle {
	struct handle *prev, *next; /* of those that are open */
	struct node *node;          /* borrowed: the kernel knows it for as long as the handle */
	int fd;                     /* owned */
	uint64_t id;                /* 0: not recorded */
	uint64_t inode;             /* of the records */
	uint32_t flags;
	pid_t opener, closer; /* processes; closer: the last to close a descriptor, 0 none yet */
};

/* ---- node.c: files the kernel knows, by an O_PATH descriptor each ---- */

struct overlay *overlay_of(fuse_req_t req);
struct node *node_of(struct overlay *o, fuse_ino_t ino);
int node_fd(const struct node *node);

/* Path of the descriptor by which it can be opened. */
void node_door(const struct node *node, char path[32]);

/* lstat of `name` in it, or (name "") of itself, with what tells it from other files. */
int node_statx(const struct node *dir, const char *name, struct statx *x);
void stat_of(const struct statx *x, struct stat *st);

/* The node of `name` in `dir`, looked up once more; what the kernel is told of it. */
int node_look(struct overlay *o, struct node *dir, const char *name, struct fuse_entry_param *e);
void node_forget(struct overlay *o, fuse_ino_t ino, uint64_t lookups);

/* Path of the node, or of `name` in it (NULL: itself). False: it has none. */
bool node_path(const struct node *node, const char *name, char path[PATH_MAX]);

/* The id in the trace of a file; the lock is held. 0: no memory. */
uint64_t file_id_of(struct overlay *o, const struct statx *st);
/* A name of that file, which was so before, was removed: when it was the last, its number may be
 * another's next. */
void file_id_removed(struct overlay *o, const struct statx *before);

int nodes_init(struct overlay *o);
void nodes_release(struct overlay *o);

/* Attributes as those in the mount are to see them. */
void show(const struct overlay *o, struct stat *st);

/* ---- people.c: the processes behind the calls ---- */

/* Nobody has been met. */
void people_init(struct overlay *o);

/* The command has been executed. */
void people_begin(struct overlay *o, pid_t command);

/* Wait until somebody ends, at most so long. */
void people_wait(struct overlay *o, int timeout_ms);

/* Is somebody alive who was met? */
bool people_are_left(struct overlay *o);

/* Ask all to end. */
void people_stop(struct overlay *o);

/* ---- record.c ---- */

int64_t now_ns(void); /* CLOCK_REALTIME */

/* A request arrives. */
struct moment moment_of(fuse_req_t req);

/* The request of that moment is done; fills what all records have, and takes the lock. */
struct leat_trace_call record_begin(struct overlay *o, const struct moment *m,
				    enum leat_trace_type type, int64_t result);
/* Writes it, and lets go of the lock. */
void record_end(struct overlay *o, const struct moment *m, const struct leat_trace_call *call);

/* Is what is at `path` wanted of this caller? `fd`: leads to it, or -1. The lock is held. */
bool record_wants(struct overlay *o, const struct moment *m, const char *path, int fd);

/* A call on a handle, or a name. */
void record_data(struct overlay *o, const struct moment *m, const struct handle *h,
		 enum leat_trace_type type, int64_t result, uint64_t offset, uint64_t size,
		 uint32_t flags);
void record_name(struct overlay *o, const struct moment *m, enum leat_trace_type type, int result,
		 uint64_t file, const char *path, const char *to, uint64_t size);

/* ---- operations, by file ---- */

void ops_add_names(struct fuse_lowlevel_ops *ops);
void ops_add_attributes(struct fuse_lowlevel_ops *ops);
void ops_add_directories(struct fuse_lowlevel_ops *ops);
void ops_add_files(struct fuse_lowlevel_ops *ops);
void ops_add_data(struct fuse_lowlevel_ops *ops);

struct handle *handle_of(const struct fuse_file_info *fi);

/* The mount is gone: those that were open are closed. */
void handles_end(struct overlay *o);

/* From `become` to `be_self` what this thread creates is the caller's. */
void become(const struct overlay *o, fuse_req_t req);
void be_self(const struct overlay *o);

/* ---- start.c ---- */

/* Starts the command, and takes its mount. 0 or -errno, after a message. *error_fd, which the
 * caller closes, tells an errno if it could not be executed. */
int start_command(struct overlay *o, int *error_fd);

#endif
