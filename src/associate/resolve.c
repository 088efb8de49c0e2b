/* Whose each image is: first by evidence of its own, then by those it comes from. */
#include "associate/internal.h"

#include <string.h>
#include <strings.h>

static void own(const struct leat_associate_map *m, struct leat_associate_image *l, size_t task,
		enum leat_associate_evidence evidence)
{
	l->own = true;
	l->answer =
		(struct leat_associate_answer){.task = &m->tasks[task]->task, .evidence = evidence};
}

static void resolve_own(struct leat_associate_map *m, struct leat_associate_image *l)
{
	struct leat_associate_touch t;
	bool first, other;

	if (l->fresh && !m->tasks[l->label]->fallback) {
		size_t task = leat_associate_label_of(m, l);

		if (task == LEAT_ASSOCIATE_NONE)
			l->answer.reason = LEAT_ASSOCIATE_AMBIGUOUS;
		else
			own(m, l, task, LEAT_ASSOCIATE_BY_LABEL);
		return;
	}
	/* A manager touches the files of all. */
	if (l->touches == LEAT_ASSOCIATE_NONE || l->manager ||
	    !leat_associate_touch_of(m, l, &t, &l->answer.reason))
		return;
	first = leat_associate_in_window(m, t.task, l->node, t.ns);
	other = t.other != LEAT_ASSOCIATE_NONE &&
		leat_associate_in_window(m, t.other, l->node, t.other_ns);
	if (first && other)
		l->answer.reason = LEAT_ASSOCIATE_CONTRADICTS;
	else {
		own(m, l, first ? t.task : t.other, LEAT_ASSOCIATE_BY_DIRECTORY);
		l->wide = !t.outputs;
	}
}

/* ---- pids that a log gives ---- */

/* All images of one process, from one fork to its exit. */
struct span {
	size_t last; /* image */
	int64_t begin_ns, end_ns;
};

static size_t span_of(const struct leat_associate_map *m, size_t last, struct span *span)
{
	const struct leat_associate_image *l = &m->images[last];

	*span = (struct span){.last = last, .end_ns = l->end_ns};
	while (l->executed && l->earlier != LEAT_ASSOCIATE_NONE && l->parent == l->earlier)
		l = &m->images[l->earlier];
	span->begin_ns = l->forked ? l->begin_ns : INT64_MIN;
	return l->earlier;
}

/* It takes an interpreter some time from its start to the task's. A number that a service had long
 * before is one of another numbering: that of a container. */
#define START_NS (600 * LEAT_ASSOCIATE_SECOND)

static int64_t overlap(const struct leat_associate_map *m, const struct leat_associate_pid *p,
		       unsigned node, const struct span *span)
{
	const struct leat_associate_task *task = &m->tasks[p->task]->task;
	int64_t ahead = leat_associate_ahead_ns(m, p->task, node);
	int64_t from = p->began.set ? leat_associate_stamp_ns(&p->began, 0, 0) : task->began_ns;
	int64_t to = p->ended.set ? leat_associate_stamp_ns(&p->ended, 0, 0) : task->ended_ns;

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
	return to - from + LEAT_ASSOCIATE_SECOND / 100;
}

static bool same_host(const char *a, const char *b)
{
	size_t na = strcspn(a, "."), nb = strcspn(b, ".");

	return strcasecmp(a, b) == 0 || (na == nb && na && strncasecmp(a, b, na) == 0);
}

struct best {
	int64_t overlap_ns;
	size_t image;
	unsigned nodes; /* on which there is one */
};

static void find_on_node(const struct leat_associate_map *m,
			 const struct leat_associate_pid *wanted, unsigned node, struct best *best)
{
	uint64_t key = (uint64_t)node << 32 | (uint32_t)wanted->pid;
	const struct leat_associate_process *p;
	struct span span;
	bool any = false;

	HASH_FIND(hh, m->processes, &key, sizeof(key), p);
	for (size_t at = p ? p->image : LEAT_ASSOCIATE_NONE; at != LEAT_ASSOCIATE_NONE;) {
		int64_t common_ns;
		size_t earlier = span_of(m, at, &span);

		common_ns = overlap(m, wanted, node, &span);
		any |= common_ns > 0;
		if (common_ns > best->overlap_ns) {
			best->overlap_ns = common_ns;
			best->image = span.last;
		}
		at = earlier;
	}
	best->nodes += any;
}

