/* What is mapped into this process, as /proc/self/maps tells it. */
#ifndef LEAT_PRELOAD_CORE_MAPS_H
#define LEAT_PRELOAD_CORE_MAPS_H

#include <stdbool.h>
#include <stddef.h>

struct leat_maps {
	int fd;
	size_t begin, used; /* of what was read */
	char text[4096];
};

/* False: it cannot be read. */
bool leat_maps_open(struct leat_maps *m);
/* The next line, without its end; NULL: there is none, or it is too long. */
char *leat_maps_next(struct leat_maps *m);
void leat_maps_close(struct leat_maps *m);

#endif
