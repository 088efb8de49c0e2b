/* What the others need: arrays that grow, and what is said of logs. */
#include "associate/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/str.h"

int leat_associate_grow(void *array, size_t n, size_t *space, size_t size)
{
	void **at = array, *bigger;
	size_t wanted = *space ? 2 * *space : 16;

	if (n < *space)
		return 0;
	bigger = reallocarray(*at, wanted, size);
	if (!bigger)
		return -ENOMEM;
	*at = bigger;
	*space = wanted;
	return 0;
}

/* ---- telling ---- */

__attribute__((format(printf, 3, 0))) static void
report(struct leat_associate_map *m, const char *prefix, const char *format, va_list ap)
{
	char *text = m->options.report ? leat_vstrf(format, ap) : NULL, *all;

	if (!text)
		return;
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	all = leat_strf("%s%s", prefix ? prefix : "", text);
	if (all)
		m->options.report(m->options.ctx, all);
	free(all);
	free(text);
}

void leat_associate_complain(struct leat_associate_map *m, struct leat_associate_source *s,
			     const char *format, ...)
{
	enum { MOST = 5 };
	va_list ap;
	char *prefix;

	m->partial = s->bad = true;
	if (++s->n_bad > MOST)
		return;
	prefix = leat_strf("%s:%ld: ", s->path, s->line);
	va_start(ap, format);
	report(m, prefix, format, ap);
	va_end(ap);
	free(prefix);
}

void leat_associate_note(struct leat_associate_map *m, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	report(m, NULL, format, ap);
	va_end(ap);
}
