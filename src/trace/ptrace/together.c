/* One processor for a thread that makes many calls, and for the tracer.
 *
 * At each stop one of the two sleeps and wakes the other. The kernel would have the one woken run
 * on a processor that is idle, and to wake that takes five times as long as to go on on this one.
 * So when one thread alone has made calls for a while, both are kept where it is, until another one
 * stops, or the thread asks which processors it may use, or makes another that would inherit this.
 * It must be worth it: the processor may be wanted by others, which is seen by how long the thread
 * waits for it. */
#include "base/clock.h"
#include "base/pidstat.h"
#include "trace/ptrace/internal.h"

#include <string.h>

/* Calls in a row before it is tried, at least and at most. To begin costs what some calls save:
 * after a stay of less than WORTH calls twice as many are wanted, after a longer one half. */
enum { LEAST = 8, MOST = 16384, WORTH = 8 };

/* After so many calls it is looked whether the thread has waited for the processor for more than
 * one part in WAITS of the time: then others want it, and more calls by AVOID are wanted. */
enum { LOOK = 64, WAITS = 4, AVOID = 8 };

static bool get(pid_t tid, struct processors *of)
{
	memset(of, 0, sizeof(*of));
	return sched_getaffinity(tid, sizeof(*of), of->sets) == 0;
}

static bool set(pid_t tid, const struct processors *to)
{
	return sched_setaffinity(tid, sizeof(*to), to->sets) == 0;
}

static int64_t waited(struct thread *th)
{
	int64_t utime_ns, stime_ns;

	leat_ptrace_cpu(th, false, &utime_ns, &stime_ns);
	return th->waited_ns;
}

static void want(struct together *g, unsigned calls)
{
	g->wanted = calls < LEAST ? LEAST : calls > MOST ? MOST : calls;
}

static bool join(struct together *g)
{
	pid_t tid = g->thread->tid;
	struct leat_pidstat stat;

	/* Last is asked what the thread may: somebody could change that meanwhile. */
	if (!leat_pidstat_read(tid, &stat) || !get(0, &g->leat_may) || !get(tid, &g->thread_may))
		return false;
	memset(&g->one, 0, sizeof(g->one));
	CPU_SET_S((size_t)stat.processor, sizeof(g->one), g->one.sets);
	/* Whoever started leat may have meant it to stay away from there. */
	if (!CPU_ISSET_S((size_t)stat.processor, sizeof(g->leat_may), g->leat_may.sets) ||
	    !set(tid, &g->one))
		return false;
	if (set(0, &g->one))
		return true;
	set(tid, &g->thread_may);
	return false;
}

static void begin(struct together *g)
{
	g->on = join(g);
	g->calls = 0;
	g->looked_ns = leat_clock_ns();
	g->waited_ns = waited(g->thread);
	if (!g->on)
		want(g, MOST);
}

/* Do others want the processor? */
static bool is_crowded(struct together *g)
{
	uint64_t now = leat_clock_ns(), took = now - g->looked_ns;
	int64_t before = g->waited_ns;

	g->looked_ns = now;
	g->waited_ns = waited(g->thread);
	return g->waited_ns - before > (int64_t)(took / WAITS);
}

void leat_ptrace_together_init(struct tracer *t)
{
	want(&t->together, LEAST);
}

void leat_ptrace_together_call(struct tracer *t, struct thread *th)
{
	struct together *g = &t->together;

	if (g->thread != th)
		leat_ptrace_together_end(t);
	g->thread = th;
	g->calls++;
	if (!g->on && g->calls >= g->wanted && th->filtered) {
		begin(g);
	} else if (g->on && g->calls % LOOK == 0 && is_crowded(g)) {
		unsigned wanted = g->wanted;

		leat_ptrace_together_end(t);
		want(g, wanted * AVOID);
	}
}

static void leave_processor(struct together *g, bool alive)
{
	struct processors now;

	/* Somebody else may have given it others meanwhile. */
	if (alive && get(g->thread->tid, &now) && CPU_EQUAL_S(sizeof(now), now.sets, g->one.sets))
		set(g->thread->tid, &g->thread_may);
	set(0, &g->leat_may);
	want(g, g->calls < WORTH ? 2 * g->wanted : g->wanted / 2);
	g->on = false;
}

void leat_ptrace_together_end(struct tracer *t)
{
	if (t->together.on)
		leave_processor(&t->together, true);
	t->together.calls = 0;
}

void leat_ptrace_together_gone(struct tracer *t, const struct thread *th)
{
	if (t->together.thread != th)
		return;
	if (t->together.on)
		leave_processor(&t->together, false);
	t->together.thread = NULL;
	t->together.calls = 0;
}
