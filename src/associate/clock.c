/* The clocks of logs and nodes.
 *
 * Of a process that touched a task's own files at c and ended at e, by a node's clock, a log that
 * says the task ran from b to d shows that the log is ahead of the node by no less than b - c and
 * by no more than d - e. The offset that agrees with the most processes is taken, as NTP does of
 * clocks (Marzullo, "Maintaining the Time in a Distributed System", 1984); of those that agree
 * alike a plain one: none at all, or, of times without a zone, a zone's. Offsets that no clock of a
 * working machine has are not taken, however well they agree (rivals.c). */
#include "associate/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* More say no more, and each is compared with each. */
enum { MOST_SEEN = 1000 };

/* Clocks that are set by anybody at all are nearer. */
#define MOST_NS (120 * LEAT_ASSOCIATE_SECOND)
#define QUARTER_NS (900 * LEAT_ASSOCIATE_SECOND)
#define ZONES_WEST 48 /* quarters of hours west and */
#define ZONES_EAST 56 /* east of UTC */
#define DAY_NS (86400 * LEAT_ASSOCIATE_SECOND)
/* A task whose end is not in the log may have been seen so long after the log's last word. */
#define UNENDED_NS (3600 * LEAT_ASSOCIATE_SECOND)

int64_t leat_associate_most_ns(const struct leat_associate_map *m)
{
	return m->options.slack_ns > MOST_NS ? m->options.slack_ns : MOST_NS;
}

struct bound {
	size_t task;
	int64_t lowest, highest; /* INT64_MIN, INT64_MAX: unbounded */
};

/* A process of a task: evidence of its own only. */
struct seen {
	size_t task;
	int64_t first_ns, last_ns; /* the latter INT64_MIN: unknown */
};

struct list {
	struct seen seen[MOST_SEEN];   /* by task */
	struct bound whole[MOST_SEEN]; /* by all of its time */
	struct bound touch[MOST_SEEN]; /* by its first touch alone */
	int64_t delays[MOST_SEEN];
	size_t n, passed, each;
};

/* A log is written before it was changed last: that tells the year of times without one. */
static int64_t near_ns(const struct leat_associate_map *m, const struct leat_associate_source *s)
{
	if (m->first_ns == INT64_MAX || (s->changed_ns && s->changed_ns < m->first_ns - 2 * DAY_NS))
		return s->changed_ns;
	return m->first_ns;
}

static int64_t subtract_clamped(int64_t a, int64_t b)
{
	int64_t d;

	return !__builtin_sub_overflow(a, b, &d) ? d : a < b ? INT64_MIN / 4 : INT64_MAX / 4;
}

static int64_t machine_zone_ns(int64_t at_ns)
{
	time_t at = (time_t)(at_ns / LEAT_ASSOCIATE_SECOND);
	struct tm tm;

	return localtime_r(&at, &tm) ? tm.tm_gmtoff * LEAT_ASSOCIATE_SECOND : 0;
}

/* As this machine's clocks on the wall showed it, in summer or winter. */
static int64_t local_ns(const struct leat_associate_stamp *stamp, int64_t near)
{
	int64_t zone_ns = machine_zone_ns(near), utc, at;

	for (int pass = 0; pass < 2; pass++) {
		utc = leat_associate_stamp_ns(stamp, (int)(zone_ns / LEAT_ASSOCIATE_SECOND), near);
		at = machine_zone_ns(utc);
		if (at == zone_ns)
			break;
		zone_ns = at;
	}
	return utc;
}

int64_t leat_associate_source_ns(const struct leat_associate_map *m,
				 const struct leat_associate_source *s,
				 const struct leat_associate_stamp *stamp)
{
	if (s->local && !stamp->zoned)
		return local_ns(stamp, near_ns(m, s));
	return leat_associate_stamp_ns(stamp, s->zone_s, near_ns(m, s));
}

/* ---- what was seen ---- */

static void note_first_seen(struct list *list, size_t task, const struct leat_associate_image *l,
			    int64_t first_ns)
{
	if (first_ns == INT64_MIN || list->passed++ % list->each || list->n == MOST_SEEN)
		return;
	list->seen[list->n++] = (struct seen){task, first_ns, l->exits ? l->end_ns : INT64_MIN};
}

static void note_label(const struct leat_associate_map *m, struct list *list, size_t source,
		       const struct leat_associate_image *l)
{
	for (size_t t = l->fresh ? l->label : LEAT_ASSOCIATE_NONE; t != LEAT_ASSOCIATE_NONE;
	     t = m->tasks[t]->rival)
		if (m->tasks[t]->source == source)
			note_first_seen(list, t, l, l->begin_ns);
}

static int by_task(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->task > y->task) - (x->task < y->task);
}

