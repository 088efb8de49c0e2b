/* The clocks of logs and nodes.
 *
 * Of a task whose own files were touched at c and whose last process ended at e, by a node's clock,
 * a log that says it ran from b to d shows that the log is ahead of the node by no less than b - c
 * and by no more than d - e. The offset that agrees with the most tasks is taken, as NTP does of
 * clocks (Marzullo, "Maintaining the Time in a Distributed System", 1984); of those that agree
 * alike a plain one: none at all, or, of times without a zone, a zone's. */
#include "report/map_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* More say no more, and each is compared with each. */
enum { BOUNDS_MAX = 1000 };

#define QUARTER_NS (900 * LEAT_MAP_SECOND)
#define ZONES_WEST 48 /* quarters of hours west and */
#define ZONES_EAST 56 /* east of UTC */

struct bound {
	int64_t lowest, highest; /* INT64_MIN, INT64_MAX: unbounded */
};

/* When a task was seen on a node: evidence of its own only. */
struct seen {
	int64_t first_ns, last_ns;
};

static int64_t near_ns(const struct leat_map *m, const struct leat_map_source *s)
{
	return m->first_ns != INT64_MAX ? m->first_ns : s->changed_ns;
}

/* The log's own reading of a time, as if it were UTC where it has no zone. */
static int64_t reading(const struct leat_map *m, const struct leat_map_entry *e,
		       const struct leat_map_stamp *stamp)
{
	return leat_map_stamp_ns(stamp, 0, near_ns(m, &m->sources[e->source]));
}

static void see(struct seen *seen, const struct leat_map_life *l)
{
	int64_t from = l->claim != LEAT_MAP_NONE ? l->claim_ns : l->begin_ns;

	if (from != INT64_MIN && (!seen->first_ns || from < seen->first_ns))
		seen->first_ns = from;
	if (l->exits && l->end_ns > seen->last_ns)
		seen->last_ns = l->end_ns;
}

static void see_all(const struct leat_map *m, size_t source, unsigned node, struct seen *seen)
{
	for (size_t i = 0; i < m->n_lives; i++) {
		const struct leat_map_life *l = &m->lives[i];
		size_t task = l->claim;

		if (l->node != node || l->manager || l->other_claim != LEAT_MAP_NONE)
			continue;
		if (task == LEAT_MAP_NONE && l->fresh)
			task = l->label;
		if (task != LEAT_MAP_NONE && m->tasks[task]->source == source)
			see(&seen[task], l);
	}
}

/* The bounds of tasks whose times have a zone, or of those that have none. */
static size_t find_bounds(const struct leat_map *m, const struct seen *seen, bool zoned,
			  struct bound *bounds)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_tasks && n < BOUNDS_MAX; i++) {
		const struct leat_map_entry *e = m->tasks[i];
		struct bound b = {INT64_MIN, INT64_MAX};

		if (!seen[i].first_ns)
			continue;
		if (e->began.set && e->began.zoned == zoned)
			b.lowest = reading(m, e, &e->began) - seen[i].first_ns;
		if (e->over && e->ended.set && e->ended.zoned == zoned && seen[i].last_ns)
			b.highest = reading(m, e, &e->ended) - seen[i].last_ns;
		if (b.lowest != INT64_MIN || b.highest != INT64_MAX)
			bounds[n++] = b;
	}
	return n;
}

static size_t agreeing(const struct bound *bounds, size_t n, int64_t at, int64_t slack_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += (bounds[i].lowest == INT64_MIN || bounds[i].lowest - slack_ns <= at) &&
			 (bounds[i].highest == INT64_MAX || at <= bounds[i].highest + slack_ns);
	return count;
}

struct choice {
	const struct bound *bounds;
	size_t n, count;
	int64_t slack_ns, at, plain; /* the nearer to `plain` the better */
	bool any;
};

static void consider(struct choice *c, int64_t at)
{
	size_t count = agreeing(c->bounds, c->n, at, c->slack_ns);

	if (c->any && (count < c->count ||
		       (count == c->count && llabs(at - c->plain) >= llabs(c->at - c->plain))))
		return;
	c->any = true;
	c->count = count;
	c->at = at;
}

/* Endpoints of bounds: the best offset is one of them. */
static void consider_bounds(struct choice *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->bounds[i].lowest != INT64_MIN)
			consider(c, c->bounds[i].lowest);
		if (c->bounds[i].highest != INT64_MAX)
			consider(c, c->bounds[i].highest);
	}
}

static int64_t machine_zone_ns(int64_t at_ns)
{
	time_t at = (time_t)(at_ns / LEAT_MAP_SECOND);
	struct tm tm;

	return localtime_r(&at, &tm) ? tm.tm_gmtoff * LEAT_MAP_SECOND : 0;
}

