/* Which log is the trace's.
 *
 * The same workflow runs again and again, on the same files: its logs tell of the same tasks. Each
 * log is set against the trace on its own (clock.c). One whose tasks' files were touched at
 * their time only if a clock were wrong by more than clocks are is of another day or run, and is
 * refused. Of those that remain, a process is of the task in whose time it touched the files; where
 * that is so of several logs' tasks, of the log whose times fit best. */
#include "associate/internal.h"

#include <stdlib.h>
#include <time.h>

#define DAY_S 86400
/* What makes a difference, in the times of a log and between two. */
#define CLEAR_NS (LEAT_ASSOCIATE_SECOND / 2)
enum { CLEAR_SEEN = 3 };

/* ---- refusing ---- */

/* "12.250 s", "3 h 30 min", "366 days" */
static const char *write_span(int64_t ns, char out[40])
{
	int64_t s = llabs(ns) / LEAT_ASSOCIATE_SECOND;

	if (s < 600)
		snprintf(out, 40, "%.3f s", (double)llabs(ns) / (double)LEAT_ASSOCIATE_SECOND);
	else if (s < 2 * DAY_S - 1800)
		snprintf(out, 40, "%d h %d min", (int)((s + 30) / 3600), (int)((s + 30) / 60 % 60));
	else
		snprintf(out, 40, "%lld days", (long long)((s + DAY_S / 2) / DAY_S));
	return out;
}

static void write_moment(int64_t ns, char out[40])
{
	time_t at = (time_t)(ns / LEAT_ASSOCIATE_SECOND);
	struct tm tm;

	if (!gmtime_r(&at, &tm) || !strftime(out, 40, "%Y-%m-%d %H:%M:%S UTC", &tm))
		snprintf(out, 40, "an unknown time");
}

static bool is_bare(const struct leat_associate_map *m, size_t source)
{
	for (size_t i = 0; i < m->n_tasks; i++) {
		const struct leat_associate_entry *e = m->tasks[i];

		if (e->source == source && e->began.set + e->ended.set &&
		    !(e->began.set ? e->began.zoned : e->ended.zoned))
			return true;
	}
	return false;
}

static void note_skew(struct leat_associate_map *m, size_t source)
{
	const struct leat_associate_source *s = &m->sources[source];
	const struct leat_associate_fit *fit = &s->fit;
	const char *host = fit->node < m->n_hosts ? m->hosts[fit->node] : NULL;
	char skew[40], most[40];

	leat_associate_note(
		m,
		"%s: refused, it is the log of another day or run: its clock would have to be "
		"%s %s that of %s%s; expected is at most %s%s (--slack, --zone, and --skew if "
		"the trace's clock was wrong)",
		s->path, write_span(fit->any_ns, skew), fit->any_ns < 0 ? "behind" : "ahead of",
		host && *host ? host : "the trace",
		is_bare(m, source) ? s->local || m->options.zone_s == INT_MIN
					     ? ", by local time"
					     : ", by the zone that is given"
				   : "",
		write_span(leat_associate_most_ns(m), most),
		is_bare(m, source) && m->options.zone_s == INT_MIN
			? " and a zone within 14 h of UTC"
			: "");
}

struct range {
	int64_t first_ns, last_ns;
};

/* From its first task's beginning to the last one's end; false: the log has no times. */
static bool range_of(const struct leat_associate_map *m, size_t source, struct range *r)
{
	const struct leat_associate_source *s = &m->sources[source];

	*r = (struct range){INT64_MAX, INT64_MIN};
	for (size_t i = 0; i < m->n_tasks; i++) {
		const struct leat_associate_task *t = &m->tasks[i]->task;
		int64_t from = t->began_ns ? t->began_ns : t->ended_ns,
			to = m->tasks[i]->over && t->ended_ns ? t->ended_ns : INT64_MAX;

		if (m->tasks[i]->source != source || !from)
			continue;
		if (to == INT64_MAX && s->last.set)
			to = leat_associate_source_ns(m, s, &s->last) +
			     3600 * LEAT_ASSOCIATE_SECOND;
		r->first_ns = from < r->first_ns ? from : r->first_ns;
		r->last_ns = to > r->last_ns ? to : r->last_ns;
	}
	return r->first_ns != INT64_MAX;
}

/* Nothing of its tasks was seen, and could not have been. */
static bool is_of_another_time(const struct leat_associate_map *m, size_t source, struct range *r)
{
	int64_t margin = leat_associate_most_ns(m);

	if (m->first_ns == INT64_MAX || m->sources[source].fit.n || !range_of(m, source, r))
		return false;
	if (is_bare(m, source) && m->options.zone_s == INT_MIN)
		margin += 26 * 3600 * LEAT_ASSOCIATE_SECOND;
	return r->last_ns / 2 < m->first_ns / 2 - margin / 2 ||
	       r->first_ns / 2 > m->last_ns / 2 + margin / 2;
}

