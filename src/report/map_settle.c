/* Whose each life is: first by evidence of its own, then by those it comes from. */
#include "report/map_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

static void own(const struct leat_map *m, struct leat_map_life *l, size_t task,
		enum leat_map_evidence evidence)
{
	l->own = true;
	l->answer = (struct leat_map_answer){.task = &m->tasks[task]->task, .evidence = evidence};
}

static void settle_own(struct leat_map *m, struct leat_map_life *l)
{
	struct leat_map_touch t;
	bool first, other;

	if (l->fresh && !m->tasks[l->label]->fallback) {
		size_t task = leat_map_label_of(m, l);

		if (task == LEAT_MAP_NONE)
			l->answer.reason = LEAT_MAP_AMBIGUOUS;
		else
			own(m, l, task, LEAT_MAP_BY_LABEL);
		return;
	}
	/* A manager touches the files of all. */
	if (l->touches == LEAT_MAP_NONE || l->manager ||
	    !leat_map_touch_of(m, l, &t, &l->answer.reason))
		return;
	first = leat_map_in_window(m, t.task, l->node, t.ns);
	other = t.other != LEAT_MAP_NONE && leat_map_in_window(m, t.other, l->node, t.other_ns);
	if (first && other)
		l->answer.reason = LEAT_MAP_CONTRADICTS;
	else {
		own(m, l, first ? t.task : t.other, LEAT_MAP_BY_DIRECTORY);
		l->wide = !t.outputs;
	}
}

/* ---- pids that a log gives ---- */

/* All lives of one process, from one fork to its exit. */
struct span {
	size_t last; /* life */
	int64_t begin_ns, end_ns;
};

static size_t span_of(const struct leat_map *m, size_t last, struct span *span)
{
	const struct leat_map_life *l = &m->lives[last];

	*span = (struct span){.last = last, .end_ns = l->end_ns};
	while (l->executed && l->earlier != LEAT_MAP_NONE && l->parent == l->earlier)
		l = &m->lives[l->earlier];
	span->begin_ns = l->forked ? l->begin_ns : INT64_MIN;
	return l->earlier;
}

/* It takes an interpreter some time from its start to the task's. A number that a service had long
 * before is one of another numbering: that of a container. */
#define START_NS (600 * LEAT_MAP_SECOND)

static int64_t overlap(const struct leat_map *m, const struct leat_map_pid *p, unsigned node,
		       const struct span *span)
{
	const struct leat_map_task *task = &m->tasks[p->task]->task;
	int64_t ahead = leat_map_ahead_ns(m, p->task, node);
	int64_t from = p->began.set ? leat_map_stamp_ns(&p->began, 0, 0) : task->began_ns;
	int64_t to = p->ended.set ? leat_map_stamp_ns(&p->ended, 0, 0) : task->ended_ns;

	if (!from || !to)
		return 0;
	from -= ahead;
	to -= ahead;

	if (span->begin_ns == INT64_MIN ? m->first_ns < from - m->options.slack_ns
					: span->begin_ns < from - START_NS)
		return 0;
	from = span->begin_ns > from ? span->begin_ns : from;
	to = span->end_ns < to ? span->end_ns : to;
	/* Within a tick of a clock is at the same time. */
	return to - from + LEAT_MAP_SECOND / 100;
}

static bool same_host(const char *a, const char *b)
{
	size_t na = strcspn(a, "."), nb = strcspn(b, ".");

	return strcasecmp(a, b) == 0 || (na == nb && na && strncasecmp(a, b, na) == 0);
}

struct best {
	int64_t overlap_ns;
	size_t life;
	unsigned nodes; /* on which there is one */
};

static void look_on_node(const struct leat_map *m, const struct leat_map_pid *wanted, unsigned node,
			 struct best *best)
{
	uint64_t key = (uint64_t)node << 32 | (uint32_t)wanted->pid;
	const struct leat_map_process *p;
	struct span span;
	bool any = false;

