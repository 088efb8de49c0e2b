/* The commit rules: which state a name must be in. Reads, changes nothing.
 *
 * Every rule falls back to the end of the producers: once all of them ended
 * well, there is nothing more to come. */
#include "stream/rules/commit.h"
#include "stream/state/content.h"
#include "stream/state/lifecycle.h"
#include "stream/state/makers.h"
#include "stream/state/names.h"
#include "stream/state/steps.h"

#include "base/str.h"

/* Where the producers of a name stand. */
struct tally {
	bool over;          /* all of them ended */
	int failed;         /* one that failed, or -1 */
	unsigned successes; /* instances that ended well */
	unsigned possible;  /* instances that ended well or still may */
};

static unsigned still_possible(const struct leat_step_state *st)
{
	unsigned running = st->started - st->ended;
	unsigned to_come =
		!st->closed && st->expected > st->started ? st->expected - st->started : 0;

	return running + to_come;
}

static struct tally count_producers(const struct leat_stream *s, const struct leat_name_state *n)
{
	const uint64_t *set = n->rule->producers;
	struct tally t = {.over = true, .failed = -1};

	for (int step = leat_steps_next(set, 0, s->n_steps); step < s->n_steps;
	     step = leat_steps_next(set, step + 1, s->n_steps)) {
		const struct leat_step_state *st = &s->steps[step];

		t.over = t.over && leat_step_is_over(st);
		if (st->failures && t.failed < 0)
			t.failed = step;
		t.successes += st->ended - st->failures;
		t.possible += st->ended - st->failures + still_possible(st);
	}
	return t;
}

/* True if nobody can be in the middle of writing it: made by a producer, not
 * open, no empty close that may be followed by a re-open, not cut short, passed on
 * by actions if there are any. Where every close counts, an empty one is as good as any. */
static bool is_at_rest(const struct leat_content *c, bool empty_counts)
{
	return c && !c->old && !c->broken && !c->held && !c->writers &&
	       (empty_counts || !c->pending);
}

static bool every_close_counts(const struct leat_name_state *n)
{
	return n->rule->commit == LEAT_COMMIT_ON_CLOSE && n->rule->count > 1;
}

/* Closes counted against a given number; of a number above one each counts. */
static unsigned count_closes(const struct leat_name_state *n, int except)
{
	const struct leat_content *c = n->content;
	unsigned sum = 0;

	for (size_t i = 0; i < c->n_parts; i++) {
		const struct leat_part *part = &c->parts[i];

		if (part->step != except && part->step >= 0 &&
		    leat_steps_has(n->rule->producers, part->step))
			sum += every_close_counts(n) ? part->closes : part->data_closes;
	}
	return sum;
}

unsigned leat_commit_closes(const struct leat_name_state *n)
{
	return count_closes(n, -1);
}

/* Producer `step` is done with it: closed what it opened, gave it its name, or ended. */
static bool part_is_done(const struct leat_stream *s, const struct leat_content *c, int step)
{
	const struct leat_part *part = leat_content_find_part(c, step);

	if (part && (part->writers || part->pending))
		return false;
	return leat_step_is_over(&s->steps[step]) ||
	       (part && (part->data_closes || part->published));
}

static bool met_by_close(const struct leat_stream *s, const struct leat_name_state *n)
{
	const uint64_t *set = n->rule->producers;

	if (leat_name_is_dir(n) || !is_at_rest(n->content, every_close_counts(n)))
		return false;
	if (n->rule->commit == LEAT_COMMIT_ON_CLOSE && n->rule->count)
		return leat_commit_closes(n) >= n->rule->count;
	for (int step = leat_steps_next(set, 0, s->n_steps); step < s->n_steps;
	     step = leat_steps_next(set, step + 1, s->n_steps))
		if (!part_is_done(s, n->content, step))
			return false;
	return true;
}

static bool dependency_is_done(const struct leat_stream *s, const char *text)
{
	const struct leat_name_state *dep =
		leat_pattern_is_wild(text) ? NULL : leat_name_find(s, text);
	bool made = false;

	if (dep && dep->governed)
		return dep->state == LEAT_FILE_COMMITTED;
	for (int step = 0; step < s->n_steps; step++) {
		if (!leat_step_may_make(s, step, text))
			continue;
		if (!leat_step_is_quiet(&s->steps[step]))
			return false;
		made = true;
	}
	return made;
}

static bool met_by_files(const struct leat_stream *s, const struct leat_name_state *n)
{
	const struct leat_names *deps = n->rule->deps;

	if (!deps || !is_at_rest(n->content, false) || n->writers_below)
		return false;
	for (size_t i = 0; i < deps->n; i++)
		if (!dependency_is_done(s, deps->v[i].text))
			return false;
	return deps->n > 0;
}

