/* Operations on the bytes of open files. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void say_read(struct world *w, long n, const char *bytes)
{
	if (result(w, n) > 0)
		say(w, " %08llx", (unsigned long long)digest(bytes, (size_t)n));
}

/* Their offsets, and with them some errors, are the file system's own. */
static bool is_directory(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

static void do_read(struct world *w)
{
	int fd = pick_fd(w);
	size_t length = pick_length(w);

	if (is_directory(fd))
		return;
	say(w, "read(%d, %zu)", fd, length);
	say_read(w, read(fd, w->bytes, length), w->bytes);
}

static void do_pread(struct world *w)
{
	int fd = pick_fd(w);
	size_t length = pick_length(w);
	off_t offset = pick_offset(w);

	say(w, "pread(%d, %zu, %lld)", fd, length, (long long)offset);
	say_read(w, pread(fd, w->bytes, length, offset), w->bytes);
}

/* Three parts of `length`, one of them perhaps empty. */
static void cut(struct world *w, struct iovec iov[3], size_t length)
{
	size_t one = length ? pick(w, length) : 0, two = length - one ? pick(w, length - one) : 0;

	iov[0] = (struct iovec){w->bytes, one};
	iov[1] = (struct iovec){w->bytes + one, two};
	iov[2] = (struct iovec){w->bytes + one + two, length - one - two};
}

static void do_readv(struct world *w)
{
	struct iovec iov[3];
	int fd = pick_fd(w);
	size_t length = pick_length(w);
	off_t offset = pick_offset(w);

	cut(w, iov, length);
	if (is_directory(fd))
		return;
	switch (pick(w, 3)) {
	case 0:
		say(w, "readv(%d, %zu)", fd, length);
		say_read(w, readv(fd, iov, 3), w->bytes);
		break;
	case 1:
		say(w, "preadv(%d, %zu, %lld)", fd, length, (long long)offset);
		say_read(w, preadv(fd, iov, 3, offset), w->bytes);
		break;
	default:
		offset = chance(w, 40) ? -1 : offset;
		say(w, "preadv2(%d, %zu, %lld)", fd, length, (long long)offset);
		say_read(w, preadv2(fd, iov, 3, offset, 0), w->bytes);
	}
}

static void do_write(struct world *w)
{
	int fd = pick_fd(w);
	size_t length = pick_length(w);

	fill(w, length);
	say(w, "write(%d, %zu)", fd, length);
	result(w, write(fd, w->bytes, length));
}

static void do_pwrite(struct world *w)
{
	int fd = pick_fd(w);
	size_t length = pick_length(w);
	off_t offset = pick_offset(w);

	fill(w, length);
	say(w, "pwrite(%d, %zu, %lld)", fd, length, (long long)offset);
	result(w, pwrite(fd, w->bytes, length, offset));
}

static void do_writev(struct world *w)
{
	struct iovec iov[3];
	int fd = pick_fd(w), flags = chance(w, 50) ? RWF_APPEND : 0;
	size_t length = pick_length(w);
	off_t offset = pick_offset(w);

	fill(w, length);
	cut(w, iov, length);
	switch (pick(w, 3)) {
	case 0:
		say(w, "writev(%d, %zu)", fd, length);
		result(w, writev(fd, iov, 3));
		break;
	case 1:
		say(w, "pwritev(%d, %zu, %lld)", fd, length, (long long)offset);
		result(w, pwritev(fd, iov, 3, offset));
		break;
	default:
		offset = chance(w, 40) ? -1 : offset;
		say(w, "pwritev2(%d, %zu, %lld, %d)", fd, length, (long long)offset, flags);
		result(w, pwritev2(fd, iov, 3, offset, flags));
	}
}

/* The last data before `from` may end anywhere as far as the file system is concerned; what
 * matters is that no byte is taken for a hole. */
static void check_hole(struct world *w, int fd, off_t from, off_t to)
{
	ssize_t n =
		pread(fd, w->bytes, (size_t)(to - from < MAX_BYTES ? to - from : MAX_BYTES), from);

	for (ssize_t i = 0; i < n; i++)
		if (w->bytes[i]) {
			say(w, " data in a hole");
			return;
		}
}

static void do_seek_data(struct world *w, int fd, off_t offset)
{
	struct stat st;
	off_t size, at;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	size = st.st_size;
	at = lseek(fd, offset, SEEK_DATA);
	say(w, "lseek(%d, %lld, SEEK_DATA)", fd, (long long)offset);
	if (offset < 0 || offset >= size)
		result(w, at);
	else
		check_hole(w, fd, offset, at < 0 ? size : at);
	at = lseek(fd, offset, SEEK_HOLE);
	if (offset < 0 || offset >= size)
		result(w, at);
	else if (at < offset || at > size)
		say(w, " hole at %lld of %lld", (long long)at, (long long)size);
	result(w, lseek(fd, offset, SEEK_SET));
}

static void do_lseek(struct world *w)
{
	static const int whence[] = {SEEK_SET, SEEK_CUR, SEEK_END, SEEK_CUR, 99};
	int fd = pick_fd(w), from = PICK(w, whence);
	off_t offset = pick_offset(w);

	if (is_directory(fd))
		return;
	if (chance(w, 20)) {
		do_seek_data(w, fd, offset);
		return;
	}
	if (from != SEEK_SET && chance(w, 50))
		offset = chance(w, 50) ? 0 : -offset;
	say(w, "lseek(%d, %lld, %d)", fd, (long long)offset, from);
	result(w, lseek(fd, offset, from));
}

static void do_ftruncate(struct world *w)
{
	int fd = pick_fd(w);
	off_t size = pick_offset(w);

	say(w, "ftruncate(%d, %lld)", fd, (long long)size);
	result(w, ftruncate(fd, size));
}

static void do_truncate(struct world *w)
{
	const char *path = pick_path(w);
	off_t size = pick_offset(w);

	say(w, "truncate(");
	say_path(w, path);
	say(w, ", %lld)", (long long)size);
	result(w, truncate(path, size));
}

/* Where the reference is in memory it has no ZERO_RANGE, which leat has: what that comes to, in
 * other words. */
static int allocate(int fd, int mode, off_t offset, off_t length)
{
	int rc = fallocate(fd, mode, offset, length);

	if (rc == 0 || errno != EOPNOTSUPP || (mode & ~FALLOC_FL_KEEP_SIZE) != FALLOC_FL_ZERO_RANGE)
		return rc;
	rc = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
	return rc ? rc : fallocate(fd, mode & FALLOC_FL_KEEP_SIZE, offset, length);
}

static void do_fallocate(struct world *w)
{
	static const int modes[] = {0,
				    0,
				    FALLOC_FL_KEEP_SIZE,
				    FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				    FALLOC_FL_PUNCH_HOLE,
				    FALLOC_FL_ZERO_RANGE,
				    FALLOC_FL_COLLAPSE_RANGE};
	int fd = pick_fd(w), mode = PICK(w, modes);
	off_t offset = pick_offset(w), length = pick_offset(w);

	say(w, "fallocate(%d, %d, %lld, %lld)", fd, mode, (long long)offset, (long long)length);
	result(w, allocate(fd, mode, offset, length));
}

static void do_sync(struct world *w)
{
	int fd = pick_fd(w);

	switch (pick(w, 4)) {
	case 0:
		say(w, "fsync(%d)", fd);
		result(w, fsync(fd));
		break;
	case 1:
		say(w, "fdatasync(%d)", fd);
		result(w, fdatasync(fd));
		break;
	case 2:
		say(w, "sync_file_range(%d)", fd);
		result(w, sync_file_range(fd, 0, 4096, SYNC_FILE_RANGE_WRITE));
		break;
	default:
		say(w, "posix_fadvise(%d)", fd);
		result(w, posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL));
	}
}