/* An offset other than a plain one must explain clearly more. */
static int64_t choose(const struct bound *bounds, size_t n, int64_t slack_ns, int64_t plain,
		      bool zones)
{
	struct choice simple = {bounds, n, 0, slack_ns, 0, plain, false}, exact = simple;

	consider(&simple, plain);
	for (int i = -ZONES_WEST; zones && i <= ZONES_EAST; i++)
		consider(&simple, i * QUARTER_NS);
	if (simple.count == n)
		return simple.at;
	consider_bounds(&exact);
	return exact.any && exact.count > simple.count ? exact.at : simple.at;
}

static void note_ahead(struct leat_map *m, const struct leat_map_source *s, unsigned node,
		       int64_t ahead_ns, size_t n)
{
	const char *host = node < m->n_hosts ? m->hosts[node] : NULL;
	int64_t over_ns = ahead_ns < 0 ? -ahead_ns : ahead_ns;
	char number[24];

	if (over_ns <= m->options.slack_ns)
		return;
	snprintf(number, sizeof(number), "node %u", node);
	leat_map_note(m, "%s: its clock is %.3f s %s that of %s, estimated from %zu task%s",
		      s->path, (double)over_ns / (double)LEAT_MAP_SECOND,
		      ahead_ns < 0 ? "behind" : "ahead of", host ? host : number, n,
		      n == 1 ? "" : "s");
}

/* The zone of a log is the same for all nodes: it is taken from the first that shows it. */
static int settle_node(struct leat_map *m, size_t source, unsigned node, struct seen *seen,
		       bool *zone_known)
{
	struct leat_map_source *s = &m->sources[source];
	struct bound *bounds = calloc(BOUNDS_MAX, sizeof(*bounds));
	size_t n;

	if (!bounds)
		return -ENOMEM;
	see_all(m, source, node, seen);
	n = find_bounds(m, seen, false, bounds);
	if (n) {
		int64_t plain = *zone_known ? s->zone_s * LEAT_MAP_SECOND
					    : machine_zone_ns(near_ns(m, s)),
			at = choose(bounds, n, m->options.slack_ns, plain, !*zone_known);

		if (!*zone_known) {
			int64_t quarters = (at + (at < 0 ? -1 : 1) * QUARTER_NS / 2) / QUARTER_NS;

			s->zone_s = (int)(quarters * QUARTER_NS / LEAT_MAP_SECOND);
			*zone_known = true;
		}
		s->ahead_ns[node] = at - s->zone_s * LEAT_MAP_SECOND;
	}
	if (!n) {
		n = find_bounds(m, seen, true, bounds);
		if (n)
			s->ahead_ns[node] = choose(bounds, n, m->options.slack_ns, 0, false);
	}
	note_ahead(m, s, node, s->ahead_ns[node], n);
	free(bounds);
	return 0;
}

static int settle_source(struct leat_map *m, size_t source)
{
	struct leat_map_source *s = &m->sources[source];
	struct seen *seen = calloc(m->n_tasks + 1, sizeof(*seen));
	bool zone_known = m->options.zone_s != INT_MIN;
	int error = 0;

	s->ahead_ns = calloc(m->n_nodes + 1, sizeof(*s->ahead_ns));
	if (!s->ahead_ns || !seen) {
		free(seen);
		return -ENOMEM;
	}
	s->zone_s = zone_known ? m->options.zone_s
			       : (int)(machine_zone_ns(near_ns(m, s)) / LEAT_MAP_SECOND);
	for (unsigned node = 0; node < m->n_nodes && !error; node++) {
		for (size_t i = 0; i < m->n_tasks; i++)
			seen[i] = (struct seen){0};
		error = settle_node(m, source, node, seen, &zone_known);
	}
	free(seen);
	return error;
}

int leat_map_clocks_settle(struct leat_map *m)
{
	int error = 0;

	for (size_t i = 0; i < m->n_sources && !error; i++)
		error = settle_source(m, i);
	for (size_t i = 0; i < m->n_tasks && !error; i++) {
		struct leat_map_entry *e = m->tasks[i];
		const struct leat_map_source *s;

		if (e->source == LEAT_MAP_NONE)
			continue;
		s = &m->sources[e->source];
		if (e->began.set)
			e->task.began_ns = leat_map_stamp_ns(&e->began, s->zone_s, near_ns(m, s));
		if (e->ended.set)
			e->task.ended_ns = leat_map_stamp_ns(&e->ended, s->zone_s, near_ns(m, s));
	}
	return error;
}

int64_t leat_map_ahead_ns(const struct leat_map *m, size_t task, unsigned node)
{
	size_t source = m->tasks[task]->source;

	return source == LEAT_MAP_NONE || node >= m->n_nodes ? 0
							     : m->sources[source].ahead_ns[node];
}

bool leat_map_in_window(const struct leat_map *m, size_t task, unsigned node, int64_t time_ns)
{
	const struct leat_map_entry *e = m->tasks[task];
	int64_t at = time_ns + leat_map_ahead_ns(m, task, node), slack = m->options.slack_ns;

	if (time_ns == INT64_MIN)
		return true;
	if (e->task.began_ns && at < e->task.began_ns - slack)
		return false;
	return !e->over || !e->task.ended_ns || at <= e->task.ended_ns + slack;
}
