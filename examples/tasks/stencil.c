/* Heat on a plate, in blocks of rows, with a checkpoint of all blocks every few steps: the next
 * steps go on while the checkpoint is written. The result, and the last checkpoint, are compared
 * with a loop without tasks, bit by bit.
 *
 *     stencil DIR [SIZE [BLOCKS [STEPS [EVERY [STORAGE_BW]]]]] */
#include "example.h"

struct plate {
	size_t size, blocks, rows; /* rows and columns; blocks of `rows` rows */
	int steps, every;
};

/* One row from those around it; the first and last column stay. */
static void row(double *to, const double *up, const double *mid, const double *down, size_t n)
{
	to[0] = mid[0];
	to[n - 1] = mid[n - 1];
	for (size_t i = 1; i + 1 < n; i++)
		to[i] = 0.25 * (up[i] + down[i] + mid[i - 1] + mid[i + 1]);
}

/* integer columns, IN block above, IN block, IN block below, OUT block */
static int step(struct leat_task *task, const struct leat_task_arg *args)
{
	size_t n = (size_t) * (const int64_t *)args[0].data;
	size_t rows = args[2].size / sizeof(double) / n;
	size_t above = args[1].size / sizeof(double) / n;
	const double *up = (const double *)args[1].data + (above - 1) * n;
	const double *mid = args[2].data, *down = args[3].data;
	double *to = args[4].data;

	(void)task;
	for (size_t i = 0; i < rows; i++)
		row(to + i * n, i ? mid + (i - 1) * n : up, mid + i * n,
		    i + 1 < rows ? mid + (i + 1) * n : down, n);
	return 0;
}

/* IN block, file OUT */
static int checkpoint(struct leat_task *task, const struct leat_task_arg *args)
{
	int ret = write_through(args[1].data, args[0].data, args[0].size);

	return ret < 0 ? leat_task_fail(task, ret, "%s", (const char *)args[1].data) : 0;
}

static double heat(const struct plate *p, size_t i, size_t k)
{
	return (double)((i * 31 + k * 17) % 97) + (double)i / (double)p->size;
}

static void fill(const struct plate *p, double *to, size_t first, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		for (size_t k = 0; k < p->size; k++)
			to[i * p->size + k] = heat(p, first + i, k);
}

/* The plate and, around it, a row that does not change: row 0 and the last. */
static double *without_tasks(const struct plate *p)
{
	size_t n = p->size, cells = (n + 2) * n;
	double *now = allocate(cells, sizeof(double)), *next = allocate(cells, sizeof(double));

	fill(p, now + n, 0, n);
	for (int s = 0; s < p->steps; s++) {
		double *old = now;

		for (size_t i = 1; i <= n; i++)
			row(next + i * n, now + (i - 1) * n, now + i * n, now + (i + 1) * n, n);
		now = next;
		next = old;
	}
	free(next);
	return now;
}

static void with_tasks(const struct plate *p, const char *dir, const char *storage_bw,
		       struct leat_task_object **blocks)
{
	const struct leat_task_kind *stepping =
		kind("step", step, (struct leat_task_constraints){0});
	const struct leat_task_kind *keeping =
		kind("checkpoint", checkpoint,
		     (struct leat_task_constraints){.io = true, .storage_bw = storage_bw});
	struct leat_task_object *edge = object(p->size * sizeof(double));
	struct leat_task_object **next = allocate(p->blocks, sizeof(struct leat_task_object *));
	char path[4096];

	for (size_t b = 0; b < p->blocks; b++)
		next[b] = object(p->rows * p->size * sizeof(double));
	for (int s = 1; s <= p->steps; s++) {
		for (size_t b = 0; b < p->blocks; b++)
			check(leat_submit(stepping, leat_integer((int64_t)p->size),
					  leat_in(b ? blocks[b - 1] : edge), leat_in(blocks[b]),
					  leat_in(b + 1 < p->blocks ? blocks[b + 1] : edge),
					  leat_out(next[b])));
		for (size_t b = 0; b < p->blocks; b++) {
			struct leat_task_object *old = blocks[b];

			blocks[b] = next[b];
			next[b] = old;
			if (s % p->every == 0 || s == p->steps)
				check(leat_submit(
					keeping, leat_in(blocks[b]),
					leat_file_out(path_in(path, dir, "block", (int)b))));
		}
	}
	for (size_t b = 0; b < p->blocks; b++)
		leat_task_object_free(next[b]);
	leat_task_object_free(edge);
	free(next);
}

static void compare(const struct plate *p, const char *dir, struct leat_task_object **blocks)
{
	size_t bytes = p->rows * p->size * sizeof(double);
	double *should = without_tasks(p), *kept = allocate(1, bytes);
	char path[4096];

	for (size_t b = 0; b < p->blocks; b++) {
		const double *part = should + (1 + b * p->rows) * p->size;

		if (memcmp(value(blocks[b]), part, bytes) != 0 ||
		    read_at(path_in(path, dir, "block", (int)b), kept, bytes, 0) < 0 ||
		    memcmp(kept, part, bytes) != 0) {
			fprintf(stderr, "block %zu is not as without tasks\n", b);
			exit(1);
		}
	}
	free(kept);
	free(should);
}

int main(int argc, char **argv)
{
	struct plate p = {.size = argc > 2 ? (size_t)number(argv[2]) : 1024,
			  .blocks = argc > 3 ? (size_t)number(argv[3]) : 16,
			  .steps = argc > 4 ? (int)number(argv[4]) : 40,
			  .every = argc > 5 ? (int)number(argv[5]) : 10};
	struct leat_task_object **blocks;

	if (argc < 2 || p.size % p.blocks != 0) {
		fprintf(stderr,
			"usage: stencil DIR [SIZE [BLOCKS [STEPS [EVERY [STORAGE_BW]]]]]; BLOCKS "
			"divides SIZE\n");
		return 2;
	}
	p.rows = p.size / p.blocks;
	check(leat_task_init(NULL));
	blocks = allocate(p.blocks, sizeof(struct leat_task_object *));
	for (size_t b = 0; b < p.blocks; b++) {
		double *start = allocate(p.rows * p.size, sizeof(double));

		fill(&p, start, b * p.rows, p.rows);
		blocks[b] = object(0);
		check(leat_task_object_set(blocks[b], start, p.rows * p.size * sizeof(double)));
		free(start);
	}
	with_tasks(&p, argv[1], argc > 6 ? argv[6] : NULL, blocks);
	check(leat_barrier());
	compare(&p, argv[1], blocks);
	check(leat_task_finalize());
	free(blocks);
	printf("%zu x %zu, %d steps: as without tasks\n", p.size, p.size, p.steps);
	return 0;
}
