/* coupled: one program of a workflow that goes in steps: read, sleep, compute, write.
 *   coupled [-n STEPS] [-i FILE] [-s MS] [-c ROUNDS] [-o FILE] [-b BYTES] [-k FILE]
 * -n 0 (the default with -i): as often as the input FILE is there; else STEPS times (1). -k FILE:
 * the number of steps made, at the end. coupled -m MS Prints how many ROUNDS of -c take so many
 * milliseconds of CPU time here. */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 };

struct job {
	uint64_t steps; /* 0: to the end of the input */
	const char *in, *out, *count;
	uint64_t sleep_ms, rounds, bytes;
	unsigned char buf[BUFFER];
};

/* Work on what fits into a processor's cache, so that a round takes as long whatever others do. */
static void compute(struct job *j, uint64_t rounds)
{
	uint64_t h = 0x9e3779b97f4a7c15u;

	for (uint64_t r = 0; r < rounds; r++)
		for (size_t i = 0; i < 4096; i++) {
			h = (h ^ j->buf[i]) * 0x100000001b3u;
			j->buf[i] = (unsigned char)(h >> 32);
		}
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int calibrate(struct job *j, double ms)
{
	uint64_t rounds = 0;
	double begin = cpu_ms(), now = begin;

	for (; now - begin < 500; now = cpu_ms(), rounds += 100)
		compute(j, 100);
	printf("%.0f\n", (double)rounds * ms / (now - begin));
	return 0;
}

/* False: it is not there, as its producers have ended. */
static bool read_input(struct job *j)
{
	int fd = open(j->in, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return false;
	if (fd < 0)
		bench_die("open", j->in);
	while ((n = read(fd, j->buf, BUFFER)) > 0)
		;
	if (n < 0 || close(fd) < 0)
		bench_die("read", j->in);
	return true;
}

static void write_output(const struct job *j)
{
	int fd = open(j->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	ssize_t n;

	if (fd < 0)
		bench_die("create", j->out);
	for (uint64_t left = j->bytes; left; left -= (uint64_t)n) {
		n = write(fd, j->buf, left < BUFFER ? left : BUFFER);
		if (n < 0)
			bench_die("write", j->out);
	}
	if (close(fd) < 0)
		bench_die("close", j->out);
}

static void write_count(const struct job *j, uint64_t steps)
{
	FILE *f = fopen(j->count, "we");

	if (!f || fprintf(f, "%" PRIu64 "\n", steps) < 0 || fclose(f) != 0)
		bench_die("write", j->count);
}

static uint64_t work(struct job *j)
{
	const struct timespec pause = {(time_t)(j->sleep_ms / 1000),
				       (long)(j->sleep_ms % 1000) * 1000000};
	uint64_t step = 0;

	for (; !j->steps || step < j->steps; step++) {
		if (j->in && !read_input(j)) {
			if (j->steps)
				bench_die("open", j->in);
			break;
		}
		nanosleep(&pause, NULL);
		compute(j, j->rounds);
		if (j->out)
			write_output(j);
	}
	return step;
}

static int usage(void)
{
	fputs("usage: coupled [-n STEPS] [-i FILE] [-s MS] [-c ROUNDS] [-o FILE] [-b BYTES] "
	      "[-k FILE]\n       coupled -m MS\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static struct job j = {.bytes = 4096};
	bool limited = false;
	uint64_t steps;
	int opt;

	while ((opt = getopt(argc, argv, "n:i:s:c:o:b:k:m:")) != -1) {
		switch (opt) {
		case 'n':
			j.steps = bench_size_parse(optarg);
			limited = true;
			break;
		case 'i':
			j.in = optarg;
			break;
		case 's':
			j.sleep_ms = bench_size_parse(optarg);
			break;
		case 'c':
			j.rounds = bench_size_parse(optarg);
			break;
		case 'o':
			j.out = optarg;
			break;
		case 'b':
			j.bytes = bench_size_parse(optarg);
			break;
		case 'k':
			j.count = optarg;
			break;
		case 'm':
			return calibrate(&j, (double)bench_size_parse(optarg));
		default:
			return usage();
		}
	}
	if (argc != optind)
		return usage();
	if (!limited && !j.in)
		j.steps = 1;
	bench_clock_start();
	steps = work(&j);
	if (j.count)
		write_count(&j, steps);
	bench_clock_stop();
	return 0;
}
