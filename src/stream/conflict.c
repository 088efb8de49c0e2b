/* Steps that use the same name: what is told of them, and when that is a declared output. */
#include "stream/uses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const words[LEAT_USE_KINDS] = {
	[LEAT_USE_READ] = "read",
	[LEAT_USE_SEEK] = "looked for",
	[LEAT_USE_NEED] = "relied on",
	[LEAT_USE_MKDIR] = "made",
	[LEAT_USE_OWN] = "made",
	[LEAT_USE_APPEND] = "appended to",
	[LEAT_USE_WRITE] = "opened for writing",
	[LEAT_USE_CREATE] = "created",
	[LEAT_USE_TRUNCATE] = "truncated",
	[LEAT_USE_REMOVE] = "removed",
	[LEAT_USE_MOVE] = "renamed",
	[LEAT_USE_REPLACE] = "made by a rename",
	[LEAT_USE_LINK] = "made as a link",
};

enum leat_order leat_order_of(const struct leat_stream *s, int a, int b)
{
	bool before, after;

	if (a == b)
		return LEAT_SAME;
	before = leat_is_upstream(s->m, a, b);
	after = leat_is_upstream(s->m, b, a);
	if (before && after)
		return LEAT_LOOP;
	return before ? LEAT_BEFORE : after ? LEAT_AFTER : LEAT_NO_ORDER;
}

static void put_order(const struct leat_stream *s, const struct leat_clash *k, FILE *out)
{
	if (leat_order_of(s, k->other, k->step) == LEAT_AFTER)
		fprintf(out, ", which in a batch ends before step %s begins; ",
			s->wf->steps[k->other].name);
	else
		fputs(", which has no order with it: in a batch they run one after the other; ",
		      out);
}

static void put_conflict(const struct leat_stream *s, const struct leat_clash *k, FILE *out)
{
	const char *step = s->wf->steps[k->step].name, *other = s->wf->steps[k->other].name;
	bool inverted = leat_order_of(s, k->other, k->step) == LEAT_AFTER;

	fprintf(out, "%s was %s by step %s and then %s by step %s", k->name, words[k->before],
		other, words[k->use], step);
	put_order(s, k, out);
	fprintf(out,
		"give each a file of its own (private: [%s] for the task, another name, or a "
		"directory for each), or declare it as an output of %s and an input of %s",
		k->name, inverted ? step : other, inverted ? other : step);
}

static void put_appended(const struct leat_stream *s, const struct leat_clash *k, FILE *out)
{
	fprintf(out,
		"%s is appended to by steps %s and %s, which run at the same time: its lines may "
		"come in another order than in a batch",
		k->name, s->wf->steps[k->other].name, s->wf->steps[k->step].name);
}

static void put_private(const struct leat_stream *s, const struct leat_clash *k, FILE *out)
{
	const char *step = s->wf->steps[k->step].name, *other = s->wf->steps[k->other].name;

	fprintf(out,
		"%s was %s by step %s, but is private to step %s, which in a batch leaves its file "
		"behind by that name: let it be private to %s, too, or, if %s is to have it, an "
		"output of "
		"%s and an input of %s",
		k->name, words[k->use], step, other, step, step, other, step);
}

/* What a declared producer does to the file; who has it open for writing has not written yet. */
static const char *part_word(enum leat_use use)
{
	return use == LEAT_USE_WRITE ? "written" : words[use];
}

static void put_shared(const struct leat_stream *s, const struct leat_clash *k, FILE *out)
{
	bool inverted = leat_order_of(s, k->other, k->step) == LEAT_AFTER;
	const char *step = s->wf->steps[k->step].name, *other = s->wf->steps[k->other].name;

	fprintf(out, "%s was %s by step %s and then %s by step %s", k->name, part_word(k->before),
		other, part_word(k->use), step);
	if (k->at.end == UINT64_MAX)
		fprintf(out, " from byte %" PRIu64 " on", k->at.begin);
	else if (k->at.end)
		fprintf(out, " at bytes %" PRIu64 " to %" PRIu64, k->at.begin, k->at.end - 1);
	put_order(s, k, out);
	/* What a staged one writes is not seen: it takes the place of all the file. */
	fprintf(out,
		"give each %sa file of its own, or declare it as an input of %s, too, "
		"which then waits for %s",
		s->wf->steps[k->step].staged || s->wf->steps[k->other].staged ? "" : "a part or ",
		inverted ? other : step, inverted ? step : other);
}

static void put_taken(const struct leat_stream *s, const struct leat_clash *k, FILE *out)
{
	fprintf(out, "%s was %s by step %s and then %s by step %s", k->name, words[k->before],
		s->wf->steps[k->other].name, words[k->use], s->wf->steps[k->step].name);
	put_order(s, k, out);
	fputs("leave it there, or have a step remove it that comes after both", out);
}

