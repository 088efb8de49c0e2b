#include "report/waits.h"

#include "base/str.h"
#include "eventlog/event.h"
#include "report/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum {
	ANSWER_WAIT = 2, /* the code of an ANSWER that lets the call wait
			    (docs/explanation/semantics.md) */
	STEPS_MAX = 1 << 20,
	WAITS_MAX = 10000,
};

/* A call that waits. */
struct waiter {
	UT_hash_handle hh;
	uint64_t id;
	size_t wait; /* index */
	uint64_t since_ns;
};

struct step {
	char *name;    /* owned; NULL unknown */
	uint32_t task; /* UINT32_MAX: not in the trace */
};

struct waits {
	struct leat_report_found *found;
	struct step *steps; /* owned */
	size_t n_steps, step_capacity;
	size_t capacity;         /* in found->waits */
	struct waiter *waiters;  /* owned */
	struct leat_table known; /* waits by step and name */
	/* The last question, which the answer behind it is to. */
	uint64_t asker;
	int asking_step;
	char *asked_name; /* owned */
};

static struct step *step_of(struct waits *w, int number)
{
	if (number < 0 || number >= STEPS_MAX)
		return NULL;
	while (w->n_steps <= (size_t)number) {
		if (w->n_steps == w->step_capacity) {
			size_t capacity = w->step_capacity ? 2 * w->step_capacity : 64;
			struct step *steps = reallocarray(w->steps, capacity, sizeof(*steps));

			if (!steps)
				return NULL;
			w->steps = steps;
			w->step_capacity = capacity;
		}
		w->steps[w->n_steps++] = (struct step){.task = UINT32_MAX};
	}
	return &w->steps[number];
}

static uint32_t find_task(const struct leat_analysis *a, const char *name, const char *workflow)
{
	for (uint32_t i = 0; i < a->n_tasks; i++) {
		const struct leat_report_task *t = &a->tasks[i];

		if (t->origin == LEAT_REPORT_TASK && !strcmp(t->name, name) &&
		    (!workflow || !t->workflow || !strcmp(t->workflow, workflow)))
			return i;
	}
	return UINT32_MAX;
}

static int start_step(struct waits *w, const struct leat_event *ev)
{
	struct step *s = step_of(w, ev->step);

	if (!s || !ev->name || s->name)
		return 0;
	s->name = strdup(ev->name);
	s->task = find_task(w->found->analysis, ev->name, ev->to);
	return s->name ? 0 : -ENOMEM;
}

static int ask(struct waits *w, const struct leat_event *ev)
{
	char *name = strdup(ev->name ? ev->name : "");

	if (!name)
		return -ENOMEM;
	free(w->asked_name);
	w->asked_name = name;
	w->asker = ev->waiter;
	w->asking_step = ev->step;
	return 0;
}

static int make_wait(struct waits *w, const char *step_name, uint32_t task, const char *name)
{
	struct leat_report_found *f = w->found;
	struct leat_report_wait *v;

	if (f->n_waits == w->capacity) {
		size_t capacity = w->capacity ? 2 * w->capacity : 16;

		v = reallocarray(f->waits, capacity, sizeof(*v));
		if (!v)
			return -ENOMEM;
		f->waits = v;
		w->capacity = capacity;
	}
	v = &f->waits[f->n_waits];
	*v = (struct leat_report_wait){
		.step = strdup(step_name), .name = strdup(name), .task = task};
	if (!v->step || !v->name) {
		free(v->step);
		free(v->name);
		return -ENOMEM;
	}
	f->n_waits++;
	return 0;
}

static int find_wait(struct waits *w, size_t *wait)
{
	const struct step *s = step_of(w, w->asking_step);
	const char *step_name = s && s->name ? s->name : "(unknown step)", *name = w->asked_name;
	char *key;
	uint32_t number;
	int error = 0;

	if (w->found->n_waits >= WAITS_MAX)
		name = "(others)";
	key = leat_strf("%s\n%s", step_name, name);
	if (!key)
		return -ENOMEM;
	number = leat_table_find(&w->known, key, strlen(key));
	if (number == LEAT_TABLE_NONE) {
		number = (uint32_t)w->found->n_waits;
		error = make_wait(w, step_name, s ? s->task : UINT32_MAX, name);
		if (!error)
			error = leat_table_put(&w->known, key, strlen(key), number);
	}
	free(key);
	*wait = number;
	return error;
}

static void end_wait(struct waits *w, struct waiter *waiter, uint64_t now_ns)
{
	struct leat_report_wait *wait = &w->found->waits[waiter->wait];
	uint64_t ns = now_ns > waiter->since_ns ? now_ns - waiter->since_ns : 0;

	wait->times++;
	wait->ns += ns;
	if (ns > wait->longest_ns)
		wait->longest_ns = ns;
	if (wait->task != UINT32_MAX)
		w->found->analysis->tasks[wait->task].waited_ns += ns;
	HASH_DEL(w->waiters, waiter);
	free(waiter);
}

static int answer(struct waits *w, const struct leat_event *ev)
{
	struct waiter *waiter;
	int error;

	HASH_FIND(hh, w->waiters, &ev->waiter, sizeof(ev->waiter), waiter);
	if (ev->code != ANSWER_WAIT || ev->kind == LEAT_EV_CANCEL) {
		if (waiter)
			end_wait(w, waiter, ev->time_ns);
		return 0;
	}
	/* Woken for something else, it goes on waiting. */
	if (waiter || !w->asked_name || w->asker != ev->waiter)
		return 0;
	waiter = calloc(1, sizeof(*waiter));
	if (!waiter)
		return -ENOMEM;
	waiter->id = ev->waiter;
	waiter->since_ns = ev->time_ns;
	error = find_wait(w, &waiter->wait);
	if (!error)
		HASH_ADD(hh, w->waiters, id, sizeof(waiter->id), waiter);
	if (!error && waiter->hh.tbl)
		return 0;
	free(waiter);
	return -ENOMEM;
}

static int add_event(struct waits *w, const struct leat_event *ev)
{
	switch (ev->kind) {
	case LEAT_EV_STEP_START:
		return start_step(w, ev);
	case LEAT_EV_ASK:
		return ask(w, ev);
	case LEAT_EV_ANSWER:
	case LEAT_EV_CANCEL:
		return answer(w, ev);
	default:
		return 0;
	}
}

static int read_all(struct waits *w, struct leat_event_reader *reader)
{
	struct leat_event ev;
	uint64_t last_ns = 0;
	int result, error = 0;

	while (!error && (result = leat_event_read(reader, &ev)) != 0) {
		/* The map has said what is malformed. */
		if (result == -EINVAL)
			continue;
		if (result < 0)
			return result;
		last_ns = ev.time_ns;
		error = add_event(w, &ev);
	}
	while (w->waiters)
		end_wait(w, w->waiters, last_ns);
	return error;
}

int leat_report_read_waits(const char *log, struct leat_report_found *found)
{
	struct waits w = {.found = found, .capacity = found->n_waits};
	FILE *in = fopen(log, "re");
	struct leat_event_reader *reader = in ? leat_event_reader_new(in) : NULL;
	int error = reader ? read_all(&w, reader) : -errno;
	struct waiter *waiter, *next;

	leat_event_reader_free(reader);
	if (in)
		fclose(in);
	HASH_ITER(hh, w.waiters, waiter, next)
	{
		HASH_DEL(w.waiters, waiter);
		free(waiter);
	}
	for (size_t i = 0; i < w.n_steps; i++)
		free(w.steps[i].name);
	free(w.steps);
	free(w.asked_name);
	leat_table_release(&w.known);
	return error;
}
