/* A checkpointing application by the task API: heat on the plates of several members of an
 * ensemble, that know nothing of each other. A task advances the plates of a member by one step;
 * then as many tasks write one plate each to a file of its own and flush it, while the next steps
 * go on.
 *
 *     bench_checkpoint calibrate BYTES MS                    prints SWEEPS of a plate that take MS
 *     bench_checkpoint reference FILE TASKS BYTES SWEEPS     what is to be written, without tasks
 *     bench_checkpoint run FILE TASKS BYTES SWEEPS DIR MODE  prints the seconds from the first
 *                                                            submission to the last task's end
 *
 * TASKS checkpoints of BYTES each. MODE is "plain": the checkpoints are compute tasks like the
 * steps; "none": I/O tasks without a constraint; or a constraint: 16, auto, auto(4,128,2).
 * Afterwards each file is compared with FILE and removed. Resources and report: $LEAT_RESOURCES,
 * $LEAT_TASK_REPORT. */
#include "bench.h"

#include <leat/task.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

/* All plates of a member can be written at once when its step has ended: as many as all epochs of
 * learning need from 32 tasks down, so that those of each run together. */
enum { MEMBERS = 4, PLATES = 80, COLUMNS = 128, ROW_BYTES = COLUMNS * sizeof(double) };

struct work {
	long n_tasks;
	size_t bytes; /* of a plate */
	long sweeps;  /* of a plate in a step: an even number */
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void check(int result)
{
	if (result >= 0)
		return;
	fprintf(stderr, "bench_checkpoint: %s\n", leat_task_error());
	exit(1);
}

/* --- the plates ------------------------------------------------------------------------------- */

static void fill(double *plate, size_t bytes, unsigned number)
{
	for (size_t i = 0; i < bytes / sizeof(double); i++)
		plate[i] = (double)((i * 31 + number * 17) % 97);
}

/* Each point from the four around it; the edges stay. */
static void sweep(double *to, const double *from, size_t rows)
{
	for (size_t i = 1; i + 1 < rows; i++) {
		const double *mid = from + i * COLUMNS;

		for (size_t k = 1; k + 1 < COLUMNS; k++)
			to[i * COLUMNS + k] = 0.25 * (mid[k - COLUMNS] + mid[k + COLUMNS] +
						      mid[k - 1] + mid[k + 1]);
	}
}

/* 0 or -ENOMEM. */
static int advance(double *plate, size_t bytes, long sweeps)
{
	double *other = malloc(bytes);

	if (!other)
		return -ENOMEM;
	memcpy(other, plate, bytes);
	for (long s = 0; s < sweeps; s += 2) {
		sweep(other, plate, bytes / ROW_BYTES);
		sweep(plate, other, bytes / ROW_BYTES);
	}
	free(other);
	return 0;
}

/* All plates of a member, one after the other. */
static double *new_plates(size_t bytes, unsigned member)
{
	double *plates = malloc(PLATES * bytes);

	if (!plates)
		bench_die("allocate", "plates");
	for (unsigned p = 0; p < PLATES; p++)
		fill(plates + p * (bytes / sizeof(double)), bytes, member * PLATES + p);
	return plates;
}

static void calibrate(size_t bytes, double ms)
{
	double *plate = new_plates(bytes, 0), least = 1e9;
	enum { SWEEPS = 20 };

	/* The least of many: what others take of the processor does not count. */
	for (int i = 0; i < 200; i++) {
		double begin = now_s(), took;

		if (advance(plate, bytes, SWEEPS) < 0)
			bench_die("allocate", "a plate");
		took = now_s() - begin;
		if (took < least)
			least = took;
	}
	printf("%ld\n", 2 + 2 * (long)(ms / 2e3 / (least / SWEEPS)));
	free(plate);
}

/* --- what is to be written -------------------------------------------------------------------- */

static void write_hash(FILE *out, const char *path, double *plate, const struct work *work)
{
	XXH64_hash_t hash;

	if (advance(plate, work->bytes, work->sweeps) < 0)
		bench_die("allocate", "a plate");
	hash = XXH3_64bits(plate, work->bytes);
	if (fwrite(&hash, sizeof(hash), 1, out) != 1)
		bench_die("write", path);
}

static void write_reference(const char *path, const struct work *work)
{
	double *members[MEMBERS];
	FILE *out = fopen(path, "w");

	if (!out)
		bench_die("open", path);
	for (unsigned m = 0; m < MEMBERS; m++)
		members[m] = new_plates(work->bytes, m);
	for (long s = 0; s < work->n_tasks / PLATES; s++)
		for (size_t p = 0; p < PLATES; p++)
			write_hash(out, path,
				   members[s % MEMBERS] + p * (work->bytes / sizeof(double)), work);
	if (fclose(out) != 0)
		bench_die("write", path);
	for (unsigned m = 0; m < MEMBERS; m++)
		free(members[m]);
}

static void read_whole(const char *path, void *to, size_t bytes)
{
	FILE *in = fopen(path, "r");

	if (!in)
		bench_die("open", path);
	if (fread(to, 1, bytes, in) != bytes || getc(in) != EOF) {
		fprintf(stderr, "bench_checkpoint: %s: not %zu bytes\n", path, bytes);
		exit(1);
	}
	fclose(in);
}

static const char *file_of(char path[4096], const char *dir, long i)
{
	snprintf(path, 4096, "%s/checkpoint.%ld", dir, i);
	return path;
}

static void compare(const char *reference, const struct work *work, const char *dir)
{
	size_t bytes = (size_t)work->n_tasks * sizeof(XXH64_hash_t);
	XXH64_hash_t *should = malloc(bytes);
	char *kept = malloc(work->bytes), path[4096];

	if (!should || !kept)
		bench_die("allocate", "what is compared");
	read_whole(reference, should, bytes);
	for (long i = 0; i < work->n_tasks; i++) {
		read_whole(file_of(path, dir, i), kept, work->bytes);
		if (XXH3_64bits(kept, work->bytes) != should[i]) {
			fprintf(stderr, "bench_checkpoint: %s is not as without tasks\n", path);
			exit(1);
		}
		if (unlink(path) < 0)
			bench_die("remove", path);
	}
	free(kept);
	free(should);
}

/* --- the tasks -------------------------------------------------------------------------------- */

/* INOUT plates of a member, integer sweeps */
static int step(struct leat_task *task, const struct leat_task_arg *args)
{
	size_t bytes = args[0].size / PLATES;
	int ret = 0;

	(void)task;
	for (size_t p = 0; p < PLATES && ret == 0; p++)
		ret = advance((double *)args[0].data + p * (bytes / sizeof(double)), bytes,
			      (long)*(const int64_t *)args[1].data);
	return ret;
}

static int write_through(const char *path, const char *from, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), ret = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	for (; size > 0 && ret == 0; from += n, size -= (size_t)n) {
		n = write(fd, from, size);
		if (n < 0) {
			ret = -errno;
			n = 0;
		}
	}
	if (ret == 0 && fsync(fd) < 0)
		ret = -errno;
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	return ret;
}

