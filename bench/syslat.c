/* syslat: what single calls cost, in ns, the median of five batches each.
 *   syslat DIR [COUNT]     writes and removes DIR/syslat.tmp */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 5, LARGE = 1 << 20 };

static char path[4096];
static char buf[LARGE];
static int fd = -1;

static void check(long result)
{
	if (result < 0) {
		perror(path);
		exit(1);
	}
}

static void at_start(void)
{
	check(lseek(fd, 0, SEEK_SET));
}

static void call_getppid(void)
{
	check(getppid());
}

static void call_open_close(void)
{
	int f = open(path, O_RDONLY);

	check(f);
	check(close(f));
}

static void call_stat(void)
{
	struct stat st;

	check(stat(path, &st));
}

static void call_access(void)
{
	check(access(path, R_OK));
}

static void call_fstat(void)
{
	struct stat st;

	check(fstat(fd, &st));
}

static void call_lseek(void)
{
	check(lseek(fd, 0, SEEK_SET));
}

static void call_read_1(void)
{
	check(read(fd, buf, 1));
}

static void call_read_4k(void)
{
	check(read(fd, buf, 4096));
}

static void call_pread_1k(void)
{
	check(pread(fd, buf, 1024, 0));
}

static void call_pread_64k(void)
{
	check(pread(fd, buf, 65536, 0));
}

static void call_pread_1m(void)
{
	check(pread(fd, buf, LARGE, 0));
}

static void call_write_1(void)
{
	check(write(fd, buf, 1));
}

static void call_write_4k(void)
{
	check(write(fd, buf, 4096));
}

static void call_pwrite_1k(void)
{
	check(pwrite(fd, buf, 1024, 0));
}

/* `weight`: how many calls a batch makes, in units of COUNT; 0: as many as walk through the file
 * once. */
static const struct {
	const char *name;
	double weight;
	void (*call)(void);
} calls[] = {
	{"getppid", 10, call_getppid},
	{"open+close", 1, call_open_close},
	{"stat", 1, call_stat},
	{"access", 1, call_access},
	{"fstat", 1, call_fstat},
	{"lseek", 1, call_lseek},
	{"read 1 B", 1, call_read_1},
	{"read 4 KiB", 0, call_read_4k},
	{"pread 1 KiB", 1, call_pread_1k},
	{"pread 64 KiB", 0.1, call_pread_64k},
	{"pread 1 MiB", 0.025, call_pread_1m},
	{"write 1 B", 1, call_write_1},
	{"write 4 KiB", 0, call_write_4k},
	{"pwrite 1 KiB", 1, call_pwrite_1k},
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double measure(void (*call)(void), long n)
{
	double batch[BATCHES];

	for (int b = 0; b < BATCHES; b++) {
		double begin;

		at_start();
		begin = now_ns();
		for (long i = 0; i < n; i++)
			call();
		batch[b] = (now_ns() - begin) / (double)n;
	}
	qsort(batch, BATCHES, sizeof(batch[0]), by_value);
	return batch[BATCHES / 2];
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 2000;

	if (argc < 2 || count < 100) {
		fputs("usage: syslat DIR [COUNT >= 100]\n", stderr);
		return 2;
	}
	snprintf(path, sizeof(path), "%s/syslat.tmp", argv[1]);
	memset(buf, 'x', sizeof(buf));
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	check(fd);
	check(write(fd, buf, sizeof(buf)));
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		long n = calls[i].weight > 0 ? (long)(calls[i].weight * (double)count)
					     : LARGE / 4096;

		printf("%-14s %10.0f\n", calls[i].name, measure(calls[i].call, n > 2 ? n : 2));
	}
	check(close(fd));
	check(unlink(path));
	return 0;
}
