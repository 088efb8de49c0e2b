#include "store/compare.h"

#include "base/beneath.h"
#include "base/fd.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 20)

/* 2: they have the same up to here, and go on. */
static int compare_chunk(int a, int b, char *buffer)
{
	long n = leat_read_all(a, buffer, CHUNK);
	long m = n < 0 ? n : leat_read_all(b, buffer + CHUNK, CHUNK);

	if (m < 0)
		return (int)m;
	if (n != m || memcmp(buffer, buffer + CHUNK, (size_t)n) != 0)
		return 0;
	return n < (long)CHUNK ? 1 : 2;
}

int leat_compare_bytes(int a, int b)
{
	char *buffer;
	int rc = 2;

	if (lseek(a, 0, SEEK_SET) < 0 || lseek(b, 0, SEEK_SET) < 0)
		return -errno;
	buffer = malloc(2 * CHUNK);
	if (!buffer)
		return -ENOMEM;
	while (rc == 2)
		rc = compare_chunk(a, b, buffer);
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
