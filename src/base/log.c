#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

static enum leat_log_level max_level = LEAT_LOG_WARNING;

void leat_log_set_level(enum leat_log_level level)
{
	max_level = level;
}

void leat_log(enum leat_log_level level, const char *format, ...)
{
	static const char *const prefixes[] = {
		"leat: ", "leat: warning: ", "leat: ", "leat: debug: "};
	char line[4096];
	size_t used;
	int n, saved = errno;
	va_list ap;

	if (level > max_level)
		return;
	used = strlen(prefixes[level]);
	memcpy(line, prefixes[level], used);
	va_start(ap, format);
	n = vsnprintf(line + used, sizeof(line) - used - 1, format, ap);
	va_end(ap);
	if (n > 0)
		used += (size_t)n;
	if (used > sizeof(line) - 2) {
		used = sizeof(line) - 2;
		memcpy(line + used - 3, "...", 3);
	}
	line[used++] = '\n';
	/* Nobody is left to tell when standard error itself fails. */
	(void)leat_write_all(STDERR_FILENO, line, used);
	errno = saved;
}
