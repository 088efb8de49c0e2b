/* Reads and writes. */
#include "mount/daemon/wait.h"
#include "mount/files/handle.h"
#include "mount/files/migrate.h"
#include "mount/files/open_files.h"
#include "mount/files/write.h"
#include "mount/names/handle.h"
#include "mount/ops/ops.h"
#include "mount/record/record.h"

#include "client/reading.h"
#include "shm/extents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* From here on a read of a final file is answered from a mapping of it: one copy less. */
#define MAP_FROM_BYTES (64u << 10)

/* What the kernel reads for a mapping it reads by whole pages: the program sees no more of them
 * than the size it was shown. */
static void note_read(struct leat_handle *h, uint64_t offset, uint64_t length, uint64_t asked,
		      bool pages)
{
	uint64_t end = offset + length;

	pthread_mutex_lock(&h->m->lock);
	if (h->sized && pages && offset < h->size_seen && end >= h->size_seen) {
		h->trusted = true;
		end = h->size_seen;
	} else if (h->sized && leat_read_trusts_size(h->size_seen, h->read_end, offset, asked)) {
		h->trusted = true;
	}
	if (length && end > h->read_end)
		h->read_end = end;
	pthread_mutex_unlock(&h->m->lock);
}

/* A short count is the truth only of a file that was final before: else the file was cut, and the
 * rest is still to come. */
static ssize_t read_growing(struct leat_mount_call *call, struct leat_handle *h, char *out,
			    size_t size, uint64_t offset, bool pages)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);
	size_t done = 0;
	bool final;

	for (;;) {
		int rc = leat_mount_wait_covered(call, h->slot, offset + done, size - done, &final);
		ssize_t n;

		if (rc)
			return done ? (ssize_t)done : rc;
		/* What was written there since it moved was published after that. */
		rc = leat_handle_migrate(call, h, false);
		if (rc)
			return done ? (ssize_t)done : rc;
		if (f)
			leat_shm_about_to_read(f, offset + done, size - done);
		n = leat_mount_pread(call, h->fd, out + done, size - done, (off_t)(offset + done));
		if (n < 0)
			return done ? (ssize_t)done : -errno;
		note_read(h, offset + done, (uint64_t)n, done ? 0 : size, pages);
		done += (size_t)n;
		if (final || !f || done == size)
			return (ssize_t)done;
		if (!n)
			leat_shm_wait(f, leat_shm_seq(f), UINT64_MAX, 1000000);
	}
}

static void count_read(struct leat_mount_call *call, ssize_t n)
{
	if (n <= 0)
		return;
	leat_shm_count(&leat_mount_step(call)->bytes_in, (uint64_t)n);
	leat_shm_count(&leat_mount_step(call)->reads, 1);
	leat_limit_hold(leat_mount_limit(call), (uint64_t)n);
}

/* What the kernel reads for a mapping is reported as that. */
static void record_read(struct leat_mount_call *call, const struct leat_handle *h, ssize_t n,
			size_t size, off_t offset, bool pages)
{
	leat_record_moved(call, h, pages ? LEAT_TRACE_MAP : LEAT_TRACE_READ, n, (uint64_t)offset,
			  size, pages ? PROT_READ : 0);
}

static void read_copied(struct leat_mount_call *call, struct leat_handle *h, size_t size,
			off_t offset, bool pages)
{
	char *out = malloc(size);
	ssize_t n = out ? leat_handle_migrate(call, h, false) : -ENOMEM;

	if (n)
		goto reply;
	if (leat_handle_is_final(call, h) && !h->sized) {
		n = leat_mount_pread(call, h->fd, out, size, offset);
		n = n < 0 ? -errno : n;
	} else {
		n = read_growing(call, h, out, size, (uint64_t)offset, pages);
	}
reply:
	count_read(call, n);
	leat_handle_note_read(call, h, n, size, (uint64_t)offset);
	record_read(call, h, n, size, offset, pages);
	if (n < 0)
		fuse_reply_err(call->req, (int)-n);
	else
		fuse_reply_buf(call->req, out, (size_t)n);
	free(out);
}

