/* produce: write COUNT files of SIZE bytes, numbered from FIRST, in operations of OP bytes.
 *   produce [-m posix|stdio|pipe] [-p PARTS] [-b BLOCK:DIR] DIR FIRST COUNT SIZE OP
 * -p PARTS: each file is sparse while it grows: PARTS equal parts, of which one operation of each
 * is written in turn, after a seek. -b BLOCK:DIR: see bench_blocks_open. Sizes take K, M, G; OP is
 * a multiple of 4K or divides it. */
#include "bench.h"
#include "pattern.h"

#include <stdlib.h>
#include <unistd.h>

struct job {
	enum bench_mode mode;
	const char *dir;
	uint64_t parts, first, count, size, op;
	struct bench_blocks blocks;
	unsigned char *page_buf; /* template pages; a multiple of a page long */
	size_t page_buf_len;
};

/* One operation of `len` bytes at `off`: whole pages, or a piece of one. Only the stamps change, so
 * that what is timed is the writing. */
static void write_one(const struct job *j, struct bench_file *f, uint64_t file, uint64_t off,
		      size_t len)
{
	size_t in = off % BENCH_PAGE;

	if (in == 0)
		bench_pattern_stamp(j->page_buf, j->page_buf_len, file, off);
	bench_write(f, j->page_buf + in, len);
}

static void write_front_to_back(const struct job *j, struct bench_file *f, uint64_t file)
{
	for (uint64_t off = 0; off < j->size; off += j->op)
		write_one(j, f, file, off, j->size - off < j->op ? j->size - off : j->op);
}

static void write_in_turns(const struct job *j, struct bench_file *f, uint64_t file)
{
	uint64_t part = j->size / j->parts;

	for (uint64_t in = 0; in < part; in += j->op) {
		for (uint64_t p = 0; p < j->parts; p++) {
			bench_seek(f, p * part + in);
			write_one(j, f, file, p * part + in, part - in < j->op ? part - in : j->op);
		}
	}
}

static int usage(void)
{
	fputs("usage: produce [-m posix|stdio|pipe] [-p PARTS] [-b BLOCK:DIR] DIR FIRST COUNT SIZE "
	      "OP\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct job j = {.mode = BENCH_POSIX, .parts = 1};
	int opt;

	while ((opt = getopt(argc, argv, "m:p:b:")) != -1) {
		if (opt == 'm')
			j.mode = bench_mode_parse(optarg);
		else if (opt == 'p')
			j.parts = bench_size_parse(optarg);
		else if (opt == 'b')
			bench_blocks_open(&j.blocks, optarg, 1);
		else
			return usage();
	}
	if (argc - optind != 5)
		return usage();
	j.dir = argv[optind];
	j.first = bench_size_parse(argv[optind + 1]);
	j.count = bench_size_parse(argv[optind + 2]);
	j.size = bench_size_parse(argv[optind + 3]);
	j.op = bench_size_parse(argv[optind + 4]);
	if (j.op == 0 || j.parts == 0 || j.size % j.parts != 0 ||
	    (j.parts > 1 && (j.size / j.parts % BENCH_PAGE != 0 || j.op % BENCH_PAGE != 0)))
		return usage();
	if (j.op % BENCH_PAGE != 0 && BENCH_PAGE % j.op != 0)
		return usage();
	bench_pattern_init();
	j.page_buf_len = (j.op + BENCH_PAGE - 1) / BENCH_PAGE * BENCH_PAGE;
	j.page_buf = bench_pattern_buffer(j.page_buf_len);
	if (!j.page_buf)
		bench_die("allocate", "buffer");
	bench_clock_start();
	for (uint64_t i = j.first; i < j.first + j.count; i++) {
		struct bench_file f;

		bench_blocks_pass(&j.blocks, i - j.first);
		bench_create(&f, j.mode, j.dir, i, j.op);
		if (j.parts > 1)
			write_in_turns(&j, &f, i);
		else
			write_front_to_back(&j, &f, i);
		bench_close(&f);
	}
	bench_clock_stop();
	bench_blocks_close(&j.blocks);
	free(j.page_buf);
	return 0;
}
