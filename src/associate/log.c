/* Logs: which kind one is, and its lines. */
#include "associate/internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"

/* ---- which kind ---- */

/* As much of a file as is looked at. */
enum { LOOK_BYTES = 1 << 20 };

#define ROW(NAME) &leat_associate_##NAME,
const struct leat_associate_format *const leat_associate_formats[] = {LEAT_ASSOCIATE_FORMATS(ROW)
									      NULL};
#undef ROW

/* Where the first of the format's marks is; NULL: nowhere. */
static const char *first_mark(const struct leat_associate_format *f, const char *text)
{
	const char *first = NULL;

	for (size_t i = 0; f->marks && f->marks[i]; i++) {
		const char *at = strstr(text, f->marks[i]);

		if (at && (!first || at < first))
			first = at;
	}
	return first;
}

static const struct leat_associate_format *format_of(char *text, size_t size)
{
	const struct leat_associate_format *found = NULL, *f;
	const char *first = NULL;

	for (size_t i = 0; i < size; i++)
		if (!text[i])
			text[i] = ' ';
	for (size_t i = 0; (f = leat_associate_formats[i]); i++)
		if (f->begins && f->begins(text))
			return f;
	/* A log may quote another: what comes first says what it is. */
	for (size_t i = 0; (f = leat_associate_formats[i]); i++) {
		const char *at = first_mark(f, text);

		if (at && (!first || at < first)) {
			first = at;
			found = f;
		}
	}
	return found;
}

int leat_associate_detect(const char *path, const struct leat_associate_format **format)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result;
	char *text = malloc(LOOK_BYTES + 1);
	long n;

	if (fd < 0 || !text) {
		result = fd < 0 ? -errno : -ENOMEM;
		goto out;
	}
	n = leat_read_all(fd, text, LOOK_BYTES);
	if (n >= 0)
		text[n] = '\0';
	*format = n < 0 ? NULL : format_of(text, (size_t)n);
	result = n < 0 ? (int)n : 0;
out:
	free(text);
	leat_close(&fd);
	return result;
}

/* ---- lines ---- */

/* Colours and titles: ESC [ ... letter, ESC ] ... BEL. */
static char *strip_escape(char *at)
{
	if (at[1] == '[') {
		at += 2;
		while (*at && (*at < '@' || *at > '~'))
			at++;
		return *at ? at + 1 : at;
	}
	if (at[1] == ']') {
		while (*at && *at != '\a')
			at++;
		return *at ? at + 1 : at;
	}
	return at + 1;
}

static void strip(char *line)
{
	char *out = line, *at = line;

	while (*at) {
		if (*at == '\033')
			at = strip_escape(at);
		else
			*out++ = *at++;
	}
	while (out > line && (out[-1] == '\n' || out[-1] == '\r'))
		out--;
	*out = '\0';
	/* "airflow-scheduler-1  | ", of docker compose */
	at = line;
	while (isalnum((unsigned char)*at) || (*at && strchr("_.-", *at)))
		at++;
	if (at > line && *at == ' ') {
		at += strspn(at, " ");
		if (at[0] == '|' && at[1] == ' ')
			memmove(line, at + 2, strlen(at + 2) + 1);
	}
}

/* The next line of `in`, without its end, escape sequences of terminals and what docker compose
 * puts before it, in *line (*space bytes, owned by the caller). 1, 0 at the end, -errno. */
static int next_line(FILE *in, char **line, size_t *space)
{
	ssize_t n;

	errno = 0;
	n = getline(line, space, in);
	if (n < 0)
		return ferror(in) ? (errno ? -errno : -EIO) : (errno == ENOMEM ? -ENOMEM : 0);
	for (ssize_t i = 0; i < n; i++)
		if (!(*line)[i])
			(*line)[i] = '?';
	strip(*line);
	return 1;
}

int leat_associate_lines(struct leat_associate_source *s, FILE *in,
			 int (*take)(void *reader, char *line), void *reader)
{
	char *line = NULL;
	size_t space = 0;
	int result, error = 0;

	while (!error && (result = next_line(in, &line, &space)) != 0) {
		s->line++;
		error = result < 0 ? result : take(reader, line);
	}
	free(line);
	return error;
}

/* ---- reading ---- */

static struct leat_associate_source *source_new(struct leat_associate_map *m, const char *path,
						const struct leat_associate_format *format)
{
	struct leat_associate_source *s;

	if (leat_associate_grow(&m->sources, m->n_sources, &m->space_sources, sizeof(*m->sources)))
		return NULL;
	s = &m->sources[m->n_sources];
	*s = (struct leat_associate_source){.path = strdup(path), .format = format};
	if (!s->path)
		return NULL;
	s->real = realpath(path, NULL);
	m->n_sources++;
	return s;
}

static int read_all(struct leat_associate_map *m, struct leat_associate_source *s)
{
	enum { SAID = 5 };
	FILE *in = fopen(s->path, "re");
	struct stat st;
	int result = in ? 0 : -errno;

	if (in && fstat(fileno(in), &st) == 0)
		s->changed_ns =
			(int64_t)st.st_mtim.tv_sec * LEAT_ASSOCIATE_SECOND + st.st_mtim.tv_nsec;
	if (in)
		result = s->format->read(m, s, in);
	if (in)
		fclose(in);
	if (s->n_bad > SAID)
		leat_associate_note(m, "%s: %u more lines like these", s->path, s->n_bad - SAID);
	if (result == -EINVAL && s->bad)
		result = 0;
	if (result == -EINVAL)
		leat_associate_note(m, "%s: it has no line of a log of %s", s->path,
				    s->format->name);
	return result ? result : s->bad ? -EBADMSG : 0;
}

/* That it is of none of the formats. */
static void note_unknown(struct leat_associate_map *m, const char *path)
{
	char names[256] = "";
	size_t n = 0;

	for (size_t i = 0; leat_associate_formats[i] && n < sizeof(names); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
				      !i                              ? ""
				      : leat_associate_formats[i + 1] ? ", "
								      : " or ",
				      leat_associate_formats[i]->name);
	leat_associate_note(
		m, "%s: it is no log of %s (of Kubernetes: kubectl get pods or events, -o json)",
		path, names);
}

int leat_associate_read_log(struct leat_associate_map *m, const char *path,
			    const struct leat_associate_format *format)
{
	struct leat_associate_source *s;
	int error = format ? 0 : leat_associate_detect(path, &format);

	if (error)
		return error;
	if (!format) {
		note_unknown(m, path);
		return -EINVAL;
	}
	s = source_new(m, path, format);
	return s ? read_all(m, s) : -ENOMEM;
}
