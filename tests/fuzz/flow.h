/* The workflow that a fuzzed text is about. */
#ifndef LEAT_TESTS_FLOW_H
#define LEAT_TESTS_FLOW_H

#include "lang/lang.h"

#include <stdlib.h>
#include <string.h>

/* The caller frees it. */
static inline struct leat_workflow *parse_flow(const char *text)
{
	struct leat_diags *diags;
	struct leat_workflow *wf = leat_lang_parse(text, strlen(text), "fuzz", "/wf", &diags);

	if (!wf)
		abort();
	leat_diags_free(diags);
	return wf;
}

#endif
