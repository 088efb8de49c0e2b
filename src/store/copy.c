#include "store/copy.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define CHUNK (1u << 20)
/* So much is written in one go where it is brought to disk meanwhile. */
#define PIECE ((off_t)8 << 20)
/* What writes that go past the page cache have to be multiples of, and lie at. */
#define ALIGNED ((off_t)4096)

/* For file systems that can neither copy_file_range nor sendfile. */
static int copy_by_hand(int in, int out, off_t at, off_t end)
{
	char *buffer = malloc(CHUNK);
	int rc = buffer ? 0 : -ENOMEM;

	while (!rc && at < end) {
		size_t want = end - at < (off_t)CHUNK ? (size_t)(end - at) : CHUNK;
		ssize_t n = pread(in, buffer, want, at);

		if (n < 0)
			rc = errno == EINTR ? 0 : -errno;
		else if (n == 0)
			break;
		else
			rc = leat_write_all(out, buffer, (size_t)n);
		at += n > 0 ? n : 0;
	}
	free(buffer);
	return rc;
}

/* An error of writing is reported once: here, or never. */
static int sync_range(int out, off_t at, off_t end, unsigned flags)
{
	return sync_file_range(out, at, end - at, flags) < 0 && errno != EINVAL &&
			       errno != ESPIPE && errno != ENOSYS
		       ? -errno
		       : 0;
}

/* Begin to bring [at, end) to disk, and wait for the piece before it: no more than two are dirty.
 */
static int write_back(int out, off_t at, off_t end)
{
	off_t before = at > PIECE ? at - PIECE : 0;
	int rc = sync_range(out, at, end, SYNC_FILE_RANGE_WRITE);

	if (rc || before == at)
		return rc;
	return sync_range(out, before, at,
			  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
				  SYNC_FILE_RANGE_WAIT_AFTER);
}

/* Copies [at, end); the file may be shorter by now, which ends it early. */
static int copy_range(int in, int out, off_t at, off_t end)
{
	if (lseek(out, at, SEEK_SET) < 0)
		return -errno;
	while (at < end) {
		ssize_t n = copy_file_range(in, &at, out, NULL, (size_t)(end - at), 0);

		if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS ||
			      errno == EOPNOTSUPP || errno == EIO))
			n = sendfile(out, in, &at, (size_t)(end - at));
		if (n < 0 && (errno == EINVAL || errno == ENOSYS))
			return copy_by_hand(in, out, at, end);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
	}
	return 0;
}

/* Write what is mapped at `from` past the page cache; how far it came. Whatever is the matter, who
 * goes on there in another way finds it out. */
static off_t write_direct(int out, const char *from, off_t at, off_t end)
{
	int flags = fcntl(out, F_GETFL);

	if (flags < 0 || fcntl(out, F_SETFL, flags | O_DIRECT) < 0)
		return at;
	while (at < end) {
		off_t want = end - at < PIECE ? end - at : PIECE;
		ssize_t n = pwrite(out, from, (size_t)want, at);

		if (n > 0) {
			at += n;
			from += n;
		}
		if (n != want && !(n < 0 && errno == EINTR))
			break;
	}
	/* Others are given this description. */
	fcntl(out, F_SETFL, flags);
	return at / ALIGNED * ALIGNED;
}

/* The whole pages of [at, end), without memory of its own: the pages of `in` are what is written.
 */
static off_t copy_direct(int in, int out, off_t at, off_t end)
{
	size_t size = (size_t)(end / ALIGNED * ALIGNED - at);
	void *from;

	if (at % ALIGNED || end < at + ALIGNED)
		return at;
	from = mmap(NULL, size, PROT_READ, MAP_SHARED, in, at);
	if (from == MAP_FAILED)
		return at;
	at = write_direct(out, from, at, at + (off_t)size);
	munmap(from, size);
	return at;
}

static int copy_part(int in, int out, off_t at, off_t end, enum leat_copy how)
{
	int rc = 0;

	if (how == LEAT_COPY_FAST)
		return copy_range(in, out, at, end);
	if (how == LEAT_COPY_DIRECT)
		at = copy_direct(in, out, at, end);
	while (!rc && at < end) {
		off_t next = end - at > PIECE ? at + PIECE : end;

		rc = copy_range(in, out, at, next);
		if (!rc)
			rc = write_back(out, at, next);
		at = next;
	}
	return rc;
}

int leat_copy_data(int in, int out, uint64_t size, enum leat_copy how)
{
	const off_t end = (off_t)size;
	off_t at = 0;
	int rc = 0;

	if (how == LEAT_COPY_EVENLY && end <= PIECE)
		how = LEAT_COPY_FAST; /* of one piece the fsync that follows is the one call */
	while (!rc && at < end) {
		off_t data = lseek(in, at, SEEK_DATA);
		off_t hole;

		if (data < 0 && errno == ENXIO)
			break;
		if (data < 0)
			return copy_part(in, out, 0, end, how);
		hole = lseek(in, data, SEEK_HOLE);
		if (hole < 0 || hole > end)
			hole = end;
		if (data < end)
			rc = copy_part(in, out, data, hole, how);
		at = hole;
	}
	if (!rc && ftruncate(out, end) < 0)
		rc = -errno;
	return rc;
}

int leat_copy_meta(int in, int out, const struct stat *st, enum leat_list list, const char *name)
{
	mode_t mode = st->st_mode & 07777;
	struct stat now;
	int rc;

	if (fstat(out, &now) < 0)
		return -errno;
	if ((now.st_uid != st->st_uid || now.st_gid != st->st_gid) &&
	    fchown(out, st->st_uid, st->st_gid) < 0 && errno != EPERM && errno != EINVAL)
		return -errno;
	/* A change of the owner takes capabilities away; the mode may forbid to set attributes, and
	 * an access control list changes it. */
	rc = leat_copy_xattrs(in, out, list, name, &mode);
	if (rc)
		return rc;
	if (fchmod(out, mode) < 0)
		return -errno;
	return futimens(out, (struct timespec[]){st->st_atim, st->st_mtim}) < 0 ? -errno : 0;
}
