#include "iotrace/out.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 256 << 10 };

int leat_trace_out_open(struct leat_trace_out *out, const char *path)
{
	struct stat st;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);

	if (fd < 0)
		return -errno;
	*out = (struct leat_trace_out){.fd = fd, .buffer = malloc(BUFFER_BYTES)};
	out->capacity = BUFFER_BYTES;
	out->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	if (!out->buffer) {
		leat_close(&out->fd);
		return -ENOMEM;
	}
	return 0;
}

int leat_trace_out_flush(struct leat_trace_out *out)
{
	int rc = out->used ? leat_write_all(out->fd, out->buffer, out->used) : 0;

	if (rc) {
		/* Part of it may be there. If this fails too the reader sees a half record. */
		if (out->regular && ftruncate(out->fd, (off_t)out->safe) == 0)
			lseek(out->fd, (off_t)out->safe, SEEK_SET);
		return rc;
	}
	out->safe += out->used;
	out->used = 0;
	out->pending = 0;
	return 0;
}

int leat_trace_out_reserve(struct leat_trace_out *out, size_t bytes, char **at)
{
	char *bigger;
	int rc;

	if (bytes > out->capacity - out->used) {
		rc = leat_trace_out_flush(out);
		if (rc)
			return rc;
	}
	if (bytes > out->capacity) {
		bigger = realloc(out->buffer, bytes);
		if (!bigger)
			return -ENOMEM;
		out->buffer = bigger;
		out->capacity = bytes;
	}
	*at = out->buffer + out->used;
	return 0;
}

int leat_trace_out_close(struct leat_trace_out *out)
{
	int rc = out->fd < 0 ? 0 : leat_trace_out_flush(out);

	/* A file on a server may only now be refused its space. */
	if (out->fd >= 0 && close(out->fd) < 0 && !rc && errno != EINTR)
		rc = -errno;
	out->fd = -1;
	free(out->buffer);
	out->buffer = NULL;
	return rc;
}
