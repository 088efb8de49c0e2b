#include "preload/core/log.h"

#include "preload/core/call.h"
#include "preload/core/text.h"

#include <stdarg.h>
#include <unistd.h>

void leat_log_line(const char *text, ...)
{
	char line[512];
	struct leat_text t = leat_text_in(line, sizeof(line) - 1);
	va_list more;

	va_start(more, text);
	leat_text_add(&t, "leat: ");
	for (; text; text = va_arg(more, const char *))
		leat_text_add(&t, text);
	va_end(more);
	line[t.used++] = '\n';
	raw(SYS_write, STDERR_FILENO, line, t.used);
}
