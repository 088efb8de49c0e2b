/* The wait-for graph: step -> name it waits for -> steps that must act. */
#include "stream/state/inputs.h"
#include "stream/state/lifecycle.h"
#include "stream/state/makers.h"
#include "stream/state/names.h"
#include "stream/state/roles.h"
#include "stream/state/steps.h"

#include "model/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* What is known of one step while the graph is looked at. */
struct vertex {
	bool waits;   /* one of its calls waits, or its launch does */
	bool launch;  /* its launch does */
	bool able;    /* it may still act, now or after somebody else did */
	bool on_path; /* of the search for a cycle */
	bool searched;
	const struct leat_waiter *wait; /* on the path: what it waits with, */
	int next;                       /* and for which step */
};

struct graph {
	struct leat_stream *s;
	const bool *busy; /* steps that act although a call of theirs waits; or NULL */
	struct vertex *v;
	FILE *out;
};

static bool may_start(const struct leat_step_state *st)
{
	return !st->closed && st->started < st->expected;
}

/* Does the call want to have its step started, rather than being made by it? */
static bool starts(enum leat_call call)
{
	return call == LEAT_CALL_LAUNCH || call == LEAT_CALL_RELAUNCH;
}

/* ---- who may release a waiting call ---- */

static bool is_or_lies_below(const struct leat_name_state *n, const struct leat_name_state *dir)
{
	while (n && n != dir)
		n = n->parent;
	return n;
}

/* Does what happens to the open file `o` decide about `n`, or about what its rule depends on? */
static bool concerns(const struct leat_stream *s, const struct leat_ofd *o,
		     const struct leat_name_state *n)
{
	const struct leat_names *deps = n->rule->deps;
	const struct leat_name_state *at, *dep;

	DL_FOREACH2(o->content->names, at, same_next)
	{
		if (is_or_lies_below(at, n))
			return true;
		for (size_t i = 0; deps && i < deps->n; i++) {
			dep = leat_name_find(s, deps->v[i].text);
			if (!dep || is_or_lies_below(at, dep))
				return true;
		}
	}
	return false;
}

/* No file commits while somebody, producer or not, has it open for writing. Step -1 is
 * whoever belongs to none. */
static bool holds(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	struct leat_ofd *o, *next;

	if (step >= 0 && !s->steps[step].writers)
		return false;
	HASH_ITER(hh, s->ofds, o, next)
	{
		if (o->step == step && concerns(s, o, n))
			return true;
	}
	return false;
}

/* Must `step` act before the dependencies of `n` are complete? */
static bool dependency_needs(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	const struct leat_names *deps = n->rule->deps;

	for (size_t i = 0; deps && i < deps->n; i++)
		if (leat_step_may_make(s, step, deps->v[i].text))
			return true;
	return false;
}

static bool name_needs(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	if (holds(s, n, step))
		return true;
	return n->governed &&
	       (leat_steps_has(n->rule->producers, step) || dependency_needs(s, n, step));
}

/* A call that needs all inputs of its step fails with the first of them that fails. */
static bool makes_an_input(struct leat_stream *s, int step, int reader)
{
	const struct leat_input *inputs = leat_inputs(s, reader);

	for (size_t i = 0; inputs && i < s->wf->steps[reader].inputs.n; i++)
		if (leat_steps_has(inputs[i].makers, step))
			return true;
	return !inputs;
}

/* May `step`, which is nobody the rules speak of, release `w` all the same? By making the
 * directory that is waited for; or by writing to a growing file: a step before its producers
 * may, undeclared. */
static bool may_help(const struct leat_stream *s, const struct leat_waiter *w, int step)
{
	const struct leat_name_state *n = w->on;

	if (starts(w->question.call))
		return false;
	if (!n->governed)
		return w->blocker.step >= 0 && (!n->content || w->question.call == LEAT_CALL_LIST);
	return n->rule->fire == LEAT_FIRE_NO_UPDATE &&
	       leat_rule_role(s, step, n->rule) == LEAT_ROLE_PLAIN;
}