void leat_conflict_tell(struct leat_stream *s, const struct leat_clash *k, enum leat_conflict kind)
{
	static void (*const put[])(const struct leat_stream *s, const struct leat_clash *k,
				   FILE *out) = {
		[LEAT_CONFLICT] = put_conflict,        [LEAT_CONFLICT_APPENDED] = put_appended,
		[LEAT_CONFLICT_PRIVATE] = put_private, [LEAT_CONFLICT_TAKEN] = put_taken,
		[LEAT_CONFLICT_SHARED] = put_shared,
	};
	char *text = NULL;
	size_t size = 0;
	FILE *out = s->ops.conflict ? open_memstream(&text, &size) : NULL;

	if (!s->ops.conflict)
		return;
	if (out) {
		put[kind](s, k, out);
		if (fclose(out) != 0) {
			free(text);
			text = NULL;
		}
	}
	s->ops.conflict(s->ctx, k->name, k->step, k->other, kind == LEAT_CONFLICT_APPENDED,
			text ? text : "it is used by two steps without an order");
	free(text);
}

/* ---- names that are declared outputs ---- */

static bool has_others(const struct leat_stream *s, const uint64_t *set, int step)
{
	return !leat_steps_within(s, set, step);
}

static bool destroys(enum leat_use use)
{
	return use == LEAT_USE_TRUNCATE || use >= LEAT_USE_REMOVE;
}

static bool is_made_by(const struct leat_name_state *n, int step)
{
	return n && n->content &&
	       (n->content->creator == step || leat_content_find_part(n->content, step));
}

/* What they write over each other thereafter is no news. */
static int tell_declared(struct leat_stream *s, const struct leat_clash *k)
{
	bool told;

	leat_conflict_tell(s, k, LEAT_CONFLICT);
	return leat_uses_tell(s, k->name, &told);
}

/* Several steps may make one file together, but not each its own by the same name. Two that make
 * theirs at the same moment have not opened it yet, either of them. 0 or -ENOMEM. */
static int check_co_producer(struct leat_stream *s, const struct leat_name_state *n,
			     const struct leat_file_rule *rule, struct leat_clash *k)
{
	int rc = leat_uses_remake(s, k->name, k->step, &k->other);

	k->before = LEAT_USE_WRITE;
	if (!rc && k->other >= 0)
		return tell_declared(s, k);
	if (rc)
		return rc;
	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps)) {
		enum leat_order order = leat_order_of(s, o, k->step);

		if ((order != LEAT_NO_ORDER && order != LEAT_AFTER) || !is_made_by(n, o))
			continue;
		k->other = o;
		return tell_declared(s, k);
	}
	return 0;
}

/* Who did not say that it reads the file waits for it, as if it came after its producer. So it is
 * in the batch, unless it runs before that there. Who is upstream of it sees it as it is. */
static void check_stranger(struct leat_stream *s, const struct leat_file_rule *rule,
			   struct leat_clash *k)
{
	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps)) {
		if (leat_order_of(s, o, k->step) != LEAT_NO_ORDER ||
		    leat_runs_before(s->m, o, k->step))
			continue;
		k->other = o;
		k->before = LEAT_USE_CREATE;
		leat_conflict_tell(s, k, LEAT_CONFLICT);
		return;
	}
}

bool leat_declared_is_taken(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	return n && n->taken && !n->content &&
	       leat_order_of(s, step, (int)n->taken - 1) == LEAT_BEFORE;
}

static int tell_taken(struct leat_stream *s, const struct leat_name_state *n, int step)
{
	bool told;
	int rc = leat_uses_tell(s, n->text, &told);

	if (!rc && !told)
		leat_conflict_tell(s,
				   &(struct leat_clash){.name = n->text,
							.step = step,
							.other = (int)n->taken - 1,
							.use = LEAT_USE_SEEK,
							.before = LEAT_USE_REMOVE},
				   LEAT_CONFLICT_TAKEN);
	return rc;
}

int leat_declared_list(struct leat_stream *s, const struct leat_name_state *dir, int step)
{
	const struct leat_name_state *child;

	/* Python lists the workflow's directory, whatever it looks for there. */
	if (!dir->taken_below || !*dir->text)
		return 0;
	DL_FOREACH(dir->children, child)
	{
		if (leat_declared_is_taken(s, child, step))
			return tell_taken(s, child, step);
	}
	return 0;
}

bool leat_declared_allows(const struct leat_stream *s, const struct leat_file_rule *rule, int step,
			  enum leat_use use)
{
	if (leat_steps_has(rule->producers, step))
		return !destroys(use) || !has_others(s, rule->producers, step);
	return leat_steps_has(rule->consumers, step);
}

int leat_declared_use(struct leat_stream *s, const struct leat_event *ev,
		      const struct leat_file_rule *rule)
{
	const struct leat_name_state *n = leat_name_find(s, ev->name);
	struct leat_clash k = {
		.name = ev->name, .step = ev->step, .other = -1, .use = (enum leat_use)ev->code};

	if (k.use == LEAT_USE_SEEK && leat_declared_is_taken(s, n, ev->step))
		return tell_taken(s, n, ev->step);
	if (leat_declared_allows(s, rule, ev->step, k.use) || ev->flags & LEAT_EVF_DIR ||
	    (n && n->versioned) || leat_stream_has_versions(s, ev->name))
		return 0;
	if (leat_steps_has(rule->producers, ev->step))
		return check_co_producer(s, n, rule, &k);
	check_stranger(s, rule, &k);
	return 0;
}
