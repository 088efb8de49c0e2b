/* What a call on one name is answered, by the state of that. */
#include "stream/rules/answer.h"
#include "stream/conflicts/aliases.h"
#include "stream/conflicts/declared.h"
#include "stream/conflicts/held.h"
#include "stream/conflicts/order.h"
#include "stream/flow/versions.h"
#include "stream/rules/commit.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/roles.h"
#include "stream/state/staged.h"
#include "stream/state/steps.h"

/* An entry of the tables below. */
enum verdict {
	WAITS,
	GOES,
	NEVER,   /* ENOENT: it will never exist */
	FAILS,   /* EIO: its producer failed */
	STREAMS, /* a directory: as soon as it exists; a file: as soon as it has bytes */
	COVERED, /* as soon as the bytes asked for exist */
	LOOKS,   /* a directory: as soon as it exists; a file: on commit */
};

#define N_STATES (LEAT_FILE_GONE + 1)

#define N_CALLS (LEAT_CALL_REMOVE + 1)

/* The answer to a consumer's call. LIST has a function of its own. In state GONE
 * an open descriptor outlives its name: what it shows is all there will be. */
static const enum verdict on_commit[N_CALLS][N_STATES] = {
	/*                   ABSENT  PRODUCED COMMITTED FAILED GONE */
	[LEAT_CALL_OPEN] = {WAITS, WAITS, GOES, FAILS, NEVER},
	[LEAT_CALL_LOOK] = {WAITS, WAITS, GOES, FAILS, NEVER},
	[LEAT_CALL_READ] = {WAITS, WAITS, GOES, FAILS, GOES},
	[LEAT_CALL_WHOLE] = {WAITS, WAITS, GOES, FAILS, GOES},
	[LEAT_CALL_WRITE] = {WAITS, WAITS, GOES, FAILS, GOES},
	[LEAT_CALL_REMOVE] = {WAITS, WAITS, GOES, FAILS, NEVER},
};

static const enum verdict no_update[N_CALLS][N_STATES] = {
	/*                   ABSENT  PRODUCED COMMITTED FAILED GONE */
	[LEAT_CALL_OPEN] = {LOOKS, STREAMS, GOES, FAILS, NEVER},
	[LEAT_CALL_LOOK] = {LOOKS, LOOKS, GOES, FAILS, NEVER},
	[LEAT_CALL_READ] = {WAITS, COVERED, GOES, FAILS, GOES},
	[LEAT_CALL_WHOLE] = {WAITS, WAITS, GOES, FAILS, GOES},
	[LEAT_CALL_WRITE] = {WAITS, WAITS, GOES, FAILS, GOES},
	[LEAT_CALL_REMOVE] = {WAITS, WAITS, GOES, FAILS, NEVER},
};

static bool is_covered(const struct leat_content *c, const struct leat_question *q)
{
	uint64_t end;

	if (__builtin_add_overflow(q->offset, q->length, &end))
		return false;
	return leat_extents_cover(&c->extents, q->offset, end);
}

/* A directory that is not in the place of something else. */
static bool is_right_dir(const struct leat_name_state *n)
{
	return n->content && n->content->is_dir && !leat_name_is_replaced(n);
}

/* And that a step has made, or made something in. */
static bool is_given_dir(const struct leat_name_state *n)
{
	return is_right_dir(n) && !n->content->left_over;
}

static enum leat_answer resolve(enum verdict v, const struct leat_name_state *n,
				const struct leat_question *q)
{
	const struct leat_content *c = n->content;

	switch (v) {
	case GOES:
		return LEAT_GO;
	case NEVER:
		/* Somebody may have made a plain file of that name since. */
		return c ? LEAT_GO : LEAT_NOENT;
	case FAILS:
		return LEAT_FAILED;
	case STREAMS:
		return c && (is_given_dir(n) || c->size_bytes) ? LEAT_GO_STREAM : LEAT_WAIT;
	case COVERED:
		return c && is_covered(c, q) ? LEAT_GO_STREAM : LEAT_WAIT;
	case LOOKS:
		return is_given_dir(n) ? LEAT_GO_STREAM : LEAT_WAIT;
	case WAITS:
		break;
	}
	return LEAT_WAIT;
}