static bool met_by_count(const struct leat_stream *s, const struct leat_name_state *n)
{
	unsigned needed = n->rule->n_files ? n->rule->n_files : n->rule->count;

	if (!leat_name_is_dir(n))
		return met_by_close(s, n);
	return n->content && needed && n->committed_below >= needed;
}

static bool met_by_end(const struct leat_stream *s, const struct leat_name_state *n)
{
	return n->rule->count && n->content && !n->content->old && !n->content->writers &&
	       !n->writers_below && count_producers(s, n).successes >= n->rule->count;
}

/* When a content made by a producer is complete before all producers ended. */
static bool (*const rule_is_met[])(const struct leat_stream *s, const struct leat_name_state *n) = {
	[LEAT_COMMIT_ON_TERMINATION] = met_by_end,
	[LEAT_COMMIT_ON_CLOSE] = met_by_close,
	[LEAT_COMMIT_ON_FILE] = met_by_files,
	[LEAT_COMMIT_N_FILES] = met_by_count,
};

static bool counts_ends(const struct leat_name_state *n)
{
	return n->rule->commit == LEAT_COMMIT_ON_TERMINATION && n->rule->count;
}

/* A failed producer fails the file, unless enough others may still end well. */
static bool has_failed(const struct leat_name_state *n, const struct tally *t)
{
	return counts_ends(n) ? t->possible < n->rule->count : t->failed >= 0;
}

/* A file from before the run in a directory that is complete by the number of files. */
static bool is_counted_in(const struct leat_name_state *n)
{
	const struct leat_content *c = n->content;

	return c && c->old && c->creator < 0 && !c->is_dir && !n->exact &&
	       leat_name_is_counted_out(n->parent);
}

/* What has come of `n`, by its rule. */
static enum leat_file_event find_event(const struct leat_stream *s, const struct leat_name_state *n)
{
	const struct leat_content *c = n->content;
	struct tally t = count_producers(s, n);

	if (has_failed(n, &t) || (c && c->lost >= 0))
		return LEAT_FILE_EVENT_FAILURE;
	if (rule_is_met[n->rule->commit](s, n) || is_counted_in(n))
		return LEAT_FILE_EVENT_COMPLETE;
	if (t.over && !(c && c->writers) && !n->writers_below)
		return c ? LEAT_FILE_EVENT_COMPLETE : LEAT_FILE_EVENT_NEVER;
	return c && !c->old ? LEAT_FILE_EVENT_BEGUN : LEAT_FILE_EVENT_NOTHING;
}

enum leat_file_state leat_commit_evaluate(const struct leat_stream *s,
					  const struct leat_name_state *n)
{
	if (!n->governed || leat_state_is_final(n->state))
		return n->state;
	return leat_file_next(n->state, find_event(s, n));
}

bool leat_commit_others_done(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	const struct leat_content *c = n->content;
	bool by_close = n->rule->commit == LEAT_COMMIT_ON_CLOSE && !leat_name_is_dir(n) && c;
	bool over = true, closed = by_close && !c->broken && !c->held;
	const uint64_t *set = n->rule->producers;

	for (int other = leat_steps_next(set, 0, s->n_steps); other < s->n_steps;
	     other = leat_steps_next(set, other + 1, s->n_steps)) {
		const struct leat_part *part;

		/* One after it reads and writes what this one leaves. */
		if (other == step || leat_is_strictly_upstream(s->m, step, other))
			continue;
		part = c ? leat_content_find_part(c, other) : NULL;
		if (part && part->writers)
			return false;
		over = over && leat_step_is_over(&s->steps[other]);
		closed = closed && part_is_done(s, c, other);
	}
	if (by_close && n->rule->count)
		closed = !c->broken && !c->held && count_closes(n, step) + 1 >= n->rule->count;
	return over || closed;
}

char *leat_commit_why(const struct leat_stream *s, const struct leat_name_state *n)
{
	struct tally t = count_producers(s, n);

	if (t.failed >= 0)
		return leat_strf(
			"step %s, which produces it, failed: %s", s->wf->steps[t.failed].name,
			s->steps[t.failed].why ? s->steps[t.failed].why : "unknown reason");
	if (n->content && n->content->lost >= 0)
		return leat_strf("a process that step %s left behind was killed while it wrote it",
				 s->wf->steps[n->content->lost].name);
	return leat_strf("%u producers had to end well, only %u did", n->rule->count, t.successes);
}
