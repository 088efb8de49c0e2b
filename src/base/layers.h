/* Directories that an overlay is made of, as mount options name them. Without libc: also for the
 * interception library. */
#ifndef LEAT_BASE_LAYERS_H
#define LEAT_BASE_LAYERS_H

#include <stdbool.h>
#include <stddef.h>

struct leat_layers {
	const char *at;
	bool in_value; /* of an option that names directories */
	bool alone;    /* there is no other one behind it */
};

/* Options as mount(2) has them: "ro,lowerdir=a:b,upperdir=c". */
struct leat_layers leat_layers_of_options(const char *options);

/* The value of one of them (fsconfig(2)). */
struct leat_layers leat_layers_of_value(const char *value);

/* Is it an option of that name, whose value names directories: lowerdir, upperdir ...? */
bool leat_layers_is_key(const char *key);

/* The next directory, 0-terminated, into `out`. False: there is none any more, or it is too long
 * for any. */
bool leat_layers_next(struct leat_layers *l, char *out, size_t size);

#endif
