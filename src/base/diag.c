#include "base/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* An allocation failure is for us to handle, not for the library to exit on. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Longer source lines are cut to a window around the caret. */
enum { WINDOW_COLUMNS = 120, WINDOW_LEFT = 70 };

/* More diagnostics than anybody reads are counted, not printed. */
enum { PRINT_MAX = 500 };

struct diag {
	enum leat_severity severity;
	const char *code; /* borrowed constant */
	struct leat_pos pos;
	char *text; /* owned; NULL when memory ran out */
};

struct file {
	char *path;
	const char *source; /* borrowed, may be NULL */
};

struct leat_diags {
	struct file *files; /* the first is the list's own */
	size_t n_files;
	void **kept; /* freed with the list */
	size_t n_kept;
	struct diag *v;
	size_t n;
	size_t capacity;
	size_t counts[LEAT_ERROR + 1]; /* right even for those lost to memory */
	size_t lost;
	const char *kind, *subject; /* borrowed; see leat_diags_set_subject */
};

int leat_diags_add_file(struct leat_diags *d, const char *path, const char *source)
{
	struct file *files = reallocarray(d->files, d->n_files + 1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	d->files = files;
	files[d->n_files] = (struct file){strdup(path), source};
	if (!files[d->n_files].path)
		return -ENOMEM;
	return (int)d->n_files++;
}

int leat_diags_keep(struct leat_diags *d, void *memory)
{
	void **kept = reallocarray(d->kept, d->n_kept + 1, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	d->kept = kept;
	kept[d->n_kept++] = memory;
	return 0;
}

struct leat_diags *leat_diags_new(const char *path, const char *source)
{
	struct leat_diags *d = calloc(1, sizeof(*d));

	if (d && leat_diags_add_file(d, path, source) < 0) {
		leat_diags_free(d);
		return NULL;
	}
	return d;
}

void leat_diags_free(struct leat_diags *d)
{
	int saved = errno;

	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		free(d->v[i].text);
	free(d->v);
	for (size_t i = 0; i < d->n_kept; i++)
		free(d->kept[i]);
	free(d->kept);
	for (size_t i = 0; i < d->n_files; i++)
		free(d->files[i].path);
	free(d->files);
	free(d);
	errno = saved;
}

static struct diag *diags_grow(struct leat_diags *d)
{
	if (d->n == d->capacity) {
		size_t capacity = d->capacity ? 2 * d->capacity : 8;
		struct diag *v = reallocarray(d->v, capacity, sizeof(*v));

		if (!v)
			return NULL;
		d->v = v;
		d->capacity = capacity;
	}
	return &d->v[d->n++];
}

void leat_diags_set_subject(struct leat_diags *d, const char *kind, const char *name)
{
	d->kind = kind;
	d->subject = name;
}

static bool has_quoted(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = text; (at = strchr(at, '"')); at++)
		if (strncmp(at + 1, name, length) == 0 && at[1 + length] == '"')
			return true;
	return false;
}

/* Takes `text` over; NULL is allowed. */
static char *add_subject(const struct leat_diags *d, char *text)
{
	char *whole;

	if (!text || !d->subject || has_quoted(text, d->subject))
		return text;
	whole = leat_strf("%s \"%s\": %s", d->kind, d->subject, text);
	free(text);
	return whole;
}

void leat_diags_add(struct leat_diags *d, enum leat_severity severity, const char *code,
		    struct leat_pos pos, const char *format, ...)
{
	struct diag *diag;
	va_list ap;

	d->counts[severity]++;
	diag = diags_grow(d);
	if (!diag) {
		d->lost++;
		return;
	}
	va_start(ap, format);
	*diag = (struct diag){severity, code, pos, add_subject(d, leat_vstrf(format, ap))};
	va_end(ap);
}

size_t leat_diags_count(const struct leat_diags *d, enum leat_severity severity)
{
	return d->counts[severity];
}

bool leat_diags_has(const struct leat_diags *d, const char *code)
{
	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->v[i].code, code))
			return true;
	return false;
}

bool leat_diags_has_only(const struct leat_diags *d, enum leat_severity severity, const char *code)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].severity == severity && strcmp(d->v[i].code, code) != 0)
			return false;
	return true;
}

size_t leat_diags_mark(const struct leat_diags *d)
{
	return d->n;
}

/* A diagnostic that is kept, and how many of its kind are not. */
struct kind {
	char *key; /* owned */
	size_t at; /* among the diagnostics */
	size_t more;
	UT_hash_handle hh;
};

/* The kind of diagnostic number `at`, made if it is new; NULL when out of memory. */
static struct kind *kind_of(struct kind **kinds, const struct diag *diag, size_t at,
			    leat_diags_key_fn *key, const void *ctx)
{
	char *same = key(ctx, diag->text ? diag->text : "");
	char *full = same ? leat_strf("%s %d:%d:%d %d %s", diag->code, diag->pos.file,
				      diag->pos.line, diag->pos.column, diag->severity, same)
			  : NULL;
	struct kind *kind = NULL;

	free(same);
	if (!full)
		return NULL;
	HASH_FIND_STR(*kinds, full, kind);
	if (kind) {
		free(full);
		return kind;
	}
	kind = calloc(1, sizeof(*kind));
	if (kind) {
		*kind = (struct kind){.key = full, .at = at};
		HASH_ADD_KEYPTR(hh, *kinds, kind->key, strlen(full), kind);
	}
	if (kind && kind->hh.tbl)
		return kind;
	free(full);
	free(kind);
	return NULL;
}

