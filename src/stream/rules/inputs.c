/* Questions about several names at once: listings, and the launch of a step. */
#include "stream/rules/inputs.h"
#include "stream/conflicts/order.h"
#include "stream/rules/commit.h"
#include "stream/state/inputs.h"
#include "stream/state/lifecycle.h"
#include "stream/state/makers.h"
#include "stream/state/names.h"
#include "stream/state/roles.h"
#include "stream/state/staged.h"
#include "stream/state/steps.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* All steps that may make it have ended: GO, FAILED, or WAIT for one of them. */
static enum leat_answer makers_done(const struct leat_stream *s, const struct leat_input *in,
				    struct leat_blocker *blocker)
{
	for (int step = 0; step < s->n_steps; step++) {
		const struct leat_step_state *st = &s->steps[step];

		if (!leat_steps_has(in->makers, step) || leat_step_is_quiet(st))
			continue;
		if (st->failures)
			return LEAT_FAILED;
		*blocker = (struct leat_blocker){.step = step};
		return LEAT_WAIT;
	}
	return LEAT_GO;
}

/* What `step` will find under the governed name `n` is decided. */
static enum leat_answer name_settled(const struct leat_stream *s, struct leat_name_state *n,
				     int step, bool shown_is_enough, struct leat_blocker *blocker)
{
	enum leat_role role = leat_rule_role(s, step, n->rule);

	if (role == LEAT_ROLE_PLAIN || role == LEAT_ROLE_PRODUCER)
		return LEAT_GO;
	if (n->state == LEAT_FILE_FAILED)
		return LEAT_FAILED;
	if (leat_state_is_final(n->state) || (shown_is_enough && leat_name_is_shown(n)))
		return LEAT_GO;
	if (role == LEAT_ROLE_BOTH && leat_commit_others_done(s, n, step))
		return LEAT_GO;
	*blocker = (struct leat_blocker){.name = n, .step = -1};
	return LEAT_WAIT;
}

/* ---- launch ---- */

static enum leat_answer input_ready(struct leat_stream *s, int step, const struct leat_input *in,
				    struct leat_blocker *blocker)
{
	struct leat_name_state *n = in->wild ? NULL : leat_name_get(s, in->text);
	enum leat_answer answer = LEAT_GO;

	if (!in->wild && !n)
		return LEAT_FAILED;
	if (n && n->governed) {
		answer = name_settled(s, n, step, false, blocker);
		if (answer != LEAT_GO || !leat_name_is_dir(n) || leat_name_is_counted_out(n))
			return answer;
	}
	return makers_done(s, in, blocker);
}

/* Two staged steps that make the same file: what they write to it on disk nobody sees. */
static bool shares(const struct leat_stream *s, int o, int step)
{
	return s->wf->steps[o].staged && leat_runs_before(s->m, o, step) &&
	       leat_steps_spell_same(s, o, step);
}

/* What a staged step does with names that it has not declared nobody sees: it goes after all that
 * do so in the batch. One that has not ended, or -1. */
static int find_turn(const struct leat_stream *s, int step)
{
	for (int o = 0; o < s->n_steps && s->wf->steps[step].staged; o++)
		if (o != step && !leat_step_is_over(&s->steps[o]) &&
		    (leat_step_precedes(s, o, step) || shares(s, o, step)))
			return o;
	return -1;
}

enum leat_answer leat_decide_launch(struct leat_stream *s, const struct leat_question *q,
				    struct leat_blocker *blocker)
{
	const struct leat_input *inputs = leat_inputs(s, q->step);
	struct leat_blocker first = {.step = -1};
	enum leat_answer result = LEAT_GO;

	if (!inputs)
		return LEAT_FAILED;
	/* A failed input shows at once, whatever else is still to come. */
	for (size_t i = 0; i < s->wf->steps[q->step].inputs.n; i++) {
		struct leat_blocker b = {.step = -1};
		enum leat_answer answer = input_ready(s, q->step, &inputs[i], &b);

		if (answer == LEAT_FAILED)
			return LEAT_FAILED;
		if (answer == LEAT_WAIT && result == LEAT_GO) {
			result = LEAT_WAIT;
			first = b;
		}
	}
	if (result == LEAT_GO) {
		first.step = find_turn(s, q->step);
		result = first.step >= 0 ? LEAT_WAIT : LEAT_GO;
	}
	*blocker = first;
	return result;
}

/* ---- listings ---- */

/* Of a name or pattern that does not spell an entry of `dir`: does it contain `dir`, or may a
 * wildcard lead there? Then any entry of `dir` may belong to it. */
static bool covers_any_entry(const char *text, bool wild, const char *dir)
{
	return wild ? leat_pattern_meets_below(text, dir)
		    : leat_path_is_below(dir, text) || !strcmp(dir, text);
}

/* The entry of `dir` on the way to `text`, which lies below that. NULL: out of memory. */
static struct leat_name_state *entry_of(struct leat_stream *s, const char *dir, const char *text)
{
	size_t skip = *dir ? strlen(dir) + 1 : 0;
	char *path = strndup(text, skip + strcspn(text + skip, "/"));
	struct leat_name_state *entry = path ? leat_name_get(s, path) : NULL;