/* May an act of `step` (which has not ended) release waiter `w`? */
static bool needs(struct leat_stream *s, const struct leat_waiter *w, int step)
{
	const struct leat_step_state *st = &s->steps[step];
	enum leat_call call = w->question.call;

	if (step == w->question.step || (leat_step_is_over(st) && !st->writers))
		return false;
	if (w->blocker.step == step || (w->blocker.name && name_needs(s, w->blocker.name, step)))
		return true;
	if ((starts(call) || call == LEAT_CALL_LIST) && makes_an_input(s, step, w->question.step))
		return true;
	return !starts(call) && name_needs(s, w->on, step);
}

static bool may_release(struct leat_stream *s, const struct leat_waiter *w, int step)
{
	return needs(s, w, step) || may_help(s, w, step);
}

/* A process of no step may close what it has open. */
static bool is_held_outside(const struct leat_stream *s, const struct leat_waiter *w)
{
	return holds(s, w->on, -1) || (w->blocker.name && holds(s, w->blocker.name, -1));
}

/* A step can act if nothing of it waits (as far as the rules know), or if
 * somebody it waits for can. A step that is over but has files open may close them. */
static void find_able(struct graph *g)
{
	struct leat_stream *s = g->s;
	struct leat_waiter *w, *next;
	bool changed = true;

	for (int i = 0; i < s->n_steps; i++) {
		const struct leat_step_state *st = &s->steps[i];

		/* An instance that has not come yet does not wait. */
		g->v[i].able = g->v[i].waits
				       ? may_start(st) && !g->v[i].launch
				       : leat_step_is_running(st) || may_start(st) || st->writers;
		g->v[i].able = g->v[i].able || (g->busy && g->busy[i]);
	}
	while (changed) {
		changed = false;
		HASH_ITER(hh, s->waiters, w, next)
		{
			struct vertex *waiting = &g->v[w->question.step];

			if (w->woken || waiting->able)
				continue;
			waiting->able = is_held_outside(s, w);
			for (int i = 0; !waiting->able && i < s->n_steps; i++)
				waiting->able = g->v[i].able && may_release(s, w, i);
			changed = changed || waiting->able;
		}
	}
}

/* 0 or -ENOMEM; `g->v` is the caller's to free. */
static int look(struct graph *g)
{
	struct leat_waiter *w, *next;

	g->v = calloc((size_t)g->s->n_steps + 1, sizeof(*g->v));
	if (!g->v)
		return -ENOMEM;
	HASH_ITER(hh, g->s->waiters, w, next)
	{
		struct vertex *v = &g->v[w->question.step];

		v->waits = v->waits || !w->woken;
		v->launch = v->launch || starts(w->question.call);
	}
	find_able(g);
	return 0;
}

static bool is_stuck(const struct graph *g, int step)
{
	return g->v[step].waits && !g->v[step].able;
}

/* ---- report ---- */

static const char *step_name(const struct graph *g, int step)
{
	return g->s->wf->steps[step].name;
}

static const char *state_name(enum leat_file_state state)
{
	static const char *const names[] = {
		[LEAT_FILE_ABSENT] = "not created yet", [LEAT_FILE_PRODUCED] = "not complete",
		[LEAT_FILE_COMMITTED] = "complete",     [LEAT_FILE_FAILED] = "failed",
		[LEAT_FILE_GONE] = "never created",
	};

	return names[state];
}

static const struct leat_name_state *waited_name(const struct leat_waiter *w)
{
	return w->blocker.name ? w->blocker.name : w->on;
}

