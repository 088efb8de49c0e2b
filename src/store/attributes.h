/* Extended attributes and access control lists, which are among them. */
#ifndef LEAT_STORE_ATTRIBUTES_H
#define LEAT_STORE_ATTRIBUTES_H

#include <stdbool.h>
#include <sys/types.h>

/* Give what the descriptor `out` is of, O_PATH or not, the access control lists of `in`, and if
 * `all` also its attributes user.*, and no others of these. Where the file system of `out` has no
 * attributes user.* it has none of them. 0 or -errno. Any thread. */
int leat_copy_attributes(int in, int out, bool all);

/* What becomes of an access control list that `out` has and `in` has not: the default list of the
 * directory has given it to `out` when that was made. */
enum leat_list {
	LEAT_LIST_GOES,  /* `in` would have one, too, if nobody had removed it */
	LEAT_LIST_STAYS, /* `in` was made where there is no default list */
};

/* The same of files that lie in the directory `dir`, O_PATH or not. Any thread. */
enum leat_list leat_list_in(int dir);
/* The same of the file `path` below `top` (base/beneath.h); STAYS if it cannot be found. */
enum leat_list leat_list_of(int top, const char *path);
/* Give the directory `out` the default list of the directory `in`, if that has one: files made in
 * either have the same rights. 0 or -errno. Any thread. */
int leat_copy_default_list(int in, int out);

/* Give the file `out`, O_PATH or not, those extended attributes that `in` has, and no others: but
 * for labels and what a file system keeps for itself, which are not copied, and an access control
 * list that stays. One that may not be set is a warning that names the file by `name` (an empty
 * one: it has been said), and if it is the list, `mode` (may be NULL) is left what it is without:
 * nobody has more rights by that. Without `name` it is an error. 0 or -errno. Any thread. */
int leat_copy_xattrs(int in, int out, enum leat_list list, const char *name, mode_t *mode);

#endif
