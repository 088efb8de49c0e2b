/* Reading traces: whose each call is, and what is true of the traces as a whole. */
#include "report/collect.h"

#include "base/log.h"
#include "report/feed.h"
#include "report/table.h"
#include "report/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* A process's owner as a number: a task's, and in the bits above it why it is unattributed.
	 */
	TASK_BITS = 24,
	TASK_MASK = (1 << TASK_BITS) - 1,
	MOST_PROGRAMS = 10000,
};

/* The number of all programs for which there is no space. */
#define OTHERS (LEAT_TABLE_NONE - 1)

struct collect {
	const struct leat_report_request *request;
	struct leat_report_found *found;
	struct leat_associate_map *map; /* borrowed; NULL: none is wanted */
	bool settled;                   /* the map knows all: calls are added up */
	bool labels;                    /* a program has them: a map is wanted after all */
	struct leat_table owners;       /* of processes */
	struct leat_table running;      /* which program: its number */
	struct leat_table programs;
	char **names; /* owned, with their texts; of programs, by number */
	uint32_t n_names, names_capacity;
	uint64_t last_key; /* of `owners`: calls of a process mostly follow one another */
	uint32_t last_owner;
};

static uint64_t key_of(unsigned node, int32_t pid)
{
	return (uint64_t)node << 32 | (uint32_t)pid;
}

/* ---- programs: what takes the place of tasks where there are none ---- */

static int number_of_program(struct collect *c, const char *path, uint32_t *number)
{
	const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
	char **names;
	int error;

	*number = leat_table_find(&c->programs, name, strlen(name));
	if (*number != LEAT_TABLE_NONE)
		return 0;
	if (c->n_names >= MOST_PROGRAMS) {
		*number = OTHERS;
		return 0;
	}
	if (c->n_names == c->names_capacity) {
		names = reallocarray(c->names, c->names_capacity + 64, sizeof(*names));
		if (!names)
			return -ENOMEM;
		c->names = names;
		c->names_capacity += 64;
	}
	c->names[c->n_names] = strdup(name);
	if (!c->names[c->n_names])
		return -ENOMEM;
	*number = c->n_names++;
	error = leat_table_put(&c->programs, name, strlen(name), *number);
	return error;
}

static int find_program(struct collect *c, uint64_t key, uint32_t *owner)
{
	uint32_t number = leat_table_find(&c->running, &key, sizeof(key));

	if (number == OTHERS) {
		c->found->analysis->gaps.folded_tasks++;
		*owner = 0;
		return 0;
	}
	return leat_analysis_task(c->found->analysis,
				  number == LEAT_TABLE_NONE ? "(unknown program)"
							    : c->names[number],
				  NULL, LEAT_REPORT_PROGRAM, owner);
}

/* ---- whose a process is ---- */

static int make_task(struct collect *c, const struct leat_associate_answer *answer, uint32_t *task)
{
	const struct leat_associate_task *of = answer->task;
	struct leat_report_task *t;
	int error = leat_analysis_task(c->found->analysis, of->physical, of->workflow,
				       LEAT_REPORT_TASK, task);

	t = error ? NULL : &c->found->analysis->tasks[*task];
	if (error || t->logical || t->origin != LEAT_REPORT_TASK)
		return error;
	t->logical = strdup(of->logical ? of->logical : of->physical);
	t->evidence = strdup(leat_associate_evidence_name(answer->evidence));
	t->began_ns = of->began_ns;
	t->ended_ns = of->ended_ns;
	return t->logical && t->evidence ? 0 : -ENOMEM;
}

static int find_owner(struct collect *c, unsigned node, int32_t pid, int64_t time_ns,
		      uint32_t *owner)
{
	struct leat_associate_answer answer = {.reason = LEAT_ASSOCIATE_NO_TASKS};
	uint64_t key = key_of(node, pid);
	int error;

	if (key == c->last_key) {
		*owner = c->last_owner;
		return 0;
	}
	*owner = leat_table_find(&c->owners, &key, sizeof(key));
	if (*owner == LEAT_TABLE_NONE) {
		if (c->map)
			leat_associate_find(c->map, node, pid, time_ns, &answer);
		error = answer.task ? make_task(c, &answer, owner) : find_program(c, key, owner);
		if (error)
			return error;
		if (!answer.task)
			*owner |= (uint32_t)answer.reason << TASK_BITS;
		error = leat_table_put(&c->owners, &key, sizeof(key), *owner);
		if (error)
			return error;
	}
	c->last_key = key;
	c->last_owner = *owner;
	return 0;
}

static void forget_owner(struct collect *c, uint64_t key)
{
	leat_table_remove(&c->owners, &key, sizeof(key));
	c->last_key = UINT64_MAX;
}

/* ---- records ---- */