/* Who waits, for which name, by which rule. */
static void describe_wait(const struct graph *g, const struct leat_waiter *w)
{
	const struct leat_name_state *n = waited_name(w);
	char buffer[32], title[LEAT_VERSION_TITLE];

	fprintf(g->out, "step %s waits ", step_name(g, w->question.step));
	if (starts(w->question.call) && !w->blocker.name) {
		fprintf(g->out, "to be started");
		return;
	}
	fprintf(g->out, "for %s (%s", *n->text ? leat_version_title(n->text, title) : ".",
		state_name(n->state));
	if (n->governed && !leat_state_is_final(n->state))
		fprintf(g->out, "; %s", leat_commit_text(n->rule->commit, n->rule->count, buffer));
	for (size_t i = 0; n->governed && n->rule->deps && i < n->rule->deps->n; i++)
		fprintf(g->out, "%s%s", i ? ", " : " ", n->rule->deps->v[i].text);
	fprintf(g->out, ")");
}

static void describe(const struct graph *g, const struct leat_waiter *w)
{
	const char *separator = ", which needs ";

	describe_wait(g, w);
	for (int i = 0; i < g->s->n_steps; i++) {
		if (!needs(g->s, w, i))
			continue;
		fprintf(g->out, "%sstep %s", separator, step_name(g, i));
		separator = ", ";
		if (leat_step_is_running(&g->s->steps[i]))
			fprintf(g->out, " (%s)", g->v[i].waits ? "waiting itself" : "running");
		else
			fprintf(g->out, " (%s)",
				leat_step_is_over(&g->s->steps[i]) ? "ended, file still open"
								   : "not started");
	}
	fputc('\n', g->out);
}

static void print_cycle(const struct graph *g, int first)
{
	const char *lead = "cycle: ";
	int step = first;

	do {
		fputs(lead, g->out);
		describe_wait(g, g->v[step].wait);
		lead = ", which needs\n       ";
		step = g->v[step].next;
	} while (step != first);
	fprintf(g->out, ", which needs step %s\n", step_name(g, first));
}

/* Depth first over steps that cannot act; prints the first cycle. */
static bool search(struct graph *g, int step)
{
	struct leat_waiter *w, *next;
	struct vertex *v = &g->v[step];

	v->on_path = v->searched = true;
	HASH_ITER(hh, g->s->waiters, w, next)
	{
		for (int i = 0; w->question.step == step && !w->woken && i < g->s->n_steps; i++) {
			if (g->v[i].able || !needs(g->s, w, i))
				continue;
			v->wait = w;
			v->next = i;
			if (g->v[i].on_path)
				print_cycle(g, i);
			if (g->v[i].on_path || (!g->v[i].searched && search(g, i)))
				return true;
		}
	}
	v->on_path = false;
	return false;
}

/* Other ranks and threads of its step wait for the same. */
static bool is_reported(const struct graph *g, const struct leat_waiter *w)
{
	const struct leat_waiter *at;

	for (at = g->s->waiters; at != w; at = at->hh.next)
		if (!at->woken && at->question.step == w->question.step &&
		    starts(at->question.call) == starts(w->question.call) &&
		    waited_name(at) == waited_name(w) && at->blocker.step == w->blocker.step)
			return true;
	return false;
}

static void report(struct graph *g)
{
	struct leat_waiter *w, *next;
	bool found = false;

	HASH_ITER(hh, g->s->waiters, w, next)
	{
		if (!w->woken && w->question.step >= 0 && !is_reported(g, w))
			describe(g, w);
	}
	for (int i = 0; i < g->s->n_steps && !found; i++)
		if (is_stuck(g, i) && !g->v[i].searched)
			found = search(g, i);
}

bool leat_stream_waits(const struct leat_stream *s, uint64_t waiter)
{
	const struct leat_waiter *w;

	HASH_FIND(hh, s->waiters, &waiter, sizeof(waiter), w);
	return w && !w->woken;
}

int leat_stream_deadlock(struct leat_stream *s, const bool *busy, bool *stuck, FILE *out)
{
	struct graph g = {.s = s, .busy = busy, .out = out};
	int n = look(&g);

	for (int i = 0; g.v && i < s->n_steps; i++) {
		if (stuck)
			stuck[i] = is_stuck(&g, i);
		n += is_stuck(&g, i);
	}
	if (g.v && out)
		report(&g);
	free(g.v);
	return n;
}
