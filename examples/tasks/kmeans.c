/* K-means over fragments of the points, which I/O tasks read from a file of doubles; after each
 * iteration the partial sums of every fragment are kept on disk while the next iteration runs. The
 * centres are compared with a loop without tasks, bit by bit.
 *
 *     kmeans FILE DIMENSIONS CENTRES FRAGMENTS ITERATIONS DIR [STORAGE_BW]
 *     kmeans --make FILE POINTS DIMENSIONS     makes such a file */
#include "example.h"

#include <sys/stat.h>

struct problem {
	const char *file, *dir;
	int64_t points, dims, centres, fragments, iterations;
};

/* Of one fragment: for each centre the sum of its points and their number. */
static size_t sums_size(const struct problem *p)
{
	return (size_t)(p->centres * (p->dims + 1)) * sizeof(double);
}

static size_t nearest(const struct problem *p, const double *point, const double *centres)
{
	size_t best = 0;
	double least = 0;

	for (size_t c = 0; c < (size_t)p->centres; c++) {
		double distance = 0;

		for (size_t d = 0; d < (size_t)p->dims; d++) {
			double x = point[d] - centres[c * (size_t)p->dims + d];

			distance += x * x;
		}
		if (c == 0 || distance < least) {
			least = distance;
			best = c;
		}
	}
	return best;
}

static void sum_points(const struct problem *p, const double *points, size_t n,
		       const double *centres, double *sums)
{
	size_t dims = (size_t)p->dims;

	memset(sums, 0, sums_size(p));
	for (size_t i = 0; i < n; i++) {
		double *sum = sums + nearest(p, points + i * dims, centres) * (dims + 1);

		for (size_t d = 0; d < dims; d++)
			sum[d] += points[i * dims + d];
		sum[dims] += 1;
	}
}

static void add_sums(const struct problem *p, double *total, const double *sums)
{
	for (size_t i = 0; i < sums_size(p) / sizeof(double); i++)
		total[i] += sums[i];
}

/* A centre without points stays where it is. */
static void move_centres(const struct problem *p, const double *total, double *centres)
{
	size_t dims = (size_t)p->dims;

	for (size_t c = 0; c < (size_t)p->centres; c++)
		for (size_t d = 0; d < dims; d++)
			if (total[c * (dims + 1) + dims] > 0)
				centres[c * dims + d] =
					total[c * (dims + 1) + d] / total[c * (dims + 1) + dims];
}

static int64_t fragment_begin(const struct problem *p, int64_t fragment)
{
	return p->points * fragment / p->fragments;
}

/* --- tasks; parameter 0 is the problem --- */

/* file IN, integer fragment, OUT points */
static int load(struct leat_task *task, const struct leat_task_arg *args)
{
	const struct problem *p = args[0].data;
	int64_t begin = fragment_begin(p, *(const int64_t *)args[2].data);
	size_t point = (size_t)p->dims * sizeof(double);
	int ret = read_at(args[1].data, args[3].data, args[3].size, begin * (int64_t)point);

	leat_task_count_io(task, args[3].size);
	return ret < 0 ? leat_task_fail(task, ret, "%s", (const char *)args[1].data) : 0;
}

/* IN points, IN centres, OUT sums */
static int partial(struct leat_task *task, const struct leat_task_arg *args)
{
	const struct problem *p = args[0].data;

	(void)task;
	sum_points(p, args[1].data, args[1].size / sizeof(double) / (size_t)p->dims, args[2].data,
		   args[3].data);
	return 0;
}

/* INOUT total, IN sums, integer fragment */
static int gather(struct leat_task *task, const struct leat_task_arg *args)
{
	(void)task;
	if (*(const int64_t *)args[3].data == 0)
		memset(args[1].data, 0, args[1].size);
	add_sums(args[0].data, args[1].data, args[2].data);
	return 0;
}

/* IN total, INOUT centres */
static int move(struct leat_task *task, const struct leat_task_arg *args)
{
	(void)task;
	move_centres(args[0].data, args[1].data, args[2].data);
	return 0;
}

/* IN sums, file OUT */
static int keep(struct leat_task *task, const struct leat_task_arg *args)
{
	int ret = write_through(args[1].data, args[0].data, args[0].size);

	return ret < 0 ? leat_task_fail(task, ret, "%s", (const char *)args[1].data) : 0;
}

static void iterate(const struct problem *p, const struct leat_task_kind *keeping,
		    struct leat_task_object **fragments, struct leat_task_object *total,
		    struct leat_task_object *centres)
{
	const struct leat_task_constraints none = {0};
	const struct leat_task_param problem = leat_bytes(p, sizeof(*p));
	char path[4096];

