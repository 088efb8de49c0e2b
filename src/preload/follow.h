/* Files that the daemon moves while they are open: descriptors are exchanged for new
 * ones, at the next call on each. Without a guard. */
#ifndef LEAT_PRELOAD_FOLLOW_H
#define LEAT_PRELOAD_FOLLOW_H

#include "preload/fdtab.h"
#include "preload/hooks.h"

/* What is known of an exchange to who has just written by the old descriptor. */
struct leat_exchange {
	uint64_t offset;     /* of the old description when it was exchanged first */
	uint64_t new_offset; /* of the new one then */
	uint64_t size;       /* so much of the file was moved */
	bool made;           /* by this call; else another thread was faster */
};

/* Has the file left the home `home`? */
static inline bool leat_has_left(const struct leat_fd *r, uint32_t home)
{
	struct leat_shm_file *f = leat_client_file(r->slot);

	return f && r->kind != LEAT_KIND_DIR && leat_shm_home(f) != home;
}

/* Bring `fd` to where its file is now. Who may write it waits while it moves. 0, or
 * -errno to fail the call with. `x` may be NULL. */
int leat_follow(int fd, struct leat_exchange *x);

/* The same before a call, at no cost for files that have not moved. */
static inline int leat_follow_first(int fd)
{
	const struct leat_fd *r = leat_fd_get(fd);

	return r && r->slot && leat_has_left(r, r->home) ? leat_follow(fd, NULL) : 0;
}

/* `n` bytes were written by `fd`, whose file was at `home` before and has left it since: at
 * `offset`, or where the description's offset was (-1). They are written again where the
 * file is now. `v`: the bytes, behind the first `skip`; NULL: they are taken from the former
 * file. 0 or -errno. */
int leat_write_again(int fd, uint32_t home, int64_t offset, const struct iovec *v, uint64_t skip,
		     uint64_t n);

#endif
