/* The server, which all files of the mount share. All functions may be called by any thread unless
 * they say otherwise; results are 0 or -errno.
 *
 * Each of these folders uses only those before it: callers (what /proc says of who calls), names
 * (what the kernel knows), daemon (conversations with it), guard (calls that would lead past the
 * mount, and kills in containers), record (for a trace), files (open ones), ops (what the kernel
 * asks for). */
#ifndef LEAT_MOUNT_INTERNAL_H
#define LEAT_MOUNT_INTERNAL_H

#include "fuse/session.h"
#include "mount/mount.h"
#include "shm/extents.h"
#include "wire/wire.h"

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct leat_node;
struct leat_handle;
struct leat_recorder;
struct leat_kills;

enum { LEAT_MAX_GROUPS = 64 };

/* Whose call it is. */
struct leat_caller {
	uid_t uid;
	gid_t gid;
	int n; /* groups; more than there is space for are left out */
	gid_t groups[LEAT_MAX_GROUPS];
};

/* The server: one for each process of this kind. */
struct leat_mount {
	const struct leat_mount_spec *spec;
	char socket[108];
	char store_path[PATH_MAX]; /* the store as /proc shows it */
	struct leat_shm *shm;
	uint64_t store_dev;
	int32_t step;
	bool acts;            /* it has actions, which are called at opens and closes */
	bool versions;        /* it makes files that are read in versions */
	int store_fd, dir_fd; /* owned; taken before the mount covers the directory */
	int peer;       /* socket to the program's process until it starts; then guard/bypass.c's */
	bool own_users; /* the mount knows this user only, with its subordinate ids */
	uid_t shown_uid; /* then all there belongs to it, by the ids that the mount has */
	gid_t shown_gid;
	bool as_root; /* callers may be anybody: act with their ids */
	struct leat_caller own;
	int socket_fd; /* O_PATH, if as_root */
	pid_t program; /* the program's process; 0: it has not said so yet */
	struct leat_fuse *session;
	pthread_key_t connections;
	pthread_mutex_t migrating; /* of descriptors of handles that are exchanged; before lock */
	pthread_mutex_t lock;      /* of all nodes and handles */
	struct leat_node *names;   /* hash of the attached nodes */
	struct leat_node *root;
	struct leat_handle *handles; /* all that are open */
	int closing; /* how many are being reported to the daemon; opens wait for them */
	struct leat_closer *closers; /* hash of the processes that have closed a file empty */
	bool cut_short;              /* one of them was killed */
	uint64_t generation;
	struct leat_recorder *recorder; /* owned; NULL: no trace is written */
	struct leat_kills *kills;       /* guard/kills.c's; NULL: nobody is watched */
};

#endif