/* If there are more than can be looked at, each so many-th. */
static void note_all(const struct leat_associate_map *m, size_t source, unsigned node,
		     struct list *list)
{
	size_t any = 0;

	for (size_t i = 0; i < m->n_touches; i++)
		any += m->touches[i].source == source;
	*list = (struct list){.each = any / MOST_SEEN + 1};
	for (size_t i = 0; i < m->n_touches; i++) {
		const struct leat_associate_touch *t = &m->touches[i];
		const struct leat_associate_image *l = &m->images[t->image];

		if (t->source == source && l->node == node && !l->manager &&
		    t->other == LEAT_ASSOCIATE_NONE)
			note_first_seen(list, t->task, l, t->ns);
	}
	for (size_t i = 0; i < m->n_images; i++) {
		const struct leat_associate_image *l = &m->images[i];

		if (l->node == node && !l->manager && l->touches == LEAT_ASSOCIATE_NONE)
			note_label(m, list, source, l);
	}
	qsort(list->seen, list->n, sizeof(*list->seen), by_task);
}

/* ---- bounds ---- */

/* A time as the log has it, as if it were UTC where it has no zone. */
static int64_t raw_ns(const struct leat_associate_map *m, const struct leat_associate_source *s,
		      const struct leat_associate_stamp *stamp)
{
	return leat_associate_stamp_ns(stamp, 0, near_ns(m, s));
}

typedef int64_t read_time(const struct leat_associate_map *m, const struct leat_associate_source *s,
			  const struct leat_associate_stamp *stamp);

/* The end of the task or, where there is none, the log's last word. */
static int64_t latest_ns(const struct leat_associate_map *m, const struct leat_associate_source *s,
			 const struct leat_associate_entry *e, read_time *read)
{
	if (e->over)
		return e->ended.set ? read(m, s, &e->ended) : INT64_MAX;
	return s->last.set ? read(m, s, &s->last) + UNENDED_NS : INT64_MAX;
}

/* The bounds of those whose tasks' times have a zone or, with `bare`, that have none. How many:
 * they come first in the lists. */
static size_t find_bounds(const struct leat_associate_map *m, struct list *list, bool bare,
			  read_time *read)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct leat_associate_entry *e = m->tasks[list->seen[i].task];
		const struct leat_associate_source *s = &m->sources[e->source];
		const struct seen *seen = &list->seen[i];
		bool zoned = e->began.set ? e->began.zoned : e->ended.zoned;
		int64_t latest = latest_ns(m, s, e, read);
		struct bound b = {seen->task, INT64_MIN, INT64_MAX};

		if ((!e->began.set && !e->ended.set) || (bare && zoned))
			continue;
		if (e->began.set)
			b.lowest = subtract_clamped(read(m, s, &e->began), seen->first_ns);
		if (latest != INT64_MAX)
			b.highest = subtract_clamped(latest, seen->first_ns);
		list->touch[n] = b;
		if (e->over && latest != INT64_MAX && seen->last_ns != INT64_MIN)
			b.highest = subtract_clamped(latest, seen->last_ns);
		list->whole[n++] = b;
	}
	return n;
}

static bool agrees(const struct bound *b, int64_t at, int64_t slack_ns)
{
	return (b->lowest == INT64_MIN || b->lowest - slack_ns <= at) &&
	       (b->highest == INT64_MAX || at <= b->highest + slack_ns);
}

/* How many tasks have a process that was there in their time: others may have touched the task's
 * files afterwards, or in another run. */
static size_t agreeing(const struct bound *bounds, size_t n, int64_t at, int64_t slack_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < n;) {
		size_t task = bounds[i].task;

		while (i < n && bounds[i].task == task && !agrees(&bounds[i], at, slack_ns))
			i++;
		count += i < n && bounds[i].task == task;
		while (i < n && bounds[i].task == task)
			i++;
	}
	return count;
}

static size_t count_tasks(const struct bound *bounds, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += !i || bounds[i].task != bounds[i - 1].task;
	return count;
}

struct choice {
	const struct bound *bounds;
	size_t n, count;
	int64_t slack_ns, at, plain; /* the nearer to `plain` the better */
	int64_t most_ns;             /* from plain, or a zone; 0: any */
	bool zones, any;
};

static bool is_possible(const struct choice *c, int64_t at)
{
	int64_t quarter = (at + (at < 0 ? -1 : 1) * QUARTER_NS / 2) / QUARTER_NS;

	if (!c->most_ns)
		return true;
	if (!c->zones)
		return llabs(at - c->plain) <= c->most_ns;
	return quarter >= -ZONES_WEST && quarter <= ZONES_EAST &&
	       llabs(at - quarter * QUARTER_NS) <= c->most_ns;
}

