/* The run time of tasks: results as of the calls made one after the other, errors, waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "leat/task.h"

#include "short.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_OBJECTS = 6, N_TASKS = 400, MAX_PARAMS = 5 };

#define assert_done(call)                                                                          \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			fail_msg("%s", leat_task_error());                                         \
	} while (0)

static int begin(void **state)
{
	const struct leat_task_options options = {.computing_units = 3, .io_executors = 4};

	(void)state;
	return leat_task_init(&options);
}

static int end(void **state)
{
	(void)state;
	leat_task_finalize();
	return 0;
}

static const struct leat_task_kind *kind(const char *name, leat_task_function *function,
					 const struct leat_task_constraints *constraints)
{
	const struct leat_task_kind *k = leat_task_register(name, function, constraints);

	if (!k)
		fail_msg("%s", leat_task_error());
	return k;
}

static int64_t value_of(struct leat_task_object *object)
{
	const void *data;
	size_t size;

	assert_done(leat_wait_on(object, &data, &size));
	assert_int_equal(size, sizeof(int64_t));
	return *(const int64_t *)data;
}

/* --- as one after the other --- */

/* Parameter 0 is the number of parameters, 1 their directions, one octal digit each; what is read
 * goes into what is written. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

static void apply(int64_t n, int64_t directions, uint64_t *const *values)
{
	uint64_t hash = (uint64_t)directions;

	for (int64_t i = 0; i < n; i++)
		if (directions >> 3 * i & LEAT_TASK_IN)
			hash = mix(hash, *values[i]);
	for (int64_t i = 0; i < n; i++)
		if (directions >> 3 * i & LEAT_TASK_OUT)
			*values[i] = mix(hash, (uint64_t)i);
}

static int do_apply(struct leat_task *task, const struct leat_task_arg *args)
{
	int64_t n = *(const int64_t *)args[0].data;
	uint64_t *values[MAX_PARAMS];

	(void)task;
	for (int64_t i = 0; i < n; i++)
		values[i] = args[2 + i].data;
	apply(n, *(const int64_t *)args[1].data, values);
	return 0;
}

static void one_call(const struct leat_task_kind *k, struct leat_task_object **objects,
		     uint64_t *oracle, unsigned *seed)
{
	struct leat_task_param params[2 + MAX_PARAMS];
	int64_t n = 1 + rand_r(seed) % MAX_PARAMS, directions = 0;
	uint64_t *values[MAX_PARAMS];
	unsigned used = 0;

	for (int64_t i = 0; i < n; i++) {
		int which, direction = 1 + rand_r(seed) % 3;

		do
			which = rand_r(seed) % N_OBJECTS;
		while (used >> which & 1);
		used |= 1u << which;
		directions |= (int64_t)direction << 3 * i;
		values[i] = &oracle[which];
		params[2 + i] = leat_object_param(objects[which], direction);
	}
	params[0] = leat_integer(n);
	params[1] = leat_integer(directions);
	apply(n, directions, values);
	assert_done(leat_task_submit(k, params, 2 + (size_t)n));
}

static void random_graphs(size_t copies_bytes, size_t max_tasks)
{
	const struct leat_task_options options = {.computing_units = 3,
						  .io_executors = 4,
						  .copies_bytes = copies_bytes,
						  .max_tasks = max_tasks};
	const struct leat_task_kind *compute = kind("apply", do_apply, NULL);
	const struct leat_task_kind *wide =
		kind("apply-wide", do_apply, &(struct leat_task_constraints){.computing_units = 2});
	const struct leat_task_kind *io =
		kind("apply-io", do_apply, &(struct leat_task_constraints){.io = true});
	const struct leat_task_kind *kinds[] = {compute, wide, io};

	const unsigned graphs = short_or_full(30, 60);

	for (unsigned graph = 0; graph < graphs; graph++) {
		struct leat_task_object *objects[N_OBJECTS];
		uint64_t oracle[N_OBJECTS] = {0};
		unsigned seed = graph;

		assert_done(leat_task_init(&options));
		for (int i = 0; i < N_OBJECTS; i++)
			objects[i] = leat_task_object_new(sizeof(uint64_t));
		for (int i = 0; i < N_TASKS; i++) {
			one_call(kinds[rand_r(&seed) % 3], objects, oracle, &seed);
			if (rand_r(&seed) % 50 == 0) {
				int which = rand_r(&seed) % N_OBJECTS;

				assert_true((uint64_t)value_of(objects[which]) == oracle[which]);
			}
		}
		for (int i = 0; i < N_OBJECTS; i++)
			assert_true((uint64_t)value_of(objects[i]) == oracle[i]);
		assert_done(leat_task_finalize());
	}
}

static void test_graphs(void **state)
{
	(void)state;
	random_graphs(0, 0);
}

static void test_graphs_no_copies(void **state)
{
	(void)state;
	random_graphs(1, 0);
}

static void test_graphs_few_tasks(void **state)
{
	(void)state;
	random_graphs(16, 7);
}

/* --- files as one after the other --- */