static enum leat_answer decide_consumer(const struct leat_stream *s,
					const struct leat_name_state *n,
					const struct leat_question *q)
{
	/* A directory in one that is complete by the number of files. */
	if ((q->call == LEAT_CALL_OPEN || q->call == LEAT_CALL_LOOK) && is_right_dir(n) &&
	    n->state != LEAT_FILE_FAILED && leat_name_is_counted_out(n->parent))
		return LEAT_GO;
	if (n->rule->fire == LEAT_FIRE_NO_UPDATE && !leat_versions_whole(s, n, q->step))
		return resolve(no_update[q->call][n->state], n, q);
	return resolve(on_commit[q->call][n->state], n, q);
}

/* Are there outputs in the directory, for all that the step can know of it? */
static bool holds_outputs(const struct leat_stream *s, int step, const char *dir)
{
	const struct leat_file_rule *rule = leat_match(s->m, dir);

	return rule && (rule->holds_outputs ||
			(leat_rule_governs(s, rule) && leat_step_reads_below(s->m, step, dir)));
}

int leat_directory_maker(const struct leat_stream *s, int step, const char *dir, bool looks)
{
	if (!holds_outputs(s, step, dir))
		return -1;
	/* Who only writes there would make it by itself, but goes by what it finds if it looks. */
	if (!looks && leat_step_writes_below(s->m, step, dir) &&
	    !leat_step_reads_below(s->m, step, dir))
		return -1;
	for (int o = 0; o < s->n_steps; o++)
		if (leat_is_strictly_upstream(s->m, o, step) && !leat_step_is_over(&s->steps[o]) &&
		    leat_step_writes_below(s->m, o, dir))
			return o;
	return -1;
}

/* Not there, or from before the run: who makes something in it may remove it first. */
static bool is_unmade(const struct leat_name_state *n)
{
	return !n->content || n->content->left_over;
}

/* A directory that only holds other steps' outputs, or one that another step makes, too: in a batch
 * it would be there once they ended. */
static enum leat_answer decide_missing_directory(const struct leat_stream *s,
						 const struct leat_name_state *n,
						 const struct leat_question *q,
						 struct leat_blocker *blocker)
{
	if (q->call != LEAT_CALL_OPEN && q->call != LEAT_CALL_LOOK)
		return LEAT_GO;
	blocker->step = leat_directory_maker(s, q->step, n->text, q->call == LEAT_CALL_LOOK);
	return blocker->step >= 0 ? LEAT_WAIT : LEAT_GO;
}

/* A directory of which it declares all may be made by who declares only names below. */
static enum leat_answer decide_both(const struct leat_stream *s, const struct leat_name_state *n,
				    const struct leat_question *q, struct leat_blocker *blocker)
{
	if (n->state == LEAT_FILE_FAILED)
		return LEAT_FAILED;
	if (!leat_state_is_final(n->state) && !leat_commit_others_done(s, n, q->step))
		return LEAT_WAIT;
	return is_unmade(n) ? decide_missing_directory(s, n, q, blocker) : LEAT_GO;
}

/* The last that has a part in it, is still at work, and in a batch ends before `step` begins. */
static int find_maker(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	const struct leat_content *c = leat_state_is_final(n->state) ? NULL : n->content;
	int maker = -1;

	for (size_t i = 0; c && !c->is_dir && i < c->n_parts; i++) {
		int o = c->parts[i].step;

		if (o == step)
			return -1;
		if (o >= 0 && leat_is_strictly_upstream(s->m, o, step) &&
		    !leat_step_is_over(&s->steps[o]))
			maker = o;
	}
	return maker;
}

/* Without an order the batch runs them one after the other all the same. Until the earlier one has
 * ended it may write more, or take the file away. */
