#include "trace/ebpf/path.h"

#include <stdlib.h>
#include <string.h>

char *leat_ebpf_path_of_walk(const char *walk, size_t bytes)
{
	char *path = malloc(bytes + 2), *to = path;
	size_t end = bytes;

	if (!path)
		return NULL;
	while (end > 0) {
		size_t from = end - 1; /* of its NUL */

		while (from > 0 && walk[from - 1])
			from--;
		*to++ = '/';
		memcpy(to, walk + from, end - 1 - from);
		to += end - 1 - from;
		end = from;
	}
	if (to == path)
		*to++ = '/';
	*to = 0;
	return path;
}

/* Append component by component; ".." takes the last away. What is made is never longer than what
 * it is made of. */
static char *append(char *path, char *to, const char *name, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t length = 0;

		while (i + length < n && name[i + length] != '/')
			length++;
		if (length == 2 && name[i] == '.' && name[i + 1] == '.') {
			while (to > path && *--to != '/')
				;
		} else if (length && !(length == 1 && name[i] == '.')) {
			*to++ = '/';
			memcpy(to, name + i, length);
			to += length;
		}
		i += length + 1;
	}
	return to;
}

char *leat_ebpf_path_below(const char *walk, size_t bytes, const char *name, size_t name_bytes)
{
	size_t n = strnlen(name, name_bytes);
	char *dir = leat_ebpf_path_of_walk(walk, bytes), *path = NULL, *to;

	if (dir)
		path = malloc(strlen(dir) + n + 3);
	if (path) {
		to = path;
		if (n == 0 || name[0] != '/')
			to = append(path, to, dir, strlen(dir));
		to = append(path, to, name, n);
		if (to == path)
			*to++ = '/';
		*to = 0;
	}
	free(dir);
	return path;
}
