#include "preload/hooks/stat_shown.h"

#include "preload/connection/client.h"
#include "preload/core/call.h"

#include <fcntl.h>

/* A huge page is no good size for a buffer of stdio's. */
#define MAX_BLOCK 65536

/* What a directory takes on a disk. That of one in memory depends on how many names are in it, and
 * is no sum of blocks: programs that add up sizes, or divide by them, do not expect it. */
enum { DIRECTORY_BYTES = 4096, DIRECTORY_BLOCKS = DIRECTORY_BYTES / 512 };

/* What is in memory is shown on the device of the workflow's directory: programs that stay on one
 * file system (find -xdev, du -x, tar --one-file-system, git) would leave it out. Its number is
 * then none that a file on disk has, and one that a double holds. */
#define STORE_INODES (UINT64_C(1) << 48)

/* The link count of a directory that is the union of two says nothing; 1 is what
 * file systems show that do not count. */
void leat_show_stat(struct stat *st)
{
	const struct leat_server_info *w = leat_server_known();

	if (S_ISREG(st->st_mode) && st->st_blksize > MAX_BLOCK)
		st->st_blksize = MAX_BLOCK;
	if (S_ISDIR(st->st_mode))
		st->st_nlink = 1;
	if (!w || st->st_dev != w->store_dev)
		return;
	st->st_dev = w->dir_dev;
	st->st_ino |= STORE_INODES;
	if (S_ISDIR(st->st_mode)) {
		st->st_size = DIRECTORY_BYTES;
		st->st_blocks = DIRECTORY_BLOCKS;
	}
}

/* As makedev(3), major and minor, which are no functions of ours. */
static uint64_t device_of(const struct statx *st)
{
	uint64_t major = st->stx_dev_major, minor = st->stx_dev_minor;

	return (major & 0xfff) << 8 | (major & ~UINT64_C(0xfff)) << 32 | (minor & 0xff) |
	       (minor & ~UINT64_C(0xff)) << 12;
}

static void set_device(struct statx *st, uint64_t device)
{
	st->stx_dev_major = (uint32_t)((device >> 8 & 0xfff) | (device >> 32 & ~UINT64_C(0xfff)));
	st->stx_dev_minor = (uint32_t)((device & 0xff) | (device >> 12 & ~UINT64_C(0xff)));
}

void leat_show_statx(struct statx *st)
{
	const struct leat_server_info *w = leat_server_known();

	if (S_ISREG(st->stx_mode) && st->stx_blksize > MAX_BLOCK)
		st->stx_blksize = MAX_BLOCK;
	if (S_ISDIR(st->stx_mode))
		st->stx_nlink = 1;
	if (!w || device_of(st) != w->store_dev)
		return;
	set_device(st, w->dir_dev);
	st->stx_ino |= STORE_INODES;
	if (S_ISDIR(st->stx_mode)) {
		st->stx_size = DIRECTORY_BYTES;
		st->stx_blocks = DIRECTORY_BLOCKS;
	}
}

/* ---- a directory that is on disk and in the store ----
 * What leat does on disk is not to be seen: its times are those that it has in the store. */

static bool find_half(const char *path, struct stat *half)
{
	const struct leat_server_info *w = leat_server_known();
	uint64_t seen;

	if (!w)
		return false;
	do {
		seen = leat_shm_ctimes_seen(w->shm);
		if (raw(SYS_newfstatat, w->store_fd, path, half, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISDIR(half->st_mode))
			return false;
	} while (!leat_shm_ctime_show(w->shm, seen, half));
	return true;
}

static void take_times(struct stat *st, const struct stat *half)
{
	st->st_atim = half->st_atim;
	st->st_mtim = half->st_mtim;
	st->st_ctim = half->st_ctim;
	st->st_size = DIRECTORY_BYTES;
	st->st_blocks = DIRECTORY_BLOCKS;
}

static struct statx_timestamp of_timespec(struct timespec t)
{
	return (struct statx_timestamp){.tv_sec = t.tv_sec, .tv_nsec = (uint32_t)t.tv_nsec};
}

static void take_times_x(struct statx *st, const struct stat *half)
{
	st->stx_atime = of_timespec(half->st_atim);
	st->stx_mtime = of_timespec(half->st_mtim);
	st->stx_ctime = of_timespec(half->st_ctim);
	st->stx_size = DIRECTORY_BYTES;
	st->stx_blocks = DIRECTORY_BLOCKS;
}

void leat_show_half(const char *path, struct stat *st, struct statx *stx)
{
	struct stat half;

	if (!find_half(path, &half))
		return;
	if (st)
		take_times(st, &half);
	else
		take_times_x(stx, &half);
}

/* ---- times of change ---- */

static struct timespec to_timespec(struct statx_timestamp t)
{
	return (struct timespec){.tv_sec = t.tv_sec, .tv_nsec = t.tv_nsec};
}

bool leat_show_ctime_x(const struct leat_shm *shm, uint64_t seen, struct statx *st)
{
	struct leat_shm_inode i = {.device = device_of(st),
				   .inode = st->stx_ino,
				   .mtime = to_timespec(st->stx_mtime),
				   .ctime = to_timespec(st->stx_ctime)};
	bool is_sure;

	if (!leat_shm_ctimes_seen(shm))
		return true;
	is_sure = leat_shm_ctime_find(shm, seen, &i);
	st->stx_mtime = of_timespec(i.mtime);
	st->stx_ctime = of_timespec(i.ctime);
	return is_sure;
}
