/* Tables of the ptrace tracer: descriptors, open file descriptions, files. They know nothing of
 * ptrace. */
#ifndef LEAT_TRACE_PTRACE_FILES_H
#define LEAT_TRACE_PTRACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <uthash.h>

/* What tells a file from others, also those before and after it with its number. */
struct inode_key {
	uint64_t dev, ino;
	int64_t birth_s, birth_ns; /* 0 where the file system has none */
};

struct inode {
	UT_hash_handle hh;
	struct inode_key key;
	uint64_t id;
	unsigned handles;    /* that are open */
	bool gone;           /* its last name was removed: the key may be another file's next */
	struct handle *open; /* list of its handles */
};

struct inodes {
	struct inode *by_key;
	uint64_t last;
};

/* An open file description. */
struct handle {
	uint64_t id;
	struct inode *inode;
	struct handle *prev, *next; /* of the inode */
	unsigned refs;              /* descriptors, and calls under way */
	uint32_t flags;             /* of open(2) */
	bool append;
	bool seekable;
	uint64_t offset;
};

/* The file of that statx, known or new; *known says which. NULL: no memory. */
struct inode *leat_inode_get(struct inodes *all, const struct statx *st, bool *known);

/* The same, NULL if it is not known. */
struct inode *leat_inode_find(const struct inodes *all, const struct statx *st);

/* Its last name is gone. Freed when it has no handle. */
void leat_inode_gone(struct inodes *all, struct inode *inode);

/* Free all that have no handle. */
void leat_inodes_release(struct inodes *all);

/* A new handle, with one reference. NULL: no memory. */
struct handle *leat_handle_new(struct inode *inode, uint64_t id, uint32_t flags);
void leat_handle_ref(struct handle *h);
/* True: that was the last reference; leat_handle_free is next. */
bool leat_handle_unref(struct handle *h);
void leat_handle_free(struct handle *h);

struct slot {
	struct handle *handle; /* a reference */
	bool cloexec;
	bool ignored;    /* looked at, and nothing to be traced */
	bool names_cpus; /* it reads which processors a thread may use: /proc/PID/status */
};

/* The descriptors of a process, or of several that share them. */
struct fdtab {
	unsigned refs;
	size_t n;
	struct slot *slots;
};

struct fdtab *leat_fdtab_new(void);
struct fdtab *leat_fdtab_ref(struct fdtab *fds);
/* A copy, whose slots have references of their own. NULL: no memory. */
struct fdtab *leat_fdtab_copy(const struct fdtab *fds);
/* The slot of a descriptor; NULL: empty. */
struct slot *leat_fdtab_slot(struct fdtab *fds, uint64_t fd);
/* Does it say which processors may be used? */
bool leat_fdtab_names_cpus(struct fdtab *fds, uint64_t fd);
/* The slot, made if need be. NULL: no memory, or no descriptor. */
struct slot *leat_fdtab_make(struct fdtab *fds, uint64_t fd);
/* Empty the slot; its handle's reference goes to the caller. NULL: there was none. */
struct handle *leat_fdtab_take(struct fdtab *fds, uint64_t fd);
/* Free the table, whose slots are empty. */
void leat_fdtab_free(struct fdtab *fds);

#endif
