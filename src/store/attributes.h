/* Extended attributes and access control lists, which are among them. */
#ifndef LEAT_STORE_ATTRIBUTES_H
#define LEAT_STORE_ATTRIBUTES_H

#include <stdbool.h>
#include <sys/types.h>

/* Give what the descriptor `out` is of, O_PATH or not, the access control lists of `in`, and if
 * `all` also its attributes user.*, and no others of these. Where the file system of `out` has no
 * attributes user.* it has none of them. 0 or -errno. Any thread. */
int leat_copy_attributes(int in, int out, bool all);

/* Give the file `out`, O_PATH or not, those extended attributes that `in` has, and no others: but
 * for labels and what a file system keeps for itself, which are not copied, and an access control
 * list, which is never removed. One that may not be set is a warning that names the file by `name`
 * (an empty one: it has been said), and if it is the list, `mode` (may be NULL) is left what it is
 * without: nobody has more rights by that. Without `name` it is an error. 0 or -errno. Any thread.
 */
int leat_copy_xattrs(int in, int out, const char *name, mode_t *mode);

#endif
