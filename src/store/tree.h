/* The workflow's directory as its steps see it: the union of two places, the
 * store and the disk, searched component by component as the kernel would
 * search one. What the store has no space for lies in a third, the spill
 * directory, and counts as a part of the store: a file is in one of the two,
 * and only files are ever found there. Event loop only. */
#ifndef LEAT_STORE_TREE_H
#define LEAT_STORE_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

enum leat_root { LEAT_ROOT_NONE, LEAT_ROOT_STORE, LEAT_ROOT_SPILL, LEAT_ROOT_DISK };

/* Is this root leat's own, the store or the spill directory? */
static inline bool leat_root_is_ours(enum leat_root root)
{
	return root == LEAT_ROOT_STORE || root == LEAT_ROOT_SPILL;
}

struct leat_beneath;
struct leat_shm;
struct leat_tree;

/* A tree over two directories, whose descriptors are borrowed. `disk_path` is
 * the real path of the workflow's directory, `store_path` that of the store
 * (both copied). NULL when out of memory. */
struct leat_tree *leat_tree_new(int store_fd, const char *store_path, int disk_fd,
				const char *disk_path);

/* Clients are shown times of change by that segment, which is borrowed (shm/ctimes.h). */
void leat_tree_set_shm(struct leat_tree *t, struct leat_shm *shm);

/* From now on files may lie in the spill directory, too: its descriptor is
 * borrowed, its real path copied. 0 or -ENOMEM. */
int leat_tree_set_spill(struct leat_tree *t, int spill_fd, const char *spill_path);

/* NULL is allowed; errno is preserved. */
void leat_tree_free(struct leat_tree *t);

/* Descriptor of a place's top directory, borrowed; -1: there is none. */
int leat_tree_fd(const struct leat_tree *t, enum leat_root root);

/* What is to be done with a last component that is a symlink. */
enum leat_find {
	LEAT_FIND_NOFOLLOW, /* left alone, unless a directory is wanted */
	LEAT_FIND_FOLLOW,
	LEAT_FIND_NAME,      /* the name itself is to be made, moved or removed: left alone, and
			      * whether it may be there, and what it may be, is the caller's affair */
	LEAT_FIND_SPELT = 4, /* with one of these: ".." after what is missing takes that back */
};

/* What the last component is. */
enum leat_last { LEAT_LAST_NONE, LEAT_LAST_NAME, LEAT_LAST_DOT, LEAT_LAST_DOTDOT };

/* What a path means. */
struct leat_found {
	char path[PATH_MAX]; /* canonical and relative; absolute if `outside` */
	bool outside;        /* it leads out of the workflow's directory */
	bool dir_wanted;     /* it ends in "/" or "/." */
	bool name_slash;     /* a "/" follows a last name, of its own or of the symlink it leads to,
			      * whose directory exists: nothing can be made by it, whatever follows */
	bool before_up; /* what follows goes up from it ("..") and it does not exist: `path` is its
			 * name, and nothing can be found or made by the whole */
	enum leat_last last;
	enum leat_root root;      /* where it exists; NONE: it does not. For a
				   * directory in both places, DISK */
	bool parent_missing;      /* nor does the directory it would be in */
	struct stat st;           /* of it, if it exists inside */
	size_t links_size;        /* of links, in bytes */
	char links[2 * PATH_MAX]; /* of each symlink inside that was followed its name, and the name
				   * that was asked for by it ("d", "d/x"), each with its 0; of
				   * many and long ones the first */
};

/* Nothing is found yet. What lies behind the ends of its texts stays as it is: they are large. */
static inline void leat_found_init(struct leat_found *found)
{
	found->path[0] = 0;
	memset((char *)found + offsetof(struct leat_found, outside), 0,
	       offsetof(struct leat_found, links) - offsetof(struct leat_found, outside));
}

/* Find `path`, relative to the workflow's directory or absolute. 0, also when
 * nothing is there; -ELOOP, -ENOTDIR, -ENAMETOOLONG, -EACCES... as the kernel
 * would say. */
int leat_tree_find(struct leat_tree *t, const char *path, enum leat_find how,
		   struct leat_found *found);

/* Look at one canonical path, in the store first, on disk last. 0 or -errno (-ENOENT: in
 * no place). `st` may be NULL. */
int leat_tree_look(struct leat_tree *t, const char *path, enum leat_root *root, struct stat *st);

/* True if `path` exists in that place. `st` may be NULL. */
bool leat_tree_has(struct leat_tree *t, enum leat_root root, const char *path, struct stat *st);

/* The same for the store and what was spilled of it: *root says which. Neither
 * may be NULL. */
bool leat_tree_has_ours(struct leat_tree *t, const char *path, enum leat_root *root,
			struct stat *st);

/* From now on others than who runs leat may rename and make what they like: what is carried from
 * one half of a directory to the other is checked. */
void leat_tree_distrust(struct leat_tree *t);
bool leat_tree_is_distrusted(const struct leat_tree *t);

/* May others than who runs leat put something else in the place of the store's `path`? */
bool leat_tree_is_exposed(const struct leat_tree *t, const char *path);

/* Hold the directory above `path` in `root`, for what leat itself does there. In a distrusted tree
 * -EACCES if it, or one above it, has another owner, group or mode than its other half: it is not
 * the same one. 0 or -errno. */
int leat_tree_hold_parent(const struct leat_tree *t, enum leat_root root, const char *path,
			  struct leat_beneath *b);

/* Make the directories above `path` in `root`, with the owners and modes they have in the
 * other place (0700 in the spill directory). 0 or -errno. */
int leat_tree_make_parents(struct leat_tree *t, enum leat_root root, const char *path);

/* Make `path` itself a directory in `root`, too. 0 or -errno. */
int leat_tree_make_dir(struct leat_tree *t, enum leat_root root, const char *path);

/* Copy the file or symlink that the O_PATH descriptor `from` is of to `to_path` in place `to`, with
 * mode, owner and times; `empty`: without its content. 0 or -errno, and then nothing is left of
 * it. */
int leat_tree_copy(struct leat_tree *t, int from, enum leat_root to, const char *to_path,
		   bool empty);

/* Directories may have been removed or renamed: forget what was remembered. */
void leat_tree_forget(struct leat_tree *t);

/* A relative name below the store's, the spill or the workflow's directory for an absolute
 * path as /proc shows it, or NULL. Points into `path` ("" for the top). */
const char *leat_tree_inside(const struct leat_tree *t, const char *path);

#endif
