/* Files that somebody writes past everybody who could ask for room: they go to disk first. */
#include "daemon/space/spill.h"

#include <errno.h>

int leat_spill_aside(struct leat_daemon *d, struct leat_file *f, pid_t pid, uint64_t attempt)
{
	struct leat_shm_file *s = leat_file_shm(d, f);
	enum leat_root root;
	struct stat st;
	int rc;

	if (f->move)
		return -EAGAIN;
	if (f->retired || !leat_tree_has_ours(d->tree, f->name, &root, &st) ||
	    root != LEAT_ROOT_STORE || !leat_spill_may_move(d, root, 0))
		return 0;
	if (leat_shm_flags(s) & LEAT_SHM_DROP) /* what is left of it is kept from now on */
		leat_shm_retain(s);
	rc = leat_spill_move_itself(d, f, attempt >= LEAT_SPILL_ATTEMPTS, pid);
	return !rc || (rc == -EBUSY && attempt < LEAT_SPILL_ATTEMPTS) ? -EAGAIN : 0;
}
