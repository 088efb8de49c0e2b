#include "preload/core/maps.h"

#include "preload/core/call.h"

#include <string.h>

bool leat_maps_open(struct leat_maps *m)
{
	m->begin = m->used = 0;
	m->fd = (int)raw(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	return m->fd >= 0;
}

char *leat_maps_next(struct leat_maps *m)
{
	for (;;) {
		char *line = m->text + m->begin, *end;
		long n;

		m->text[m->used] = 0;
		end = strchr(line, '\n');
		if (end) {
			*end = 0;
			m->begin = (size_t)(end + 1 - m->text);
			return line;
		}
		m->used -= m->begin;
		memmove(m->text, line, m->used);
		m->begin = 0;
		n = raw(SYS_read, m->fd, m->text + m->used, sizeof(m->text) - 1 - m->used);
		if (n <= 0)
			return NULL;
		m->used += (size_t)n;
	}
}

void leat_maps_close(struct leat_maps *m)
{
	raw(SYS_close, m->fd);
}