static void try_difference(struct choice *c, int64_t at)
{
	size_t count;

	if (!is_possible(c, at))
		return;
	count = agreeing(c->bounds, c->n, at, c->slack_ns);
	if (c->any && (count < c->count ||
		       (count == c->count && llabs(at - c->plain) >= llabs(c->at - c->plain))))
		return;
	c->any = true;
	c->count = count;
	c->at = at;
}

/* Endpoints of bounds: the best offset is one of them. */
static void try_bounds(struct choice *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->bounds[i].lowest != INT64_MIN)
			try_difference(c, c->bounds[i].lowest);
		if (c->bounds[i].highest != INT64_MAX)
			try_difference(c, c->bounds[i].highest);
	}
}

/* An offset other than a plain one must explain clearly more. */
static int64_t choose(struct choice simple)
{
	struct choice exact = simple;

	simple.most_ns = 0;
	try_difference(&simple, simple.plain);
	for (int i = -ZONES_WEST; simple.zones && i <= ZONES_EAST; i++)
		try_difference(&simple, i * QUARTER_NS);
	if (simple.count == count_tasks(simple.bounds, simple.n))
		return simple.at;
	try_bounds(&exact);
	return exact.any && exact.count > simple.count ? exact.at : simple.at;
}

/* ---- settling ---- */

static void note_ahead(struct leat_associate_map *m, const struct leat_associate_source *s,
		       unsigned node, int64_t ahead_ns, size_t n)
{
	const char *host = node < m->n_hosts ? m->hosts[node] : NULL;
	int64_t over_ns = ahead_ns < 0 ? -ahead_ns : ahead_ns;
	char number[24];

	if (over_ns <= m->options.slack_ns)
		return;
	snprintf(number, sizeof(number), "node %u", node);
	leat_associate_note(m, "%s: its clock is %.3f s %s that of %s, estimated from %zu task%s",
			    s->path, (double)over_ns / (double)LEAT_ASSOCIATE_SECOND,
			    ahead_ns < 0 ? "behind" : "ahead of", host ? host : number, n,
			    n == 1 ? "" : "s");
}

/* The zone of a log is the same for all nodes: it is taken from the first that shows it. */
static void find_zone(const struct leat_associate_map *m, struct leat_associate_source *s,
		      struct list *list)
{
	size_t n = find_bounds(m, list, true, raw_ns);
	struct choice c = {.bounds = list->whole,
			   .n = n,
			   .slack_ns = m->options.slack_ns,
			   .plain = s->zone_s * LEAT_ASSOCIATE_SECOND,
			   .most_ns = leat_associate_most_ns(m),
			   .zones = true};
	int64_t at, quarters;

	if (agreeing(c.bounds, n, c.plain, c.slack_ns) == count_tasks(c.bounds, n))
		return;
	s->local = true;
	n = find_bounds(m, list, true, leat_associate_source_ns);
	if (agreeing(c.bounds, n, 0, c.slack_ns) == count_tasks(c.bounds, n))
		return;
	s->local = false;
	find_bounds(m, list, true, raw_ns);
	at = choose(c);
	quarters = (at + (at < 0 ? -1 : 1) * QUARTER_NS / 2) / QUARTER_NS;
	s->zone_s = (int)(quarters * QUARTER_NS / LEAT_ASSOCIATE_SECOND);
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Mean deviation from the middle one, of what there is between a task's beginning and its files. */
static double spread_s(struct list *list, size_t n, int64_t at, int64_t slack_ns)
{
	size_t k = 0, last = LEAT_ASSOCIATE_NONE;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		const struct bound *b = &list->touch[i];

		if (b->lowest == INT64_MIN || !agrees(b, at, slack_ns))
			continue;
		/* Of each task, that which is nearest to its beginning. */
		if (!k || b->task != last)
			list->delays[k++] = b->lowest;
		else if (list->delays[k - 1] < b->lowest)
			list->delays[k - 1] = b->lowest;
		last = b->task;
	}
	qsort(list->delays, k, sizeof(*list->delays), by_size);
	for (size_t i = 0; i < k; i++)
		sum += (double)llabs(subtract_clamped(list->delays[i], list->delays[k / 2]));
	return k ? sum / (double)k / (double)LEAT_ASSOCIATE_SECOND : 0;
}

static void note_fit(const struct leat_associate_map *m, struct leat_associate_source *s,
		     unsigned node, struct list *list, size_t n)
{
	struct choice free = {.bounds = list->touch, .n = n, .slack_ns = m->options.slack_ns};
	struct leat_associate_fit *fit = &s->fit;
	size_t tasks = count_tasks(list->touch, n);

	try_difference(&free, 0);
	try_bounds(&free);
	fit->spread_s = (fit->spread_s * (double)fit->n +
			 spread_s(list, n, s->ahead_ns[node], free.slack_ns) * (double)tasks) /
			(double)(fit->n + tasks);
	fit->n += tasks;
	fit->in_time += agreeing(list->touch, n, s->ahead_ns[node], m->options.slack_ns);
	fit->any += free.count;
	if (llabs(free.at) > llabs(fit->any_ns)) {
		fit->any_ns = free.at;
		fit->node = node;
	}
	if (llabs(s->ahead_ns[node]) > llabs(fit->shift_ns))
		fit->shift_ns = s->ahead_ns[node];
}

