/* A log is read. */
#include "associate/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
