/* Roles, and what each call is answered in each state. */
#include "stream/uses.h"
#include "stream/versions.h"

#include <errno.h>
#include <stdlib.h>

bool leat_rule_governs(const struct leat_stream *s, const struct leat_file_rule *rule)
{
	if (!rule->declared || rule->excluded)
		return false;
	for (int step = 0; step < s->n_steps; step++)
		if (leat_steps_has(rule->producers, step))
			return true;
	return false;
}

static bool is_upstream_of_a_producer(const struct leat_stream *s, int step,
				      const struct leat_file_rule *rule)
{
	for (int p = 0; p < s->n_steps; p++)
		if (leat_steps_has(rule->producers, p) && leat_is_upstream(s->m, step, p))
			return true;
	return false;
}

enum leat_role leat_rule_role(const struct leat_stream *s, int step,
			      const struct leat_file_rule *rule)
{
	bool consumes;

	if (step < 0 || step >= s->n_steps || !leat_rule_governs(s, rule))
		return LEAT_ROLE_PLAIN;
	consumes = leat_steps_has(rule->consumers, step);
	if (leat_steps_has(rule->producers, step))
		return consumes ? LEAT_ROLE_BOTH : LEAT_ROLE_PRODUCER;
	if (!consumes && is_upstream_of_a_producer(s, step, rule))
		return LEAT_ROLE_PLAIN;
	return LEAT_ROLE_CONSUMER;
}

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

/* What a consumer's call is told. LIST has a function of its own. In state GONE
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
		return c && (c->is_dir || c->size_bytes) ? LEAT_GO_STREAM : LEAT_WAIT;
	case COVERED:
		return c && is_covered(c, q) ? LEAT_GO_STREAM : LEAT_WAIT;
	case LOOKS:
		return c && c->is_dir ? LEAT_GO_STREAM : LEAT_WAIT;
	case WAITS:
		break;
	}
	return LEAT_WAIT;
}

static enum leat_answer decide_consumer(const struct leat_stream *s,
					const struct leat_name_state *n,
					const struct leat_question *q)
{
	if (n->rule->fire == LEAT_FIRE_NO_UPDATE && !leat_versions_whole(s, n, q->step))
		return resolve(no_update[q->call][n->state], n, q);
	return resolve(on_commit[q->call][n->state], n, q);
}

static enum leat_answer decide_both(const struct leat_stream *s, const struct leat_name_state *n,
				    const struct leat_question *q)
{
	if (n->state == LEAT_FILE_FAILED)
		return LEAT_FAILED;
	if (leat_state_is_final(n->state) || leat_commit_others_done(s, n, q->step))
		return LEAT_GO;
	return LEAT_WAIT;
}

/* A new version may have to wait for whoever has not taken the one before. */
static enum leat_answer decide_producer(const struct leat_stream *s,
					const struct leat_name_state *n,
					const struct leat_question *q, struct leat_blocker *blocker)
{
	int consumer;

	if (q->call != LEAT_CALL_WRITE || !n->versioned || n->content ||
	    !leat_versions_hold(s, n, q->step, &consumer))
		return LEAT_GO;
	blocker->step = consumer;
	return LEAT_WAIT;
}

static bool precedes(const struct leat_stream *s, int up, int down)
{
	return up >= 0 && up != down && leat_is_upstream(s->m, up, down) &&
	       !leat_is_upstream(s->m, down, up);
}

/* A directory that only holds other steps' outputs: in a batch it would be there
 * once they ended. */
static enum leat_answer decide_missing_directory(const struct leat_stream *s,
						 const struct leat_name_state *n,
						 const struct leat_question *q,
						 struct leat_blocker *blocker)
{
	if (!n->rule->holds_outputs || (q->call != LEAT_CALL_OPEN && q->call != LEAT_CALL_LOOK))
		return LEAT_GO;
	/* Who only writes there would make it by itself. */
	if (leat_step_writes_below(s->m, q->step, n->text) &&
	    !leat_step_reads_below(s->m, q->step, n->text))
		return LEAT_GO;
	for (int step = 0; step < s->n_steps; step++) {
		if (!precedes(s, step, q->step) || leat_step_is_over(&s->steps[step]) ||
		    !leat_step_writes_below(s->m, step, n->text))
			continue;
		blocker->step = step;
		return LEAT_WAIT;
	}
	return LEAT_GO;
}

/* What no rule governs is plain POSIX, but a step's undeclared files are not
 * shown to the steps after it before it ended. */
static enum leat_answer decide_undeclared(const struct leat_stream *s,
					  const struct leat_name_state *n,
					  const struct leat_question *q,
					  struct leat_blocker *blocker)
{
	const struct leat_content *c = n->content;
	int holder;