static int append(struct leat_task *task, const struct leat_task_arg *args)
{
	FILE *f = fopen(args[0].data, "a");

	if (!f)
		return leat_task_fail(task, -errno, "cannot open %s", (const char *)args[0].data);
	fprintf(f, "%lld\n", (long long)*(const int64_t *)args[1].data);
	return fclose(f) ? -errno : 0;
}

static int sum_lines(struct leat_task *task, const struct leat_task_arg *args)
{
	FILE *f = fopen(args[0].data, "r");
	int64_t *sum = args[1].data;
	long long line;

	(void)task;
	if (!f)
		return -errno;
	*sum = 0;
	while (fscanf(f, "%lld", &line) == 1)
		*sum = *sum * 3 + line;
	fclose(f);
	return 0;
}

static void test_files(void **state)
{
	const struct leat_task_kind *write_one =
		kind("append", append, &(struct leat_task_constraints){.io = true});
	const struct leat_task_kind *sum =
		kind("sum", sum_lines, &(struct leat_task_constraints){.io = true});
	char dir[] = "/tmp/leat-task-XXXXXX", path[64], same[64];
	struct leat_task_object *sums[20];
	int64_t expected = 0;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/lines", dir);
	snprintf(same, sizeof(same), "%s/./lines", dir);
	assert_int_equal(leat_submit(sum, leat_file_in(path), leat_integer(0)), -ENOENT);
	assert_non_null(strstr(leat_task_error(), "no task submitted before writes it"));
	for (int i = 0; i < 20; i++) {
		sums[i] = leat_task_object_new(sizeof(int64_t));
		assert_done(leat_submit(
			write_one, i ? leat_file_inout(i % 2 ? path : same) : leat_file_out(path),
			leat_integer(i)));
		assert_done(leat_submit(sum, leat_file_in(path), leat_out(sums[i])));
	}
	for (int i = 0; i < 20; i++) {
		expected = expected * 3 + i;
		assert_int_equal(value_of(sums[i]), expected);
		leat_task_object_free(sums[i]);
	}
	assert_done(leat_task_wait_on_file(same));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	snprintf(path, sizeof(path), "%s/none", dir);
	assert_int_equal(leat_submit(write_one, leat_file_out(path), leat_integer(0)), -ENOENT);
	assert_non_null(strstr(leat_task_error(), "the directory it is to be in must exist"));
}

/* --- failures --- */

static int fail_if_odd(struct leat_task *task, const struct leat_task_arg *args)
{
	int64_t *value = args[0].data;

	if (*value % 2)
		return leat_task_fail(task, -EDOM, "%lld is odd", (long long)*value);
	++*value;
	return 0;
}

static int set(struct leat_task *task, const struct leat_task_arg *args)
{
	(void)task;
	*(int64_t *)args[0].data = 8;
	return 0;
}

static void test_failure(void **state)
{
	const struct leat_task_kind *step = kind("fail_if_odd", fail_if_odd, NULL);
	const struct leat_task_kind *eight = kind("set", set, NULL);
	struct leat_task_object *a = leat_task_object_new(sizeof(int64_t));
	const void *data = NULL;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_done(leat_submit(step, leat_inout(a)));
	assert_int_equal(leat_wait_on(a, &data, NULL), -EDOM);
	assert_null(data);
	assert_string_equal(leat_task_error(), "task fail_if_odd (number 2) failed: 1 is odd: "
					       "Numerical argument out of domain");
	assert_int_equal(leat_barrier(), -EDOM);
	assert_non_null(strstr(leat_task_error(), "fail_if_odd (number 2)"));
	assert_non_null(strstr(leat_task_error(), "2 were not run for it"));
	assert_done(leat_barrier());
	/* what is written anew is good again */
	assert_int_equal(leat_wait_on(a, NULL, NULL), -EDOM);
	assert_done(leat_submit(eight, leat_out(a)));
	assert_int_equal(value_of(a), 8);
	leat_task_object_free(a);
}

