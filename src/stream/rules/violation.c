/* Violations in words. */
#include "stream/rules/violation.h"
#include "stream/state/names.h"

#include "model/version.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *what; /* when a client reports it */
	const char *tail;
	bool by_rule;       /* the rule is what it breaks */
	const char *advice; /* what to do about the workflow file, or the step */
} words[LEAT_VIOLATION_KINDS] = {
	[LEAT_VIOLATION_REWRITE] = {"changed", " where a consumer had read it", true,
				    "give it mode: update, or write each byte once"},
	[LEAT_VIOLATION_AFTER_COMMIT] =
		{"changed", " after its commit", true,
		 "let it commit later, by the true number of closes or files or on_termination"},
	[LEAT_VIOLATION_CLOSES] = {"closed", " once more than its rule says", true,
				   "give it the true number of closes, or on_termination"},
	[LEAT_VIOLATION_UNDECLARED] = {"written", ", which does not declare it as an output", false,
				       "declare it there, or have the step write another file"},
	[LEAT_VIOLATION_READ_AGAIN] = {"read again", " where it is not retained", false,
				       "take retain: false away, or read it once, front to back"},
	[LEAT_VIOLATION_LINKED] = {"opened for writing",
				   ", and has another name, a hard link, that would change, too",
				   false, "remove it first, or copy it to a file of its own"},
	[LEAT_VIOLATION_LISTED] = {"removed", " after a consumer had found it in a listing", true,
				   "exclude the names that do not last"},
	[LEAT_VIOLATION_AMENDED] =
		{"changed", " after a step that reads and writes it had been let at it", true,
		 "let it commit later, by the true number of closes or files or on_termination"},
	[LEAT_VIOLATION_EARLY_SIZE] = {"taken for complete", " at a size seen before its commit",
				       true, "give it mode: update, or read it to its end"},
};

static void put_range(FILE *out, const struct leat_event *ev)
{
	if (!ev || !(ev->flags & LEAT_EVF_RANGE))
		return;
	if (ev->code == LEAT_VIOLATION_EARLY_SIZE)
		fprintf(out, " after %" PRIu64 " bytes", ev->offset);
	else if (ev->length > 1)
		fprintf(out, " at bytes %" PRIu64 " to %" PRIu64, ev->offset,
			ev->offset + ev->length - 1);
	else
		fprintf(out, ev->length ? " at byte %" PRIu64 : " from byte %" PRIu64 " on",
			ev->offset);
}

/* Whose rule let a listing show `n`: that of the directory that was complete by the number of its
 * files, or the nearest that is declared; else its own. */
static const struct leat_name_state *shown_by(const struct leat_name_state *n)
{
	const struct leat_name_state *dir;

	for (dir = n->parent; dir && dir->governed; dir = dir->parent)
		if (dir->rule->n_files)
			return dir;
	return n->parent && n->parent->governed ? n->parent : n;
}

static void put_rule(FILE *out, enum leat_violation kind, const struct leat_name_state *n)
{
	const struct leat_name_state *by = kind == LEAT_VIOLATION_LISTED ? shown_by(n) : n;
	char buffer[32];

	fprintf(out, " (%s%scommitted: %s, mode: %s)", by == n ? "" : by->text, by == n ? "" : ": ",
		leat_commit_text(by->rule->commit, by->rule->count, buffer),
		leat_fire_text(by->rule->fire));
}

static void put_advice(FILE *out, enum leat_violation kind, const struct leat_name_state *n)
{
	const struct leat_name_state *by = n && kind == LEAT_VIOLATION_LISTED ? shown_by(n) : NULL;
	bool streams = by && by->rule->fire == LEAT_FIRE_NO_UPDATE;
	bool left_behind = n && n->governed && n->rule->commit == LEAT_COMMIT_ON_TERMINATION &&
			   !n->rule->count && kind == LEAT_VIOLATION_AFTER_COMMIT;

	fputs("; ", out);
	/* It cannot commit any later than at the end of its producers. */
	if (left_behind) {
		fputs("let the step wait for the processes that it starts, before it ends", out);
		return;
	}
	if (by && by->rule->n_files)
		fprintf(out, "let %s commit on_termination%s, or ", by->text,
			streams ? " and give it mode: update" : "");
	else if (streams)
		fprintf(out, "give %s mode: update, or ", by->text);
	fputs(words[kind].advice, out);
}

static void put_violation(const struct leat_stream *s, enum leat_violation kind, const char *name,
			  int step, const char *what, const struct leat_event *ev, FILE *out)
{
	const struct leat_name_state *n = leat_name_find(s, name);
	char title[LEAT_VERSION_TITLE];

	fprintf(out, "%s was %s", leat_version_title(name, title), what ? what : words[kind].what);
	if (step >= 0)
		fprintf(out, " by step %s", s->wf->steps[step].name);
	put_range(out, ev);
	if (kind == LEAT_VIOLATION_AMENDED && n && n->amender)
		fprintf(out, " after step %s, which reads and writes it, had been let at it",
			s->wf->steps[n->amender - 1].name);
	else
		fputs(words[kind].tail, out);
	if (n && words[kind].by_rule)
		put_rule(out, kind, n);
	put_advice(out, kind, n);
}

static void report(struct leat_stream *s, enum leat_violation kind, const char *name, int step,
		   const char *what, const struct leat_event *ev)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = s->ops.violation ? open_memstream(&text, &size) : NULL;

	s->reported++;
	if (!s->ops.violation)
		return;
	if (out) {
		put_violation(s, kind, name, step, what, ev, out);
		if (fclose(out) != 0) {
			free(text);
			text = NULL;
		}
	}
	s->ops.violation(s->ctx, kind, name, step, text ? text : words[kind].what);
	free(text);
}

void leat_violation_report(struct leat_stream *s, enum leat_violation kind, const char *name,
			   int step, const char *what)
{
	report(s, kind, name, step, what, NULL);
}

/* A client that writes to a complete file does not know whose output it is. */
static enum leat_violation kind_of(struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_name_state *n = leat_name_find(s, ev->name);

	if (ev->code == LEAT_VIOLATION_AFTER_COMMIT && n && n->governed &&
	    !leat_name_produced_by(n, ev->step))
		return LEAT_VIOLATION_UNDECLARED;
	return (enum leat_violation)ev->code;
}

int leat_fact_violation(struct leat_stream *s, const struct leat_event *ev)
{
	enum leat_violation kind;

	if (!ev->code || ev->code >= LEAT_VIOLATION_KINDS)
		return -EINVAL;
	kind = kind_of(s, ev);
	report(s, kind, ev->name, ev->step, kind == LEAT_VIOLATION_UNDECLARED ? "written" : NULL,
	       ev);
	return 0;
}