static int add_call(struct collect *c, unsigned node, const struct leat_trace_call *call)
{
	struct leat_report_found *f = c->found;
	uint32_t owner, reason;
	int error = find_owner(c, node, call->pid, call->start_ns, &owner);

	if (error)
		return error;
	reason = owner >> TASK_BITS;
	if (!reason)
		f->attributed_calls++;
	else
		f->unattributed[reason].calls++;
	if (reason && call->result > 0 &&
	    (call->type == LEAT_TRACE_READ || call->type == LEAT_TRACE_WRITE))
		f->unattributed[reason].bytes += (uint64_t)call->result;
	return leat_analysis_call(f->analysis, node, owner & TASK_MASK, call);
}

static int run_program(struct collect *c, uint64_t key, const char *program)
{
	uint32_t number = LEAT_TABLE_NONE;
	int error = program ? number_of_program(c, program, &number) : 0;

	if (!error && number != LEAT_TABLE_NONE)
		return leat_table_put(&c->running, &key, sizeof(key), number);
	leat_table_remove(&c->running, &key, sizeof(key));
	return error;
}

static int add_process(struct collect *c, unsigned node, const struct leat_trace_process *p)
{
	uint64_t key = key_of(node, p->pid), parent = key_of(node, p->ppid);
	uint32_t owner, number;
	int error = 0;

	c->found->analysis->n_processes++;
	switch (p->change) {
	case LEAT_TRACE_FORK:
		forget_owner(c, key);
		number = leat_table_find(&c->running, &parent, sizeof(parent));
		if (number == LEAT_TABLE_NONE)
			leat_table_remove(&c->running, &key, sizeof(key));
		else
			error = leat_table_put(&c->running, &key, sizeof(key), number);
		break;
	case LEAT_TRACE_EXEC:
		forget_owner(c, key);
		error = run_program(c, key, p->program);
		break;
	case LEAT_TRACE_EXIT:
		break;
	}
	if (!error)
		error = find_owner(c, node, p->pid, p->time_ns, &owner);
	if (error)
		return error;
	leat_analysis_alive(c->found->analysis, owner & TASK_MASK, p->time_ns);
	if (p->change == LEAT_TRACE_EXIT) {
		forget_owner(c, key);
		leat_table_remove(&c->running, &key, sizeof(key));
	}
	return 0;
}

/* Reads and writes have no name, and so tell nothing of whose they are. */
static bool has_name(const struct leat_trace_record *r)
{
	return r->kind != LEAT_TRACE_CALL || r->call.path || r->call.to;
}