static void test_failure_file(void **state)
{
	const struct leat_task_kind *write_one =
		kind("append", append, &(struct leat_task_constraints){.io = true});
	const struct leat_task_kind *step = kind("fail_if_odd", fail_if_odd, NULL);
	struct leat_task_object *a = leat_task_object_new(sizeof(int64_t));
	char dir[] = "/tmp/leat-task-XXXXXX", path[64];
	int64_t one = 1;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	assert_done(leat_task_object_set(a, &one, sizeof(one)));
	assert_done(leat_submit(step, leat_inout(a), leat_file_out(path)));
	assert_int_equal(leat_task_wait_on_file(path), -EDOM);
	/* a file that should be there and is not is no mistake of this call */
	assert_done(leat_submit(write_one, leat_file_inout(path), leat_integer(1)));
	assert_int_equal(leat_task_wait_on_file(path), -EDOM);
	assert_done(leat_submit(write_one, leat_file_out(path), leat_integer(1)));
	assert_done(leat_task_wait_on_file(path));
	assert_int_equal(leat_barrier(), -EDOM);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	leat_task_object_free(a);
}

/* --- mistakes --- */

static void test_mistakes(void **state)
{
	static const struct {
		struct leat_task_constraints constraints;
		const char *says;
	} kinds[] = {
		{{.io = true, .storage_bw = "auto(50,10,2)"}, "storage_bw"},
		{{.io = true, .storage_bw = "auto(10,50,1)"}, "storage_bw"},
		{{.io = true, .storage_bw = "fast"}, "storage_bw"},
		{{.storage_bw = "20"}, "set io"},
		{{.device = "ssd"}, "set io"},
		{{.io = true, .computing_units = 2}, "computing units"},
	};
	static const struct {
		struct leat_task_constraints constraints;
		const char *says;
	} submits[] = {
		{{.io = true, .storage_bw = "auto"}, "do not describe"},
		{{.io = true, .device = "tape"}, "tape"},
		{{.computing_units = 1000}, "1000"},
	};
	const struct leat_task_kind *k = kind("set", set, NULL);
	struct leat_task_object *a = leat_task_object_new(8);
	char name[16];

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		assert_null(leat_task_register("wrong", set, &kinds[i].constraints));
		assert_int_equal(errno, EINVAL);
		if (!strstr(leat_task_error(), kinds[i].says))
			fail_msg("%zu: %s", i, leat_task_error());
	}
	for (size_t i = 0; i < sizeof(submits) / sizeof(submits[0]); i++) {
		snprintf(name, sizeof(name), "refused%zu", i);
		assert_int_equal(leat_submit(kind(name, set, &submits[i].constraints), leat_out(a)),
				 -EINVAL);
		if (!strstr(leat_task_error(), submits[i].says) || !strstr(leat_task_error(), name))
			fail_msg("%zu: %s", i, leat_task_error());
	}
	assert_null(leat_task_register("set", append, NULL));
	assert_int_equal(errno, EEXIST);
	assert_ptr_equal(leat_task_kind_find("set"), k);
	assert_int_equal(leat_submit(k, leat_in(a), leat_out(a)), -EINVAL);
	assert_non_null(strstr(leat_task_error(), "wait for itself"));
	assert_int_equal(
		leat_submit(k, leat_file_in("/etc/passwd"), leat_file_inout("/etc/./passwd")),
		-EINVAL);
	assert_non_null(strstr(leat_task_error(), "wait for itself"));
	assert_int_equal(leat_submit(k, leat_out(NULL)), -EINVAL);
	assert_int_equal(leat_task_init(NULL), -EALREADY);
	leat_task_object_free(a);
}

/* --- tasks that submit and wait --- */

static struct leat_task_object *own;
static const struct leat_task_kind *fibonacci_kind;

static int fibonacci(struct leat_task *task, const struct leat_task_arg *args)
{
	int64_t n = *(const int64_t *)args[0].data, *result = args[1].data;
	struct leat_task_object *a, *b;
	const void *x, *y;
	int ret = 0;

	*result = n;
	if (n < 2)
		return 0;
	a = leat_task_object_new(sizeof(int64_t));
	b = leat_task_object_new(sizeof(int64_t));
	if (leat_submit(fibonacci_kind, leat_integer(n - 1), leat_out(a)) < 0 ||
	    leat_submit(fibonacci_kind, leat_integer(n - 2), leat_out(b)) < 0 ||
	    leat_wait_on(a, &x, NULL) < 0 || leat_wait_on(b, &y, NULL) < 0)
		ret = leat_task_fail(task, -ECHILD, "%s", leat_task_error());
	else
		*result = *(const int64_t *)x + *(const int64_t *)y;
	leat_task_object_free(a);
	leat_task_object_free(b);
	return ret;
}

