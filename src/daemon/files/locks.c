/* Who has a file open, as far as locks and leases of the kernel tell. */
#include "daemon/files/locks.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "daemon/files/files.h"

#include <errno.h>
#include <fcntl.h>

/* Who may not read `held`, but owns it, may for a moment. */
static int open_held(int held, const struct stat *st)
{
	int fd = leat_beneath_reopen(held, O_RDONLY);

	if (fd == -EACCES && leat_beneath_chmod(held, (st->st_mode & 07777) | 0400) == 0) {
		fd = leat_beneath_reopen(held, O_RDONLY);
		leat_beneath_chmod(held, st->st_mode & 07777);
	}
	return fd;
}

int leat_open_hard(int top, const char *path)
{
	struct stat st;
	int held = leat_beneath_hold_regular(top, path, &st), fd;

	if (held < 0)
		return held;
	fd = open_held(held, &st);
	leat_close(&held);
	return fd;
}

int leat_open_seen(struct leat_daemon *d, enum leat_root root, int dir, const char *name)
{
	int fd = -EACCES;

	if (root == LEAT_ROOT_STORE && !leat_tree_is_distrusted(d->tree))
		fd = leat_beneath_open(dir, name, O_RDONLY, 0);
	return fd == -EACCES ? leat_open_hard(dir, name) : fd;
}

int leat_open_stored(struct leat_daemon *d, const struct leat_file *f)
{
	struct stat st;
	int fd;

	if (leat_tree_is_distrusted(d->tree) || leat_rule_root(d, f->rule) != LEAT_ROOT_STORE ||
	    f->adopted)
		return -1;
	fd = leat_beneath_open(leat_tree_fd(d->tree, LEAT_ROOT_STORE), f->name, O_RDONLY, 0);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	leat_close(&fd);
	return -1;
}

int leat_is_locked(int fd, uint64_t byte)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};

	return fcntl(fd, F_OFD_GETLK, &lock) < 0 ? -errno : lock.l_type != F_UNLCK;
}

/* Does anybody have the file open for writing? fcntl(2): then there is no read lease. Where there
 * are no leases, or not for the daemon, nobody has. */
bool leat_is_written(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

bool leat_is_open_elsewhere(int fd)
{
	/* fcntl(2): a write lease is given only to the sole opener. */
	if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
		return true;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}
