#include "lang/syntax/diagnostics.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/str.h"

const struct leat_lang_diagnostic leat_lang_diagnostics[L_N_CODES] = {
#define SECTION(title)
#define DIAGNOSTIC(id, text, gravest, what, todo)                                                  \
	[id] = {.code = (text), .severity = (gravest), .meaning = (what), .fix = (todo)},
#include "lang/syntax/diagnostics.def"
#undef DIAGNOSTIC
#undef SECTION
};

static void add(struct leat_diags *diags, enum leat_severity severity, enum leat_lang_code code,
		struct leat_pos pos, const char *format, va_list ap)
	__attribute__((format(printf, 5, 0)));

/* Characters that would break the line are replaced. */
static void add(struct leat_diags *diags, enum leat_severity severity, enum leat_lang_code code,
		struct leat_pos pos, const char *format, va_list ap)
{
	char *text = leat_vstrf(format, ap);

	for (char *c = text; c && *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	leat_diags_add(diags, severity, leat_lang_diagnostics[code].code, pos, "%s",
		       text ? text : "(out of memory)");
	free(text);
}

void leat_lang_report(struct leat_diags *diags, enum leat_lang_code code, struct leat_pos pos,
		      const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(diags, leat_lang_diagnostics[code].severity, code, pos, format, ap);
	va_end(ap);
}

void leat_lang_report_as(struct leat_diags *diags, enum leat_severity severity,
			 enum leat_lang_code code, struct leat_pos pos, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(diags, severity, code, pos, format, ap);
	va_end(ap);
}
