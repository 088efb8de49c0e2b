/* Tasks: functions of a program that run in parallel, in the order their data demand.
 *
 * A function becomes a kind of task by leat_task_register; leat_submit asks for one call of it. Its
 * parameters are memory objects and files, each IN, OUT or INOUT, and plain values. The result is
 * that of the calls made one after the other in the order of submission; whatever does not depend
 * on each other runs at the same time. Compute tasks share the machine's computing units. I/O tasks
 * need none: they run beside them, as far as the bandwidth of their storage device reaches. (After
 * PyCOMPSs and its I/O awareness: Elshazly et al. 2021, Sec. 3 and 4.)
 *
 *     cc program.c $(pkg-config --cflags --libs leat-task)
 *
 * Functions return 0 or -errno unless they say otherwise, and leat_task_error then tells the rest.
 * Any thread may call them, also from within a task, unless they say otherwise. See
 * docs/reference/tasks.md.
 */
#ifndef LEAT_TASK_H
#define LEAT_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct leat_task;        /* a task, as its function sees it */
struct leat_task_kind;   /* what functions are registered as */
struct leat_task_object; /* bytes in memory that tasks hand on */

/* --- the run time --- */

/* All 0: as on this machine. */
struct leat_task_options {
	const char *resources; /* file with devices and executors; NULL: $LEAT_RESOURCES, or none */
	unsigned computing_units; /* 0: as in the resources, else the CPUs that this process has */
	unsigned io_executors;    /* I/O tasks at once; 0: as in the resources, else 64 */
	size_t copies_bytes; /* memory for earlier contents of objects, so that nobody waits for
			      * their readers; 0: an eighth of the machine's memory, or of a tighter
			      * limit of a control group */
	size_t max_tasks;    /* submitted and not ended; 0: any number. Above it leat_task_submit
			      * waits, but not in a task */
	const char *report;  /* written by leat_task_finalize: a file (JSON if it ends in .json, a
			      * page if in .html), "-" standard error; NULL: $LEAT_TASK_REPORT, or
			      * none */
};

/* Start the run time, of which a process has one at a time. `options` may be NULL; all is copied.
 * -EALREADY: it is running; -EINVAL: mistakes in the resources; errors of files and memory. */
int leat_task_init(const struct leat_task_options *options);

/* Wait for all tasks, end all threads, write the report and free everything but the kinds; objects
 * are gone. The error of leat_task_barrier, or that of the report. Not in a task. */
int leat_task_finalize(void);

/* What the last call that failed in this thread has to say: one or more lines without a newline at
 * the end; "" if there was none. Valid until the thread's next call. */
const char *leat_task_error(void);

/* --- kinds of tasks --- */

/* A parameter as the function finds it. IN data must not be changed; OUT data are any bytes at all
 * until the function has written them. */
struct leat_task_arg {
	void *data;  /* the bytes of an object or value, for any type; of a file its path, a text */
	size_t size; /* of an object or value, in bytes; of a file, of its path without the NUL */
};

/* The work: 0, or -errno of what went wrong. Called in any thread. */
typedef int leat_task_function(struct leat_task *task, const struct leat_task_arg *args);

/* What tasks of a kind need. All 0: one computing unit. */
struct leat_task_constraints {
	bool io;                  /* an I/O task: no computing unit, beside the others */
	unsigned computing_units; /* 0: one; with io: must be 0 */
	const char *storage_bw;   /* with io: "20" (MB/s), "auto", "auto(MIN,MAX,DELTA)", or NULL */
	const char *device; /* name in the resources; NULL: where the first file it writes lies,
			     * else the first it reads, else the working directory */
};

/* Make `function` known under a name, which is copied; before or after leat_task_init.
 * `constraints` may be NULL. Registering the same again gives the same kind. NULL: errno says why
 * (EINVAL: mistakes in the constraints; EEXIST: the name means something else). Kinds are never
 * freed. */
const struct leat_task_kind *leat_task_register(const char *name, leat_task_function *function,
						const struct leat_task_constraints *constraints);

/* The kind of that name, or NULL. */
const struct leat_task_kind *leat_task_kind_find(const char *name);

/* --- objects --- */

/* A new object of `size` bytes, all zero; NULL: errno says why. */
struct leat_task_object *leat_task_object_new(size_t size);

/* The tasks submitted so far keep what they need. NULL is allowed. */
void leat_task_object_free(struct leat_task_object *object);

/* Give the object other contents, of any size: a copy of `data`. Tasks submitted before see the old
 * ones. */
int leat_task_object_set(struct leat_task_object *object, const void *data, size_t size);

/* --- tasks --- */

enum leat_task_direction { LEAT_TASK_IN = 1, LEAT_TASK_OUT = 2, LEAT_TASK_INOUT = 3 };

enum leat_task_param_type {
	LEAT_TASK_BYTES,
	LEAT_TASK_INTEGER,
	LEAT_TASK_REAL,
	LEAT_TASK_OBJECT,
	LEAT_TASK_FILE,
};