	HASH_FIND(hh, m->processes, &key, sizeof(key), p);
	for (size_t at = p ? p->life : LEAT_MAP_NONE; at != LEAT_MAP_NONE;) {
		int64_t common_ns;
		size_t earlier = span_of(m, at, &span);

		common_ns = overlap(m, wanted, node, &span);
		any |= common_ns > 0;
		if (common_ns > best->overlap_ns) {
			best->overlap_ns = common_ns;
			best->life = span.last;
		}
		at = earlier;
	}
	best->nodes += any;
}

static void settle_pid(struct leat_map *m, const struct leat_map_pid *wanted)
{
	const struct leat_map_entry *e = m->tasks[wanted->task];
	struct best best = {0};
	struct leat_map_life *l;

	for (unsigned node = 0; node < m->n_nodes; node++) {
		const char *host = node < m->n_hosts ? m->hosts[node] : NULL;

		if (!e->host || !host || same_host(e->host, host))
			look_on_node(m, wanted, node, &best);
	}
	if (best.nodes > 1)
		leat_map_note(m,
			      "%s of %s had pid %d, which ran at that time on %u nodes; the log "
			      "does not say on which",
			      e->task.physical, e->task.workflow, wanted->pid, best.nodes);
	if (best.nodes != 1)
		return;
	for (size_t at = best.life;; at = l->earlier) {
		l = &m->lives[at];
		if (!l->own)
			own(m, l, e->task.number, LEAT_MAP_BY_PID);
		if (!l->executed || l->parent != l->earlier || l->parent == LEAT_MAP_NONE)
			return;
	}
}

static void settle_pids(struct leat_map *m)
{
	for (size_t i = 0; i < m->n_pids; i++) {
		size_t source = m->tasks[m->pids[i].task]->source;

		if (source == LEAT_MAP_NONE || !m->sources[source].refused)
			settle_pid(m, &m->pids[i]);
	}
	for (size_t i = 0; i < m->n_sources; i++) {
		const struct leat_map_source *s = &m->sources[i];

		for (unsigned node = 0; s->pid && node < m->n_nodes; node++) {
			uint64_t key = (uint64_t)node << 32 | (uint32_t)s->pid;
			const char *host = node < m->n_hosts ? m->hosts[node] : NULL;
			struct leat_map_process *p;

			HASH_FIND(hh, m->processes, &key, sizeof(key), p);
			if (p && s->host && host && same_host(s->host, host) &&
			    !m->lives[p->life].own)
				m->lives[p->life].manager = true;
		}
	}
}

/* ---- upwards, to the manager ---- */

/* What a manager has started for one task alone is that task's, also before it touches the task's
 * files: a shell around it. */
static void lift(struct leat_map *m, const struct leat_map_life *from, size_t task)
{
	size_t at = from->parent;

	for (size_t steps = 0; at != LEAT_MAP_NONE && steps < m->n_lives; steps++) {
		struct leat_map_life *l = &m->lives[at];

		if (l->manager || l->own)
			return;
		if (l->lift == LEAT_MAP_NONE)
			l->lift = task;
		else if (l->lift == task)
			return; /* and all above it */
		else if (l->lifts_many)
			return;
		else
			l->lifts_many = true;
		at = l->parent;
	}
}

static bool below_manager(const struct leat_map *m, const struct leat_map_life *l)
{
	for (size_t steps = 0; steps < m->n_lives; steps++) {
		if (l->parent == LEAT_MAP_NONE)
			return false;
		l = &m->lives[l->parent];
		if (l->manager)
			return true;
		if (l->lift == LEAT_MAP_NONE || l->lifts_many)
			return false;
	}
	return false;
}

