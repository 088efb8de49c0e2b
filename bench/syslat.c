/* syslat: what single calls cost, in ns, the median of five batches each.
 *   syslat DIR [COUNT]       on DIR/syslat.tmp, which is made and removed
 *   syslat -r FILE [COUNT]   on a file of 1 MB that is there, and is only read */
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

static void call_pread_64(void)
{
	check(pread(fd, buf, 64, 0));
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
	int changes; /* the file */
} calls[] = {
	{"getppid", 10, call_getppid, 0},
	{"open+close", 1, call_open_close, 0},
	{"stat", 1, call_stat, 0},
	{"access", 1, call_access, 0},
	{"fstat", 1, call_fstat, 0},
	{"lseek", 1, call_lseek, 0},
	{"read 1 B", 1, call_read_1, 0},
	{"read 4 KiB", 0, call_read_4k, 0},
	{"pread 64 B", 1, call_pread_64, 0},
	{"pread 1 KiB", 1, call_pread_1k, 0},
	{"pread 64 KiB", 0.1, call_pread_64k, 0},
	{"pread 1 MiB", 0.025, call_pread_1m, 0},
	{"write 1 B", 1, call_write_1, 1},
	{"write 4 KiB", 0, call_write_4k, 1},
	{"pwrite 1 KiB", 1, call_pwrite_1k, 1},
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

static int usage(void)
{
	fputs("usage: syslat DIR [COUNT >= 100] | syslat -r FILE [COUNT]\n", stderr);
	return 2;
}

static void open_file(int reads_only, const char *where)
{
	if (reads_only) {
		snprintf(path, sizeof(path), "%s", where);
		fd = open(path, O_RDONLY);
		check(fd);
		return;
	}
	snprintf(path, sizeof(path), "%s/syslat.tmp", where);
	memset(buf, 'x', sizeof(buf));
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	check(fd);
	check(write(fd, buf, sizeof(buf)));
}

int main(int argc, char **argv)
{
	int reads_only = argc > 1 && strcmp(argv[1], "-r") == 0;
	long count;

	argv += reads_only;
	argc -= reads_only;
	count = argc > 2 ? atol(argv[2]) : 2000;
	if (argc < 2 || count < 100)
		return usage();
	open_file(reads_only, argv[1]);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		long n = calls[i].weight > 0 ? (long)(calls[i].weight * (double)count)
					     : LARGE / 4096;

		if (!reads_only || !calls[i].changes)
			printf("%-14s %10.0f\n", calls[i].name,
			       measure(calls[i].call, n > 2 ? n : 2));
	}
	check(close(fd));
	if (!reads_only)
		check(unlink(path));
	return 0;
}
