/* mapreduce: the I/O pattern of the CAPIO paper's MapReduce workflow, with real work in it.
 *   mapreduce generate FILE BYTES
 *   mapreduce split FILE DIR CHUNKS                     writes DIR/chunks
 *   mapreduce map DIR MAPPER MAPPERS CHUNKS REDUCERS    reads its chunks, writes DIR/pairs
 *   mapreduce reduce DIR REDUCER REDUCERS MAPPERS       reads its pairs, writes DIR/sums
 *   mapreduce merge DIR REDUCERS FILE                   prints the checksum of FILE
 * Records of 64 bytes go to the reducer of their key; it adds up a checksum of each record per
 * key, so one wrong byte anywhere changes the result. The directories must exist.
 * Source of the pattern: CAPIO (2023), Sec. VI, Fig. 8. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { KEYS = 1 << 16, OP_BYTES = 1 << 20 };

struct record {
	uint64_t key;
	uint64_t value[7];
};

struct sum {
	uint64_t key;
	uint64_t sum;
};

_Static_assert(OP_BYTES % sizeof(struct record) == 0, "whole records in an operation");

static void *allocate(size_t n)
{
	void *p = calloc(1, n);

	if (!p)
		bench_die("allocate", "buffer");
	return p;
}

/* DIR/NAME, for the bench_* functions. */
static const char *sub(const char *dir, const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static FILE *open_plain(const char *path, const char *how)
{
	FILE *fp = fopen(path, how);

	if (!fp)
		bench_die("open", path);
	return fp;
}

static int generate(char **arg)
{
	FILE *fp = open_plain(arg[0], "w");
	uint64_t records = bench_size_parse(arg[1]) / sizeof(struct record);
	uint64_t x = 88172645463325252ULL;

	for (uint64_t i = 0; i < records; i++) {
		struct record r;

		for (size_t k = 0; k < 7; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			r.value[k] = x;
		}
		r.key = x % KEYS;
		if (fwrite(&r, sizeof(r), 1, fp) != 1)
			bench_die("write", arg[0]);
	}
	if (fclose(fp) != 0)
		bench_die("close", arg[0]);
	return 0;
}

static int split(char **arg)
{
	FILE *in = open_plain(arg[0], "r");
	uint64_t chunks = bench_size_parse(arg[2]), size, chunk;
	char *buf = allocate(OP_BYTES);

	if (fseeko(in, 0, SEEK_END) != 0)
		bench_die("seek", arg[0]);
	size = (uint64_t)ftello(in);
	rewind(in);
	chunk = (size / sizeof(struct record) + chunks - 1) / chunks * sizeof(struct record);
	for (uint64_t i = 0; i < chunks; i++) {
		struct bench_file out;
		uint64_t left = chunk;

		bench_create(&out, BENCH_POSIX, sub(arg[1], "chunks"), i, OP_BYTES);
		while (left > 0) {
			size_t n = fread(buf, 1, left < OP_BYTES ? left : OP_BYTES, in);

			if (n == 0)
				break;
			bench_write(&out, buf, n);
			left -= n;
		}
		bench_close(&out);
	}
	free(buf);
	fclose(in);
	return 0;
}

/* Number of the first chunk of mapper `m` when `chunks` are dealt out evenly. */
static uint64_t first_chunk(uint64_t m, uint64_t mappers, uint64_t chunks)
{
	return m * chunks / mappers;
}

static int map(char **arg)
{
	uint64_t mapper = bench_size_parse(arg[1]), mappers = bench_size_parse(arg[2]);
	uint64_t chunks = bench_size_parse(arg[3]), reducers = bench_size_parse(arg[4]);
	struct bench_file *out = allocate(reducers * sizeof(*out));
	struct record *buf = allocate(OP_BYTES);

	for (uint64_t r = 0; r < reducers; r++)
		bench_create(&out[r], BENCH_STDIO, sub(arg[0], "pairs"), mapper * reducers + r,
			     OP_BYTES);
	for (uint64_t c = first_chunk(mapper, mappers, chunks);
	     c < first_chunk(mapper + 1, mappers, chunks); c++) {
		struct bench_file in;
		size_t n;

		bench_open(&in, BENCH_POSIX, sub(arg[0], "chunks"), c, OP_BYTES);
		while ((n = bench_read(&in, buf, OP_BYTES)) > 0)
			for (size_t i = 0; i < n / sizeof(*buf); i++)
				bench_write(&out[buf[i].key % reducers], &buf[i], sizeof(*buf));
		bench_close(&in);
	}
	for (uint64_t r = 0; r < reducers; r++)
		bench_close(&out[r]);
	free(buf);
	free(out);
	return 0;
}

static int reduce(char **arg)
{
	uint64_t reducer = bench_size_parse(arg[1]), reducers = bench_size_parse(arg[2]);
	uint64_t mappers = bench_size_parse(arg[3]);
	struct record *buf = allocate(OP_BYTES);
	uint64_t *sums = allocate(KEYS * sizeof(*sums));
	struct bench_file out;

	for (uint64_t m = 0; m < mappers; m++) {
		struct bench_file in;
		size_t n;

		bench_open(&in, BENCH_POSIX, sub(arg[0], "pairs"), m * reducers + reducer,
			   OP_BYTES);
		while ((n = bench_read(&in, buf, OP_BYTES)) > 0)
			for (size_t i = 0; i < n / sizeof(*buf); i++)
				sums[buf[i].key % KEYS] += XXH3_64bits(&buf[i], sizeof(*buf));
		bench_close(&in);
	}
	bench_create(&out, BENCH_STDIO, sub(arg[0], "sums"), reducer, OP_BYTES);
	for (uint64_t key = reducer; key < KEYS; key += reducers) {
		struct sum s = {.key = key, .sum = sums[key]};

		bench_write(&out, &s, sizeof(s));
	}
	bench_close(&out);
	free(sums);
	free(buf);
	return 0;
}

static int merge(char **arg)
{
	uint64_t reducers = bench_size_parse(arg[1]);
	size_t capacity = KEYS * sizeof(struct sum), used = 0;
	char *all = allocate(capacity);
	FILE *out = open_plain(arg[2], "w");

	for (uint64_t r = 0; r < reducers; r++) {
		struct bench_file in;

		bench_open(&in, BENCH_POSIX, sub(arg[0], "sums"), r, OP_BYTES);
		used += bench_read(&in, all + used, capacity - used);
		bench_close(&in);
	}
	if (fwrite(all, 1, used, out) != used || fclose(out) != 0)
		bench_die("write", arg[2]);
	printf("%016llx\n", (unsigned long long)XXH3_64bits(all, used));
	free(all);
	return 0;
}

static const struct {
	const char *name;
	int n_args;
	int (*run)(char **arg);
} roles[] = {
	{"generate", 2, generate}, {"split", 3, split}, {"map", 5, map},
	{"reduce", 4, reduce},     {"merge", 3, merge},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(argv[1], roles[i].name) == 0 && argc - 2 == roles[i].n_args) {
			int status;

			bench_clock_start();
			status = roles[i].run(argv + 2);
			bench_clock_stop();
			return status;
		}
	}
	fputs("usage: mapreduce generate FILE BYTES | split FILE DIR CHUNKS |\n"
	      "       map DIR MAPPER MAPPERS CHUNKS REDUCERS |\n"
	      "       reduce DIR REDUCER REDUCERS MAPPERS | merge DIR REDUCERS FILE\n",
	      stderr);
	return 2;
}
