/* Reports of steps that use the same name without an order. */
#include "stream/conflicts/conflict.h"
#include "stream/conflicts/order.h"

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
	[LEAT_USE_RIGHTS] = "given other permissions, times or attributes",
};

static void put_order(const struct leat_stream *s, const struct leat_clash *k, FILE *out)
{
	if (leat_order_of(s, k->other, k->step) == LEAT_AFTER)
		fprintf(out, ", which in a batch ends before step %s begins; ",
			s->wf->steps[k->other].name);
	else
		fputs(", which has no order with it: in a batch they run one after the other; ",
		      out);
}

/* Is it the later use that makes the file for the other step? By the order of the batch; without
 * one who has only looked for a file makes none. */
static bool is_made_later(const struct leat_stream *s, const struct leat_clash *k)
{
	return leat_order_of(s, k->other, k->step) == LEAT_AFTER || k->before < LEAT_USE_MKDIR;
}

static void put_conflict(const struct leat_stream *s, const struct leat_clash *k, FILE *out)
{
	const char *step = s->wf->steps[k->step].name, *other = s->wf->steps[k->other].name;
	bool inverted = is_made_later(s, k);

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
		"behind by that name, or none: let it be private to %s, too, or, if %s is to have "
		"it, an "
		"output of "
		"%s and an input of %s",
		k->name, words[k->use], step, other, step, step, other, step);
}

static void put_symlink(const struct leat_stream *s, const struct leat_clash *k, FILE *out)
{
	fprintf(out,
		"%s was made as a symlink by step %s, but is private to step %s, which has a file "
		"of its own by that name already, and in a batch would have written through the "
		"symlink; give one of them another name",
		k->name, s->wf->steps[k->step].name, s->wf->steps[k->other].name);
}

static void put_linked(const struct leat_stream *s, const struct leat_clash *k, FILE *out)
{
	const char *step = s->wf->steps[k->step].name, *other = s->wf->steps[k->other].name;

	fprintf(out,
		"%s was %s by step %s, but is private to step %s, which in a batch leaves a link "
		"by that name, and step %s would have used the file that it leads to: let it be "
		"private to %s, too, or give one of them another name",
		k->name, words[k->use], step, other, step, step);
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

static void put_other_name(const struct leat_clash *k, FILE *out)
{
	if (k->by)
		fprintf(out, " as %s, another name of the same file,", k->by);
	else
		fputs(" by another name of the same file", out);
}

/* Of two changes the later is the one by the other name. */
static void put_alias(const struct leat_stream *s, const struct leat_clash *k, FILE *out)
{
	const char *step = s->wf->steps[k->step].name, *other = s->wf->steps[k->other].name;
	bool later = k->use != LEAT_USE_READ;

	fprintf(out, "%s was %s", k->name, part_word(k->before));
	if (!later)
		put_other_name(k, out);
	fprintf(out, " by step %s and then %s", other, part_word(k->use));
	if (later)
		put_other_name(k, out);
	fprintf(out, " by step %s", step);
	put_order(s, k, out);
	fprintf(out,
		"declare %s as an output of %s, too, or let each be a file of its own (a copy "
		"instead of the hard link)",
		k->name, later ? step : other);
}

void leat_conflict_report(struct leat_stream *s, const struct leat_clash *k,
			  enum leat_conflict kind)
{
	static void (*const put[])(const struct leat_stream *s, const struct leat_clash *k,
				   FILE *out) = {
		[LEAT_CONFLICT] = put_conflict,        [LEAT_CONFLICT_APPENDED] = put_appended,
		[LEAT_CONFLICT_PRIVATE] = put_private, [LEAT_CONFLICT_TAKEN] = put_taken,
		[LEAT_CONFLICT_SYMLINK] = put_symlink, [LEAT_CONFLICT_SHARED] = put_shared,
		[LEAT_CONFLICT_ALIAS] = put_alias,     [LEAT_CONFLICT_LINKED] = put_linked,
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
