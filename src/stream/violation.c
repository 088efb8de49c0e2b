/* Violations in words. */
#include "stream/internal.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
	const char *what; /* when a client tells it */
	const char *tail;
} words[LEAT_VIOLATION_KINDS] = {
	[LEAT_VIOLATION_REWRITE] = {"changed", " where a consumer had read it"},
	[LEAT_VIOLATION_AFTER_COMMIT] = {"changed", " after its commit"},
	[LEAT_VIOLATION_CLOSES] = {"closed", " once more than its rule says"},
	[LEAT_VIOLATION_UNDECLARED] = {"written", ", which does not declare it as an output"},
	[LEAT_VIOLATION_READ_AGAIN] = {"read again", " where it is not retained"},
	[LEAT_VIOLATION_EARLY_SIZE] = {"taken for complete", " at a size seen before its commit"},
};

void leat_violation_report(struct leat_stream *s, enum leat_violation kind, const char *name,
			   int step, const char *what)
{
	const char *by = step >= 0 ? " by step " : "";
	char *text;

	if (!s->ops.violation)
		return;
	text = leat_strf("%s was %s%s%s%s", name, what ? what : words[kind].what, by,
			 step >= 0 ? s->wf->steps[step].name : "", words[kind].tail);
	s->ops.violation(s->ctx, kind, name, step, text ? text : words[kind].what);
	free(text);
}

int leat_fact_violation(struct leat_stream *s, const struct leat_event *ev)
{
	if (!ev->code || ev->code >= LEAT_VIOLATION_KINDS)
		return -EINVAL;
	leat_violation_report(s, (enum leat_violation)ev->code, ev->name, ev->step, NULL);
	return 0;
}
