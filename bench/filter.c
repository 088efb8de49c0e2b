/* filter: one stage of a chain: block by block it reads, computes and writes.
 *   filter [-i FILE] [-n BLOCKS] -c ROUNDS -o FILE
 * Without -i it makes BLOCKS blocks itself. What it writes of a block follows from what it has read
 * of it alone, so that the end of a chain tells whether all bytes were right. bench_coupled -m says
 * how many ROUNDS take how long. */
#include "bench.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 16, WORKED_ON = 4096 };

/* As bench_coupled: on what fits into a processor's cache. All of the block depends on it. */
static void compute(unsigned char *block, uint64_t rounds)
{
	uint64_t h = 0x9e3779b97f4a7c15u;

	for (uint64_t r = 0; r < rounds; r++)
		for (size_t i = 0; i < WORKED_ON; i++) {
			h = (h ^ block[i]) * 0x100000001b3u;
			block[i] = (unsigned char)(h >> 32);
		}
	for (size_t i = WORKED_ON; i < BLOCK; i++)
		block[i] = (unsigned char)(block[i] + block[i % WORKED_ON]);
}

/* Whole blocks; false at the end. */
static int read_block(int fd, const char *path, unsigned char *block)
{
	size_t done = 0;

	while (done < BLOCK) {
		ssize_t n = read(fd, block + done, BLOCK - done);

		if (n < 0)
			bench_die("read", path);
		if (n == 0)
			break;
		done += (size_t)n;
	}
	if (done && done < BLOCK) {
		fprintf(stderr, "filter: %s ends within a block\n", path);
		exit(3);
	}
	return done > 0;
}

static void write_block(int fd, const char *path, const unsigned char *block)
{
	for (size_t done = 0; done < BLOCK;) {
		ssize_t n = write(fd, block + done, BLOCK - done);

		if (n < 0)
			bench_die("write", path);
		done += (size_t)n;
	}
}

static void work(const char *in_path, const char *out_path, uint64_t blocks, uint64_t rounds)
{
	static unsigned char block[BLOCK];
	int in = in_path ? open(in_path, O_RDONLY | O_CLOEXEC) : -1;
	int out = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (in_path && in < 0)
		bench_die("open", in_path);
	if (out < 0)
		bench_die("create", out_path);
	for (uint64_t i = 0; in_path ? read_block(in, in_path, block) : (int)(i < blocks); i++) {
		if (!in_path)
			memset(block, (int)i, BLOCK);
		compute(block, rounds);
		write_block(out, out_path, block);
	}
	if (close(out) < 0)
		bench_die("close", out_path);
	if (in_path)
		close(in);
}

int main(int argc, char **argv)
{
	const char *in = NULL, *out = NULL;
	uint64_t blocks = 0, rounds = 0;
	int opt;

	while ((opt = getopt(argc, argv, "i:n:c:o:")) != -1) {
		if (opt == 'i')
			in = optarg;
		else if (opt == 'n')
			blocks = bench_size_parse(optarg);
		else if (opt == 'c')
			rounds = bench_size_parse(optarg);
		else if (opt == 'o')
			out = optarg;
		else
			out = NULL, optind = argc + 1;
	}
	if (!out || optind != argc || (!in && !blocks)) {
		fputs("usage: filter [-i FILE] [-n BLOCKS] -c ROUNDS -o FILE\n", stderr);
		return 2;
	}
	bench_clock_start();
	work(in, out, blocks, rounds);
	bench_clock_stop();
	return 0;
}
