/* The codes of all diagnostics of the language, in one table: what each means
 * and what to do. Codes are stable: append, never rename or reuse. The table
 * gives the man page its section on diagnostics. */
#ifndef LEAT_LANG_SYNTAX_DIAGNOSTICS_H
#define LEAT_LANG_SYNTAX_DIAGNOSTICS_H

#include "base/diag.h"

struct leat_lang_code {
	const char *code;
	enum leat_severity severity; /* the gravest it is reported with */
	const char *meaning;         /* one line */
	const char *fix;             /* what the author of the file can do */
};

/* Ends with an element whose code is NULL. */
extern const struct leat_lang_code leat_lang_codes[];

/* The entry of that code, or NULL. Any thread. */
const struct leat_lang_code *leat_lang_code_find(const char *code);

/* Add one diagnostic with the severity its code has in the table. Characters
 * that would break the line are replaced. */
void leat_say(struct leat_diags *diags, const char *code, struct leat_pos pos, const char *format,
	      ...) __attribute__((format(printf, 4, 5)));

#endif
