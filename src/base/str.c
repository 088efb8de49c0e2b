#include "base/str.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *leat_vstrf(const char *format, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, format, ap) < 0)
		return NULL;
	return text;
}

char *leat_strf(const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	text = leat_vstrf(format, ap);
	va_end(ap);
	return text;
}

char *leat_path_join(const char *dir, const char *name)
{
	size_t n = dir ? strlen(dir) : 0;

	if (!n || name[0] == '/')
		return strdup(name);
	return leat_strf("%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

bool leat_path_is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !n || (!strncmp(path, dir, n) && path[n] == '/');
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

bool leat_str_ends(const char *text, const char *end)
{
	size_t length = strlen(text), n = strlen(end);

	return length > n && strcmp(text + length - n, end) == 0;
}

unsigned leat_str_distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t na = strlen(a), nb = strlen(b);

	if (na >= 64 || nb >= 64)
		return UINT_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			unsigned next = min3(row[j] + 1, row[j - 1] + 1, diagonal + !same);

			diagonal = row[j];
			row[j] = next;
		}
	}
	return row[nb];
}

bool leat_path_put(char out[PATH_MAX], const char *dir, const char *name)
{
	return snprintf(out, PATH_MAX, "%s%s%s", dir, *dir ? "/" : "", name) < PATH_MAX;
}

const char *leat_path_behind(const char *path, const char *dir)
{
	size_t length = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	if (strncmp(path, dir, length) != 0 || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

void leat_str_unescape(char *text)
{
	char *out = text;

	for (; *text; text++, out++) {
		*out = *text;
		if (*text == '\\' && strspn(text + 1, "01234567") >= 3) {
			*out = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
				      (text[3] - '0'));
			text += 3;
		}
	}
	*out = 0;
}

bool leat_is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}
