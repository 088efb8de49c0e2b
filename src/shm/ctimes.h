/* Times of change (ctime) that are shown in place of those that inodes have. When leat moves a file
 * between memory and disk, the file gets another inode, and the directory it was in is changed; no
 * program can set a time of change back. The daemon notes here what such inodes are shown with, and
 * clients put that into what stat(2) says, as long as nobody else has changed the inode: what a
 * program does to it is shown truly.
 *
 * A cache: of very many inodes those that were noted the longest time ago are forgotten, and are
 * shown with the times that they have. Clients can write it, so that nothing of it is more than
 * something to show. Source: ours; sequence locks as in shm/extents.h. */
#ifndef LEAT_SHM_CTIMES_H
#define LEAT_SHM_CTIMES_H

#include "shm/state.h"

#include <time.h>

/* An inode, and the times that the kernel has of it. */
struct leat_shm_inode {
	uint64_t device;
	uint64_t inode;
	struct timespec mtime, ctime;
};

/* --- daemon side (one thread at a time) --- */

/* Before the daemon changes the inode, which is as `i` says, or gives it a name: it is shown with
 * the time of change `shown`, which is what it was shown with before, until leat_shm_ctime_settle.
 * `mtime`: so it is with the mtime of `i`, which the daemon puts back. */
void leat_shm_ctime_hold(struct leat_shm *shm, const struct leat_shm_inode *i,
			 struct timespec shown, bool mtime);

/* Afterwards it is as `i` says: so long it is shown as it was held. */
void leat_shm_ctime_settle(struct leat_shm *shm, const struct leat_shm_inode *i);

/* --- any side (any thread, async-signal-safe, errno untouched) --- */

/* To be asked before an inode is looked at. 0: so far all are shown with the times they have. */
static inline uint64_t leat_shm_ctimes_seen(const struct leat_shm *shm)
{
	return atomic_load_explicit(&shm->ctimes_changes, memory_order_acquire);
}

/* Then the inode was looked at, and is as `i` says, which gets the times that are shown. False: the
 * daemon was just at it; look again. */
bool leat_shm_ctime_find(const struct leat_shm *shm, uint64_t seen, struct leat_shm_inode *i);

/* The same for what stat(2) has said, put into it. */
static inline bool leat_shm_ctime_show(const struct leat_shm *shm, uint64_t seen, struct stat *st)
{
	struct leat_shm_inode i = {.device = st->st_dev,
				   .inode = st->st_ino,
				   .mtime = st->st_mtim,
				   .ctime = st->st_ctim};
	bool is_sure;

	if (!leat_shm_ctimes_seen(shm))
		return true;
	is_sure = leat_shm_ctime_find(shm, seen, &i);
	st->st_mtim = i.mtime;
	st->st_ctim = i.ctime;
	return is_sure;
}

#endif
