/* What tells one file from another at the same name. */
#include "mount/names/identity.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

int leat_identify(int dirfd, const char *path, struct stat *st, struct leat_identity *id)
{
	struct statx x;

	if (statx(dirfd, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH,
		  STATX_BASIC_STATS | STATX_BTIME, &x) < 0)
		return -errno;
	*st = (struct stat){.st_dev = makedev(x.stx_dev_major, x.stx_dev_minor),
			    .st_ino = x.stx_ino,
			    .st_mode = x.stx_mode,
			    .st_nlink = x.stx_nlink,
			    .st_uid = x.stx_uid,
			    .st_gid = x.stx_gid,
			    .st_rdev = makedev(x.stx_rdev_major, x.stx_rdev_minor),
			    .st_size = (off_t)x.stx_size,
			    .st_blksize = (blksize_t)x.stx_blksize,
			    .st_blocks = (blkcnt_t)x.stx_blocks,
			    .st_atim = {x.stx_atime.tv_sec, x.stx_atime.tv_nsec},
			    .st_mtim = {x.stx_mtime.tv_sec, x.stx_mtime.tv_nsec},
			    .st_ctim = {x.stx_ctime.tv_sec, x.stx_ctime.tv_nsec}};
	*id = (struct leat_identity){.dev = st->st_dev, .ino = st->st_ino};
	if (x.stx_mask & STATX_BTIME)
		id->born_ns = (uint64_t)x.stx_btime.tv_sec * 1000000000u + x.stx_btime.tv_nsec;
	return 0;
}
