#include "preload/path/cut.h"

#include <stdbool.h>

static bool is_dots(const char *name, size_t length)
{
	return length && length <= 2 && name[0] == '.' && name[length - 1] == '.';
}

/* Slashes at the end belong to nobody. */
static void cut_slashes(const char *path, struct leat_cut *c)
{
	size_t end = c->length, start;

	while (end > 1 && path[end - 1] == '/')
		end--;
	start = end;
	while (start && path[start - 1] != '/')
		start--;
	c->parent = start;
	c->last = path + start;
	c->last_length = end - start;
}

void leat_cut_directory(const char *path, struct leat_cut *c)
{
	if (!c->last_length)
		cut_slashes(path, c);
	if (is_dots(c->last, c->last_length)) {
		c->parent += c->last_length;
		c->last = "";
		c->last_length = 0;
	}
}
