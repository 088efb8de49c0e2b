/* reread: read a file that is final from one end to the other, PASSES times, each with an open of
 * its own, and check every byte. The seconds of each pass go to REPORT, one line for all.
 *   reread FILE SIZE OP PASSES REPORT
 * Linked statically: the interception library does not reach it. */
#include "bench.h"
#include "pattern.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int read_all(const char *path, unsigned char *buf, size_t op, uint64_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t off = 0;
	ssize_t n;

	if (fd < 0)
		bench_die("open", path);
	while ((n = read(fd, buf, op)) > 0) {
		if (bench_pattern_check(buf, (size_t)n, 0, off))
			break;
		off += (uint64_t)n;
	}
	if (n < 0)
		bench_die("read", path);
	close(fd);
	if (off == size)
		return 0;
	fprintf(stderr, "reread: %s: wrong byte or length at %llu\n", path,
		(unsigned long long)off);
	return 3;
}

int main(int argc, char **argv)
{
	uint64_t size, op, passes;
	unsigned char *buf;
	struct stat st;
	FILE *report;
	int rc = 0;

	if (argc != 6) {
		fputs("usage: reread FILE SIZE OP PASSES REPORT\n", stderr);
		return 2;
	}
	size = bench_size_parse(argv[2]);
	op = bench_size_parse(argv[3]);
	passes = bench_size_parse(argv[4]);
	buf = malloc(op);
	report = buf ? fopen(argv[5], "w") : NULL;
	if (!report)
		bench_die("open", argv[5]);
	bench_pattern_init();
	bench_pattern_check(buf, op, 0, 0); /* its pages are there */
	/* Waits until it is final. */
	if (stat(argv[1], &st) < 0)
		bench_die("stat", argv[1]);
	for (uint64_t i = 0; !rc && i < passes; i++) {
		double begin = now_s();

		rc = read_all(argv[1], buf, op, size);
		fprintf(report, "%.9f ", now_s() - begin);
	}
	free(buf);
	return fclose(report) ? 1 : rc;
}
