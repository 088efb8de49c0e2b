#include "resume/internal.h"

#include "base/beneath.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static void from_stat(const struct stat *st, struct leat_stamp *out)
{
	*out = (struct leat_stamp){.size_bytes = (uint64_t)st->st_size,
				   .mtime_ns = st->st_mtim.tv_sec * (int64_t)1000000000 +
					       st->st_mtim.tv_nsec,
				   .inode = st->st_ino};
}

int leat_stamp_take(int dir_fd, const char *name, struct leat_stamp *out)
{
	struct stat st;

	/* A link that leads to no file is looked at itself. */
	if ((fstatat(dir_fd, name, &st, 0) < 0 || S_ISDIR(st.st_mode)) &&
	    fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	from_stat(&st, out);
	return 0;
}

static bool looks_same(const struct leat_stamp *a, const struct leat_stamp *b)
{
	return a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns && a->inode == b->inode;
}

/* Hash the file if it is, before and after, what the stamp says. */
static bool hash_file(int fd, const struct leat_stamp *stamp, uint64_t *hash)
{
	char *data = malloc(stamp->size_bytes + 1);
	struct leat_stamp now;
	struct stat st;
	bool good = false;

	if (!data)
		return false;
	/* One byte more than there should be: it must not be there. */
	if (leat_read_all(fd, data, stamp->size_bytes + 1) == (long)stamp->size_bytes &&
	    fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		from_stat(&st, &now);
		good = looks_same(stamp, &now);
		*hash = XXH3_64bits(data, stamp->size_bytes);
	}
	free(data);
	return good;
}

void leat_stamp_hash(int dir_fd, const char *name, struct leat_stamp *stamp)
{
	int held, fd = -1;
	struct stat st;

	if (stamp->hashed || stamp->size_bytes > LEAT_STAMP_HASH_BYTES)
		return;
	/* Also by a symlink; but to open a device may do something. */
	held = openat(dir_fd, name, O_PATH | O_CLOEXEC);
	if (held >= 0 && fstat(held, &st) == 0 && S_ISREG(st.st_mode))
		fd = leat_beneath_reopen(held, O_RDONLY);
	if (fd >= 0)
		stamp->hashed = hash_file(fd, stamp, &stamp->hash);
	if (fd >= 0)
		leat_close(&fd);
	leat_close(&held);
}

bool leat_stamp_same(int dir_fd, const char *name, const struct leat_stamp *then,
		     const struct leat_stamp *now)
{
	struct leat_stamp copy = *now;

	if (looks_same(then, now))
		return true;
	if (then->size_bytes != now->size_bytes || !then->hashed)
		return false;
	copy.hashed = false;
	leat_stamp_hash(dir_fd, name, &copy);
	return copy.hashed && copy.hash == then->hash;
}
