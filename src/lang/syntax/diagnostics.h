/* The diagnostics of the language; the table is diagnostics.def. */
#ifndef LEAT_LANG_SYNTAX_DIAGNOSTICS_H
#define LEAT_LANG_SYNTAX_DIAGNOSTICS_H

#include "base/diag.h"

enum leat_lang_code {
#define SECTION(title)
#define DIAGNOSTIC(id, text, gravest, what, todo) id,
#include "lang/syntax/diagnostics.def"
#undef DIAGNOSTIC
#undef SECTION
	L_N_CODES
};

struct leat_lang_diagnostic {
	const char *code;            /* "L-RULE-MODE" */
	enum leat_severity severity; /* the gravest it is reported with */
	const char *meaning;         /* one sentence */
	const char *fix;             /* what the author of the file can do */
};

extern const struct leat_lang_diagnostic leat_lang_diagnostics[L_N_CODES];

/* Add one diagnostic with the severity it has in the table. */
void leat_lang_report(struct leat_diags *diags, enum leat_lang_code code, struct leat_pos pos,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same with another severity, for what is less certain or goes with another. */
void leat_lang_report_as(struct leat_diags *diags, enum leat_severity severity,
			 enum leat_lang_code code, struct leat_pos pos, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#endif
