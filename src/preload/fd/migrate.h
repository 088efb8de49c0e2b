/* Files that the daemon moves while they are open: descriptors are exchanged for new
 * ones, at the next call on each. Without a guard. */
#ifndef LEAT_PRELOAD_FD_MIGRATE_H
#define LEAT_PRELOAD_FD_MIGRATE_H

#include "preload/connection/client.h"
#include "preload/fd/lifecycle.h"
#include "preload/fd/table.h"

/* Has the file been moved since its location generation was `generation`? */
static inline bool leat_has_left(const struct leat_fd *r, uint32_t generation)
{
	struct leat_shm_file *f = leat_client_file(r->slot);

	return f && r->kind != LEAT_KIND_DIR && leat_shm_generation(f) != generation;
}

/* Bring `fd` to where its file is now. `write`: wait while it moves; else what may be read yet is
 * where it was. 0, or -errno to fail the call with. */
int leat_migrate(int fd, bool write);

/* The same before a call, at no cost for files that have not moved; what nobody has asked about yet
 * is asked about first. */
static inline int leat_migrate_first(int fd)
{
	int rc = leat_fd_learn(fd);
	const struct leat_fd *r = leat_fd_get(fd);

	if (rc)
		return rc;
	if (!r || !r->slot || !leat_has_left(r, r->generation))
		return 0;
	return leat_migrate(fd, r->kind != LEAT_KIND_CONSUMER && leat_fd_has(r, LEAT_FD_WRITE));
}

/* The file of a descriptor stays where it is for the moment of a call. */
struct leat_file_hold {
	struct leat_shm_file *f; /* NULL: there is nothing to be held */
	uint32_t generation;
	bool write;
};

/* Before a call that writes, or (not `write`) that uses the offset which the kernel keeps: follow
 * the file, and hold it there. Nothing that may wait for long is done until leat_file_release. 0,
 * or -errno and nothing is held. */
int leat_file_acquire(int fd, bool write, struct leat_file_hold *h);
/* After it: `n`, the result of the call, or -EIO if it took so long that the file has been moved
 * without it. */
long leat_file_release(const struct leat_file_hold *h, long n);

/* The same before a call that writes, with the file's true size, which stays so until
 * leat_file_release.
 */
int leat_window_acquire(const struct leat_fd *r, int fd, struct leat_file_hold *h);

#endif