	for (int64_t f = 0; f < p->fragments; f++) {
		struct leat_task_object *sums = object(sums_size(p));

		check(leat_submit(kind("partial", partial, none), problem, leat_in(fragments[f]),
				  leat_in(centres), leat_out(sums)));
		check(leat_submit(kind("gather", gather, none), problem, leat_inout(total),
				  leat_in(sums), leat_integer(f)));
		check(leat_submit(keeping, leat_in(sums),
				  leat_file_out(path_in(path, p->dir, "sums", (int)f))));
		leat_task_object_free(sums);
	}
	check(leat_submit(kind("move", move, none), problem, leat_in(total), leat_inout(centres)));
}

/* The first points are where the centres begin. */
static const double *with_tasks(const struct problem *p, const char *storage_bw,
				const double *first)
{
	const struct leat_task_kind *loading =
		kind("load", load, (struct leat_task_constraints){.io = true});
	const struct leat_task_kind *keeping = kind(
		"keep", keep, (struct leat_task_constraints){.io = true, .storage_bw = storage_bw});
	struct leat_task_object **fragments =
		allocate((size_t)p->fragments, sizeof(struct leat_task_object *));
	struct leat_task_object *total = object(sums_size(p)), *centres = object(0);

	check(leat_task_object_set(centres, first,
				   (size_t)(p->centres * p->dims) * sizeof(double)));
	for (int64_t f = 0; f < p->fragments; f++) {
		int64_t n = fragment_begin(p, f + 1) - fragment_begin(p, f);

		fragments[f] = object((size_t)(n * p->dims) * sizeof(double));
		check(leat_submit(loading, leat_bytes(p, sizeof(*p)), leat_file_in(p->file),
				  leat_integer(f), leat_out(fragments[f])));
	}
	for (int64_t i = 0; i < p->iterations; i++)
		iterate(p, keeping, fragments, total, centres);
	check(leat_barrier());
	free(fragments);
	return value(centres);
}

static double *without_tasks(const struct problem *p, const double *points)
{
	double *centres = allocate((size_t)(p->centres * p->dims), sizeof(double));
	double *sums = allocate(1, sums_size(p)), *total = allocate(1, sums_size(p));

	memcpy(centres, points, (size_t)(p->centres * p->dims) * sizeof(double));
	for (int64_t i = 0; i < p->iterations; i++) {
		memset(total, 0, sums_size(p));
		for (int64_t f = 0; f < p->fragments; f++) {
			int64_t begin = fragment_begin(p, f), end = fragment_begin(p, f + 1);

			sum_points(p, points + begin * p->dims, (size_t)(end - begin), centres,
				   sums);
			add_sums(p, total, sums);
		}
		move_centres(p, total, centres);
	}
	free(sums);
	free(total);
	return centres;
}

static int make_file(const char *path, int64_t points, int64_t dims)
{
	FILE *out = fopen(path, "w");
	uint64_t x = 88172645463325252u;

	for (int64_t i = 0; out && i < points * dims; i++) {
		double d;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		d = (double)(x >> 11) / 9007199254740992.0 + (double)(i / dims % 8);
		fwrite(&d, sizeof(d), 1, out);
	}
	if (out && fclose(out) == 0)
		return 0;
	perror(path);
	return 1;
}

static int64_t count_points(const struct problem *p)
{
	struct stat st;
	int64_t n = stat(p->file, &st) == 0 ? st.st_size / (int64_t)sizeof(double) / p->dims : -1;

	if (n < p->centres || n < p->fragments) {
		fprintf(stderr, "%s: fewer points than centres or fragments\n", p->file);
		exit(1);
	}
	return n;
}

int main(int argc, char **argv)
{
	struct problem p;
	const double *is;
	double *points, *should;

	if (argc == 5 && strcmp(argv[1], "--make") == 0)
		return make_file(argv[2], number(argv[3]), number(argv[4]));
	if (argc < 7) {
		fprintf(stderr, "usage: kmeans FILE DIMENSIONS CENTRES FRAGMENTS ITERATIONS DIR "
				"[STORAGE_BW], or kmeans --make FILE POINTS DIMENSIONS\n");
		return 2;
	}
	p = (struct problem){.file = argv[1],
			     .dims = number(argv[2]),
			     .centres = number(argv[3]),
			     .fragments = number(argv[4]),
			     .iterations = number(argv[5]),
			     .dir = argv[6]};
	p.points = count_points(&p);
	points = allocate((size_t)(p.points * p.dims), sizeof(double));
	if (read_at(p.file, points, (size_t)(p.points * p.dims) * sizeof(double), 0) < 0) {
		perror(p.file);
		return 1;
	}
	check(leat_task_init(NULL));
	is = with_tasks(&p, argc > 7 ? argv[7] : NULL, points);
	should = without_tasks(&p, points);
	if (memcmp(is, should, (size_t)(p.centres * p.dims) * sizeof(double)) != 0) {
		fprintf(stderr, "the centres are not as without tasks\n");
		return 1;
	}
	check(leat_task_finalize());
	printf("%lld points, %lld iterations: centres as without tasks\n", (long long)p.points,
	       (long long)p.iterations);
	free(points);
	free(should);
	return 0;
}
