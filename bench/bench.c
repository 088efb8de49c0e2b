#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t begin_ns;

void bench_die(const char *what, const char *path)
{
	fprintf(stderr, "bench: %s %s: %s\n", what, path, strerror(errno));
	exit(1);
}

enum bench_mode bench_mode_parse(const char *name)
{
	if (strcmp(name, "posix") == 0)
		return BENCH_POSIX;
	if (strcmp(name, "stdio") == 0)
		return BENCH_STDIO;
	if (strcmp(name, "pipe") == 0)
		return BENCH_PIPE;
	fprintf(stderr, "bench: '%s' is not one of posix, stdio, pipe\n", name);
	exit(2);
}

uint64_t bench_size_parse(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);
	unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;

	if (end == text || (shift && end[1]) || (!shift && *end)) {
		fprintf(stderr, "bench: '%s' is not a size\n", text);
		exit(2);
	}
	return n << shift;
}

static void name_file(struct bench_file *f, enum bench_mode mode, const char *dir, uint64_t index)
{
	f->mode = mode;
	f->fp = NULL;
	f->fd = -1;
	snprintf(f->path, sizeof(f->path), "%s/out_%06llu.dat", dir, (unsigned long long)index);
}

static void open_stream(struct bench_file *f, const char *how, size_t op_bytes)
{
	f->fp = fopen(f->path, how);
	if (!f->fp)
		bench_die("open", f->path);
	if (setvbuf(f->fp, NULL, _IOFBF, op_bytes < BUFSIZ ? BUFSIZ : op_bytes) != 0)
		bench_die("setvbuf", f->path);
}

void bench_create(struct bench_file *f, enum bench_mode mode, const char *dir, uint64_t index,
		  size_t op_bytes)
{
	name_file(f, mode, dir, index);
	if (mode == BENCH_STDIO) {
		open_stream(f, "w", op_bytes);
	} else if (mode == BENCH_PIPE) {
		f->fd = STDOUT_FILENO;
	} else {
		f->fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		if (f->fd < 0)
			bench_die("create", f->path);
	}
}

void bench_open(struct bench_file *f, enum bench_mode mode, const char *dir, uint64_t index,
		size_t op_bytes)
{
	name_file(f, mode, dir, index);
	if (mode == BENCH_STDIO) {
		open_stream(f, "r", op_bytes);
	} else if (mode == BENCH_PIPE) {
		f->fd = STDIN_FILENO;
	} else {
		f->fd = open(f->path, O_RDONLY);
		if (f->fd < 0)
			bench_die("open", f->path);
	}
}

void bench_write(struct bench_file *f, const void *buf, size_t len)
{
	const char *p = buf;

	if (f->fp) {
		if (fwrite(buf, 1, len, f->fp) != len)
			bench_die("write", f->path);
		return;
	}
	while (len > 0) {
		ssize_t n = write(f->fd, p, len);

		if (n < 0)
			bench_die("write", f->path);
		p += n;
		len -= (size_t)n;
	}
}

size_t bench_read(struct bench_file *f, void *buf, size_t len)
{
	size_t done = 0;

	if (f->fp) {
		done = fread(buf, 1, len, f->fp);
		if (ferror(f->fp))
			bench_die("read", f->path);
		return done;
	}
	while (done < len) {
		ssize_t n = read(f->fd, (char *)buf + done, len - done);

		if (n < 0)
			bench_die("read", f->path);
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return done;
}

void bench_seek(struct bench_file *f, uint64_t off)
{
	int failed = f->fp ? fseeko(f->fp, (off_t)off, SEEK_SET) != 0
			   : lseek(f->fd, (off_t)off, SEEK_SET) < 0;

	if (failed)
		bench_die("seek", f->path);
}

void bench_close(struct bench_file *f)
{
	int failed = 0;

	if (f->fp)
		failed = fclose(f->fp) != 0;
	else if (f->mode != BENCH_PIPE)
		failed = close(f->fd) != 0;
	if (failed)
		bench_die("close", f->path);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

void bench_clock_start(void)
{
	begin_ns = now_ns();
}

void bench_clock_stop(void)
{
	uint64_t end_ns = now_ns();
	const char *path = getenv("BENCH_TIMES");
	char line[64];
	int n, fd;

	if (!path)
		return;
	n = snprintf(line, sizeof(line), "%llu %llu\n", (unsigned long long)begin_ns,
		     (unsigned long long)end_ns);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
	if (fd < 0 || write(fd, line, (size_t)n) != n || close(fd) != 0)
		bench_die("write", path);
}

void bench_blocks_open(struct bench_blocks *b, const char *text, int leads)
{
	const char *dir = strchr(text, ':');
	char path[4096], number[32];

	if (!dir || (size_t)(dir - text) >= sizeof(number)) {
		fprintf(stderr, "bench: '%s' is not BLOCK:DIR\n", text);
		exit(2);
	}
	snprintf(number, sizeof(number), "%.*s", (int)(dir++ - text), text);
	b->size = bench_size_parse(number);
	b->leads = leads;
	signal(SIGPIPE, SIG_IGN); /* the one ahead ends first */
	snprintf(path, sizeof(path), "%s/%s", dir, leads ? "ahead" : "behind");
	b->out = fopen(path, "we");
	if (!b->out)
		bench_die("create", path);
	snprintf(path, sizeof(path), "%s/pace", dir);
	b->pace = open(path, (leads ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
	if (b->pace < 0)
		bench_die("open", path);
}

void bench_blocks_pass(const struct bench_blocks *b, uint64_t i)
{
	char token = 0;

	if (!b->size || i % b->size != 0)
		return;
	if (b->leads && i / b->size >= 2 && read(b->pace, &token, 1) != 1)
		bench_die("await the other at", "pace");
	if (!b->leads && i && write(b->pace, &token, 1) != 1 && errno != EPIPE)
		bench_die("write", "pace");
	fprintf(b->out, "%llu %llu\n", (unsigned long long)i, (unsigned long long)now_ns());
}

void bench_blocks_close(struct bench_blocks *b)
{
	if (!b->size)
		return;
	if (fclose(b->out) != 0 || close(b->pace) < 0)
		bench_die("write", "the times of blocks");
}
