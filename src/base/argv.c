#include "base/argv.h"

#include "base/str.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void leat_argv_take(struct leat_argv *argv, char *word)
{
	char **v = word && !argv->failed ? reallocarray(argv->v, argv->n + 2, sizeof(*v)) : NULL;

	if (!v) {
		free(word);
		argv->failed = true;
		return;
	}
	argv->v = v;
	v[argv->n++] = word;
	v[argv->n] = NULL;
}

void leat_argv_add(struct leat_argv *argv, const char *word)
{
	leat_argv_take(argv, strdup(word));
}

void leat_argv_addf(struct leat_argv *argv, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	leat_argv_take(argv, leat_vstrf(format, ap));
	va_end(ap);
}

void leat_argv_release(struct leat_argv *argv)
{
	for (size_t i = 0; i < argv->n; i++)
		free(argv->v[i]);
	free(argv->v);
	*argv = (struct leat_argv){.n = 0};
}
