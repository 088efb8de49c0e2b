/* What the examples share. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <leat/task.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The run time's calls end the program when they fail, with what there is to say. */
#define check(call)                                                                                \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			fprintf(stderr, "%s\n", leat_task_error());                                \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static inline const struct leat_task_kind *kind(const char *name, leat_task_function *function,
						struct leat_task_constraints constraints)
{
	const struct leat_task_kind *k = leat_task_register(name, function, &constraints);

	check(k ? 0 : -1);
	return k;
}

static inline struct leat_task_object *object(size_t size)
{
	struct leat_task_object *o = leat_task_object_new(size);

	check(o ? 0 : -1);
	return o;
}

static inline const void *value(struct leat_task_object *o)
{
	const void *data;

	check(leat_wait_on(o, &data, NULL));
	return data;
}

/* A path in a buffer of the caller's. */
static inline const char *path_in(char path[4096], const char *dir, const char *name, int number)
{
	snprintf(path, 4096, "%s/%s.%d", dir, name, number);
	return path;
}

/* A positive number, or the end of the program. */
static inline long number(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || n < 1) {
		fprintf(stderr, "%s: a number from 1 up is wanted\n", text);
		exit(2);
	}
	return n;
}

static inline void *allocate(size_t n, size_t size)
{
	void *memory = calloc(n, size);

	if (!memory) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return memory;
}

/* Write the bytes to a file, up to the device. 0 or -errno. */
int write_through(const char *path, const void *data, size_t size);

/* Read `size` bytes at `offset`. 0 or -errno. */
int read_at(const char *path, void *data, size_t size, int64_t offset);

#endif