static void note_time(struct leat_associate_map *m, const struct leat_associate_source *s,
		      const struct range *r)
{
	char from[40], to[40], begin[40], end[40];

	write_moment(r->first_ns, from);
	write_moment(r->last_ns, to);
	write_moment(m->first_ns, begin);
	write_moment(m->last_ns, end);
	leat_associate_note(
		m,
		"%s: not used, it is of another time: its tasks ran from %s to %s, the trace "
		"is of %s to %s",
		s->path, from, to, begin, end);
}

/* A log of another run, some hours away, looks the same. */
static void note_zone(struct leat_associate_map *m, const struct leat_associate_source *s)
{
	unsigned minutes = (unsigned)abs(s->zone_s) / 60;

	leat_associate_note(m,
			    "%s: its times agree with the trace only in the zone UTC%c%02u:%02u, "
			    "which is not this machine's: if it is the log of another run, some "
			    "hours away, its tasks are attributed wrongly (give the zone by "
			    "--zone)",
			    s->path, s->zone_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

void leat_associate_refuse(struct leat_associate_map *m)
{
	enum { SAID = 3 };
	size_t others = 0;
	struct range r;

	for (size_t i = 0; i < m->n_sources; i++) {
		struct leat_associate_source *s = &m->sources[i];

		if (s->fit.in_time * 2 < s->fit.any) {
			s->refused = true;
			note_skew(m, i);
		} else if (is_of_another_time(m, i, &r)) {
			s->refused = true;
			if (++others <= SAID)
				note_time(m, s, &r);
		} else if (s->foreign && s->fit.in_time) {
			note_zone(m, s);
		}
	}
	if (others > SAID)
		leat_associate_note(m, "%zu more logs are of another time", others - SAID);
}

bool leat_associate_is_believed(const struct leat_associate_map *m)
{
	for (size_t i = 0; i < m->n_sources; i++)
		if (!m->sources[i].refused)
			return true;
	return !m->n_sources;
}

/* ---- choosing ---- */

/* Of a log of the same run: a copy. */
static bool are_alike(const struct leat_associate_map *m, const struct leat_associate_entry *a,
		      const struct leat_associate_entry *b)
{
	const struct leat_associate_source *x = &m->sources[a->source], *y = &m->sources[b->source];
	const struct leat_associate_task *s = &a->task, *t = &b->task;

	return x->zone_s == y->zone_s && x->local == y->local &&
	       llabs(s->began_ns - t->began_ns) <= CLEAR_NS &&
	       (!s->ended_ns || !t->ended_ns || llabs(s->ended_ns - t->ended_ns) <= CLEAR_NS);
}

/* < 0: the first log fits better, > 0: the second; 0: nobody can tell. */
static int compare_fits(const struct leat_associate_map *m, const struct leat_associate_source *a,
			const struct leat_associate_source *b)
{
	double missed_a = (double)(a->fit.n - a->fit.in_time) * (double)b->fit.n,
	       missed_b = (double)(b->fit.n - b->fit.in_time) * (double)a->fit.n;
	double more = a->fit.spread_s - b->fit.spread_s;
	int64_t further = llabs(a->fit.shift_ns) - llabs(b->fit.shift_ns);

	if (missed_a < missed_b || missed_a > missed_b)
		return missed_a < missed_b ? -1 : 1;
	if (a->fit.n >= CLEAR_SEEN && b->fit.n >= CLEAR_SEEN && (more > 1 || more < -1) &&
	    (a->fit.spread_s > 2 * b->fit.spread_s || b->fit.spread_s > 2 * a->fit.spread_s))
		return more < 0 ? -1 : 1;
	if (llabs(further) > m->options.slack_ns)
		return further < 0 ? -1 : 1;
	return 0;
}

static void note_rivals(struct leat_associate_map *m, size_t a, size_t b, size_t task, int order)
{
	const struct leat_associate_source *better = &m->sources[order > 0 ? b : a],
					   *worse = &m->sources[order > 0 ? a : b];
	char one[40], two[40];

	if (!m->reported)
		m->reported = calloc(m->n_sources * m->n_sources, sizeof(*m->reported));
	if (!m->reported || m->reported[a * m->n_sources + b])
		return;
	m->reported[a * m->n_sources + b] = m->reported[b * m->n_sources + a] = true;
	if (!order)
		leat_associate_note(
			m,
			"%s and %s both tell of %s at the time of the trace, and nothing shows "
			"which of them is the trace's: what both describe is unattributed (give "
			"the one that it is, or --zone)",
			better->path, worse->path, m->tasks[task]->task.physical);
	else
		leat_associate_note(
			m,
			"%s is taken rather than %s, which tells of the same tasks: its times "
			"differ by %.3f s and %s from those expected, the other's by %.3f s "
			"and %s",
			better->path, worse->path, better->fit.spread_s,
			write_span(better->fit.shift_ns, one), worse->fit.spread_s,
			write_span(worse->fit.shift_ns, two));
}

/* Two logs' tasks in whose time something was: -1 the first, 1 the second, 0 nothing shows it. */
static int compare_tasks(struct leat_associate_map *m, size_t a, size_t b, unsigned node,
			 int64_t a_ns, int64_t b_ns)
{
	const struct leat_associate_entry *x = m->tasks[a], *y = m->tasks[b];
	bool x_timed = x->began.set || x->ended.set, y_timed = y->began.set || y->ended.set;
	int64_t further = leat_associate_distance_ns(m, a, node, a_ns) -
			  leat_associate_distance_ns(m, b, node, b_ns);
	int order;

	if (x_timed != y_timed)
		return x_timed ? -1 : 1;
	if (are_alike(m, x, y))
		return x->over == y->over ? x->source < y->source ? -1 : 1 : x->over ? -1 : 1;
	if (llabs(further) > CLEAR_NS)
		return further < 0 ? -1 : 1;
	order = compare_fits(m, &m->sources[x->source], &m->sources[y->source]);
	note_rivals(m, x->source, y->source, a, order);
	return order;
}

/* The task of the touch in whose time it is, or LEAT_ASSOCIATE_NONE. */
static size_t task_in_time(const struct leat_associate_map *m, const struct leat_associate_image *l,
			   const struct leat_associate_touch *t, int64_t *ns)
{
	*ns = t->ns;
	if (leat_associate_in_window(m, t->task, l->node, t->ns))
		return t->task;
	*ns = t->other_ns;
	return t->other != LEAT_ASSOCIATE_NONE &&
			       leat_associate_in_window(m, t->other, l->node, t->other_ns)
		       ? t->other
		       : LEAT_ASSOCIATE_NONE;
}

static bool are_rivals(const struct leat_associate_map *m, const struct leat_associate_touch *a,
		       const struct leat_associate_touch *b)
{
	return a->source != LEAT_ASSOCIATE_NONE && b->source != LEAT_ASSOCIATE_NONE &&
	       m->sources[a->source].format == m->sources[b->source].format;
}

bool leat_associate_touch_of(struct leat_associate_map *m, const struct leat_associate_image *l,
			     struct leat_associate_touch *found, enum leat_associate_reason *reason)
{
	const struct leat_associate_touch *best = NULL;
	size_t task, best_task = LEAT_ASSOCIATE_NONE;
	int64_t ns, best_ns = 0;
	bool ambiguous = false;

	for (size_t at = l->touches; at != LEAT_ASSOCIATE_NONE; at = m->touches[at].next) {
		const struct leat_associate_touch *t = &m->touches[at];
		int order;

		task = task_in_time(m, l, t, &ns);
		if (task == LEAT_ASSOCIATE_NONE)
			continue;
		if (best && !are_rivals(m, best, t)) {
			*reason = LEAT_ASSOCIATE_CONTRADICTS;
			return false;
		}
		order = best ? compare_tasks(m, best_task, task, l->node, best_ns, ns) : 1;
		ambiguous = !order || (ambiguous && order < 0);
		if (order <= 0)
			continue;
		best = t;
		best_task = task;
		best_ns = ns;
	}
	if (!best || ambiguous) {
		*reason = best ? LEAT_ASSOCIATE_AMBIGUOUS : LEAT_ASSOCIATE_OUTSIDE;
		return false;
	}
	*reason = LEAT_ASSOCIATE_FOUND;
	*found = *best;
	return true;
}

/* The log tells that the process was the task's first. */
static bool has_pid(const struct leat_associate_map *m, size_t task,
		    const struct leat_associate_image *l)
{
	for (size_t i = 0; i < m->n_pids; i++)
		if (m->pids[i].task == task && m->pids[i].pid == l->pid &&
		    (!m->pids[i].began.set || l->begin_ns == INT64_MIN ||
		     llabs(leat_associate_stamp_ns(&m->pids[i].began, 0, 0) - l->begin_ns) <=
			     leat_associate_most_ns(m)))
			return true;
	return false;
}

size_t leat_associate_label_of(struct leat_associate_map *m, const struct leat_associate_image *l)
{
	size_t best = LEAT_ASSOCIATE_NONE;
	bool ambiguous = false;

	if (m->tasks[l->label]->rival == LEAT_ASSOCIATE_NONE)
		return l->label;
	for (size_t t = l->label; t != LEAT_ASSOCIATE_NONE; t = m->tasks[t]->rival) {
		int order;

		if (m->sources[m->tasks[t]->source].refused ||
		    !leat_associate_in_window(m, t, l->node, l->begin_ns))
			continue;
		if (has_pid(m, t, l))
			return t;
		order = best == LEAT_ASSOCIATE_NONE
				? 1
				: compare_tasks(m, best, t, l->node, l->begin_ns, l->begin_ns);
		ambiguous = !order || (ambiguous && order < 0);
		best = order > 0 ? t : best;
	}
	if (ambiguous)
		return LEAT_ASSOCIATE_NONE;
	return best == LEAT_ASSOCIATE_NONE ? l->label : best;
}