/* The whole file may be mapped: what is looked at are the pages below the size. */
static void use_mapping(struct world *w, char *map, size_t usable, bool writable)
{
	size_t from = usable ? pick(w, usable) : 0;
	size_t n = usable - from ? 1 + pick(w, usable - from) : 0;

	say(w, " %08llx", (unsigned long long)digest(map, usable));
	if (!writable)
		return;
	n = n < MAX_BYTES ? n : MAX_BYTES;
	fill(w, n);
	memcpy(map + from, w->bytes, n);
	say(w, " wrote %zu at %zu", n, from);
}

static void do_mmap(struct world *w)
{
	struct stat st = {0};
	int fd = pick_fd(w), prot = PROT_READ | (chance(w, 50) ? PROT_WRITE : 0);
	int flags = chance(w, 50) ? MAP_SHARED : MAP_PRIVATE;
	off_t offset = chance(w, 30) ? 4096 * (off_t)pick(w, 20) : 0;
	size_t length = 1 + pick_length(w), usable;
	char *map;

	fstat(fd, &st);
	say(w, "mmap(%d, %zu, %d, %d, %lld)", fd, length, prot, flags, (long long)offset);
	map = mmap(NULL, length, prot, flags, fd, offset);
	result(w, map == MAP_FAILED ? -1 : 0);
	if (map == MAP_FAILED)
		return;
	usable = st.st_size > offset ? (size_t)(st.st_size - offset) : 0;
	if (S_ISREG(st.st_mode))
		use_mapping(w, map, usable < length ? usable : length, prot & PROT_WRITE);
	if (chance(w, 50))
		result(w, msync(map, length, MS_SYNC));
	if (S_ISREG(st.st_mode) && usable) {
		ssize_t n = pread(fd, w->bytes, length < MAX_BYTES ? length : MAX_BYTES, offset);

		say_read(w, n, w->bytes);
	}
	munmap(map, length);
}

static void do_fstat(struct world *w)
{
	struct stat st;
	int fd = pick_fd(w);

	say(w, "fstat(%d)", fd);
	if (result(w, fstat(fd, &st)) == 0)
		say_stat(w, &st);
}

const struct operation data_operations[] = {
	{60, do_read},   {40, do_pread}, {25, do_readv},     {80, do_write},    {40, do_pwrite},
	{30, do_writev}, {50, do_lseek}, {15, do_ftruncate}, {12, do_truncate}, {15, do_fallocate},
	{8, do_sync},    {30, do_mmap},  {25, do_fstat},     {0, NULL},
};
