/* Strings without libc's allocation, locale or vector registers. */
#ifndef LEAT_PRELOAD_CORE_TEXT_H
#define LEAT_PRELOAD_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A string being put together in a fixed buffer. Once something did not fit,
 * `full` is set and the rest is dropped. */
struct leat_text {
	char *at;
	size_t size;
	size_t used; /* without the terminating 0 */
	bool full;
};

static inline struct leat_text leat_text_in(char *buffer, size_t size)
{
	buffer[0] = 0;
	return (struct leat_text){.at = buffer, .size = size};
}

void leat_text_add(struct leat_text *t, const char *text);
void leat_text_add_n(struct leat_text *t, const char *text, size_t length);
void leat_text_add_number(struct leat_text *t, unsigned long number);

/* The rest of `path` below `prefix` (without leading slashes, "" for the prefix
 * itself), or NULL. */
const char *leat_text_below(const char *path, const char *prefix, size_t length);

/* Does the kernel show the name as that of something that has lost it? A file may be called so. */
bool leat_text_is_deleted(const char *name, size_t length);

/* Longest path made by leat_fd_path. */
#define LEAT_FD_PATH 32

/* "/proc/self/fd/<fd>" */
void leat_fd_path(int fd, char out[LEAT_FD_PATH]);

/* The name the kernel has for a descriptor (or of /proc/self/cwd for AT_FDCWD),
 * "(unreachable)" cut off. Its length or -errno; -ENAMETOOLONG if it does not fit. */
long leat_fd_name(int fd, char *out, size_t size);
/* The same; of a working directory that was removed, as of a descriptor, with " (deleted)" behind
 * it. */
long leat_fd_last_name(int fd, char *out, size_t size);

#endif