static void fit_node(struct leat_associate_map *m, size_t source, unsigned node, struct list *list,
		     bool *zone_known)
{
	struct leat_associate_source *s = &m->sources[source];
	struct choice c = {.bounds = list->whole,
			   .slack_ns = m->options.slack_ns,
			   .most_ns = leat_associate_most_ns(m)};

	note_all(m, source, node, list);
	if (!*zone_known && find_bounds(m, list, true, raw_ns)) {
		find_zone(m, s, list);
		*zone_known = true;
	}
	c.n = find_bounds(m, list, false, leat_associate_source_ns);
	if (!c.n)
		return;
	s->ahead_ns[node] = choose(c);
	note_fit(m, s, node, list, c.n);
}

static int fit_source(struct leat_associate_map *m, size_t source, struct list *list)
{
	struct leat_associate_source *s = &m->sources[source];
	bool zone_known = m->options.zone_s != INT_MIN;
	int expected_s = zone_known ? m->options.zone_s
				    : (int)(machine_zone_ns(near_ns(m, s)) / LEAT_ASSOCIATE_SECOND);

	s->ahead_ns = calloc(m->n_nodes + 1, sizeof(*s->ahead_ns));
	if (!s->ahead_ns)
		return -ENOMEM;
	s->zone_s = expected_s;
	for (unsigned node = 0; node < m->n_nodes; node++)
		fit_node(m, source, node, list, &zone_known);
	s->foreign = !s->local && s->zone_s != expected_s;
	if (!s->local)
		s->fit.shift_ns += (s->zone_s - expected_s) * LEAT_ASSOCIATE_SECOND;
	return 0;
}

static void set_times(const struct leat_associate_map *m, struct leat_associate_entry *e)
{
	const struct leat_associate_source *s = &m->sources[e->source];

	if (e->began.set)
		e->task.began_ns = leat_associate_source_ns(m, s, &e->began);
	if (e->ended.set)
		e->task.ended_ns = leat_associate_source_ns(m, s, &e->ended);
}

int leat_associate_clocks_resolve(struct leat_associate_map *m)
{
	struct list *list = malloc(sizeof(*list));
	int error = list ? 0 : -ENOMEM;

	for (size_t i = 0; i < m->n_sources && !error; i++)
		error = fit_source(m, i, list);
	free(list);
	if (error)
		return error;
	for (size_t i = 0; i < m->n_tasks; i++)
		if (m->tasks[i]->source != LEAT_ASSOCIATE_NONE)
			set_times(m, m->tasks[i]);
	return 0;
}

void leat_associate_clocks_note(struct leat_associate_map *m)
{
	for (size_t i = 0; i < m->n_sources; i++)
		for (unsigned node = 0; node < m->n_nodes && !m->sources[i].refused; node++)
			note_ahead(m, &m->sources[i], node, m->sources[i].ahead_ns[node],
				   m->sources[i].fit.n);
}

int64_t leat_associate_ahead_ns(const struct leat_associate_map *m, size_t task, unsigned node)
{
	size_t source = m->tasks[task]->source;

	return source == LEAT_ASSOCIATE_NONE || node >= m->n_nodes
		       ? 0
		       : m->sources[source].ahead_ns[node];
}

int64_t leat_associate_distance_ns(const struct leat_associate_map *m, size_t task, unsigned node,
				   int64_t time_ns)
{
	const struct leat_associate_entry *e = m->tasks[task];
	int64_t at;

	if (time_ns == INT64_MIN)
		return 0;
	at = time_ns + leat_associate_ahead_ns(m, task, node);
	if (e->task.began_ns && at < e->task.began_ns)
		return subtract_clamped(e->task.began_ns, at);
	return e->over && e->task.ended_ns && at > e->task.ended_ns
		       ? subtract_clamped(at, e->task.ended_ns)
		       : 0;
}

bool leat_associate_in_window(const struct leat_associate_map *m, size_t task, unsigned node,
			      int64_t time_ns)
{
	size_t source = m->tasks[task]->source;

	/* What others are known by, a label, a pod's uid, is so whatever their log says. */
	if (source != LEAT_ASSOCIATE_NONE && m->sources[source].refused)
		return !m->sources[source].format->files_only;
	return leat_associate_distance_ns(m, task, node, time_ns) <= m->options.slack_ns;
}
