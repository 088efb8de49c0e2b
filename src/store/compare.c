#include "store/compare.h"

#include "base/beneath.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 20)

/* Less than CHUNK: the file ends there. -errno. */
static ssize_t fill(int fd, char *buffer, off_t at)
{
	size_t n = 0;

	while (n < CHUNK) {
		ssize_t got = pread(fd, buffer + n, CHUNK - n, at + (off_t)n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

/* 2: they have the same up to here, and go on. */
static int compare_chunk(int a, int b, char *buffer, off_t at)
{
	ssize_t n = fill(a, buffer, at);
	ssize_t m = n < 0 ? n : fill(b, buffer + CHUNK, at);

	if (m < 0)
		return (int)m;
	if (n != m || memcmp(buffer, buffer + CHUNK, (size_t)n) != 0)
		return 0;
	return n < (ssize_t)CHUNK ? 1 : 2;
}

int leat_compare_bytes(int a, int b)
{
	char *buffer = malloc(2 * CHUNK);
	int rc = buffer ? 2 : -ENOMEM;

	for (off_t at = 0; rc == 2; at += (off_t)CHUNK)
		rc = compare_chunk(a, b, buffer, at);
	free(buffer);
	return rc;
}

int leat_compare_symlinks(int a, int b, const char *path)
{
	char one[PATH_MAX], other[PATH_MAX];
	ssize_t n = leat_beneath_readlink(a, path, one, sizeof(one));
	ssize_t m = n < 0 ? n : leat_beneath_readlink(b, path, other, sizeof(other));

	if (m < 0)
		return (int)m;
	return n == m && memcmp(one, other, (size_t)n) == 0;
}
