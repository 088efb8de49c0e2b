/* Directories. */
#include "trace/fuse/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A directory that is read: whose entry is next. */
struct listing {
	DIR *dir; /* owned */
	struct dirent *entry;
	off_t offset;
};

static struct listing *listing_of(const struct fuse_file_info *fi)
{
	return (struct listing *)(uintptr_t)fi->fh;
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct overlay *o = overlay_of(req);
	struct listing *l = calloc(1, sizeof(*l));
	int fd, error = ENOMEM;

	fd = l ? openat(node_fd(node_of(o, ino)), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (l && fd < 0)
		error = errno;
	if (fd >= 0) {
		l->dir = fdopendir(fd);
		if (!l->dir)
			close(fd);
	}
	if (!l || !l->dir) {
		free(l);
		fuse_reply_err(req, error);
		return;
	}
	fi->fh = (uint64_t)(uintptr_t)l;
	fuse_reply_open(req, fi);
}

/* As many as fit. Bytes used. */
static size_t fill(fuse_req_t req, struct listing *l, char *bytes, size_t size)
{
	size_t used = 0, n;

	for (;;) {
		struct stat st = {0};

		if (!l->entry) {
			errno = 0;
			l->entry = readdir(l->dir);
			if (!l->entry)
				return used;
		}
		st.st_ino = l->entry->d_ino;
		st.st_mode = (mode_t)l->entry->d_type << 12;
		n = fuse_add_direntry(req, bytes + used, size - used, l->entry->d_name, &st,
				      l->entry->d_off);
		if (n > size - used)
			return used; /* it stays for the next request */
		used += n;
		l->offset = l->entry->d_off;
		l->entry = NULL;
	}
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	struct listing *l = listing_of(fi);
	char *bytes = malloc(size);
	size_t n;

	(void)ino;
	if (!bytes) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	if (offset != l->offset) {
		seekdir(l->dir, offset);
		l->entry = NULL;
		l->offset = offset;
	}
	errno = 0;
	n = fill(req, l, bytes, size);
	if (!n && errno)
		fuse_reply_err(req, errno);
	else
		fuse_reply_buf(req, bytes, n);
	free(bytes);
}

static void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct listing *l = listing_of(fi);

	(void)ino;
	closedir(l->dir);
	free(l);
	fuse_reply_err(req, 0);
}

static void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	int fd = dirfd(listing_of(fi)->dir);

	(void)ino;
	fuse_reply_err(req, (datasync ? fdatasync(fd) : fsync(fd)) < 0 ? errno : 0);
}

void ops_add_directories(struct fuse_lowlevel_ops *ops)
{
	ops->opendir = op_opendir;
	ops->readdir = op_readdir;
	ops->releasedir = op_releasedir;
	ops->fsyncdir = op_fsyncdir;
}
