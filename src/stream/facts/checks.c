/* Changes that break what the workflow file says. */
#include "stream/facts/checks.h"
#include "stream/conflicts/declared.h"
#include "stream/rules/violation.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/roles.h"

void leat_fact_check_amended(struct leat_stream *s, const struct leat_name_state *n, int step,
			     const char *what)
{
	int amender = (int)n->amender - 1;

	if (amender >= 0 && amender != step && !leat_state_is_final(n->state) &&
	    leat_name_produced_by(n, step) && leat_is_strictly_upstream(s->m, step, amender))
		leat_violation_report(s, LEAT_VIOLATION_AMENDED, n->text, step, what);
}

void leat_fact_take_away(struct leat_stream *s, struct leat_name_state *n, int step,
			 enum leat_use use)
{
	bool own = n->content && n->content->creator == step;

	if (step < 0 || !n->governed || n->versioned ||
	    leat_rule_role(s, step, n->rule) == LEAT_ROLE_PLAIN ||
	    (own && leat_name_produced_by(n, step)))
		return;
	leat_declared_take(s, n, step, use);
	n->taken = (unsigned)step + 1;
	if (n->parent)
		n->parent->taken_below = true;
}

/* Whoever changes a declared file without being its producer, or after it was
 * passed on as complete, breaks what the workflow file says. */
void leat_fact_check_change(struct leat_stream *s, const struct leat_name_state *n, int step,
			    bool changes, const char *what)
{
	if (!n->governed)
		return;
	if (leat_name_produced_by(n, step)) {
		if (n->state == LEAT_FILE_COMMITTED || n->state == LEAT_FILE_GONE)
			leat_violation_report(s, LEAT_VIOLATION_AFTER_COMMIT, n->text, step, what);
		leat_fact_check_amended(s, n, step, what);
	} else if (changes && leat_rule_role(s, step, n->rule) == LEAT_ROLE_CONSUMER) {
		leat_violation_report(s, LEAT_VIOLATION_UNDECLARED, n->text, step, what);
	}
}

void leat_fact_check_streamed(struct leat_stream *s, const struct leat_name_state *n, int step,
			      const char *what)
{
	if (n->state == LEAT_FILE_PRODUCED && n->seen && !leat_name_is_dir(n))
		leat_violation_report(s, LEAT_VIOLATION_REWRITE, n->text, step, what);
}

const char *leat_stream_passed_on(const struct leat_stream *s, int step, const char *name)
{
	const struct leat_name_state *n = leat_name_find(s, name), *at;
	bool declares = n && leat_name_produced_by(n, step);

	if (!n || !n->content || leat_state_is_final(n->state))
		return NULL;
	DL_FOREACH2(n->content->names, at, same_next)
	{
		if (at->governed && at->state == LEAT_FILE_COMMITTED &&
		    (!declares || leat_name_produced_by(at, step)))
			return at->text;
	}
	return NULL;
}

/* A file may have several names: its producer is not to change it after it was passed on by one of
 * them. Who declares the name by which it changes the file need not declare the others. */
void leat_fact_check_file(struct leat_stream *s, const struct leat_name_state *n, int step,
			  bool changes, const char *what)
{
	const char *other = leat_stream_passed_on(s, step, n->text);

	leat_fact_check_change(s, other ? leat_name_find(s, other) : n, step, changes, what);
}
