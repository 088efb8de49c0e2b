#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

int leat_write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

long leat_read_all(int fd, void *data, size_t n)
{
	char *p = data;
	size_t have = 0;

	while (have < n) {
		ssize_t got = read(fd, p + have, n - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		have += (size_t)got;
	}
	return (long)have;
}

/* Read to the end into a growing buffer: a size asked beforehand would be wrong
 * for pipes and /proc. */
int leat_read_fd(int fd, size_t max_bytes, char **data, size_t *size)
{
	size_t capacity = 4096, have = 0;
	char *buffer = malloc(capacity + 1);
	int rc = -ENOMEM;

	while (buffer) {
		char *bigger;
		long got = leat_read_all(fd, buffer + have, capacity - have);

		rc = (int)(got < 0 ? got : 0);
		if (rc)
			goto out;
		have += (size_t)got;
		rc = have > max_bytes ? -EFBIG : 0;
		if (rc || have < capacity)
			goto out;
		capacity *= 2;
		bigger = realloc(buffer, capacity + 1);
		rc = -ENOMEM;
		if (!bigger)
			goto out;
		buffer = bigger;
	}
out:
	if (rc) {
		free(buffer);
		return rc;
	}
	buffer[have] = '\0';
	*data = buffer;
	if (size)
		*size = have;
	return 0;
}

int leat_read_file(const char *path, size_t max_bytes, char **data, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = leat_read_fd(fd, max_bytes, data, size);
	leat_close(&fd);
	return rc;
}

void leat_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}
