/* Reads and writes. Files are opened for direct I/O, so that each call of a program is one request
 * (of up to 1 MiB; longer ones are several). What comes without the program's call are pages of a
 * mapping. */
#include "trace/fuse/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		    struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	struct overlay *o = overlay_of(req);
	struct moment m = moment_of(req);
	char *bytes = malloc(size ? size : 1);
	ssize_t n = bytes ? pread(h->fd, bytes, size, offset) : -1;
	int64_t result = n < 0 ? -errno : n;

	(void)ino;
	/* A read of the program's own has its owner of locks with it. */
	if (fi->lock_owner)
		record_data(o, &m, h, LEAT_TRACE_READ, result, (uint64_t)offset, size, h->flags);
	else
		record_data(o, &m, h, LEAT_TRACE_MAP, result < 0 ? result : 0, (uint64_t)offset,
			    size, PROT_READ);
	if (n < 0)
		fuse_reply_err(req, (int)-result);
	else
		fuse_reply_buf(req, bytes, (size_t)n);
	free(bytes);
}

/* Whether a write appends may change while a file is open: the kernel says it with each. A page of
 * a mapping goes where it belongs in any case. */
static ssize_t write_bytes(const struct handle *h, const struct fuse_file_info *fi,
			   const char *bytes, size_t size, off_t offset)
{
	struct iovec iov = {(void *)(uintptr_t)bytes, size};

	if (fi->writepage || !(fi->flags & O_APPEND))
		return pwrite(h->fd, bytes, size, offset);
	return pwritev2(h->fd, &iov, 1, offset, RWF_APPEND);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t offset,
		     struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	struct overlay *o = overlay_of(req);
	struct moment m = moment_of(req);
	ssize_t n = write_bytes(h, fi, bytes, size, offset);
	int64_t result = n < 0 ? -errno : n;
	struct stat st;

	(void)ino;
	/* Where an append went is where the file ends, less what was written. */
	if (n > 0 && !fi->writepage && fi->flags & O_APPEND && fstat(h->fd, &st) == 0 &&
	    st.st_size >= n)
		offset = st.st_size - n;
	if (fi->writepage)
		record_data(o, &m, h, LEAT_TRACE_MAP, result < 0 ? result : 0, (uint64_t)offset,
			    size, PROT_WRITE);
	else
		record_data(o, &m, h, LEAT_TRACE_WRITE, result, (uint64_t)offset, size, h->flags);
	if (n < 0)
		fuse_reply_err(req, (int)-result);
	else
		fuse_reply_write(req, (size_t)n);
}

/* Both sides of it, as of a read and a write. */
static void op_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
			       struct fuse_file_info *fi_in, fuse_ino_t ino_out, off_t off_out,
			       struct fuse_file_info *fi_out, size_t size, int flags)
{
	struct handle *in = handle_of(fi_in), *out = handle_of(fi_out);
	struct overlay *o = overlay_of(req);
	struct moment m = moment_of(req);
	off_t from = off_in, to = off_out;
	ssize_t n = copy_file_range(in->fd, &from, out->fd, &to, size, (unsigned)flags);
	int64_t result = n < 0 ? -errno : n;

	(void)ino_in;
	(void)ino_out;
	/* The kernel then copies by reads and writes, which are recorded themselves. */
	if (result == -EXDEV || result == -EOPNOTSUPP || result == -ENOSYS || result == -EINVAL) {
		fuse_reply_err(req, EOPNOTSUPP);
		return;
	}
	record_data(o, &m, in, LEAT_TRACE_READ, result, (uint64_t)off_in, size, in->flags);
	record_data(o, &m, out, LEAT_TRACE_WRITE, result, (uint64_t)off_out, size, out->flags);
	if (n < 0)
		fuse_reply_err(req, (int)-result);
	else
		fuse_reply_write(req, (size_t)n);
}

void ops_add_data(struct fuse_lowlevel_ops *ops)
{
	ops->read = op_read;
	ops->write = op_write;
	ops->copy_file_range = op_copy_file_range;
}