static void test_nested(void **state)
{
	struct leat_task_object *a = leat_task_object_new(sizeof(int64_t));

	(void)state;
	fibonacci_kind = kind("fibonacci", fibonacci, NULL);
	assert_done(leat_submit(fibonacci_kind, leat_integer(10), leat_out(a)));
	assert_int_equal(value_of(a), 55);
	leat_task_object_free(a);
}

static int wait_for_own(struct leat_task *task, const struct leat_task_arg *args)
{
	int *results = args[0].data;

	(void)task;
	/* what it writes itself, what is made of that, and all */
	results[0] = leat_wait_on(own, NULL, NULL);
	if (leat_submit(leat_task_kind_find("set"), leat_inout(own)) == 0)
		results[1] = leat_wait_on(own, NULL, NULL);
	results[2] = leat_barrier();
	results[3] = strstr(leat_task_error(), "waits for itself") ? 0 : -1;
	return 0;
}

static int note_own(struct leat_task *task, const struct leat_task_arg *args)
{
	int results[4] = {0};
	struct leat_task_arg to = {results, sizeof(results)};

	wait_for_own(task, &to);
	memcpy(args[1].data, results, sizeof(results));
	return 0;
}

static void test_waits_for_itself(void **state)
{
	struct leat_task_object *notes = leat_task_object_new(4 * sizeof(int));
	const void *data;
	const int *results;

	(void)state;
	own = leat_task_object_new(64);
	kind("set", set, NULL);
	assert_done(
		leat_submit(kind("note_own", note_own, NULL), leat_inout(own), leat_out(notes)));
	assert_done(leat_barrier());
	assert_done(leat_wait_on(notes, &data, NULL));
	results = data;
	assert_int_equal(results[0], -EDEADLK);
	assert_int_equal(results[1], -EDEADLK);
	assert_int_equal(results[2], -EDEADLK);
	assert_int_equal(results[3], 0);
	leat_task_object_free(notes);
	leat_task_object_free(own);
}

/* --- sizes, earlier contents, many threads --- */

static int count_up(struct leat_task *task, const struct leat_task_arg *args)
{
	size_t n = args[0].size + 1;
	char *bytes = leat_task_resize(task, 0, n);

	if (!bytes || args[0].data != bytes || args[0].size != n)
		return -ENOMEM;
	bytes[n - 1] = (char)n;
	return 0;
}

static int check_bytes(struct leat_task *task, const struct leat_task_arg *args)
{
	const char *bytes = args[0].data;

	if (args[0].size != (size_t) * (const int64_t *)args[1].data)
		return leat_task_fail(task, -EILSEQ, "%zu bytes", args[0].size);
	for (size_t i = 0; i < args[0].size; i++)
		if (bytes[i] != (char)(i + 1))
			return -EILSEQ;
	return 0;
}

static void test_contents(void **state)
{
	const struct leat_task_kind *grow = kind("grow", count_up, NULL);
	const struct leat_task_kind *check =
		kind("check", check_bytes, &(struct leat_task_constraints){.io = true});
	struct leat_task_object *a = leat_task_object_new(0);

	(void)state;
	for (int i = 1; i <= 100; i++) {
		assert_done(leat_submit(grow, leat_inout(a)));
		for (int k = 0; k < 3; k++)
			assert_done(leat_submit(check, leat_in(a), leat_integer(i)));
	}
	leat_task_object_free(a);
	assert_done(leat_barrier());
}

static int add(struct leat_task *task, const struct leat_task_arg *args)
{
	(void)task;
	*(int64_t *)args[0].data += *(const int64_t *)args[1].data;
	return 0;
}

static void *submit_many(void *data)
{
	struct leat_task_object *total = data, *mine = leat_task_object_new(sizeof(int64_t));
	const struct leat_task_kind *k = leat_task_kind_find("add");
	intptr_t wrong = 0;

	for (int i = 0; i < 2000; i++) {
		wrong += leat_submit(k, leat_inout(mine), leat_integer(1)) < 0;
		wrong += leat_submit(k, leat_inout(total), leat_integer(1)) < 0;
	}
	wrong += leat_submit(k, leat_inout(total), leat_in(mine)) < 0;
	leat_task_object_free(mine);
	return (void *)wrong;
}

