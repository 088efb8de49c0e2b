/* Copying what a file holds, within the kernel where it can. */
#ifndef LEAT_STORE_COPY_H
#define LEAT_STORE_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum leat_copy {
	LEAT_COPY_FAST,
	/* What is copied is brought to disk meanwhile, so that little of it is in memory that the
	 * kernel cannot take back. */
	LEAT_COPY_EVENLY,
	/* It takes no memory, where the file system can do that: where memory is short each new
	 * page of a page cache has to be found first. */
	LEAT_COPY_DIRECT,
};

/* Copy the first `size` bytes of `in` to the empty file `out`; holes stay
 * holes. 0 or -errno. Any thread. */
int leat_copy_data(int in, int out, uint64_t size, enum leat_copy how);

/* Give the open file `out` the owner (where allowed), mode and times of `st`.
 * 0 or -errno. Any thread. */
int leat_copy_meta(int out, const struct stat *st);

/* Give what the descriptor `out` is of, O_PATH or not, the access control lists of `in`, and if
 * `all` also its attributes user.*, and no others of these. Where the file system of `out` has no
 * attributes user.* it has none of them. 0 or -errno. Any thread. */
int leat_copy_attributes(int in, int out, bool all);

/* Give the open file `out` the extended attributes of `in` that a user may set. 0 or
 * -errno; a file system without any is no error. Any thread. */
int leat_copy_xattrs(int in, int out);

#endif
