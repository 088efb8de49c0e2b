/* Copying what a file holds, within the kernel where it can. */
#ifndef LEAT_STORE_COPY_H
#define LEAT_STORE_COPY_H

#include "store/attributes.h"

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

/* Give the open file `out` the owner (where allowed), mode and times of `st`, and the extended
 * attributes of `in`, as leat_copy_xattrs. 0 or -errno. Any thread. */
int leat_copy_meta(int in, int out, const struct stat *st, enum leat_list list, const char *name);

#endif