static void test_threads(void **state)
{
	struct leat_task_object *total = leat_task_object_new(sizeof(int64_t));
	pthread_t threads[4];
	void *wrong;

	(void)state;
	kind("add", add, NULL);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, submit_many, total), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	assert_int_equal(value_of(total), 4 * 2 * 2000);
	leat_task_object_free(total);
}

/* --- learning --- */

static void write_resources(char path[64])
{
	FILE *f;
	int fd;

	snprintf(path, 64, "/tmp/leat-task-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fprintf(f, "resources:\n  nodes:\n    - name: localhost\n      computing_units: 2\n"
		   "      io_executors: 8\n      storage:\n"
		   "        - {name: disk, bandwidth: 100, paths: [/]}\n");
	assert_int_equal(fclose(f), 0);
}

/* A kind that learns keeps all other I/O away until its epoch has its tasks. Whoever waits for that
 * other I/O cannot submit them: the epoch must not wait for him. */
static void test_learning_ends(void **state)
{
	const struct leat_task_kind *learns =
		kind("learns", do_apply,
		     &(struct leat_task_constraints){.io = true, .storage_bw = "auto"});
	const struct leat_task_kind *other =
		kind("other", do_apply, &(struct leat_task_constraints){.io = true});
	char path[64];

	(void)state;
	write_resources(path);
	for (int follow = 0; follow < 2; follow++) {
		const struct leat_task_options options = {.resources = path};
		struct leat_task_object *a, *b;

		assert_done(leat_task_init(&options));
		a = leat_task_object_new(sizeof(int64_t));
		b = leat_task_object_new(sizeof(int64_t));
		for (int i = 0; i < 3; i++)
			assert_done(leat_submit(learns, leat_integer(1), leat_integer(LEAT_TASK_IN),
						leat_in(a)));
		assert_done(leat_submit(other, leat_integer(1), leat_integer(LEAT_TASK_OUT),
					leat_out(b)));
		/* one more for the epoch, but it comes after what is waited for */
		if (follow)
			assert_done(leat_submit(learns, leat_integer(1), leat_integer(LEAT_TASK_IN),
						leat_in(b)));
		assert_done(leat_wait_on(b, NULL, NULL));
		assert_done(leat_task_finalize());
	}
	unlink(path);
}

/* Bandwidth that running tasks hold together is never more than the device has. */
static pthread_mutex_t taken_lock = PTHREAD_MUTEX_INITIALIZER;
static int taken, most_taken;

static int take(struct leat_task *task, const struct leat_task_arg *args)
{
	(void)task;
	(void)args;
	pthread_mutex_lock(&taken_lock);
	taken++;
	most_taken = taken > most_taken ? taken : most_taken;
	pthread_mutex_unlock(&taken_lock);
	usleep(200);
	pthread_mutex_lock(&taken_lock);
	taken--;
	pthread_mutex_unlock(&taken_lock);
	return 0;
}

static void test_constraint_holds(void **state)
{
	const struct leat_task_kind *k =
		kind("take", take, &(struct leat_task_constraints){.io = true, .storage_bw = "30"});
	const struct leat_task_kind *above = kind(
		"above", take, &(struct leat_task_constraints){.io = true, .storage_bw = "101"});
	char path[64];
	struct leat_task_options options = {.resources = path};

	(void)state;
	write_resources(path);
	assert_done(leat_task_init(&options));
	taken = most_taken = 0;
	for (int i = 0; i < 300; i++)
		assert_done(leat_task_submit(k, NULL, 0));
	assert_int_equal(leat_task_submit(above, NULL, 0), -EINVAL);
	assert_non_null(strstr(leat_task_error(), "above"));
	assert_done(leat_task_finalize());
	assert_in_range(most_taken, 1, 3);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_graphs_no_copies),
		cmocka_unit_test(test_graphs_few_tasks),
		cmocka_unit_test_setup_teardown(test_files, begin, end),
		cmocka_unit_test_setup_teardown(test_failure, begin, end),
		cmocka_unit_test_setup_teardown(test_failure_file, begin, end),
		cmocka_unit_test_setup_teardown(test_mistakes, begin, end),
		cmocka_unit_test_setup_teardown(test_nested, begin, end),
		cmocka_unit_test_setup_teardown(test_waits_for_itself, begin, end),
		cmocka_unit_test_setup_teardown(test_contents, begin, end),
		cmocka_unit_test_setup_teardown(test_threads, begin, end),
		cmocka_unit_test(test_learning_ends),
		cmocka_unit_test(test_constraint_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
