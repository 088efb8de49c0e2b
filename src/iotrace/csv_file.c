#include "iotrace/csv_file.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is read at once, which fits a cache; the longest row that is taken for one; space behind it
 * for reads of words. */
enum { READ_BYTES = 128 << 10, ROW_BYTES = 4 << 20, SLACK_BYTES = 64 };

int leat_trace_csv_open(struct leat_trace_csv *c, const char *path)
{
	c->line = 1;
	c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (c->fd < 0)
		return -errno;
	c->stream.path = strdup(path);
	c->buffer = c->at = c->limit = malloc(READ_BYTES + SLACK_BYTES);
	if (!c->stream.path || !c->buffer)
		return -ENOMEM;
	c->capacity = READ_BYTES;
	memset(c->limit, 0, SLACK_BYTES);
	*c->limit = '\n';
	return 0;
}

/* Moves what is left to the beginning. A row that takes all of the space gets more. 1, 0: it is too
 * long, or -ENOMEM. */
static int reserve(struct leat_trace_csv *c, size_t left)
{
	char *bigger;

	memmove(c->buffer, c->at, left);
	if (left == c->capacity) {
		if (left >= ROW_BYTES)
			return 0;
		bigger = realloc(c->buffer, 2 * left + SLACK_BYTES);
		if (!bigger)
			return -ENOMEM;
		c->buffer = bigger;
		c->capacity = 2 * left;
	}
	c->at = c->buffer;
	c->limit = c->buffer + left;
	return 1;
}

int leat_trace_csv_refill(struct leat_trace_csv *c)
{
	size_t left = (size_t)(c->limit - c->at);
	int rc = c->eof ? 0 : reserve(c, left);
	long n;

	if (rc <= 0)
		return rc;
	n = leat_read_all(c->fd, c->limit, c->capacity - left);
	if (n < 0)
		return (int)n;
	c->eof = n == 0;
	c->limit += n;
	memset(c->limit, 0, SLACK_BYTES);
	*c->limit = '\n';
	return !c->eof;
}

int leat_trace_csv_line(struct leat_trace_csv *c, char **end)
{
	for (;;) {
		size_t left = (size_t)(c->limit - c->at);
		char *newline = memchr(c->at, '\n', left);
		int rc;

		if (newline) {
			*end = newline;
			return 1;
		}
		rc = leat_trace_csv_refill(c);
		if (rc < 0)
			return rc;
		if (!rc) {
			*end = c->limit;
			return c->at < c->limit;
		}
	}
}

int leat_trace_csv_skip(struct leat_trace_csv *c)
{
	for (;;) {
		char *newline = memchr(c->at, '\n', (size_t)(c->limit - c->at));
		int rc;

		if (newline) {
			c->at = newline + 1;
			c->line++;
			return 0;
		}
		c->at = c->limit;
		rc = leat_trace_csv_refill(c);
		if (rc <= 0)
			return rc;
	}
}

bool leat_trace_csv_is_passed_over(char first)
{
	switch (first) {
	case '#':
	case 't':
	case ' ':
	case '\t':
	case '\r':
	case '\n':
		return true;
	default:
		return false;
	}
}

int leat_trace_csv_skip_foreign(struct leat_trace_csv *c)
{
	char *end;
	int rc;

	while ((rc = leat_trace_csv_line(c, &end)) > 0) {
		char *text = c->at;

		while (*text == ' ' || *text == '\t' || *text == '\r')
			text++;
		if (*text != '#' && *text != 't' && text != end)
			return 1;
		rc = leat_trace_csv_skip(c);
		if (rc)
			return rc;
	}
	return rc;
}

int leat_trace_csv_complain(struct leat_trace_csv *c, size_t column, const char *text)
{
	snprintf(c->stream.why, sizeof(c->stream.why), "%s:%llu:%zu: %s", c->stream.path,
		 (unsigned long long)c->line, column, text);
	c->bad++;
	return -EBADMSG;
}
