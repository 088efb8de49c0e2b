/* Listings 1 to 5 of "I/O-aware PyCOMPSs" in C: tasks, I/O tasks, and their constraints on storage
 * bandwidth. Listings 3 to 5 need a description of the device: LEAT_RESOURCES, leat probe.
 *
 *     listings DIR [BLOCKS] */
#include "example.h"

enum { BLOCK = 256 * 1024 };

/* @task(returns=int) def scale(c): return c * 10 */
static int scale(struct leat_task *task, const struct leat_task_arg *args)
{
	(void)task;
	*(int64_t *)args[1].data = *(const int64_t *)args[0].data * 10;
	return 0;
}

/* @constraint(computingUnits=2) @task(value1=INOUT) def accumulate(value1, value2) */
static int accumulate(struct leat_task *task, const struct leat_task_arg *args)
{
	(void)task;
	*(int64_t *)args[0].data += *(const int64_t *)args[1].data;
	return 0;
}

static int generate_block(struct leat_task *task, const struct leat_task_arg *args)
{
	int64_t seed = *(const int64_t *)args[0].data, *block = args[1].data;

	(void)task;
	for (size_t i = 0; i < args[1].size / sizeof(*block); i++)
		block[i] = seed * 1000003 + (int64_t)i;
	return 0;
}

/* @IO() @task() def io_task(data): perform I/O operations on data */
static int io_task(struct leat_task *task, const struct leat_task_arg *args)
{
	int ret = write_through(args[1].data, args[0].data, args[0].size);

	return ret < 0 ? leat_task_fail(task, ret, "%s", (const char *)args[1].data) : 0;
}

/* Listing 1: accumulate(result, scale(num)) for each of the numbers. */
static void listing1(void)
{
	const struct leat_task_kind *scale_task =
		kind("scale", scale, (struct leat_task_constraints){0});
	const struct leat_task_kind *accumulate_task = kind(
		"accumulate", accumulate, (struct leat_task_constraints){.computing_units = 2});
	struct leat_task_object *result = object(sizeof(int64_t));
	int64_t expected = 0;

	for (int64_t num = 1; num <= 100; num++) {
		struct leat_task_object *scaled = object(sizeof(int64_t));

		check(leat_submit(scale_task, leat_integer(num), leat_out(scaled)));
		check(leat_submit(accumulate_task, leat_inout(result), leat_in(scaled)));
		leat_task_object_free(scaled);
		expected += num * 10;
	}
	if (*(const int64_t *)value(result) != expected) {
		fprintf(stderr, "listing 1: a wrong sum\n");
		exit(1);
	}
	printf("listing 1: %lld\n", (long long)expected);
	leat_task_object_free(result);
}

/* The files are what a loop without tasks would have written. */
static void compare(const char *dir, const char *name, int blocks)
{
	int64_t *is = allocate(1, BLOCK), *should = allocate(1, BLOCK);
	char path[4096];

	for (int64_t i = 0; i < blocks; i++) {
		const struct leat_task_arg args[] = {{&i, sizeof(i)}, {should, BLOCK}};

		generate_block(NULL, args);
		if (read_at(path_in(path, dir, name, (int)i), is, BLOCK, 0) < 0 ||
		    memcmp(is, should, BLOCK) != 0) {
			fprintf(stderr, "%s: not what was to be written\n", path);
			exit(1);
		}
	}
	free(is);
	free(should);
}

/* Listings 2 to 5 differ in what they ask of the storage. */
static void listing(const char *dir, const char *name, const char *storage_bw, int blocks)
{
	const struct leat_task_kind *generate =
		kind("generate_block", generate_block, (struct leat_task_constraints){0});
	const struct leat_task_kind *io =
		kind(name, io_task,
		     (struct leat_task_constraints){.io = true, .storage_bw = storage_bw});
	char path[4096];

	for (int i = 0; i < blocks; i++) {
		struct leat_task_object *block = object(BLOCK);

		check(leat_submit(generate, leat_integer(i), leat_out(block)));
		check(leat_submit(io, leat_in(block), leat_file_out(path_in(path, dir, name, i))));
		leat_task_object_free(block);
	}
	check(leat_barrier());
	compare(dir, name, blocks);
	printf("%s: %d files, storage_bw %s\n", name, blocks, storage_bw ? storage_bw : "-");
}

int main(int argc, char **argv)
{
	int blocks = argc > 2 ? (int)number(argv[2]) : 64;

	if (argc < 2) {
		fprintf(stderr, "usage: listings DIR [BLOCKS]\n");
		return 2;
	}
	check(leat_task_init(NULL));
	listing1();
	listing(argv[1], "listing2", NULL, blocks);
	listing(argv[1], "listing3", "20", blocks);
	listing(argv[1], "listing4", "auto(10,50,4)", blocks);
	listing(argv[1], "listing5", "auto", blocks);
	check(leat_task_finalize());
	return 0;
}
