/* All orders of events within small bounds, against an oracle.
 *
 * For each plan (a workflow, what each step may do, a depth) every sequence of
 * allowed events is played to the rules. After each event the oracle, which
 * looks at the whole trace and knows nothing of the rules' data structures,
 * says what state each name must be in and what each waiting call must be told:
 * - the state must be just that: no early commit, no late one, no failed file
 *   passed off as complete;
 * - a call that was told to wait must have been woken as soon as the oracle
 *   would answer it otherwise, and is asked again then;
 * - when all steps have ended and all files are closed, every name is final and
 *   nobody waits.
 * Then come long random sequences; these are also logged and replayed, with the
 * same decisions. LEAT_EXPLORE_DEPTH=N plays sequences that are N events longer. */
#include "stream_oracle.h"
#include "stream_world.h"

#include "stream/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_WAITERS = 8, MAX_DEPTH = 16, WALKS = 300, WALK_LENGTH = 24 };

/* A call that is asked at the start and again whenever it is woken. */
struct call {
	struct question q;
	bool waiting;
	bool woken;
};

struct run {
	const struct plan *plan;
	struct world w; /* its stream is remade; workflow and matcher stay */
	struct oracle o;
	struct call calls[MAX_WAITERS];
	int n_calls;
	unsigned long nodes;
	FILE *log; /* of a random walk, else NULL */
	uint64_t seq;
	char trail[2048];
};

/* ---- the stream under test ---- */

static void write_log(struct run *r, struct leat_event ev)
{
	ev.seq = r->seq++;
	if (r->log)
		assert_int_equal(leat_event_write(r->log, &ev), 0);
}

static int apply(struct run *r, const struct leat_event *ev)
{
	write_log(r, *ev);
	return leat_stream_apply(r->w.s, ev);
}

static enum leat_answer put_question(struct run *r, const struct leat_event *ev)
{
	struct leat_event answer = {.kind = LEAT_EV_ANSWER, .step = -1, .waiter = ev->waiter};

	write_log(r, *ev);
	answer.code = leat_stream_ask(r->w.s, ev);
	write_log(r, answer);
	return (enum leat_answer)answer.code;
}

static void on_wake(void *ctx, const char *name)
{
	struct run *r = ctx;
	bool heard = false;

	write_log(r, (struct leat_event){.kind = LEAT_EV_WAKE, .step = -1, .name = name});
	for (int i = 0; i < r->n_calls; i++) {
		if (!r->calls[i].waiting || strcmp(r->calls[i].q.name, name) != 0)
			continue;
		r->calls[i].woken = heard = true;
	}
	if (!heard)
		fail_msg("%s: %s is woken for nobody", r->plan->name, name);
}

static void on_state(void *ctx, const char *name, enum leat_file_state state)
{
	write_log(ctx, (struct leat_event){
			       .kind = LEAT_EV_STATE, .step = -1, .name = name, .code = state});
}

static void trail(struct run *r, const char *word)
{
	size_t used = strlen(r->trail);

	snprintf(r->trail + used, sizeof(r->trail) - used, "%s; ", word);
}

static void show_trail(struct run *r)
{
	r->trail[0] = '\0';
	for (int i = 0; i < r->o.n; i++) {
		char word[64];

		oracle_describe(&r->o, &r->o.trace[i], word, sizeof(word));
		trail(r, word);
	}
}

static void ask(struct run *r, int i)
{
	struct call *c = &r->calls[i];
	struct leat_event ev = {.kind = LEAT_EV_ASK,
				.step = c->q.step,
				.waiter = (uint64_t)i + 1,
				.call = c->q.call,
				.name = c->q.name,
				.offset = 0,
				.length = c->q.length};
	enum leat_answer answer = put_question(r, &ev);
	enum leat_answer wanted = oracle_answer(&r->o, &c->q);

	if (answer != wanted) {
		show_trail(r);
		fail_msg("%s: %s call %d on %s answered %d, not %d", r->plan->name, r->trail,
			 (int)c->q.call, c->q.name, (int)answer, (int)wanted);
	}
	oracle_answered(&r->o, &c->q, answer);
	c->waiting = answer == LEAT_WAIT;
	c->woken = false;
}

static void check_states(struct run *r)
{
	for (int i = 0; i < r->plan->n_names; i++) {
		const struct plan_name *n = &r->plan->names[i];
		enum leat_file_state state = leat_stream_state(r->w.s, n->text);

		if (!n->producers || state == r->o.state[i])
			continue;
		show_trail(r);
		fail_msg("%s: %s %s is %d, not %d", r->plan->name, r->trail, n->text, (int)state,
			 (int)r->o.state[i]);
	}
}

static void check_calls(struct run *r)
{
	for (int i = 0; i < r->n_calls; i++) {
		if (r->calls[i].woken)
			ask(r, i);
		if (!r->calls[i].waiting || oracle_answer(&r->o, &r->calls[i].q) == LEAT_WAIT)
			continue;
		show_trail(r);
		fail_msg("%s: %s call %d on %s is not woken", r->plan->name, r->trail,
			 (int)r->calls[i].q.call, r->calls[i].q.name);
	}
}