static void settle_lifts(struct leat_map *m)
{
	for (size_t i = 0; i < m->n_lives; i++) {
		const struct leat_map_life *l = &m->lives[i];

		if (l->own)
			lift(m, l, l->answer.task->number);
	}
	for (size_t i = 0; i < m->n_lives; i++) {
		struct leat_map_life *l = &m->lives[i];
		const struct leat_map_life *next =
			l->next == LEAT_MAP_NONE ? NULL : &m->lives[l->next];

		if (l->own || l->manager || l->lift == LEAT_MAP_NONE || l->lifts_many)
			continue;
		/* Between fork and exec a process opens what the program is to have open. */
		if ((!l->executed && l->forked && next && next->own) || below_manager(m, l))
			l->answer = (struct leat_map_answer){.task = &m->tasks[l->lift]->task,
							     .evidence = LEAT_MAP_BY_TREE};
	}
}

/* ---- downwards ---- */

static enum leat_map_reason reason_of(const struct leat_map *m, const struct leat_map_life *l)
{
	const struct leat_map_life *parent =
		l->parent == LEAT_MAP_NONE ? NULL : &m->lives[l->parent];
	enum leat_map_reason above = parent ? parent->answer.reason : LEAT_MAP_FOUND;

	if (l->answer.reason != LEAT_MAP_FOUND)
		return l->answer.reason;
	if (!m->n_tasks)
		return LEAT_MAP_NO_TASKS;
	if (l->manager)
		return LEAT_MAP_MANAGER;
	if (l->lift != LEAT_MAP_NONE)
		return LEAT_MAP_ABOVE;
	if (above == LEAT_MAP_CONTRADICTS || above == LEAT_MAP_OUTSIDE ||
	    above == LEAT_MAP_MANAGER || above == LEAT_MAP_AMBIGUOUS)
		return above;
	return l->forked || l->executed ? LEAT_MAP_UNRELATED : LEAT_MAP_UNSEEN;
}

/* By where it comes from. False: its task has ended, or had not begun. */
static bool take(const struct leat_map *m, struct leat_map_life *l, size_t task,
		 enum leat_map_evidence evidence)
{
	if (!leat_map_in_window(m, task, l->node,
				l->forked || l->executed ? l->begin_ns : INT64_MIN))
		return false;
	l->answer = (struct leat_map_answer){.task = &m->tasks[task]->task, .evidence = evidence};
	return true;
}

static void settle_life(const struct leat_map *m, struct leat_map_life *l)
{
	const struct leat_map_life *parent =
		l->parent == LEAT_MAP_NONE ? NULL : &m->lives[l->parent];
	const struct leat_map_cgroup *g = l->cgroup == LEAT_MAP_NONE ? NULL : m->cgroup[l->cgroup];
	size_t by_cgroup = g ? g->task : LEAT_MAP_NONE, slurm = l->slurm;
	bool outside = false;

	l->settled = true;
	if (l->answer.task)
		return;
	/* Who comes into a task's cgroup is that task's, whoever has started it. */
	if (parent && parent->answer.task &&
	    (by_cgroup == LEAT_MAP_NONE || parent->cgroup == l->cgroup)) {
		size_t task = parent->answer.task->number;

		if (take(m, l, task, task == by_cgroup ? LEAT_MAP_BY_CGROUP : LEAT_MAP_BY_TREE))
			return;
		outside = true;
	}
	if (by_cgroup != LEAT_MAP_NONE) {
		if (take(m, l, by_cgroup, LEAT_MAP_BY_CGROUP))
			return;
		outside = true;
	}
	if (slurm != LEAT_MAP_NONE && take(m, l, slurm, LEAT_MAP_BY_LABEL))
		return;
	if (g && g->slurm != LEAT_MAP_NONE && take(m, l, g->slurm, LEAT_MAP_BY_CGROUP))
		return;
	if (outside && l->answer.reason == LEAT_MAP_FOUND)
		l->answer.reason = LEAT_MAP_OUTSIDE;
	l->answer.reason = reason_of(m, l);
}