/* A parameter at submission; made by the functions below. What they point to is copied, but for
 * objects. */
struct leat_task_param {
	enum leat_task_direction direction;
	enum leat_task_param_type type;
	size_t size;
	union {
		const void *bytes;
		int64_t integer;
		double real;
		struct leat_task_object *object;
		const char *path;
	} u;
};

/* Ask for one call. 0; the task may be over by then. -ENOENT: a file to be read that neither exists
 * nor is written by a task, or no directory for one to be written; -EINVAL: one object or file
 * twice and written (the task would wait for itself), no such device; -ERANGE: it asks for more
 * than there is; -ENOMEM. Nothing is submitted then. */
int leat_task_submit(const struct leat_task_kind *kind, const struct leat_task_param *params,
		     size_t n_params);

/* leat_submit(kind, leat_in(a), leat_out(b)); for C. */
#define leat_submit(kind, ...)                                                                     \
	leat_task_submit((kind), (const struct leat_task_param[]){__VA_ARGS__},                    \
			 sizeof((const struct leat_task_param[]){__VA_ARGS__}) /                   \
				 sizeof(struct leat_task_param))

/* Wait until all tasks have ended that were submitted before and write the object; `data` and
 * `size`, which may be NULL, are then its contents: until a task that writes it is submitted, it is
 * set, or freed. The error of the task that failed, with its name in leat_task_error. -EDEADLK:
 * called in a task, the task itself would have to end first, or it is an I/O task. */
int leat_task_wait_on(struct leat_task_object *object, const void **data, size_t *size);

/* The same for a file. */
int leat_task_wait_on_file(const char *path);

/* Wait until no task is left. The error of the first that failed since the last barrier, with its
 * name and how many others failed or were not run for it. -EDEADLK: called in a task. */
int leat_task_barrier(void);

#define leat_wait_on leat_task_wait_on
#define leat_barrier leat_task_barrier

/* --- within a task's function --- */

/* Change the size of an OUT or INOUT object, by the number of the parameter, from 0. Its bytes,
 * which stay as far as there is space and may have moved, or NULL when out of memory; args follow.
 */
void *leat_task_resize(struct leat_task *task, size_t param, size_t size);

/* Say what went wrong: the text stands behind the task's name in leat_task_error. Returns `error`.
 */
int leat_task_fail(struct leat_task *task, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Bytes of I/O the task has done, for the report; each call adds to them. Without any the sizes of
 * its files count, those it reads and those it writes. */
void leat_task_count_io(struct leat_task *task, uint64_t bytes);

#pragma GCC visibility pop

/* --- parameters --- */

static inline struct leat_task_param leat_object_param(struct leat_task_object *object,
						       enum leat_task_direction direction)
{
	struct leat_task_param p = {direction, LEAT_TASK_OBJECT, 0, {NULL}};

	p.u.object = object;
	return p;
}

static inline struct leat_task_param leat_in(struct leat_task_object *object)
{
	return leat_object_param(object, LEAT_TASK_IN);
}

static inline struct leat_task_param leat_out(struct leat_task_object *object)
{
	return leat_object_param(object, LEAT_TASK_OUT);
}

static inline struct leat_task_param leat_inout(struct leat_task_object *object)
{
	return leat_object_param(object, LEAT_TASK_INOUT);
}

static inline struct leat_task_param leat_file_param(const char *path,
						     enum leat_task_direction direction)
{
	struct leat_task_param p = {direction, LEAT_TASK_FILE, 0, {NULL}};

	p.u.path = path;
	return p;
}

static inline struct leat_task_param leat_file_in(const char *path)
{
	return leat_file_param(path, LEAT_TASK_IN);
}

static inline struct leat_task_param leat_file_out(const char *path)
{
	return leat_file_param(path, LEAT_TASK_OUT);
}

static inline struct leat_task_param leat_file_inout(const char *path)
{
	return leat_file_param(path, LEAT_TASK_INOUT);
}

/* Its data are an int64_t. */
static inline struct leat_task_param leat_integer(int64_t value)
{
	struct leat_task_param p = {LEAT_TASK_IN, LEAT_TASK_INTEGER, sizeof(value), {NULL}};

	p.u.integer = value;
	return p;
}

/* Its data are a double. */
static inline struct leat_task_param leat_real(double value)
{
	struct leat_task_param p = {LEAT_TASK_IN, LEAT_TASK_REAL, sizeof(value), {NULL}};

	p.u.real = value;
	return p;
}

/* Any bytes; a copy. */
static inline struct leat_task_param leat_bytes(const void *bytes, size_t size)
{
	struct leat_task_param p = {LEAT_TASK_IN, LEAT_TASK_BYTES, size, {NULL}};

	p.u.bytes = bytes;
	return p;
}

#ifdef __cplusplus
}
#endif

#endif
