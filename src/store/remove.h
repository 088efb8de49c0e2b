/* Removing a directory tree. */
#ifndef LEAT_STORE_REMOVE_H
#define LEAT_STORE_REMOVE_H

/* Remove `path` (relative to `dirfd`) and everything below it, never through a
 * symlink or into another file system. What other processes make there meanwhile
 * goes, too. 0, or -errno of the first thing that stayed. Any thread. */
int leat_remove_tree(int dirfd, const char *path);

#endif
