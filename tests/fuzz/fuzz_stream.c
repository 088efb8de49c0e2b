/* Any order of any events: the rules neither crash nor leak, whoever was told to
 * wait is woken when the answer changes, final states stay final, and the run
 * replays from its log with the same decisions.
 *
 *   CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined \
 *       -Db_lundef=false
 *   ninja -C build-fuzz tests/fuzz/fuzz_stream
 *   mkdir corpus; build-fuzz/tests/fuzz/fuzz_stream -max_total_time=300 corpus */
#include "model/version.h"
#include "stream/replay.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 4, NAMES = 14, WAITERS = 6 };

static const char *const names[NAMES] = {"",
					 "x",
					 "y",
					 "z",
					 "d",
					 "d/1",
					 "d/2",
					 "d/e",
					 "d/e/3",
					 "t",
					 "t/1",
					 "p1",
					 LEAT_VERSIONS_DIR "/2/x",
					 LEAT_VERSIONS_DIR "/3/x"};

static const struct {
	const char *inputs[4];
	const char *outputs[4];
	struct {
		const char *name;
		bool is_dir;
		enum leat_commit commit;
		unsigned count;
		enum leat_fire fire;
		const char *dep;
	} rules[3];
} steps[STEPS] = {
	{.inputs = {"z"},
	 .outputs = {"x", "d"},
	 .rules = {{"x", false, LEAT_COMMIT_ON_CLOSE, 0, LEAT_FIRE_NO_UPDATE, NULL},
		   {"d", true, LEAT_COMMIT_N_FILES, 2, LEAT_FIRE_NO_UPDATE, NULL}}},
	{.inputs = {"x"},
	 .outputs = {"x", "y", "p*"},
	 .rules = {{"y", false, LEAT_COMMIT_ON_FILE, 0, LEAT_FIRE_ON_COMMIT, "d"},
		   {"p*", false, LEAT_COMMIT_ON_CLOSE, 2, LEAT_FIRE_ON_COMMIT, NULL}}},
	{.inputs = {"d", "y", "p*"},
	 .outputs = {"z"},
	 .rules = {{"z", false, LEAT_COMMIT_ON_FILE, 0, LEAT_FIRE_NO_UPDATE, "p*"}}},
	{.inputs = {"d/e/*", "x"},
	 .outputs = {"y"},
	 .rules = {{NULL, false, LEAT_COMMIT_ON_TERMINATION, 0, LEAT_FIRE_ON_COMMIT, NULL}}},
};

struct waiting {
	bool waits;
	bool woken;
	struct leat_event question;
};

struct fuzz {
	struct leat_workflow *wf;
	struct leat_matcher *m;
	struct leat_stream *s;
	FILE *log;
	uint64_t seq;
	enum leat_file_state states[NAMES];
	struct waiting waiting[WAITERS];
	const uint8_t *data;
	size_t size;
};

static unsigned take(struct fuzz *f, unsigned below)
{
	unsigned v = f->size ? *f->data : 0;

	if (f->size) {
		f->data++;
		f->size--;
	}
	return v % below;
}

/* ---- the workflow ---- */

static void add_names(struct leat_names *to, const char *const *texts)
{
	for (size_t i = 0; i < 4 && texts[i]; i++)
		if (leat_names_add(to, texts[i], (struct leat_pos){0}))
			abort();
}

static void add_step(struct leat_workflow *wf, size_t i)
{
	struct leat_step *s = &wf->steps[i];

	s->name = strdup((const char[]){(char)('A' + i), '\0'});
	s->instances = i == 1 ? 2 : 1;
	add_names(&s->inputs, steps[i].inputs);
	add_names(&s->outputs, steps[i].outputs);
	s->rules = calloc(3, sizeof(*s->rules));
	if (!s->name || !s->rules)
		abort();
	for (; s->n_rules < 3 && steps[i].rules[s->n_rules].name; s->n_rules++) {
		struct leat_rule *r = &s->rules[s->n_rules];

		r->name.text = strdup(steps[i].rules[s->n_rules].name);
		r->is_dir = steps[i].rules[s->n_rules].is_dir;
		r->commit = steps[i].rules[s->n_rules].commit;
		r->count = steps[i].rules[s->n_rules].count;
		r->fire = steps[i].rules[s->n_rules].fire;
		if (steps[i].rules[s->n_rules].dep &&
		    leat_names_add(&r->deps, steps[i].rules[s->n_rules].dep, (struct leat_pos){0}))
			abort();
	}
}

/* The last step is a job of three processes, and sees x in versions. */
static void add_view(struct leat_step *s)
{
	s->nprocs = 3;
	s->inports = calloc(1, sizeof(*s->inports));
	if (!s->inports || !(s->inports->sources = calloc(1, sizeof(*s->inports->sources))))
		abort();
	s->n_inports = s->inports->n_sources = 1;
	s->inports->flow = LEAT_FLOW_ALL;
	s->inports->seen.text = strdup("x");
	s->inports->sources->made = strdup("x");
	if (!s->inports->seen.text || !s->inports->sources->made)
		abort();
}

/* Step B may decide itself when its files are passed on. */
static struct leat_workflow *make_workflow(bool acts)
{
	struct leat_workflow *wf = leat_workflow_new();

	if (!wf || !(wf->steps = calloc(STEPS, sizeof(*wf->steps))))
		abort();
	wf->n_steps = STEPS;
	for (size_t i = 0; i < STEPS; i++)
		add_step(wf, i);
	add_view(&wf->steps[STEPS - 1]);
	if (acts && !(wf->steps[1].action_file = strdup("a.py")))
		abort();
	return wf;
}

/* ---- what the rules say ---- */

