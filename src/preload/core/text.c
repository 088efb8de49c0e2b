#include "preload/core/text.h"

#include "preload/core/call.h"

#include <errno.h>
#include <string.h>

void leat_text_add_n(struct leat_text *t, const char *text, size_t length)
{
	if (t->full || length >= t->size - t->used) {
		t->full = true;
		return;
	}
	memcpy(t->at + t->used, text, length);
	t->used += length;
	t->at[t->used] = 0;
}

void leat_text_add(struct leat_text *t, const char *text)
{
	leat_text_add_n(t, text, strlen(text));
}

void leat_text_add_number(struct leat_text *t, unsigned long number)
{
	char digits[24];
	size_t n = sizeof(digits);

	do
		digits[--n] = (char)('0' + number % 10);
	while (number /= 10);
	leat_text_add_n(t, digits + n, sizeof(digits) - n);
}

bool leat_text_is_deleted(const char *name, size_t length)
{
	static const char mark[] = " (deleted)";
	const size_t n = sizeof(mark) - 1;

	return length > n && memcmp(name + length - n, mark, n) == 0;
}

const char *leat_text_below(const char *path, const char *prefix, size_t length)
{
	if (!length)
		return NULL;
	for (size_t i = 0; i < length; i++)
		if (path[i] != prefix[i])
			return NULL;
	path += length;
	if (*path && *path != '/')
		return NULL;
	while (*path == '/')
		path++;
	return path;
}

void leat_fd_path(int fd, char out[LEAT_FD_PATH])
{
	struct leat_text t = leat_text_in(out, LEAT_FD_PATH);

	leat_text_add(&t, "/proc/self/fd/");
	leat_text_add_number(&t, (unsigned)fd);
}

/* getcwd says so of directories of the store, which no path leads to. */
static long drop_unreachable(char *name, long length)
{
	static const char mark[] = "(unreachable)";
	const long skip = (long)sizeof(mark) - 1;

	if (length < skip || memcmp(name, mark, (size_t)skip) != 0)
		return length;
	memmove(name, name + skip, (size_t)(length - skip) + 1);
	return length - skip;
}

static long name_by_link(const char *link, char *out, size_t size)
{
	long n = raw(SYS_readlinkat, AT_FDCWD, link, out, size);

	if (n < 0)
		return n;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	out[n] = 0;
	return drop_unreachable(out, n);
}

long leat_fd_name(int fd, char *out, size_t size)
{
	char link[LEAT_FD_PATH];
	long n;

	if (fd == AT_FDCWD) {
		n = raw(SYS_getcwd, out, size);
		if (n > 0)
			n--; /* the kernel counts the 0 */
		return n < 0 ? (n == -ERANGE ? -ENAMETOOLONG : n) : drop_unreachable(out, n);
	}
	leat_fd_path(fd, link);
	return name_by_link(link, out, size);
}

long leat_fd_last_name(int fd, char *out, size_t size)
{
	long n = leat_fd_name(fd, out, size);

	return n == -ENOENT && fd == AT_FDCWD ? name_by_link("/proc/self/cwd", out, size) : n;
}
