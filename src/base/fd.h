/* Descriptors and whole files. */
#ifndef LEAT_BASE_FD_H
#define LEAT_BASE_FD_H

#include <stddef.h>

/* Write all `n` bytes, going on after signals and short writes. 0 or -errno. Any thread. */
int leat_write_all(int fd, const void *data, size_t n);

/* Read up to `n` bytes, going on until they are there or the file ends. The
 * number of bytes read, or -errno. Any thread. */
long leat_read_all(int fd, void *data, size_t n);

/* Read the whole file into a new buffer, which the caller frees; a NUL follows
 * its last byte. `size` (bytes, without the NUL) may be NULL. 0, -EFBIG when
 * the file is longer than `max_bytes`, or -errno. Any thread. */
int leat_read_file(const char *path, size_t max_bytes, char **data, size_t *size);

/* The same of what is open. */
int leat_read_fd(int fd, size_t max_bytes, char **data, size_t *size);

/* Close and set to -1; a negative descriptor is left alone; errno is preserved. */
void leat_close(int *fd);

#endif
