/* The stable codes of all diagnostics about workflow files.
 *
 * One table gives the code, its severity, what it means and what to do about
 * it; messages, `leat help codes` and the manual page come from it. A code is
 * never renamed, reused or removed; new ones are appended to their group. */
#ifndef LEAT_LANG_CODES_H
#define LEAT_LANG_CODES_H

#include "base/diag.h"

struct leat_code {
	const char *code;
	enum leat_severity severity;
	const char *meaning; /* one sentence, without the particulars of a case */
	const char *fix;     /* what the author of the file does about it */
};

/* All codes; ends with an entry whose `code` is NULL. */
extern const struct leat_code leat_codes[];

/* The entry of that code, or NULL. Any thread. */
const struct leat_code *leat_code_find(const char *code);

#endif
