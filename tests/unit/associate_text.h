/* Logs and tasks as texts, for the tests of the associator. */
#ifndef ASSOCIATE_TEXT_H
#define ASSOCIATE_TEXT_H

#include "associate/associate.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAP_SECOND INT64_C(1000000000)

/* What was said, a line each. */
struct said {
	char text[4096];
	size_t n;
};

static inline void said_take(void *ctx, const char *text)
{
	struct said *s = ctx;

	s->n += (size_t)snprintf(s->text + s->n, sizeof(s->text) - s->n, "%s\n", text);
	if (s->n > sizeof(s->text))
		abort();
}

/* Read `text` as a log called `name`, which is to be seen in what is said. */
static inline int read_text(struct leat_associate_map *m, const char *text, size_t size,
			    const struct leat_associate_format *format, const char *name)
{
	char dir[] = "/tmp/leat-test-map-XXXXXX", path[PATH_MAX], here[PATH_MAX];
	FILE *out;
	int result;

	if (!mkdtemp(dir) || !getcwd(here, sizeof(here)) || chdir(dir))
		abort();
	snprintf(path, sizeof(path), "%s", name);
	out = fopen(path, "w");
	if (!out || fwrite(text, 1, size, out) != size || fclose(out))
		abort();
	result = leat_associate_read_log(m, path, format);
	if (unlink(path) || chdir(here) || rmdir(dir))
		abort();
	return result;
}

static inline void put_time(FILE *out, int64_t ns)
{
	if (ns)
		fprintf(out, "%" PRId64 ".%03" PRId64, ns / MAP_SECOND, ns % MAP_SECOND / 1000000);
	else
		putc('-', out);
}

/* "manager | workflow | logical | physical | dir | status | began ended", a line each. The caller
 * frees it. */
static inline char *tasks_text(const struct leat_associate_map *m)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; out && i < leat_associate_tasks(m); i++) {
		const struct leat_associate_task *t = leat_associate_task(m, i);

		fprintf(out, "%s | %s | %s | %s | %s | %s | ", t->manager, t->workflow, t->logical,
			t->physical, t->dir ? t->dir : "-", t->status);
		put_time(out, t->began_ns);
		putc(' ', out);
		put_time(out, t->ended_ns);
		putc('\n', out);
	}
	if (!out || fclose(out))
		abort();
	return text;
}

#endif