static int grow_sources(struct leat_report_found *f, unsigned n)
{
	struct leat_report_source *v;

	if (n <= f->n_sources)
		return 0;
	v = reallocarray(f->sources, n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	memset(v + f->n_sources, 0, (n - f->n_sources) * sizeof(*v));
	f->sources = v;
	f->n_sources = n;
	return 0;
}

static int add_unseen(struct leat_report_found *f, unsigned node, const struct leat_trace_unseen *u)
{
	struct leat_trace_unseen *v;
	struct leat_report_source *s;

	if (grow_sources(f, node + 1))
		return -ENOMEM;
	s = &f->sources[node];
	v = reallocarray(s->unseen, s->n_unseen + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	s->unseen = v;
	v += s->n_unseen++;
	*v = (struct leat_trace_unseen){u->times, strdup(u->program ? u->program : ""),
					u->why ? strdup(u->why) : NULL};
	return v->program && !v->why == !u->why ? 0 : -ENOMEM;
}

/* ---- passes ---- */

static int add_record(struct collect *c, const struct leat_trace_record *r)
{
	if (!c->settled)
		return has_name(r) ? leat_associate_add(c->map, r, NULL) : 0;
	switch (r->kind) {
	case LEAT_TRACE_CALL:
		return add_call(c, r->node, &r->call);
	case LEAT_TRACE_PROCESS:
		c->labels |= r->process.change == LEAT_TRACE_EXEC && r->process.labels;
		return add_process(c, r->node, &r->process);
	case LEAT_TRACE_MOUNT:
		return leat_analysis_mount(c->found->analysis, r->node, &r->mount);
	case LEAT_TRACE_UNSEEN:
		return add_unseen(c->found, r->node, &r->unseen);
	case LEAT_TRACE_CGROUP:
		break;
	}
	return 0;
}

static int note_problem(struct leat_report_found *f, const char *why)
{
	if (!f->malformed++)
		f->first_problem = strdup(why);
	return f->first_problem ? 0 : -ENOMEM;
}

/* Reads to the end, or until labels are found of which nobody was to ask. */
static int add_records(struct collect *c, struct leat_feed *feed)
{
	const struct leat_trace_record *record;
	int status, error = 0;

	while (!error && (status = leat_feed_next(feed, &record)) != 0) {
		if (status > 0)
			error = add_record(c, record);
		else if (status != -EBADMSG)
			break;
		else if (c->settled)
			error = note_problem(c->found, leat_feed_why(feed));
		if (c->labels && !c->map)
			break;
	}
	if (!error && status < 0 && status != -EBADMSG) {
		c->found->broken = status;
		error = status == -ENOMEM ? status : 0;
	}
	return error;
}

static char *copy(const char *text, int *error)
{
	char *out = text ? strdup(text) : NULL;

	if (text && !out)
		*error = -ENOMEM;
	return out;
}

static int set_sources(struct leat_report_found *f, const struct leat_trace_reader *reader)
{
	unsigned n = leat_trace_reader_nodes(reader);
	int error = 0;

	if (grow_sources(f, n))
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		const struct leat_trace_head *head = leat_trace_reader_head(reader, i);
		struct leat_report_source *s = &f->sources[i];

		s->host = copy(head->host, &error);
		s->tracer = copy(head->tracer, &error);
		s->command = copy(head->command, &error);
		s->foreign = head->foreign;
		s->tail = *leat_trace_reader_tail(reader, i);
	}
	return error;
}

/* One pass over all traces. */
static int read_all(struct collect *c)
{
	struct leat_trace_reader *reader = c->request->open(c->request->ctx);
	struct leat_feed *feed;
	int error;

	if (!reader)
		return -EINVAL;
	feed = leat_feed_new(reader);
	error = feed ? add_records(c, feed) : -errno;
	leat_feed_free(feed);
	if (!error && c->settled)
		error = set_sources(c->found, reader);
	leat_trace_reader_free(reader);
	if (error)
		leat_error("cannot make the report: %s", strerror(-error));
	return error;
}

/* ---- all ---- */

static void forget_all(struct collect *c)
{
	leat_table_release(&c->owners);
	leat_table_release(&c->running);
	leat_table_release(&c->programs);
	for (uint32_t i = 0; i < c->n_names; i++)
		free(c->names[i]);
	free(c->names);
	c->names = NULL;
	c->n_names = c->names_capacity = 0;
	c->last_key = UINT64_MAX;
}

static int begin_analysis(struct collect *c)
{
	leat_report_found_release(c->found);
	forget_all(c);
	c->found->analysis = leat_analysis_new(c->request->limits);
	c->settled = true;
	if (c->found->analysis)
		return 0;
	leat_error("cannot make the report: %s", strerror(errno));
	return -ENOMEM;
}

/* Whose the calls are is known when all has been read: so it is read once more. */
static int collect_with_map(struct collect *c)
{
	int error;

	c->map = c->request->map;
	c->settled = false;
	error = read_all(c);
	if (!error && leat_associate_resolve(c->map)) {
		leat_error("cannot make the report: out of memory");
		error = -ENOMEM;
	}
	if (!error)
		error = begin_analysis(c);
	if (!error)
		error = read_all(c);
	if (error)
		return error;
	c->found->has_map = leat_associate_tasks(c->map) > 0;
	c->found->partial_map = leat_associate_is_partial(c->map);
	return 0;
}

static bool map_is_wanted(const struct leat_report_request *request)
{
	return leat_associate_tasks(request->map) || request->slurm;
}

static int by_time(const void *a, const void *b)
{
	const struct leat_report_wait *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : strcmp(x->name, y->name);
}

int leat_report_collect(const struct leat_report_request *request, struct leat_report_found *found)
{
	struct collect c = {.request = request, .found = found, .last_key = UINT64_MAX};
	int error = 0;

	*found = (struct leat_report_found){0};
	if (map_is_wanted(request)) {
		error = collect_with_map(&c);
	} else {
		error = begin_analysis(&c);
		if (!error)
			error = read_all(&c);
		if (!error && c.labels)
			error = collect_with_map(&c);
	}
	for (size_t i = 0; !error && i < request->n_runs; i++) {
		error = leat_report_read_waits(request->runs[i], found);
		if (error)
			leat_error("cannot read %s: %s", request->runs[i], strerror(-error));
	}
	if (found->n_waits)
		qsort(found->waits, found->n_waits, sizeof(*found->waits), by_time);
	if (!error)
		leat_analysis_finish(found->analysis);
	else
		leat_report_found_release(found);
	forget_all(&c);
	return error;
}

void leat_report_found_release(struct leat_report_found *f)
{
	leat_analysis_free(f->analysis);
	for (unsigned i = 0; i < f->n_sources; i++) {
		free(f->sources[i].host);
		free(f->sources[i].tracer);
		free(f->sources[i].command);
		for (size_t k = 0; k < f->sources[i].n_unseen; k++) {
			free((void *)(uintptr_t)f->sources[i].unseen[k].program);
			free((void *)(uintptr_t)f->sources[i].unseen[k].why);
		}
		free(f->sources[i].unseen);
	}
	for (size_t i = 0; i < f->n_waits; i++) {
		free(f->waits[i].step);
		free(f->waits[i].name);
	}
	free(f->waits);
	free(f->sources);
	free(f->first_problem);
	*f = (struct leat_report_found){0};
}
