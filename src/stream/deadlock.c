/* The wait-for graph: step -> name it waits for -> steps that must act. */
#include "stream/internal.h"

#include <errno.h>
#include <stdlib.h>

/* What is known of one step while the graph is looked at. */
struct vertex {
	bool waits;   /* one of its calls waits, or its launch does */
	bool able;    /* it may still act, now or after somebody else did */
	bool on_path; /* of the search for a cycle */
	bool searched;
};

struct graph {
	struct leat_stream *s;
	struct vertex *v;
	FILE *out;
};

static bool is_running(const struct leat_step_state *st)
{
	return st->started > st->ended;
}

static bool may_start(const struct leat_step_state *st)
{
	return !st->closed && st->started < st->expected;
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
	return n->governed &&
	       (leat_steps_has(n->rule->producers, step) || dependency_needs(s, n, step));
}

/* May an act of `step` (which has not ended) release waiter `w`? */
static bool needs(const struct leat_stream *s, const struct leat_waiter *w, int step)
{
	const struct leat_step_state *st = &s->steps[step];

	if (step == w->question.step || (leat_step_is_over(st) && !st->writers))
		return false;
	if (w->blocker.step == step || (w->blocker.name && name_needs(s, w->blocker.name, step)))
		return true;
	return w->question.call != LEAT_CALL_LAUNCH && name_needs(s, w->on, step);
}

/* A step can act if nothing of it waits (as far as it is told here), or if
 * somebody it waits for can. A step that is over but has files open may close them. */
static void find_able(struct graph *g)
{
	const struct leat_stream *s = g->s;
	struct leat_waiter *w, *next;
	bool changed = true;

	for (int i = 0; i < s->n_steps; i++) {
		const struct leat_step_state *st = &s->steps[i];

		g->v[i].able = !g->v[i].waits && (is_running(st) || may_start(st) || st->writers);
	}
	while (changed) {
		changed = false;
		HASH_ITER(hh, s->waiters, w, next)
		{
			struct vertex *waiting = &g->v[w->question.step];

			for (int i = 0; !w->woken && !waiting->able && i < s->n_steps; i++) {
				waiting->able = g->v[i].able && needs(s, w, i);
				changed = changed || waiting->able;
			}
		}
	}
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

static void describe(const struct graph *g, const struct leat_waiter *w)
{
	const struct leat_name_state *n = waited_name(w);
	const char *separator = ", which needs ";

	fprintf(g->out, "step %s waits ", step_name(g, w->question.step));
	if (w->question.call == LEAT_CALL_LAUNCH && !w->blocker.name)
		fprintf(g->out, "to be started");
	else
		fprintf(g->out, "for %s (%s)", *n->text ? n->text : ".", state_name(n->state));
	for (int i = 0; i < g->s->n_steps; i++) {
		if (!needs(g->s, w, i))
			continue;
		fprintf(g->out, "%sstep %s", separator, step_name(g, i));
		separator = ", ";
		if (is_running(&g->s->steps[i]))
			fprintf(g->out, " (%s)", g->v[i].waits ? "waiting itself" : "running");
		else
			fprintf(g->out, " (%s)",
				leat_step_is_over(&g->s->steps[i]) ? "ended, file still open"
								   : "not started");
	}
	fputc('\n', g->out);
}

/* Depth first over steps that cannot act; prints the cycle while it unwinds.
 * Returns the step that closes the cycle, -1 none, -2 printed. */
static int search(struct graph *g, int step)
{
	struct leat_waiter *w, *next;

	if (g->v[step].on_path)
		return step;
	if (g->v[step].searched)
		return -1;
	g->v[step].on_path = g->v[step].searched = true;
	HASH_ITER(hh, g->s->waiters, w, next)
	{
		for (int i = 0; w->question.step == step && !w->woken && i < g->s->n_steps; i++) {
			int top = needs(g->s, w, i) && !g->v[i].able ? search(g, i) : -1;

			if (top == -1)
				continue;
			if (top >= 0)
				fprintf(g->out,
					"cycle: step %s waits for %s, which needs step %s\n",
					step_name(g, step), waited_name(w)->text, step_name(g, i));
			return top == step ? -2 : top;
		}
	}
	g->v[step].on_path = false;
	return -1;
}

static void report(struct graph *g)
{
	struct leat_waiter *w, *next;
	int found = -1;

	HASH_ITER(hh, g->s->waiters, w, next)
	{
		if (!w->woken && w->question.step >= 0)
			describe(g, w);
	}
	for (int i = 0; i < g->s->n_steps && found == -1; i++)
		if (!g->v[i].able)
			found = search(g, i);
}

int leat_stream_deadlock(struct leat_stream *s, FILE *out)
{
	struct graph g = {.s = s, .out = out};
	struct leat_waiter *w, *next;
	bool stuck = false;

	g.v = calloc((size_t)s->n_steps + 1, sizeof(*g.v));
	if (!g.v)
		return 0;
	HASH_ITER(hh, s->waiters, w, next)
	{
		if (!w->woken)
			g.v[w->question.step].waits = stuck = true;
	}
	find_able(&g);
	if (out)
		report(&g);
	for (int i = 0; i < s->n_steps; i++)
		stuck = stuck && !g.v[i].able;
	free(g.v);
	return stuck;
}
