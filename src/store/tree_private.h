/* What the files of the tree share among themselves. */
#ifndef LEAT_STORE_TREE_PRIVATE_H
#define LEAT_STORE_TREE_PRIVATE_H

#include "store/tree.h"

#include <uthash.h>

/* A directory known to be one, reached without symlinks. */
struct leat_tree_dir {
	UT_hash_handle hh;
	bool in[4]; /* by enum leat_root: known to exist there */
	char path[];
};

/* A directory of leat's own places that files were looked up in. */
struct leat_tree_held {
	enum leat_root root;
	char *path; /* owned; NULL: none */
	int fd;
};

#define LEAT_TREE_HELD 8u

struct leat_tree {
	int fd[4];            /* by enum leat_root; borrowed */
	char *store_path;     /* owned */
	char *disk_path;      /* owned */
	char *spill_path;     /* owned; NULL: nothing is spilled */
	struct leat_shm *shm; /* borrowed; NULL: nobody is shown times of change */
	bool distrusted;
	struct leat_tree_dir *dirs;
	struct leat_tree_held held[LEAT_TREE_HELD];
	unsigned next_held; /* gives way next */
};

void leat_tree_release_held(struct leat_tree *t);

struct leat_tree_dir *leat_tree_dir_find(struct leat_tree *t, const char *path);

/* Find or add; NULL when out of memory (then it is just not remembered). */
struct leat_tree_dir *leat_tree_dir_note(struct leat_tree *t, const char *path);

#endif
