/* What a program's reads say of it: that it trusted a size seen early, or took a version. */
#ifndef LEAT_PRELOAD_FD_READING_H
#define LEAT_PRELOAD_FD_READING_H

#include "preload/fd/table.h"

#include <stdint.h>

/* The size the program sees by `fd` may not be the last word: remember it. */
void leat_note_size(int fd, uint64_t size);
/* Note that `fd` has read `length` bytes at `offset`, of `asked` there; 0: it went there, or goes
 * on with a request that was noted. */
void leat_note_read(int fd, uint64_t offset, uint64_t length, uint64_t asked);
void leat_note_read_by(struct leat_fd *r, uint64_t offset, uint64_t length, uint64_t asked);
/* The same of a mapping, of which all counts as read. */
void leat_note_mapped(int fd, uint64_t offset, uint64_t length);
/* A version is taken by who reads it, not by who only looks at its beginning: `n` bytes, or
 * -errno, of `asked` were read at `offset` (-1: the descriptor's own, which is behind them now).
 * Returns n. */
int64_t leat_note_taken(int fd, int64_t n, uint64_t asked, int64_t offset);

#endif
