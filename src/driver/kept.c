#include "driver/kept.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".log"

enum { RING_BYTES = LEAT_KEPT_BYTES - LEAT_KEPT_HEAD_BYTES };

/* Where byte number `at` of what was printed is kept. */
static size_t position(uint64_t at)
{
	return at < LEAT_KEPT_BYTES
		       ? at
		       : LEAT_KEPT_HEAD_BYTES + (at - LEAT_KEPT_HEAD_BYTES) % RING_BYTES;
}

static bool reserve(struct leat_kept *k, uint64_t wanted)
{
	size_t capacity = k->capacity ? k->capacity : 4096;
	char *grown;

	while (capacity < wanted && capacity < LEAT_KEPT_BYTES)
		capacity *= 2;
	capacity = capacity < LEAT_KEPT_BYTES ? capacity : LEAT_KEPT_BYTES;
	if (capacity <= k->capacity)
		return true;
	grown = realloc(k->v, capacity);
	if (!grown)
		return false;
	k->v = grown;
	k->capacity = capacity;
	return true;
}

void leat_kept_add(struct leat_kept *k, const char *data, size_t n)
{
	if (!reserve(k, k->total_bytes + n))
		return;
	while (n) {
		size_t at = position(k->total_bytes);
		size_t part = n < k->capacity - at ? n : k->capacity - at;

		memcpy(k->v + at, data, part);
		k->total_bytes += part;
		data += part;
		n -= part;
	}
}

void leat_kept_release(struct leat_kept *k)
{
	free(k->v);
	*k = (struct leat_kept){0};
}

void leat_kept_name(const char *workflow, const char *step, char out[NAME_MAX + 1])
{
	const char *const parts[] = {workflow, "-", step};
	const size_t end = NAME_MAX - strlen(SUFFIX);
	size_t used = 0;

	for (size_t i = 0; i < 3; i++)
		for (const char *p = parts[i]; *p && used < end; p++)
			out[used++] = *p == '/' || (unsigned char)*p < ' ' ? '_' : *p;
	strcpy(out + used, SUFFIX);
}

static int write_ring(const struct leat_kept *k, int fd)
{
	uint64_t left_out = k->total_bytes - LEAT_KEPT_BYTES;
	size_t at = position(k->total_bytes);
	char text[80];
	int rc;

	snprintf(text, sizeof(text), "\n[leat: %" PRIu64 " bytes are left out here]\n", left_out);
	rc = leat_write_all(fd, text, strlen(text));
	if (!rc)
		rc = leat_write_all(fd, k->v + at, LEAT_KEPT_BYTES - at);
	if (!rc)
		rc = leat_write_all(fd, k->v + LEAT_KEPT_HEAD_BYTES, at - LEAT_KEPT_HEAD_BYTES);
	return rc;
}

static int write_kept(const struct leat_kept *k, int fd)
{
	int rc;

	if (k->total_bytes <= LEAT_KEPT_BYTES)
		return leat_write_all(fd, k->v, k->total_bytes);
	rc = leat_write_all(fd, k->v, LEAT_KEPT_HEAD_BYTES);
	return rc ? rc : write_ring(k, fd);
}

int leat_kept_save(const struct leat_kept *k, int dir_fd, const char *name)
{
	int fd, rc;

	/* Nobody's symbolic link is followed to somewhere else. */
	if (unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	rc = write_kept(k, fd);
	if (close(fd) < 0 && !rc)
		rc = -errno;
	return rc;
}
