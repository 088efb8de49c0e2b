/* File content that can be made and checked at memory speed at any offset: each page of
 * BENCH_PAGE bytes starts with an 8-byte stamp mixed from file and page number, the rest is a
 * fixed template. A lost, doubled, swapped or stale page shows, and so does any wrong byte. */
#ifndef BENCH_PATTERN_H
#define BENCH_PATTERN_H

#include <stddef.h>
#include <stdint.h>

enum { BENCH_PAGE = 4096 };

/* Make the template; call it once before the others. */
void bench_pattern_init(void);

/* A buffer of `len` bytes whose pages hold the template, to be stamped by
 * bench_pattern_stamp. NULL when out of memory; the caller frees it. */
unsigned char *bench_pattern_buffer(size_t len);

/* Make a buffer from bench_pattern_buffer hold the content of `file` at `off`, which must be a
 * multiple of BENCH_PAGE: only the stamps change. */
void bench_pattern_stamp(unsigned char *buf, size_t len, uint64_t file, uint64_t off);

/* 0 if buf[0, len) is the content of `file` at `off`, else 1 + the index of a wrong byte. Looks
 * at every byte. */
size_t bench_pattern_check(const unsigned char *buf, size_t len, uint64_t file, uint64_t off);

#endif