static void put(struct fuzz *f, struct leat_event ev)
{
	ev.seq = f->seq++;
	if (leat_event_write(f->log, &ev))
		abort();
}

/* A failed file stays failed, whatever happens. */
static void on_state(void *ctx, const char *name, enum leat_file_state state)
{
	struct fuzz *f = ctx;

	put(f, (struct leat_event){.kind = LEAT_EV_STATE, .step = -1, .name = name, .code = state});
	for (int i = 0; i < NAMES; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		if (f->states[i] == LEAT_FILE_FAILED || f->states[i] == state)
			abort();
		f->states[i] = state;
	}
}

static void on_wake(void *ctx, const char *name)
{
	struct fuzz *f = ctx;

	put(f, (struct leat_event){.kind = LEAT_EV_WAKE, .step = -1, .name = name});
	for (int i = 0; i < WAITERS; i++)
		if (f->waiting[i].waits && !strcmp(f->waiting[i].question.name, name))
			f->waiting[i].woken = true;
}

static void on_violation(void *ctx, enum leat_violation kind, const char *name, int step,
			 const char *text)
{
	(void)ctx;
	(void)kind;
	(void)name;
	(void)step;
	if (!*text)
		abort();
}

static enum leat_answer ask(struct fuzz *f, const struct leat_event *ev)
{
	struct leat_event answer = {.kind = LEAT_EV_ANSWER, .step = -1, .waiter = ev->waiter};

	put(f, *ev);
	answer.code = leat_stream_ask(f->s, ev);
	put(f, answer);
	return (enum leat_answer)answer.code;
}

/* ---- one event ---- */

static void put_question(struct fuzz *f)
{
	unsigned i = take(f, WAITERS);
	struct waiting *w = &f->waiting[i];

	w->question = (struct leat_event){.kind = LEAT_EV_ASK,
					  .waiter = i + 1,
					  .step = (int)take(f, STEPS),
					  .call = take(f, LEAT_CALL_LAUNCH + 1),
					  .name = names[take(f, NAMES)],
					  .offset = take(f, 4),
					  .length = take(f, 8)};
	w->waits = ask(f, &w->question) == LEAT_WAIT;
	w->woken = false;
}

/* The version that is meant, valid until the next. */
static const char *meant(const struct fuzz *f, const struct leat_event *ev, enum leat_call call)
{
	static char name[PATH_MAX];

	return leat_stream_version(f->s, ev->step, ev->code, call, ev->name, name) ==
			       LEAT_VERSION_NAMED
		       ? name
		       : ev->name;
}

static void apply(struct fuzz *f)
{
	struct leat_event ev = {.kind = (enum leat_event_kind)take(f, LEAT_EV_ANSWER),
				.step = (int)take(f, STEPS + 1) - 1,
				.name = names[take(f, NAMES)]};
	unsigned more = take(f, 256);

	ev.flags = more & 15;
	ev.pid = more & 3;
	ev.ofd = more >> 4 & 7;
	ev.status = more >> 7 ? -9 : 0;
	ev.length = more & 7;
	ev.waiter = more & 7;
	ev.code = more & 7;
	if (ev.kind == LEAT_EV_ASK) {
		put_question(f);
		return;
	}
	if (ev.kind == LEAT_EV_RENAME || (ev.kind == LEAT_EV_CREATE && more >> 7))
		ev.to = names[take(f, NAMES)];
	if (ev.kind == LEAT_EV_TAKE) {
		ev.to = ev.name;
		ev.name = meant(f, &ev, LEAT_CALL_OPEN);
	} else if (ev.kind == LEAT_EV_OPEN) {
		ev.name = meant(f, &ev, LEAT_CALL_WRITE);
		/* no open is abnormal */
		if (ev.flags & LEAT_EVF_ABNORMAL)
			ev.flags = LEAT_EVF_INTACT;
	}
	if (ev.kind == LEAT_EV_CANCEL && ev.waiter && ev.waiter <= WAITERS)
		f->waiting[ev.waiter - 1].waits = false;
	put(f, ev);
	(void)leat_stream_apply(f->s, &ev);
}

/* Whoever was woken asks again; whoever was not would still be told to wait. */
static void check_waiting(struct fuzz *f)
{
	for (int i = 0; i < WAITERS; i++) {
		struct waiting *w = &f->waiting[i];
		struct leat_event probe = w->question;

		if (!w->waits)
			continue;
		probe.waiter = w->woken ? w->question.waiter : 0;
		if (ask(f, &probe) == LEAT_WAIT)
			w->woken = false;
		else if (w->woken)
			w->waits = false;
		else
			abort();
	}
}

static void check_replay(struct fuzz *f)
{
	struct leat_replay_result result = {0};

	rewind(f->log);
	if (f->seq && (leat_replay(f->m, f->wf, f->log, stderr, &result) || result.differences))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct leat_stream_ops ops = {
		.state = on_state, .wake = on_wake, .violation = on_violation};
	static char log[1 << 20];
	struct fuzz f = {.data = data, .size = size};

	if (size > 2000)
		return 0;
	f.wf = make_workflow(size % 2);
	f.m = leat_matcher_new(f.wf);
	f.log = fmemopen(log, sizeof(log), "w+");
	if (!f.m || !f.log)
		abort();
	f.s = leat_stream_new(f.m, f.wf, &ops, &f);
	if (!f.s)
		abort();
	while (f.size) {
		apply(&f);
		check_waiting(&f);
	}
	(void)leat_stream_deadlock(f.s, NULL, NULL, NULL);
	check_replay(&f);
	leat_stream_free(f.s);
	fclose(f.log);
	leat_matcher_free(f.m);
	leat_workflow_free(f.wf);
	return 0;
}
