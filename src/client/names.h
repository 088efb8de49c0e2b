/* The names of a directory, as the daemon packs them. Any thread; async-signal-safe. */
#ifndef LEAT_CLIENT_NAMES_H
#define LEAT_CLIENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct leat_listed_name {
	uint64_t ino;
	uint8_t type;     /* DT_* */
	const char *name; /* borrowed of what it was taken from */
};

/* Take the entry at *at, which is moved behind it. False: what lies there up to `end` is none. */
bool leat_listed_next(const char **at, const char *end, struct leat_listed_name *entry);

#endif