/* Let each kind say how many it stands for. 0 or -ENOMEM. */
static int name_counts(struct leat_diags *d, struct kind *kinds)
{
	int ret = 0;

	for (struct kind *k = kinds; k; k = k->hh.next) {
		char *text =
			k->more ? leat_strf("%s (and %zu more like it)", d->v[k->at].text, k->more)
				: NULL;

		if (k->more && !text)
			ret = -ENOMEM;
		if (!text)
			continue;
		free(d->v[k->at].text);
		d->v[k->at].text = text;
	}
	return ret;
}

int leat_diags_fold(struct leat_diags *d, size_t mark, leat_diags_key_fn *key, const void *ctx)
{
	struct kind *kinds = NULL, *kind, *next;
	size_t kept = mark;
	int ret = 0;

	for (size_t i = mark; i < d->n; i++) {
		kind = kind_of(&kinds, &d->v[i], kept, key, ctx);
		if (!kind)
			ret = -ENOMEM;
		if (!kind || kind->at == kept) {
			d->v[kept++] = d->v[i];
			continue;
		}
		kind->more++;
		d->counts[d->v[i].severity]--;
		free(d->v[i].text);
	}
	d->n = kept;
	if (name_counts(d, kinds))
		ret = -ENOMEM;
	HASH_ITER(hh, kinds, kind, next)
	{
		HASH_DEL(kinds, kind);
		free(kind->key);
		free(kind);
	}
	return ret;
}

/* The text of source line `number` without its newline, or NULL. */
static const char *find_line(const char *source, int number, size_t *length)
{
	const char *line = source;

	if (!source || number < 1)
		return NULL;
	while (--number > 0) {
		line = strchr(line, '\n');
		if (!line)
			return NULL;
		line++;
	}
	*length = strcspn(line, "\r\n");
	return line;
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Offset of the character in column `column` (1-based, counted in characters). */
static size_t column_offset(const char *line, size_t length, int column)
{
	size_t at = 0;

	for (int c = 1; c < column && at < length; c++) {
		at++;
		while (at < length && is_continuation(line[at]))
			at++;
	}
	return at;
}

/* Print the part [from, to) of a line; what would disturb a terminal as '?'. */
static void print_source(const char *line, size_t from, size_t to, FILE *out)
{
	for (size_t i = from; i < to; i++) {
		unsigned char c = (unsigned char)line[i];

		fputc((c < 0x20 && c != '\t') || c == 0x7f ? '?' : c, out);
	}
	fputc('\n', out);
}

static void print_caret(const struct leat_diags *d, struct leat_pos pos, FILE *out, bool color)
{
	size_t length, caret, from = 0;
	const char *line = find_line(d->files[pos.file].source, pos.line, &length);

	if (!line || pos.column < 1)
		return;
	caret = column_offset(line, length, pos.column);
	if (length > WINDOW_COLUMNS) {
		from = caret > WINDOW_LEFT ? caret - WINDOW_LEFT : 0;
		while (from > 0 && is_continuation(line[from]))
			from--;
		if (length - from > WINDOW_COLUMNS)
			length = from + WINDOW_COLUMNS;
		while (length > caret && is_continuation(line[length]))
			length--;
	}
	print_source(line, from, length, out);
	for (size_t i = from; i < caret; i++)
		if (!is_continuation(line[i]))
			fputc(line[i] == '\t' ? '\t' : ' ', out);
	fputs(color ? "\033[1;32m^\033[0m\n" : "^\n", out);
}

static void print_one(const struct leat_diags *d, const struct diag *diag, FILE *out, bool color)
{
	static const char *const words[] = {"note", "warning", "error"};
	static const char *const colors[] = {"\033[1;36m", "\033[1;35m", "\033[1;31m"};
	const char *end = color ? "\033[0m" : "";

	fprintf(out, "%s%s:", color ? "\033[1m" : "", d->files[diag->pos.file].path);
	if (diag->pos.line > 0)
		fprintf(out, "%d:", diag->pos.line);
	if (diag->pos.line > 0 && diag->pos.column > 0)
		fprintf(out, "%d:", diag->pos.column);
	fprintf(out, "%s %s%s:%s %s [%s]\n", end, color ? colors[diag->severity] : "",
		words[diag->severity], end, diag->text ? diag->text : "(out of memory)",
		diag->code);
	print_caret(d, diag->pos, out, color);
}

static int by_position(const void *pa, const void *pb)
{
	const struct diag *a = *(const struct diag *const *)pa;
	const struct diag *b = *(const struct diag *const *)pb;

	if (a->pos.file != b->pos.file)
		return a->pos.file < b->pos.file ? -1 : 1;
	if (a->pos.line != b->pos.line)
		return a->pos.line < b->pos.line ? -1 : 1;
	if (a->pos.column != b->pos.column)
		return a->pos.column < b->pos.column ? -1 : 1;
	return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

void leat_diags_print(const struct leat_diags *d, FILE *out, bool color)
{
	const struct diag **order = d->n ? calloc(d->n, sizeof(const struct diag *)) : NULL;

	for (size_t i = 0; order && i < d->n; i++)
		order[i] = &d->v[i];
	if (order)
		qsort(order, d->n, sizeof(const struct diag *), by_position);
	for (size_t i = 0; i < d->n && i < PRINT_MAX; i++)
		print_one(d, order ? order[i] : &d->v[i], out, color);
	if (d->n > PRINT_MAX)
		fprintf(out, "%s: %zu more, not shown\n", d->files[0].path, d->n - PRINT_MAX);
	if (d->lost)
		fprintf(out, "%s: %zu more, lost for want of memory\n", d->files[0].path, d->lost);
	free(order);
}
