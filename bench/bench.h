/* What the benchmark programs share: how files are named, how bytes are moved, how the time a
 * program worked is reported. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum bench_mode {
	BENCH_POSIX, /* open, read, write */
	BENCH_STDIO, /* fopen, a buffer of the size of one operation */
	BENCH_PIPE,  /* all files one after another through stdin or stdout */
};

/* An open file in one of the modes. */
struct bench_file {
	enum bench_mode mode;
	FILE *fp;
	int fd;
	char path[4096];
};

/* Print the message with errno's text and exit 1. */
__attribute__((noreturn)) void bench_die(const char *what, const char *path);

/* The mode named by `name`; exits with the usage status if there is none. */
enum bench_mode bench_mode_parse(const char *name);

/* A number with an optional suffix K, M or G (powers of 1024); exits 2 if it is none. */
uint64_t bench_size_parse(const char *text);

/* Open file number `index` of `dir` for writing or reading; dies on failure. `op_bytes` is the
 * buffer of stdio mode. */
void bench_create(struct bench_file *f, enum bench_mode mode, const char *dir, uint64_t index,
		  size_t op_bytes);
void bench_open(struct bench_file *f, enum bench_mode mode, const char *dir, uint64_t index,
		size_t op_bytes);

/* Write all bytes, or die. */
void bench_write(struct bench_file *f, const void *buf, size_t len);

/* Read until `len` bytes are there or the end; returns how many; dies on an error. */
size_t bench_read(struct bench_file *f, void *buf, size_t len);

/* Set the offset (not in pipe mode), or die. */
void bench_seek(struct bench_file *f, uint64_t off);

/* Close, or die. */
void bench_close(struct bench_file *f);

/* Remember when the work began, and at the end append "begin end" in ns of CLOCK_MONOTONIC to
 * the file named by BENCH_TIMES, if set. */
void bench_clock_start(void);
void bench_clock_stop(void);

/* Two programs that go through the same many files, one ahead of the other. Each notes in a file
 * below `dir` when it came to each block; the one ahead waits, by a FIFO there, before it is more
 * than one whole block ahead. So what a block takes is what it takes both. */
struct bench_blocks {
	uint64_t size; /* files of a block; 0: nothing is noted */
	int leads;
	int pace;
	FILE *out;
};

/* `text` is BLOCK:DIR, with DIR/pace a FIFO; dies on failure. Both programs have to come. */
void bench_blocks_open(struct bench_blocks *b, const char *text, int leads);
/* File number `i` is about to be made or read. */
void bench_blocks_pass(const struct bench_blocks *b, uint64_t i);
void bench_blocks_close(struct bench_blocks *b);

#endif