static void play(struct run *r, const struct action *a, bool check)
{
	struct leat_event ev;

	oracle_event(&r->o, a, &ev);
	oracle_push(&r->o, a);
	if (apply(r, &ev)) {
		show_trail(r);
		fail_msg("%s: %s is refused", r->plan->name, r->trail);
	}
	for (int i = 0; i < r->n_calls && !check; i++)
		if (r->calls[i].woken)
			ask(r, i);
	if (!check)
		return;
	r->nodes++;
	check_states(r);
	check_calls(r);
}

/* What every sequence begins with: steps that are running, directories; and all
 * names are mentioned, since one that never is has no state. */
static void prelude(struct run *r)
{
	const struct plan *plan = r->plan;

	for (int step = 0; step < plan->n_steps; step++) {
		struct leat_event ev = {.kind = LEAT_EV_STEP_START, .step = step};
		int n = plan->verbs[step] & START ? 0
			: step                    ? 1
			: plan->instances         ? plan->instances
						  : 1;

		while (n--)
			assert_int_equal(apply(r, &ev), 0);
	}
	for (int i = 0; i < plan->n_names; i++) {
		struct leat_event ev = {
			.kind = LEAT_EV_CREATE, .flags = LEAT_EVF_DIR, .name = plan->names[i].text};

		struct leat_event mention = {
			.kind = LEAT_EV_ASK, .step = -1, .name = plan->names[i].text};

		if (plan->names[i].is_dir)
			assert_int_equal(apply(r, &ev), 0);
		assert_int_equal(put_question(r, &mention), LEAT_GO);
	}
}

/* From nothing to the state after the first `n` actions of `path`. */
static void replay(struct run *r, const struct action *path, int n)
{
	static const struct leat_stream_ops ops = {.state = on_state, .wake = on_wake};

	leat_stream_free(r->w.s);
	r->w.s = leat_stream_new(r->w.m, r->w.wf, &ops, r);
	assert_non_null(r->w.s);
	oracle_init(&r->o, r->plan);
	r->n_calls = 0;
	prelude(r);
	for (int i = 0; i < r->plan->n_calls; i++) {
		r->calls[r->n_calls++] = (struct call){.q = r->plan->calls[i]};
		ask(r, i);
	}
	for (int i = 0; i < n; i++)
		play(r, &path[i], false);
}

/* Whatever happened, everything comes to an end. */
static void finish(struct run *r)
{
	struct action a;

	while (oracle_next_to_finish(&r->o, &a))
		play(r, &a, true);
	for (int i = 0; i < r->plan->n_names; i++)
		if (r->plan->names[i].producers && r->o.state[i] != LEAT_FILE_COMMITTED &&
		    r->o.state[i] != LEAT_FILE_FAILED && r->o.state[i] != LEAT_FILE_GONE)
			fail_msg("%s: %s is never decided", r->plan->name, r->plan->names[i].text);
	for (int i = 0; i < r->n_calls; i++)
		if (r->calls[i].waiting)
			fail_msg("%s: somebody waits for ever", r->plan->name);
}

static void explore(struct run *r, struct action *path, int n, int depth)
{
	struct action next[64];
	int n_next = n < depth ? oracle_enabled(&r->o, next, 64) : 0;
	struct oracle here = r->o;

	for (int i = 0; i < n_next; i++) {
		if (i)
			replay(r, path, n);
		path[n] = next[i];
		play(r, &path[n], true);
		explore(r, path, n + 1, depth);
	}
	if (!n_next)
		finish(r);
	r->o = here;
}

static void check_log(struct run *r)
{
	struct leat_replay_result result = {0};

	rewind(r->log);
	assert_int_equal(leat_replay(r->w.m, r->w.wf, r->log, stderr, &result), 0);
	assert_int_equal(result.differences, 0);
	assert_true(result.decisions > 0);
}

static void walk(struct run *r)
{
	struct action next[64];
	int n;

	r->log = tmpfile();
	r->seq = 0;
	assert_non_null(r->log);
	replay(r, NULL, 0);
	while (r->o.n < WALK_LENGTH && (n = oracle_enabled(&r->o, next, 64)))
		play(r, &next[rand() % n], true);
	finish(r);
	check_log(r);
	fclose(r->log);
	r->log = NULL;
}

static void run_plan(void **state)
{
	struct plan *plan = *state;
	const char *more = getenv("LEAT_EXPLORE_DEPTH");
	struct action path[MAX_DEPTH];
	struct run r = {.plan = plan};
	int depth = plan->depth + (more ? atoi(more) : 0);

	assert_in_range(depth, 1, MAX_DEPTH);
	world_init(&r.w, plan->workflow);
	r.w.wf->steps[0].instances = (unsigned)plan->instances;
	replay(&r, NULL, 0);
	explore(&r, path, 0, depth);
	srand(1);
	plan->opens = MAX_OFDS;
	for (int i = 0; i < WALKS; i++)
		walk(&r);
	print_message("%lu sequences of at most %d events\n", r.nodes, depth);
	world_release(&r.w);
}

int main(void)
{
	static struct plan copies[64];
	static struct CMUnitTest tests[64];
	size_t n = oracle_plans(copies, 64);

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){
			.name = copies[i].name, .test_func = run_plan, .initial_state = &copies[i]};
	return _cmocka_run_group_tests("explore", tests, n, NULL, NULL);
}
