/* The semantic checks of a workflow: what no front end can see in one place.
 *
 * Each check is an entry of a table. An error is reported only where a run
 * would certainly go wrong or a rule can never mean anything; what may be meant
 * is a warning. HOWTO: write a leat_check_fn, add it to the table in check.c and
 * its code to syntax/diagnostics.c, and two fixtures to tests/fixtures/check. */
#ifndef LEAT_LANG_CHECK_CHECK_H
#define LEAT_LANG_CHECK_CHECK_H

#include "base/diag.h"
#include "model/match.h"
#include "model/workflow.h"

/* What every check is given. */
struct leat_check_context {
	const struct leat_workflow *wf;
	struct leat_matcher *m;
	const char *dir; /* the workflow's directory, resolved; NULL: not known */
	bool ready;      /* what is to be there before the run is: look for it in `dir` */
	struct leat_diags *diags;
	struct leat_check_outputs *outputs; /* all output entries, in order */
};

/* Report what is wrong to ctx->diags. 0 or -ENOMEM. */
typedef int leat_check_fn(const struct leat_check_context *ctx);

struct leat_check {
	const char *name; /* "dep-cycle" */
	const char *code; /* of its diagnostics; a check may have a second, weaker one */
	const char *doc;  /* one line */
	leat_check_fn *fn;
};

/* Ends with an element whose name is NULL. */
extern const struct leat_check leat_checks[];

/* Run all checks. `dir` is the workflow's directory, NULL to leave out what depends on it; `ready`:
 * inputs, images, action files and storage devices have to be there, which otherwise may come
 * later. 0 (whatever was found: count the errors in `d`) or -ENOMEM. Any thread. */
int leat_check_workflow(const struct leat_workflow *wf, const char *dir, bool ready,
			struct leat_diags *d);

#endif
