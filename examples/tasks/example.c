#include "example.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int write_through(const char *path, const void *data, size_t size)
{
	const char *from = data;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), ret = 0;

	if (fd < 0)
		return -errno;
	while (size > 0 && ret == 0) {
		ssize_t n = write(fd, from, size);

		if (n < 0) {
			ret = -errno;
		} else {
			from += n;
			size -= (size_t)n;
		}
	}
	if (ret == 0 && fsync(fd) < 0)
		ret = -errno;
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	return ret;
}

int read_at(const char *path, void *data, size_t size, int64_t offset)
{
	char *to = data;
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	while (size > 0 && ret == 0) {
		ssize_t n = pread(fd, to, size, offset);

		if (n <= 0) {
			ret = n < 0 ? -errno : -ENODATA;
		} else {
			to += n;
			offset += n;
			size -= (size_t)n;
		}
	}
	close(fd);
	return ret;
}