/* A committed file does not change its length any more. */
static bool is_mapped(struct leat_mount_call *call, struct leat_handle *h)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);
	struct stat st;
	void *map;

	if (!f ||
	    (leat_shm_flags(f) & (LEAT_SHM_COMMITTED | LEAT_SHM_FAILED)) != LEAT_SHM_COMMITTED ||
	    h->sized || (h->flags & O_ACCMODE) != O_RDONLY)
		return false;
	pthread_mutex_lock(&h->m->lock);
	if (!h->map && fstat(h->fd, &st) == 0 && st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, h->fd, 0);
		if (map != MAP_FAILED) {
			h->map = map;
			h->map_size = (size_t)st.st_size;
		}
	}
	pthread_mutex_unlock(&h->m->lock);
	return h->map != NULL;
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		    struct fuse_file_info *fi)
{
	struct leat_handle *h = leat_handle_of(fi);
	struct leat_mount_call call;
	size_t left;
	int rc = leat_mount_call_init(&call, req);

	(void)ino;
	if (rc) {
		fuse_reply_err(req, -rc);
	} else if (size >= MAP_FROM_BYTES && is_mapped(&call, h) && (size_t)offset < h->map_size) {
		left = h->map_size - (size_t)offset;
		left = size < left ? size : left;
		count_read(&call, (ssize_t)left);
		leat_handle_note_read(&call, h, (ssize_t)left, size, (uint64_t)offset);
		record_read(&call, h, (ssize_t)left, size, offset, !fi->lock_owner);
		fuse_reply_buf(req, h->map + offset, left);
	} else {
		/* A read of the program's own has its owner of locks with it. */
		read_copied(&call, h, size, offset, !fi->lock_owner);
	}
}

/* The program may have it begin, or cease, to append (fcntl F_SETFL), which only a write tells. */
static void follow_flags(struct leat_handle *h, int flags)
{
	int own;

	pthread_mutex_lock(&h->m->lock);
	own = (h->flags ^ flags) & O_APPEND ? fcntl(h->fd, F_GETFL) : -1;
	if (own >= 0 && fcntl(h->fd, F_SETFL, own ^ O_APPEND) == 0)
		h->flags ^= O_APPEND;
	pthread_mutex_unlock(&h->m->lock);
}

/* Where an append went is where the file ends, less what was written. */
static void record_write(struct leat_mount_call *call, const struct leat_handle *h, ssize_t n,
			 size_t size, off_t offset, bool mapped)
{
	struct stat st;

	if (n > 0 && !mapped && h->record_id && h->flags & O_APPEND &&
	    leat_mount_fstat(call, h->slot, h->fd, &st) == 0 && st.st_size >= n)
		offset = st.st_size - n;
	leat_record_moved(call, h, mapped ? LEAT_TRACE_MAP : LEAT_TRACE_WRITE, n, (uint64_t)offset,
			  size, mapped ? PROT_WRITE : 0);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset,
		     struct fuse_file_info *fi)
{
	struct leat_mount_call call;
	ssize_t n = leat_mount_call_init(&call, req);

	(void)ino;
	/* What comes from a mapping comes by any descriptor. */
	if (!n && !fi->writepage)
		follow_flags(leat_handle_of(fi), fi->flags);
	if (!n)
		n = leat_handle_write(&call, leat_handle_of(fi), data, size, (uint64_t)offset,
				      fi->writepage);
	if (n > 0)
		leat_limit_hold(leat_mount_limit(&call), (uint64_t)n);
	record_write(&call, leat_handle_of(fi), n, size, offset, fi->writepage);
	if (n < 0)
		fuse_reply_err(req, (int)-n);
	else
		fuse_reply_write(req, (size_t)n);
}

void leat_ops_add_data(struct fuse_lowlevel_ops *ops)
{
	ops->read = op_read;
	ops->write = op_write;
}