static void resolve_pid(struct leat_associate_map *m, const struct leat_associate_pid *wanted)
{
	const struct leat_associate_entry *e = m->tasks[wanted->task];
	struct best best = {0};
	struct leat_associate_image *l;

	for (unsigned node = 0; node < m->n_nodes; node++) {
		const char *host = node < m->n_hosts ? m->hosts[node] : NULL;

		if (!e->host || !host || same_host(e->host, host))
			find_on_node(m, wanted, node, &best);
	}
	if (best.nodes > 1)
		leat_associate_note(
			m,
			"%s of %s had pid %d, which ran at that time on %u nodes; the log "
			"does not say on which",
			e->task.physical, e->task.workflow, wanted->pid, best.nodes);
	if (best.nodes != 1)
		return;
	for (size_t at = best.image;; at = l->earlier) {
		l = &m->images[at];
		if (!l->own)
			own(m, l, e->task.number, LEAT_ASSOCIATE_BY_PID);
		if (!l->executed || l->parent != l->earlier || l->parent == LEAT_ASSOCIATE_NONE)
			return;
	}
}

static void resolve_pids(struct leat_associate_map *m)
{
	for (size_t i = 0; i < m->n_pids; i++) {
		size_t source = m->tasks[m->pids[i].task]->source;

		if (source == LEAT_ASSOCIATE_NONE || !m->sources[source].refused)
			resolve_pid(m, &m->pids[i]);
	}
	for (size_t i = 0; i < m->n_sources; i++) {
		const struct leat_associate_source *s = &m->sources[i];

		for (unsigned node = 0; s->pid && node < m->n_nodes; node++) {
			uint64_t key = (uint64_t)node << 32 | (uint32_t)s->pid;
			const char *host = node < m->n_hosts ? m->hosts[node] : NULL;
			struct leat_associate_process *p;

			HASH_FIND(hh, m->processes, &key, sizeof(key), p);
			if (p && s->host && host && same_host(s->host, host) &&
			    !m->images[p->image].own)
				m->images[p->image].manager = true;
		}
	}
}

/* ---- upwards, to the manager ---- */

/* What a manager has started for one task alone is that task's, also before it touches the task's
 * files: a shell around it. */
