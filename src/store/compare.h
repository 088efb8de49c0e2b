/* Do two files hold the same? */
#ifndef LEAT_STORE_COMPARE_H
#define LEAT_STORE_COMPARE_H

/* 1: the open files `a` and `b`, which are read from the start, have the same bytes; 0: they have
 * not; -errno. Any thread. */
int leat_compare_bytes(int a, int b);

/* The same of the symlinks `path` below the directories `a` and `b`. */
int leat_compare_symlinks(int a, int b, const char *path);

#endif