/* IN plates of a member, integer which, file OUT */
static int checkpoint(struct leat_task *task, const struct leat_task_arg *args)
{
	size_t bytes = args[0].size / PLATES;
	const char *plate =
		(const char *)args[0].data + (size_t) * (const int64_t *)args[1].data * bytes;
	int ret = write_through(args[2].data, plate, bytes);

	return ret < 0 ? leat_task_fail(task, ret, "%s", (const char *)args[2].data) : 0;
}

static const struct leat_task_kind *kind_of_checkpoint(const char *mode)
{
	struct leat_task_constraints constraints = {.io = strcmp(mode, "plain") != 0};
	const struct leat_task_kind *kind;

	if (constraints.io && strcmp(mode, "none") != 0)
		constraints.storage_bw = mode;
	kind = leat_task_register("checkpoint", checkpoint, &constraints);
	check(kind ? 0 : -1);
	return kind;
}

static void submit(const struct work *work, const char *dir, const char *mode,
		   struct leat_task_object **members)
{
	const struct leat_task_kind *stepping = leat_task_register("step", step, NULL);
	const struct leat_task_kind *keeping = kind_of_checkpoint(mode);
	char path[4096];

	check(stepping ? 0 : -1);
	for (long s = 0; s < work->n_tasks / PLATES; s++) {
		struct leat_task_object *plates = members[s % MEMBERS];

		check(leat_submit(stepping, leat_inout(plates), leat_integer(work->sweeps)));
		for (long p = 0; p < PLATES; p++)
			check(leat_submit(keeping, leat_in(plates), leat_integer(p),
					  leat_file_out(file_of(path, dir, s * PLATES + p))));
	}
}

static void run(const struct work *work, const char *dir, const char *mode)
{
	struct leat_task_object *members[MEMBERS];
	double begin;

	check(leat_task_init(NULL));
	for (unsigned m = 0; m < MEMBERS; m++) {
		double *start = new_plates(work->bytes, m);

		members[m] = leat_task_object_new(0);
		check(members[m] ? 0 : -1);
		check(leat_task_object_set(members[m], start, PLATES * work->bytes));
		free(start);
	}
	begin = now_s();
	submit(work, dir, mode, members);
	check(leat_barrier());
	printf("%.3f\n", now_s() - begin);
	check(leat_task_finalize());
}

static struct work work_of(char **argv)
{
	struct work work = {.n_tasks = (long)bench_size_parse(argv[0]),
			    .bytes = (size_t)bench_size_parse(argv[1]),
			    .sweeps = (long)bench_size_parse(argv[2])};

	if (work.n_tasks < 1 || work.n_tasks % PLATES || work.bytes < 3 * ROW_BYTES ||
	    work.bytes % ROW_BYTES || work.sweeps < 2 || work.sweeps % 2) {
		fprintf(stderr,
			"bench_checkpoint: TASKS is to be a multiple of %d, BYTES "
			"several times %d, SWEEPS even\n",
			PLATES, (int)ROW_BYTES);
		exit(2);
	}
	return work;
}

int main(int argc, char **argv)
{
	struct work work;

	if (argc == 4 && strcmp(argv[1], "calibrate") == 0) {
		calibrate((size_t)bench_size_parse(argv[2]), (double)bench_size_parse(argv[3]));
	} else if (argc == 6 && strcmp(argv[1], "reference") == 0) {
		work = work_of(argv + 3);
		write_reference(argv[2], &work);
	} else if (argc == 8 && strcmp(argv[1], "run") == 0) {
		work = work_of(argv + 3);
		run(&work, argv[6], argv[7]);
		compare(argv[2], &work, argv[6]);
	} else {
		fprintf(stderr, "usage: bench_checkpoint calibrate BYTES MS\n"
				"       bench_checkpoint reference FILE TASKS BYTES SWEEPS\n"
				"       bench_checkpoint run FILE TASKS BYTES SWEEPS DIR MODE\n");
		return 2;
	}
	return 0;
}
