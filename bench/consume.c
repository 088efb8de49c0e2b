/* consume: read COUNT files numbered from FIRST in operations of OP bytes up to the end, and
 * check every byte and the length.
 *   consume [-m posix|stdio|pipe] [-r PART/PARTS] [-b BLOCK:DIR] DIR FIRST COUNT SIZE OP
 * -r 2/5: read only the third of five equal parts of each file. -b: see bench_blocks_open.
 * Exit status 0 if all is right, 3 on a wrong byte or length. */
#include "bench.h"
#include "pattern.h"

#include <stdlib.h>
#include <unistd.h>

struct job {
	enum bench_mode mode;
	const char *dir;
	uint64_t part, parts, first, count, size, op;
	unsigned char *buf;
	unsigned faults;
	struct bench_blocks blocks;
};

static void fault(struct job *j, const struct bench_file *f, const char *what, uint64_t at)
{
	if (j->faults++ < 5)
		fprintf(stderr, "consume: %s: %s at %llu\n", f->path, what, (unsigned long long)at);
}

static void consume_file(struct job *j, struct bench_file *f, uint64_t index)
{
	uint64_t length = j->size / j->parts;
	uint64_t begin = j->part * length, off = begin;
	int bounded = j->parts > 1 || j->mode == BENCH_PIPE; /* else: read up to the end of file */

	if (begin > 0)
		bench_seek(f, begin);
	for (;;) {
		size_t want = j->op, n, wrong;

		if (bounded && begin + length - off < want)
			want = begin + length - off;
		if (want == 0)
			break;
		n = bench_read(f, j->buf, want);
		wrong = bench_pattern_check(j->buf, n, index, off);
		if (wrong)
			fault(j, f, "wrong byte", off + wrong - 1);
		off += n;
		if (n < want)
			break;
	}
	if (off != begin + length)
		fault(j, f, "wrong length, end", off);
}

static int usage(void)
{
	fputs("usage: consume [-m posix|stdio|pipe] [-r PART/PARTS] [-b BLOCK:DIR] DIR FIRST COUNT "
	      "SIZE OP\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct job j = {.mode = BENCH_POSIX, .parts = 1};
	int opt;

	while ((opt = getopt(argc, argv, "m:r:b:")) != -1) {
		char *end = NULL;

		if (opt == 'm') {
			j.mode = bench_mode_parse(optarg);
			continue;
		}
		if (opt == 'b') {
			bench_blocks_open(&j.blocks, optarg, 0);
			continue;
		}
		if (opt != 'r')
			return usage();
		j.part = strtoull(optarg, &end, 10);
		if (*end != '/')
			return usage();
		j.parts = bench_size_parse(end + 1);
	}
	if (argc - optind != 5 || j.parts == 0 || j.part >= j.parts)
		return usage();
	j.dir = argv[optind];
	j.first = bench_size_parse(argv[optind + 1]);
	j.count = bench_size_parse(argv[optind + 2]);
	j.size = bench_size_parse(argv[optind + 3]);
	j.op = bench_size_parse(argv[optind + 4]);
	j.buf = j.op ? malloc(j.op) : NULL;
	if (!j.buf)
		return usage();
	bench_pattern_init();
	bench_clock_start();
	for (uint64_t i = j.first; i < j.first + j.count; i++) {
		struct bench_file f;

		bench_blocks_pass(&j.blocks, i - j.first);
		bench_open(&f, j.mode, j.dir, i, j.op);
		consume_file(&j, &f, i);
		bench_close(&f);
	}
	bench_clock_stop();
	bench_blocks_close(&j.blocks);
	free(j.buf);
	return j.faults ? 3 : 0;
}