	free(path);
	return entry;
}

/* Whatever input `in` adds to a listing of `dir` is decided. A listing shows one
 * level: of what lies deeper, only the directory on the way has to be there. */
static enum leat_answer entry_settled(struct leat_stream *s, const char *dir, int step,
				      const struct leat_input *in, struct leat_blocker *blocker)
{
	size_t skip = *dir ? strlen(dir) + 1 : 0, literal = strcspn(in->text, "*?["), end;
	struct leat_name_state *entry;

	if (!leat_path_is_below(in->text, dir) || literal < skip)
		return covers_any_entry(in->text, in->wild, dir) ? makers_done(s, in, blocker)
								 : LEAT_GO;
	end = skip + strcspn(in->text + skip, "/");
	if (in->wild && end > literal)
		return makers_done(s, in, blocker);
	entry = entry_of(s, dir, in->text);
	if (!entry)
		return LEAT_FAILED;
	if (entry->governed)
		return name_settled(s, entry, step, true, blocker);
	return entry->content ? LEAT_GO : makers_done(s, in, blocker);
}

/* Is it shown to who has not declared it as an input, or will never be there? */
static bool is_there(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	if (!n->governed || leat_rule_role(s, step, n->rule) != LEAT_ROLE_CONSUMER)
		return n->content != NULL;
	return leat_state_is_final(n->state) || leat_name_is_shown(n);
}

/* A listing of `dir` by `step` shows all that the output `text` of another one adds to it, or
 * `step` has declared that as its input. */
static enum leat_answer output_settled(struct leat_stream *s, const char *dir, int step,
				       const char *text)
{
	const struct leat_file_rule *rule = leat_match(s->m, text);
	const bool wild = leat_pattern_is_wild(text);
	const struct leat_name_state *entry;

	if (!rule)
		return LEAT_FAILED;
	if (rule->excluded || leat_steps_has(rule->consumers, step))
		return LEAT_GO;
	if (wild || !leat_path_is_below(text, dir))
		return covers_any_entry(text, wild, dir) ? LEAT_WAIT : LEAT_GO;
	entry = entry_of(s, dir, text);
	if (!entry)
		return LEAT_FAILED;
	return is_there(s, entry, step) ? LEAT_GO : LEAT_WAIT;
}

/* What steps that come before `step` have still to make in `dir`, and it has not declared. Without
 * an order who makes something there, too, is not held up. Listings of the workflow's directory
 * itself mostly concern other files. */
static enum leat_answer others_settled(struct leat_stream *s, const char *dir, int step,
				       struct leat_blocker *blocker)
{
	const bool is_maker = *dir && leat_step_writes_below(s->m, step, dir);

	for (int o = 0; *dir && o < s->n_steps; o++) {
		const struct leat_names *outputs = &s->wf->steps[o].outputs;

		if (leat_step_is_over(&s->steps[o]) ||
		    !(is_maker ? leat_is_strictly_upstream(s->m, o, step)
			       : leat_order_ends_before(s, o, step)))
			continue;
		for (size_t i = 0; i < outputs->n; i++) {
			enum leat_answer answer = output_settled(s, dir, step, outputs->v[i].text);

			if (answer == LEAT_GO)
				continue;
			*blocker = (struct leat_blocker){.step = o};
			return answer;
		}
	}
	return LEAT_GO;
}

enum leat_answer leat_decide_list(struct leat_stream *s, struct leat_name_state *n,
				  const struct leat_question *q, struct leat_blocker *blocker)
{
	const struct leat_input *inputs = leat_inputs(s, q->step);
	enum leat_answer answer = LEAT_GO;
	bool waits, streams = true;

	if (!inputs)
		return LEAT_FAILED;
	if (leat_name_is_counted_out(n))
		return LEAT_GO;
	if (n->governed)
		answer = name_settled(s, n, q->step, false, blocker);
	waits = answer == LEAT_WAIT;
	if (waits)
		streams = n->rule->fire == LEAT_FIRE_NO_UPDATE &&
			  leat_rule_role(s, q->step, n->rule) == LEAT_ROLE_CONSUMER;
	for (size_t i = 0; i < s->wf->steps[q->step].inputs.n && answer != LEAT_FAILED; i++) {
		struct leat_blocker b = {.step = -1};

		if (inputs[i].versions)
			continue;
		answer = entry_settled(s, n->text, q->step, &inputs[i], &b);
		if (answer != LEAT_WAIT)
			continue;
		/* What keeps the listing from being streamed is waited for first. */
		if (!waits || (streams && !inputs[i].no_update))
			*blocker = b;
		streams = streams && inputs[i].no_update;
		waits = true;
	}
	if (answer == LEAT_FAILED)
		return LEAT_FAILED;
	if (waits)
		return streams && n->n_shown > q->offset ? LEAT_GO_STREAM : LEAT_WAIT;
	return others_settled(s, n->text, q->step, blocker);
}
