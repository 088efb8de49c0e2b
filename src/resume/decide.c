/* Which steps need not run again. No I/O. */
#include "resume/internal.h"

#include "base/str.h"

#include <errno.h>

/* Does it run for a reason of its own? NULL: it does not; the caller frees the text. */
static char *own_reason(const struct leat_finding *f)
{
	switch (f->state) {
	case LEAT_ENTRY_NONE:
		return leat_strf("no run that is recorded had it");
	case LEAT_ENTRY_BEGUN:
		return leat_strf("it was not complete when the last run was cut off");
	case LEAT_ENTRY_STOPPED:
		return leat_strf("it was not complete in the last run: %s", f->why ? f->why : "");
	case LEAT_ENTRY_COMPLETE:
		break;
	}
	if (f->other_command)
		return leat_strf("its command changed");
	if (f->other_declared)
		return leat_strf("its inputs, outputs or rules changed in the workflow file");
	if (f->input)
		return leat_strf("input %s %s%s", f->input, f->input_is[0] == 'c' ? "" : "is ",
				 f->input_is);
	if (f->output)
		return leat_strf("output %s %s%s", f->output, f->output_is[0] == 'c' ? "" : "is ",
				 f->output_is);
	return NULL;
}

static bool has_own_reason(const struct leat_finding *f)
{
	return f->state != LEAT_ENTRY_COMPLETE || f->other_command || f->other_declared ||
	       f->input || f->output;
}

static int run_for(struct leat_resume_verdict *v, char *why)
{
	if (!why)
		return -ENOMEM;
	v->run = true;
	v->why = why;
	return 1;
}

/* Must `a` run because `b` does? 1: now it does; 0; -ENOMEM. */
static int follow(const struct leat_ties *ties, size_t a, size_t b,
		  struct leat_resume_verdict *verdicts)
{
	const char *lent, *updated;

	if (verdicts[a].run || !verdicts[b].run || a == b)
		return 0;
	if (ties->is_upstream(ties->ctx, b, a))
		return run_for(&verdicts[a], leat_strf("step %s, upstream of it, runs again",
						       ties->name(ties->ctx, b)));
	lent = ties->lends(ties->ctx, a, b);
	if (lent)
		return run_for(&verdicts[a], leat_strf("step %s needs %s, which was not kept",
						       ties->name(ties->ctx, b), lent));
	updated = ties->updates(ties->ctx, a, b);
	if (updated)
		return run_for(&verdicts[a],
			       leat_strf("step %s needs %s as it was before it changed it",
					 ties->name(ties->ctx, b), updated));
	return 0;
}

static int report_skipped(const struct leat_finding *f, struct leat_resume_verdict *v)
{
	v->why = leat_strf("complete; its command, %zu input%s and %zu output%s are unchanged",
			   f->n_inputs, f->n_inputs == 1 ? "" : "s", f->n_outputs,
			   f->n_outputs == 1 ? "" : "s");
	return v->why ? 0 : -ENOMEM;
}

int leat_decide_resume(const struct leat_finding *findings, size_t n, const struct leat_ties *ties,
		       struct leat_resume_verdict *verdicts)
{
	bool changed = true;
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++)
		if (has_own_reason(&findings[i]))
			rc = run_for(&verdicts[i], own_reason(&findings[i]));
	/* Each round adds a step or is the last. */
	while (changed && rc >= 0) {
		changed = false;
		for (size_t a = 0; a < n && rc >= 0; a++)
			for (size_t b = 0; b < n && rc >= 0 && !verdicts[a].run; b++) {
				rc = follow(ties, a, b, verdicts);
				changed |= rc > 0;
			}
	}
	for (size_t i = 0; i < n && rc >= 0; i++)
		if (!verdicts[i].run)
			rc = report_skipped(&findings[i], &verdicts[i]);
	return rc < 0 ? rc : 0;
}