static void claim_ancestors(struct leat_associate_map *m, const struct leat_associate_image *from,
			    size_t task)
{
	size_t at = from->parent;

	for (size_t steps = 0; at != LEAT_ASSOCIATE_NONE && steps < m->n_images; steps++) {
		struct leat_associate_image *l = &m->images[at];

		if (l->manager || l->own)
			return;
		if (l->lift == LEAT_ASSOCIATE_NONE)
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

static bool below_manager(const struct leat_associate_map *m, const struct leat_associate_image *l)
{
	for (size_t steps = 0; steps < m->n_images; steps++) {
		if (l->parent == LEAT_ASSOCIATE_NONE)
			return false;
		l = &m->images[l->parent];
		if (l->manager)
			return true;
		if (l->lift == LEAT_ASSOCIATE_NONE || l->lifts_many)
			return false;
	}
	return false;
}

static void resolve_lifts(struct leat_associate_map *m)
{
	for (size_t i = 0; i < m->n_images; i++) {
		const struct leat_associate_image *l = &m->images[i];

		if (l->own)
			claim_ancestors(m, l, l->answer.task->number);
	}
	for (size_t i = 0; i < m->n_images; i++) {
		struct leat_associate_image *l = &m->images[i];
		const struct leat_associate_image *next =
			l->next == LEAT_ASSOCIATE_NONE ? NULL : &m->images[l->next];

		if (l->own || l->manager || l->lift == LEAT_ASSOCIATE_NONE || l->lifts_many)
			continue;
		/* Between fork and exec a process opens what the program is to have open. */
		if ((!l->executed && l->forked && next && next->own) || below_manager(m, l))
			l->answer =
				(struct leat_associate_answer){.task = &m->tasks[l->lift]->task,
							       .evidence = LEAT_ASSOCIATE_BY_TREE};
	}
}

/* ---- downwards ---- */

static enum leat_associate_reason reason_of(const struct leat_associate_map *m,
					    const struct leat_associate_image *l)
{
	const struct leat_associate_image *parent =
		l->parent == LEAT_ASSOCIATE_NONE ? NULL : &m->images[l->parent];
	enum leat_associate_reason above = parent ? parent->answer.reason : LEAT_ASSOCIATE_FOUND;

	if (l->answer.reason != LEAT_ASSOCIATE_FOUND)
		return l->answer.reason;
	if (!m->n_tasks)
		return LEAT_ASSOCIATE_NO_TASKS;
	if (l->manager)
		return LEAT_ASSOCIATE_MANAGER;
	if (l->lift != LEAT_ASSOCIATE_NONE)
		return LEAT_ASSOCIATE_ABOVE;
	if (above == LEAT_ASSOCIATE_CONTRADICTS || above == LEAT_ASSOCIATE_OUTSIDE ||
	    above == LEAT_ASSOCIATE_MANAGER || above == LEAT_ASSOCIATE_AMBIGUOUS)
		return above;
	return l->forked || l->executed ? LEAT_ASSOCIATE_UNRELATED : LEAT_ASSOCIATE_UNSEEN;
}

/* By where it comes from. False: its task has ended, or had not begun. */
static bool attribute(const struct leat_associate_map *m, struct leat_associate_image *l,
		      size_t task, enum leat_associate_evidence evidence)
{
	if (!leat_associate_in_window(m, task, l->node,
				      l->forked || l->executed ? l->begin_ns : INT64_MIN))
		return false;
	l->answer =
		(struct leat_associate_answer){.task = &m->tasks[task]->task, .evidence = evidence};
	return true;
}

static void resolve_image(const struct leat_associate_map *m, struct leat_associate_image *l)
{
	const struct leat_associate_image *parent =
		l->parent == LEAT_ASSOCIATE_NONE ? NULL : &m->images[l->parent];
	const struct leat_associate_cgroup *g =
		l->cgroup == LEAT_ASSOCIATE_NONE ? NULL : m->cgroup[l->cgroup];
	size_t by_cgroup = g ? g->task : LEAT_ASSOCIATE_NONE, slurm = l->slurm;
	bool outside = false;

	l->resolved = true;
	if (l->answer.task)
		return;
	/* Who comes into a task's cgroup is that task's, whoever has started it. */
	if (parent && parent->answer.task &&
	    (by_cgroup == LEAT_ASSOCIATE_NONE || parent->cgroup == l->cgroup)) {
		size_t task = parent->answer.task->number;

		if (attribute(m, l, task,
			      task == by_cgroup ? LEAT_ASSOCIATE_BY_CGROUP
						: LEAT_ASSOCIATE_BY_TREE))
			return;
		outside = true;
	}
	if (by_cgroup != LEAT_ASSOCIATE_NONE) {
		if (attribute(m, l, by_cgroup, LEAT_ASSOCIATE_BY_CGROUP))
			return;
		outside = true;
	}
	if (slurm != LEAT_ASSOCIATE_NONE && attribute(m, l, slurm, LEAT_ASSOCIATE_BY_LABEL))
		return;
	if (g && g->slurm != LEAT_ASSOCIATE_NONE &&
	    attribute(m, l, g->slurm, LEAT_ASSOCIATE_BY_CGROUP))
		return;
	if (outside && l->answer.reason == LEAT_ASSOCIATE_FOUND)
		l->answer.reason = LEAT_ASSOCIATE_OUTSIDE;
	l->answer.reason = reason_of(m, l);
}

static bool is_ready(const struct leat_associate_map *m, const struct leat_associate_image *l)
{
	return l->parent == LEAT_ASSOCIATE_NONE || l->answer.task || m->images[l->parent].resolved;
}

/* Parents are known before their children, but for calls that came before the word of a fork. */
static void resolve_downwards(struct leat_associate_map *m)
{
	for (int pass = 0; pass < 4; pass++)
		for (size_t i = 0; i < m->n_images; i++) {
			struct leat_associate_image *l =
				&m->images[pass % 2 ? m->n_images - 1 - i : i];

			if (!l->resolved && (pass == 3 || is_ready(m, l)))
				resolve_image(m, l);
		}
}

int leat_associate_resolve(struct leat_associate_map *m)
{
	int error = leat_associate_clocks_resolve(m);

	if (error)
		return error;
	leat_associate_refuse(m);
	leat_associate_clocks_note(m);
	for (size_t i = 0; i < m->n_images; i++)
		resolve_own(m, &m->images[i]);
	resolve_pids(m);
	resolve_lifts(m);
	leat_associate_cgroups_resolve(m);
	resolve_downwards(m);
	return 0;
}

/* ---- asking ---- */

size_t leat_associate_images(const struct leat_associate_map *m)
{
	return m->n_images;
}

void leat_associate_answer(const struct leat_associate_map *m, size_t image,
			   struct leat_associate_answer *answer)
{
	*answer = m->images[image].answer;
}

size_t leat_associate_find(const struct leat_associate_map *m, unsigned node, int32_t pid,
			   int64_t time_ns, struct leat_associate_answer *answer)
{
	uint64_t key = (uint64_t)node << 32 | (uint32_t)pid;
	const struct leat_associate_process *p;
	size_t at, earlier;

	HASH_FIND(hh, m->processes, &key, sizeof(key), p);
	*answer = (struct leat_associate_answer){.reason = LEAT_ASSOCIATE_UNSEEN};
	if (!p || p->image == LEAT_ASSOCIATE_NONE)
		return LEAT_ASSOCIATE_NONE;
	for (at = p->image; m->images[at].begin_ns > time_ns; at = earlier) {
		earlier = m->images[at].earlier;
		if (earlier == LEAT_ASSOCIATE_NONE)
			break;
	}
	*answer = m->images[at].answer;
	return at;
}

const char *leat_associate_program(const struct leat_associate_map *m, size_t image)
{
	size_t program = m->images[image].program;

	return program == LEAT_ASSOCIATE_NONE ? NULL : m->word[program];
}

bool leat_associate_is_partial(const struct leat_associate_map *m)
{
	return m->partial;
}

const char *leat_associate_evidence_name(enum leat_associate_evidence evidence)
{
	static const char *const names[LEAT_ASSOCIATE_EVIDENCES] = {
		[LEAT_ASSOCIATE_BY_NOTHING] = "none",
		[LEAT_ASSOCIATE_BY_LABEL] = "label",
		[LEAT_ASSOCIATE_BY_DIRECTORY] = "work directory",
		[LEAT_ASSOCIATE_BY_PID] = "pid and time",
		[LEAT_ASSOCIATE_BY_CGROUP] = "cgroup",
		[LEAT_ASSOCIATE_BY_TREE] = "process tree",
	};

	return (unsigned)evidence < LEAT_ASSOCIATE_EVIDENCES ? names[evidence] : "none";
}

const char *leat_associate_reason_name(enum leat_associate_reason reason)
{
	static const char *const names[LEAT_ASSOCIATE_REASONS] = {
		[LEAT_ASSOCIATE_FOUND] = "",
		[LEAT_ASSOCIATE_NO_TASKS] = "no log and no label names a task",
		[LEAT_ASSOCIATE_MANAGER] = "the workflow manager itself",
		[LEAT_ASSOCIATE_CONTRADICTS] = "touched the own files of several tasks",
		[LEAT_ASSOCIATE_AMBIGUOUS] =
			"several logs fit, and nothing shows which is the right one",
		[LEAT_ASSOCIATE_OUTSIDE] = "outside of its task's time",
		[LEAT_ASSOCIATE_ABOVE] = "started tasks, belongs to none",
		[LEAT_ASSOCIATE_UNSEEN] = "began before the trace, nothing shows whose it is",
		[LEAT_ASSOCIATE_UNRELATED] = "not related to a task",
	};

	return (unsigned)reason < LEAT_ASSOCIATE_REASONS ? names[reason] : "";
}