	if (n->rule->excluded || q->call == LEAT_CALL_READ)
		return LEAT_GO;
	holder = leat_stream_holder(s, q->step, n->text,
				    q->call == LEAT_CALL_WRITE || q->call == LEAT_CALL_REMOVE);
	if (holder >= 0 && s->steps[holder].failures)
		return LEAT_FAILED;
	if (holder >= 0) {
		blocker->step = holder;
		return LEAT_WAIT;
	}
	if (!c)
		return decide_missing_directory(s, n, q, blocker);
	if (c->is_dir || !precedes(s, c->creator, q->step))
		return LEAT_GO;
	if (s->steps[c->creator].failures)
		return LEAT_FAILED;
	if (leat_step_is_over(&s->steps[c->creator]) && !c->writers)
		return LEAT_GO;
	blocker->step = c->creator;
	return LEAT_WAIT;
}

enum leat_answer leat_decide(struct leat_stream *s, struct leat_name_state *n,
			     const struct leat_question *q, struct leat_blocker *blocker)
{
	if (q->step < 0 || q->step >= s->n_steps)
		return LEAT_GO;
	if (q->call == LEAT_CALL_LAUNCH)
		return leat_decide_launch(s, q, blocker);
	if (q->call == LEAT_CALL_MORE)
		return leat_decide_more(s, q, blocker);
	if (q->call == LEAT_CALL_LIST)
		return leat_decide_list(s, n, q, blocker);
	if (!n->governed)
		return decide_undeclared(s, n, q, blocker);
	switch (leat_rule_role(s, q->step, n->rule)) {
	case LEAT_ROLE_CONSUMER:
		return decide_consumer(s, n, q);
	case LEAT_ROLE_BOTH:
		return decide_both(s, n, q);
	case LEAT_ROLE_PRODUCER:
		return decide_producer(s, n, q, blocker);
	case LEAT_ROLE_PLAIN:
		break;
	}
	return LEAT_GO;
}

/* ---- asking ---- */

static struct leat_waiter *find_waiter(const struct leat_stream *s, uint64_t id)
{
	struct leat_waiter *w;

	HASH_FIND(hh, s->waiters, &id, sizeof(id), w);
	return w;
}

static int remember(struct leat_stream *s, struct leat_name_state *n, const struct leat_event *ev,
		    const struct leat_question *q, const struct leat_blocker *blocker)
{
	struct leat_waiter *w = leat_heap_alloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->id = ev->waiter;
	w->question = *q;
	w->on = n;
	w->blocker.step = -1;
	HASH_ADD(hh, s->waiters, id, sizeof(w->id), w);
	if (!w->hh.tbl) {
		leat_heap_free(w);
		return -ENOMEM;
	}
	DL_APPEND(n->waiters, w);
	leat_waiter_block(s, w, blocker);
	return 0;
}

/* From now on the bytes of `n` are a promise to a consumer. */
static void note_seen(const struct leat_stream *s, struct leat_name_state *n,
		      const struct leat_question *q, enum leat_answer answer)
{
	enum leat_role role;

	if ((answer != LEAT_GO && answer != LEAT_GO_STREAM) || !n->governed ||
	    q->call == LEAT_CALL_LIST || q->call == LEAT_CALL_LAUNCH || q->call == LEAT_CALL_MORE)
		return;
	role = leat_rule_role(s, q->step, n->rule);
	if (role == LEAT_ROLE_BOTH && !leat_state_is_final(n->state))
		n->amender = (unsigned)q->step + 1;
	if (role != LEAT_ROLE_CONSUMER)
		return;
	n->seen = true;
	n->looked = n->looked || q->call == LEAT_CALL_LOOK;
	n->relied = n->relied || (leat_name_is_dir(n) && n->state == LEAT_FILE_COMMITTED);
}

enum leat_answer leat_stream_ask(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_question q = {ev->step, ev->call, ev->offset, ev->length};
	struct leat_waiter *w = find_waiter(s, ev->waiter);
	struct leat_blocker blocker;
	struct leat_name_state *n;
	enum leat_answer answer;

	if (w)
		leat_waiter_free(s, w);
	n = leat_name_get(s, ev->name ? ev->name : "");
	if (!n || ev->call > LEAT_CALL_MORE)
		return LEAT_FAILED;
	do {
		leat_settle(s);
		blocker = (struct leat_blocker){.step = -1};
		answer = leat_decide(s, n, &q, &blocker);
		/* Deciding may have brought up names that are new. */
	} while (s->dirty);
	note_seen(s, n, &q, answer);
	if (q.call == LEAT_CALL_LIST && (answer == LEAT_GO || answer == LEAT_GO_STREAM) &&
	    (leat_shown_list(s, n, q.step) || leat_declared_list(s, n, q.step)))
		return LEAT_FAILED;
	if (answer == LEAT_WAIT && ev->waiter && remember(s, n, ev, &q, &blocker))
		return LEAT_FAILED;
	return answer;
}