static bool ready(const struct leat_map *m, const struct leat_map_life *l)
{
	return l->parent == LEAT_MAP_NONE || l->answer.task || m->lives[l->parent].settled;
}

/* Parents are known before their children, but for calls that came before the word of a fork. */
static void settle_downwards(struct leat_map *m)
{
	for (int pass = 0; pass < 4; pass++)
		for (size_t i = 0; i < m->n_lives; i++) {
			struct leat_map_life *l = &m->lives[pass % 2 ? m->n_lives - 1 - i : i];

			if (!l->settled && (pass == 3 || ready(m, l)))
				settle_life(m, l);
		}
}

int leat_map_settle(struct leat_map *m)
{
	int error = leat_map_clocks_settle(m);

	if (error)
		return error;
	for (size_t i = 0; i < m->n_lives; i++)
		settle_own(m, &m->lives[i]);
	settle_pids(m);
	settle_lifts(m);
	leat_map_cgroups_settle(m);
	settle_downwards(m);
	m->settled = true;
	return 0;
}

/* ---- asking ---- */

size_t leat_map_lives(const struct leat_map *m)
{
	return m->n_lives;
}

void leat_map_answer(const struct leat_map *m, size_t life, struct leat_map_answer *answer)
{
	*answer = m->lives[life].answer;
}

size_t leat_map_find(const struct leat_map *m, unsigned node, int32_t pid, int64_t time_ns,
		     struct leat_map_answer *answer)
{
	uint64_t key = (uint64_t)node << 32 | (uint32_t)pid;
	const struct leat_map_process *p;
	size_t at, earlier;

	HASH_FIND(hh, m->processes, &key, sizeof(key), p);
	*answer = (struct leat_map_answer){.reason = LEAT_MAP_UNSEEN};
	if (!p || p->life == LEAT_MAP_NONE)
		return LEAT_MAP_NONE;
	for (at = p->life; m->lives[at].begin_ns > time_ns; at = earlier) {
		earlier = m->lives[at].earlier;
		if (earlier == LEAT_MAP_NONE)
			break;
	}
	*answer = m->lives[at].answer;
	return at;
}

const char *leat_map_program(const struct leat_map *m, size_t life)
{
	size_t program = m->lives[life].program;

	return program == LEAT_MAP_NONE ? NULL : m->word[program];
}

bool leat_map_is_partial(const struct leat_map *m)
{
	return m->partial;
}

const char *leat_map_evidence_name(enum leat_map_evidence evidence)
{
	static const char *const names[LEAT_MAP_EVIDENCES] = {
		[LEAT_MAP_BY_NOTHING] = "none",
		[LEAT_MAP_BY_LABEL] = "label",
		[LEAT_MAP_BY_DIRECTORY] = "work directory",
		[LEAT_MAP_BY_PID] = "pid and time",
		[LEAT_MAP_BY_CGROUP] = "cgroup",
		[LEAT_MAP_BY_TREE] = "process tree",
	};

	return (unsigned)evidence < LEAT_MAP_EVIDENCES ? names[evidence] : "none";
}

const char *leat_map_reason_name(enum leat_map_reason reason)
{
	static const char *const names[LEAT_MAP_REASONS] = {
		[LEAT_MAP_FOUND] = "",
		[LEAT_MAP_NO_TASKS] = "no log and no label names a task",
		[LEAT_MAP_MANAGER] = "the workflow manager itself",
		[LEAT_MAP_CONTRADICTS] = "touched the own files of several tasks",
		[LEAT_MAP_AMBIGUOUS] = "of one of several logs, nothing shows which",
		[LEAT_MAP_OUTSIDE] = "outside of its task's time",
		[LEAT_MAP_ABOVE] = "started tasks, belongs to none",
		[LEAT_MAP_UNSEEN] = "began before the trace, nothing shows whose it is",
		[LEAT_MAP_UNRELATED] = "not related to a task",
	};

	return (unsigned)reason < LEAT_MAP_REASONS ? names[reason] : "";
}