static int find_co_producer(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	const uint64_t *producers = n->rule->producers;

	if (!n->content || n->content->is_dir || n->versioned)
		return -1;
	for (int o = leat_steps_next(producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(producers, o + 1, s->n_steps))
		if (leat_name_is_made_by(n, o) && leat_order_ends_before(s, o, step) &&
		    !leat_step_is_over(&s->steps[o]))
			return o;
	return -1;
}

int leat_maker_before(const struct leat_stream *s, const struct leat_name_state *n, int step,
		      bool looks)
{
	int maker = find_maker(s, n, step);

	return maker < 0 && looks ? find_co_producer(s, n, step) : maker;
}

/* A new version may have to wait for whoever has not taken the one before. */
static enum leat_answer decide_producer(const struct leat_stream *s,
					const struct leat_name_state *n,
					const struct leat_question *q, struct leat_blocker *blocker)
{
	int consumer;

	/* What it does there, even if it says that it will write, goes by what others have made. */
	blocker->step = leat_maker_before(s, n, q->step,
					  q->call == LEAT_CALL_OPEN || q->call == LEAT_CALL_LOOK);
	if (blocker->step >= 0)
		return LEAT_WAIT;
	if (q->call != LEAT_CALL_WRITE)
		return is_unmade(n) ? decide_missing_directory(s, n, q, blocker) : LEAT_GO;
	/* A staged step makes its files on disk. */
	if (n->rule->storage == LEAT_STORAGE_FS)
		blocker->step = leat_staged_before(s, q->step, n->rule->producers);
	if (blocker->step >= 0)
		return LEAT_WAIT;
	if (!n->versioned || n->content || !leat_versions_hold(s, n, q->step, &consumer))
		return LEAT_GO;
	blocker->step = consumer;
	return LEAT_WAIT;
}

static bool is_change(enum leat_call call)
{
	return call == LEAT_CALL_WRITE || call == LEAT_CALL_REMOVE;
}

/* A step before this one has used it so that its end is to be waited for. */
static enum leat_answer decide_used(const struct leat_stream *s, const struct leat_name_state *n,
				    const struct leat_question *q, struct leat_blocker *blocker)
{
	int holder = q->call == LEAT_CALL_READ
			     ? -1
			     : leat_stream_holder(s, q->step, n->text, is_change(q->call));

	if (holder < 0)
		return LEAT_GO;
	if (s->steps[holder].failures)
		return LEAT_FAILED;
	blocker->step = holder;
	return LEAT_WAIT;
}

/* What no rule governs is plain POSIX, but a step's undeclared files are not
 * shown to the steps after it before it ended. */
static enum leat_answer decide_undeclared(const struct leat_stream *s,
					  const struct leat_name_state *n,
					  const struct leat_question *q,
					  struct leat_blocker *blocker)
{
	const struct leat_content *c = n->content;
	enum leat_answer used;

	if (n->rule->excluded || q->call == LEAT_CALL_READ)
		return LEAT_GO;
	used = decide_used(s, n, q, blocker);
	if (used != LEAT_GO)
		return used;
	if (is_unmade(n))
		return decide_missing_directory(s, n, q, blocker);
	if (c->is_dir || c->creator < 0 || !leat_is_strictly_upstream(s->m, c->creator, q->step))
		return LEAT_GO;
	if (s->steps[c->creator].failures)
		return LEAT_FAILED;
	if (leat_step_is_over(&s->steps[c->creator]) && !c->writers)
		return LEAT_GO;
	blocker->step = c->creator;
	return LEAT_WAIT;
}

/* The file has another name, by which a step may still change it that comes before this one, or
 * read what this one is about to change. */
static enum leat_answer decide_alias(const struct leat_stream *s, const struct leat_name_state *n,
				     const struct leat_question *q, struct leat_blocker *blocker)
{
	struct leat_name_state *by;
	int step = q->call == LEAT_CALL_READ || n->rule->excluded
			   ? -1
			   : leat_alias_before(s, n, q->step, is_change(q->call), &by);

	if (step < 0)
		return LEAT_GO;
	if (s->steps[step].failures)
		return LEAT_FAILED;
	if (by)
		blocker->name = by;
	else
		blocker->step = step;
	return LEAT_WAIT;
}

enum leat_answer leat_decide_name(const struct leat_stream *s, const struct leat_name_state *n,
				  const struct leat_question *q, struct leat_blocker *blocker)
{
	enum leat_answer alias = s->linked ? decide_alias(s, n, q, blocker) : LEAT_GO;

	if (alias != LEAT_GO)
		return alias;
	if (!n->governed)
		return decide_undeclared(s, n, q, blocker);
	/* In a batch a step that still has it open has ended before. */
	if (q->call != LEAT_CALL_READ && q->call != LEAT_CALL_WHOLE)
		blocker->step = leat_held_before(s, n, q->step, is_change(q->call));
	if (blocker->step >= 0)
		return LEAT_WAIT;
	switch (leat_rule_role(s, q->step, n->rule)) {
	case LEAT_ROLE_CONSUMER:
		return decide_consumer(s, n, q);
	case LEAT_ROLE_BOTH:
		return decide_both(s, n, q, blocker);
	case LEAT_ROLE_PRODUCER:
		return decide_producer(s, n, q, blocker);
	case LEAT_ROLE_PLAIN:
		break;
	}
	return decide_used(s, n, q, blocker);
}
