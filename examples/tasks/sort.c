/* The lines of a file in order, for files larger than memory should be: parts are read and written
 * by I/O tasks and sorted by compute tasks, then merged two by two.
 *
 *     sort INPUT OUTPUT DIR [PARTS [STORAGE_BW]]     as LC_ALL=C sort INPUT >OUTPUT */
#include "example.h"

#include <errno.h>
#include <sys/stat.h>

/* file IN, integer offset, OUT part */
static int read_part(struct leat_task *task, const struct leat_task_arg *args)
{
	int ret = read_at(args[0].data, args[2].data, args[2].size, *(const int64_t *)args[1].data);

	leat_task_count_io(task, args[2].size);
	return ret < 0 ? leat_task_fail(task, ret, "%s", (const char *)args[0].data) : 0;
}

struct line {
	const char *text;
	size_t length;
};

static int compare_text(const char *a, size_t na, const char *b, size_t nb)
{
	int order = memcmp(a, b, na < nb ? na : nb);

	return order ? order : (na > nb) - (na < nb);
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return compare_text(x->text, x->length, y->text, y->length);
}

/* IN part, OUT sorted; every line ends with a newline */
static int sort_part(struct leat_task *task, const struct leat_task_arg *args)
{
	const char *at = args[0].data, *end = at + args[0].size;
	size_t n = 0;
	struct line *lines;
	char *to = args[1].data;

	(void)task;
	for (const char *c = at; c < end; c++)
		n += *c == '\n';
	lines = calloc(n ? n : 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		lines[i] = (struct line){at, (size_t)(stop - at)};
		at = stop + 1;
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < n; i++) {
		memcpy(to, lines[i].text, lines[i].length);
		to += lines[i].length;
		*to++ = '\n';
	}
	free(lines);
	return 0;
}

/* IN part, file OUT */
static int write_run(struct leat_task *task, const struct leat_task_arg *args)
{
	int ret = write_through(args[1].data, args[0].data, args[0].size);

	return ret < 0 ? leat_task_fail(task, ret, "%s", (const char *)args[1].data) : 0;
}

struct run {
	FILE *in;
	char *line;
	size_t capacity;
	ssize_t length; /* -1: it is over */
};

static int merge_files(struct run *a, struct run *b, FILE *out)
{
	a->length = getline(&a->line, &a->capacity, a->in);
	b->length = getline(&b->line, &b->capacity, b->in);
	while (a->length > 0 || b->length > 0) {
		struct run *least =
			b->length <= 0 || (a->length > 0 &&
					   compare_text(a->line, (size_t)a->length - 1, b->line,
							(size_t)b->length - 1) <= 0)
				? a
				: b;

		if (fwrite(least->line, 1, (size_t)least->length, out) != (size_t)least->length)
			return -EIO;
		least->length = getline(&least->line, &least->capacity, least->in);
	}
	return ferror(a->in) || ferror(b->in) ? -EIO : 0;
}

/* file IN, file IN, file OUT */
static int merge(struct leat_task *task, const struct leat_task_arg *args)
{
	struct run a = {.in = fopen(args[0].data, "r")}, b = {.in = fopen(args[1].data, "r")};
	FILE *out = fopen(args[2].data, "w");
	int ret = a.in && b.in && out ? merge_files(&a, &b, out) : -errno;

	if (out && fclose(out) != 0 && ret == 0)
		ret = -errno;
	if (a.in)
		fclose(a.in);
	if (b.in)
		fclose(b.in);
	free(a.line);
	free(b.line);
	if (ret == 0 && (remove(args[0].data) < 0 || remove(args[1].data) < 0))
		ret = -errno;
	return ret < 0 ? leat_task_fail(task, ret, "%s", (const char *)args[2].data) : 0;
}

/* file IN, file OUT: the one run that is left */
static int finish(struct leat_task *task, const struct leat_task_arg *args)
{
	if (rename(args[0].data, args[1].data) < 0)
		return leat_task_fail(task, -errno, "cannot rename %s to %s",
				      (const char *)args[0].data, (const char *)args[1].data);
	return 0;
}

/* Where the line ends that reaches `at`. */
static int64_t line_end(FILE *in, int64_t at, int64_t size)
{
	int c = 0;

	if (at == 0 || at >= size)
		return at < size ? at : size;
	if (fseeko(in, at - 1, SEEK_SET) != 0)
		return -1;
	for (at--; c != '\n' && c != EOF; at++)
		c = getc(in);
	return at < size ? at : size;
}

static int split(const char *path, int parts, int64_t *begin)
{
	FILE *in = fopen(path, "r");
	struct stat st;
	int ret = in && fstat(fileno(in), &st) == 0 ? 0 : -1;

	if (ret == 0 && st.st_size > 0 && (fseeko(in, -1, SEEK_END) != 0 || getc(in) != '\n')) {
		fprintf(stderr, "%s: the last line has no end\n", path);
		exit(1);
	}
	for (int i = 0; ret == 0 && i <= parts; i++) {
		begin[i] = line_end(in, st.st_size * i / parts, st.st_size);
		ret = begin[i] < 0 ? -1 : 0;
	}
	if (in)
		fclose(in);
	return ret;
}

int main(int argc, char **argv)
{
	int parts = argc > 4 ? (int)number(argv[4]) : 16, made = parts;
	struct leat_task_constraints io = {.io = true, .storage_bw = argc > 5 ? argv[5] : NULL};
	int64_t *begin = allocate((size_t)parts + 1, sizeof(*begin));
	char a[4096], b[4096];

	if (argc < 4) {
		fprintf(stderr, "usage: sort INPUT OUTPUT DIR [PARTS [STORAGE_BW]]\n");
		return 2;
	}
	if (split(argv[1], parts, begin) < 0) {
		perror(argv[1]);
		return 1;
	}
	check(leat_task_init(NULL));
	for (int i = 0; i < parts; i++) {
		size_t size = (size_t)(begin[i + 1] - begin[i]);
		struct leat_task_object *part = object(size), *sorted = object(size);

		check(leat_submit(kind("read_part", read_part, io), leat_file_in(argv[1]),
				  leat_integer(begin[i]), leat_out(part)));
		check(leat_submit(kind("sort_part", sort_part, (struct leat_task_constraints){0}),
				  leat_in(part), leat_out(sorted)));
		check(leat_submit(kind("write_run", write_run, io), leat_in(sorted),
				  leat_file_out(path_in(a, argv[3], "run", i))));
		leat_task_object_free(part);
		leat_task_object_free(sorted);
	}
	for (int i = 0; i + 1 < made; i += 2, made++) {
		char c[4096];

		check(leat_submit(kind("merge", merge, io),
				  leat_file_in(path_in(a, argv[3], "run", i)),
				  leat_file_in(path_in(b, argv[3], "run", i + 1)),
				  leat_file_out(path_in(c, argv[3], "run", made))));
	}
	check(leat_submit(kind("finish", finish, (struct leat_task_constraints){.io = true}),
			  leat_file_in(path_in(a, argv[3], "run", made - 1)),
			  leat_file_out(argv[2])));
	check(leat_task_finalize());
	free(begin);
	return 0;
}
