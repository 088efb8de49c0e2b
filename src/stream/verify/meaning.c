/* What the declared rules mean (docs/explanation/semantics.md), worked out from what the steps have
 * done, with no bookkeeping but of what is final. The rules must say the same. */
#include "stream/verify/state.h"

struct look {
	const struct verify_model *model;
	const struct verify_state *st;
};

/* ---- what was done to a file ---- */

static bool writes(const struct look *l, int task, int file)
{
	return l->model->tasks[task].kind == VERIFY_WRITE && l->model->tasks[task].file == file;
}

static bool is_open_by(const struct look *l, int file, int step)
{
	if (l->model->files[file].temporary)
		return false;
	for (int i = 0; i < l->model->n_tasks; i++)
		if (writes(l, i, file) && l->model->tasks[i].step == step && l->st->open[i])
			return true;
	return false;
}

/* A directory is as long as a file in it that may still change is. */
static bool is_open(const struct look *l, int file)
{
	const struct verify_file *f = &l->model->files[file];

	for (int step = 0; step < l->model->n_steps; step++)
		if (is_open_by(l, file, step))
			return true;
	for (int i = 0; i < l->model->n_files; i++)
		if (f->below >> i & 1 && l->st->meaning[i] < LEAT_FILE_COMMITTED && is_open(l, i))
			return true;
	return false;
}

static bool exists(const struct look *l, int file)
{
	const struct verify_file *f = &l->model->files[file];

	for (int i = 0; i < l->model->n_files; i++)
		if (f->below >> i & 1 && l->st->exists[i])
			return true;
	return l->st->exists[file];
}

static bool is_pending(const struct look *l, int file, int step)
{
	for (int i = 0; i < l->model->n_tasks; i++)
		if (writes(l, i, file) && l->st->pending[i] &&
		    (step < 0 || l->model->tasks[i].step == step))
			return true;
	return false;
}

/* Closes by all producers but `except`. Of on_close:N, N > 1, empty ones count, too. */
static unsigned closes(const struct look *l, int file, int except)
{
	const struct leat_file_rule *rule = l->model->files[file].rule;
	bool every = rule->commit == LEAT_COMMIT_ON_CLOSE && rule->count > 1;
	unsigned n = 0;

	for (int i = 0; i < l->model->n_tasks && l->st->exists[file]; i++)
		if (writes(l, i, file) && l->model->tasks[i].step != except)
			n += every ? l->st->at[i] / 3u : l->st->closed[i];
	return n;
}

static unsigned closes_by(const struct look *l, int file, int step)
{
	unsigned n = 0;

	for (int i = 0; i < l->model->n_tasks && l->st->exists[file]; i++)
		if (writes(l, i, file) && l->model->tasks[i].step == step)
			n += l->st->closed[i];
	return n;
}

/* ---- when it is complete ---- */

/* Has the step anything open for writing? */
static bool holds_files(const struct look *l, int step)
{
	for (int i = 0; i < l->model->n_tasks; i++)
		if (l->model->tasks[i].step == step && l->st->open[i])
			return true;
	return false;
}

static bool is_done_by(const struct look *l, int file, int step)
{
	if (is_open_by(l, file, step) || is_pending(l, file, step))
		return false;
	return leat_verify_state_over(l->st, step) || closes_by(l, file, step);
}

static bool is_whole(const struct look *l, int file, bool empty_counts)
{
	return exists(l, file) && !is_open(l, file) && !l->st->cut[file] &&
	       (empty_counts || !is_pending(l, file, -1));
}

static bool is_closed(const struct look *l, int file)
{
	const struct verify_file *f = &l->model->files[file];
	bool counts = f->rule->commit == LEAT_COMMIT_ON_CLOSE && f->rule->count;

	if (f->is_dir || !is_whole(l, file, counts && f->rule->count > 1))
		return false;
	if (counts)
		return closes(l, file, -1) >= f->rule->count;
	for (int step = 0; step < l->model->n_steps; step++)
		if (f->producers >> step & 1 && !is_done_by(l, file, step))
			return false;
	return true;
}

static bool are_dependencies_done(const struct look *l, const struct verify_file *f)
{
	if (f->dep_nobody)
		return false;
	for (int i = 0; i < l->model->n_files; i++)
		if (f->deps >> i & 1 && l->st->meaning[i] != LEAT_FILE_COMMITTED)
			return false;
	for (int step = 0; step < l->model->n_steps; step++)
		if (f->dep_makers >> step & 1 &&
		    (l->st->phase[step] != VERIFY_ENDED || holds_files(l, step)))
			return false;
	return true;
}

static bool is_counted_full(const struct look *l, int file)
{
	const struct verify_file *f = &l->model->files[file];
	unsigned needed = f->rule->n_files ? f->rule->n_files : f->rule->count, n = 0;

	if (!f->is_dir)
		return is_closed(l, file);
	for (int i = 0; i < l->model->n_files; i++)
		n += f->below >> i & 1 && l->st->exists[i] &&
		     l->st->meaning[i] == LEAT_FILE_COMMITTED;
	return needed && n >= needed;
}

static unsigned producers_that(const struct look *l, const struct verify_file *f, bool have)
{
	unsigned n = 0;

	for (int step = 0; step < l->model->n_steps; step++)
		n += f->producers >> step & 1 && (have ? l->st->phase[step] == VERIFY_ENDED
						       : l->st->phase[step] != VERIFY_FAILED);
	return n;
}

static bool is_met(const struct look *l, int file)
{
	const struct verify_file *f = &l->model->files[file];

	switch (f->rule->commit) {
	case LEAT_COMMIT_ON_TERMINATION:
		return f->rule->count && exists(l, file) && !is_open(l, file) &&
		       producers_that(l, f, true) >= f->rule->count;
	case LEAT_COMMIT_ON_FILE:
		return is_whole(l, file, false) && are_dependencies_done(l, f);
	case LEAT_COMMIT_N_FILES:
		return is_counted_full(l, file);
	case LEAT_COMMIT_ON_CLOSE:
		break;
	}
	return is_closed(l, file);
}

static bool has_failed(const struct look *l, const struct verify_file *f)
{
	unsigned needed = f->rule->commit == LEAT_COMMIT_ON_TERMINATION && f->rule->count
				  ? f->rule->count
				  : (unsigned)__builtin_popcount(f->producers);

	return producers_that(l, f, false) < needed;
}

static bool are_over(const struct look *l, uint32_t steps)
{
	for (int step = 0; step < l->model->n_steps; step++)
		if (steps >> step & 1 && !leat_verify_state_over(l->st, step))
			return false;
	return true;
}

static enum leat_file_state evaluate(const struct look *l, int file)
{
	const struct verify_file *f = &l->model->files[file];

	if (l->st->meaning[file] >= LEAT_FILE_COMMITTED)
		return (enum leat_file_state)l->st->meaning[file];
	if (has_failed(l, f))
		return LEAT_FILE_FAILED;
	if (is_met(l, file))
		return LEAT_FILE_COMMITTED;
	if (are_over(l, f->producers) && !is_open(l, file))
		return exists(l, file) ? LEAT_FILE_COMMITTED : LEAT_FILE_GONE;
	return exists(l, file) ? LEAT_FILE_PRODUCED : LEAT_FILE_ABSENT;
}

void leat_verify_state_settle(const struct verify_model *model, struct verify_state *st)
{
	struct look l = {model, st};
	bool changed = true;

	while (changed) {
		changed = false;
		for (int i = 0; i < model->n_files; i++) {
			enum leat_file_state state;

			if (!model->files[i].governed)
				continue;
			state = evaluate(&l, i);
			changed = changed || state != st->meaning[i];
			st->meaning[i] = state;
		}
	}
}

/* ---- what a call is answered ---- */

enum {
	GO = 1u << LEAT_GO,
	STREAM = 1u << LEAT_GO_STREAM,
	WAIT = 1u << LEAT_WAIT,
	NOENT = 1u << LEAT_NOENT,
	FAILED = 1u << LEAT_FAILED,
};

static uint32_t steps_after(const struct look *l, int step)
{
	uint32_t after = 0;

	for (int p = 0; p < l->model->n_steps; p++)
		if (leat_is_strictly_upstream(l->model->m, step, p))
			after |= UINT32_C(1) << p;
	return after;
}

static bool are_others_done(const struct look *l, int file, int step)
{
	const struct verify_file *f = &l->model->files[file];
	uint32_t others = f->producers & ~(UINT32_C(1) << step) & ~steps_after(l, step);
	bool closed = f->rule->commit == LEAT_COMMIT_ON_CLOSE && !f->is_dir && exists(l, file) &&
		      !l->st->cut[file];

	for (int p = 0; p < l->model->n_steps; p++) {
		if (!(others >> p & 1))
			continue;
		if (is_open_by(l, file, p))
			return false;
		closed = closed && (f->rule->count || is_done_by(l, file, p));
	}
	if (closed && f->rule->count)
		closed = closes(l, file, step) + 1 >= f->rule->count;
	return closed || are_over(l, others);
}

static unsigned answer_read(const struct look *l, int step, int file, enum verify_stage stage)
{
	const struct verify_file *f = &l->model->files[file];
	bool grows = f->rule->fire == LEAT_FIRE_NO_UPDATE && stage == VERIFY_OPEN;

	if (l->st->meaning[file] == LEAT_FILE_FAILED)
		return FAILED;
	if (l->st->meaning[file] == LEAT_FILE_COMMITTED)
		return GO;
	if (f->producers >> step & 1)
		return l->st->meaning[file] == LEAT_FILE_GONE || are_others_done(l, file, step)
			       ? GO
			       : WAIT;
	if (l->st->meaning[file] == LEAT_FILE_GONE)
		return stage == VERIFY_READ_END ? GO : NOENT;
	return grows && l->st->meaning[file] == LEAT_FILE_PRODUCED && l->st->put[file] ? STREAM
										       : WAIT;
}

/* Of calls that concern several names it is only said what they must not be answered: to go on
 * while a file that the step will read there may still come or change; to wait when all that
 * others may make is decided. */
static unsigned answer_many(const struct look *l, const struct verify_task *t, const char *dir,
			    uint64_t among)
{
	int step = t->step;
	bool exact = t->kind == VERIFY_LAUNCH && !t->many;
	bool open = false, failed = false, growing = false, maker_failed = false, makers = false;

	for (int i = 0; i < l->model->n_files; i++) {
		const struct verify_file *f = &l->model->files[i];

		if (!(among >> i & 1) || !(f->consumers >> step & 1) || f->producers >> step & 1)
			continue;
		failed = failed || l->st->meaning[i] == LEAT_FILE_FAILED;
		open = open || l->st->meaning[i] < LEAT_FILE_COMMITTED;
		growing = growing || (f->rule->fire == LEAT_FIRE_NO_UPDATE &&
				      l->st->meaning[i] == LEAT_FILE_PRODUCED);
	}
	for (int p = 0; p < l->model->n_steps; p++) {
		if (exact || p == step || !leat_step_writes_below(l->model->m, p, dir))
			continue;
		maker_failed = maker_failed || l->st->phase[p] == VERIFY_FAILED;
		makers = makers || !leat_verify_state_over(l->st, p) || holds_files(l, p);
	}
	if (failed)
		return FAILED;
	if (!open)
		return GO | STREAM | (makers ? WAIT : 0) | (maker_failed ? FAILED : 0);
	return (growing && t->kind == VERIFY_LIST ? GO : 0) | STREAM | WAIT |
	       (maker_failed ? FAILED : 0);
}

/* A staged step goes after those that it follows in the batch; where it need not, after other
 * staged ones that spell out an output of it. */
static bool has_its_turn(const struct look *l, int step)
{
	const struct leat_matcher *m = l->model->m;
	const struct leat_step *steps = l->model->wf->steps;

	for (int p = 0; p < l->model->n_steps; p++) {
		const struct leat_names *names = &steps[p].outputs;

		if (p == step || leat_verify_state_over(l->st, p) || !leat_runs_before(m, p, step))
			continue;
		if (!leat_are_on_cycle(m, p, step) && !steps[p].concurrent &&
		    !steps[step].concurrent)
			return false;
		if (!steps[p].staged)
			continue;
		for (size_t i = 0; i < names->n; i++)
			if (!leat_pattern_is_wild(names->v[i].text) &&
			    leat_names_has(&steps[step].outputs, names->v[i].text))
				return false;
	}
	return true;
}

unsigned leat_verify_state_answers(const struct verify_model *model, const struct verify_state *st,
				   int task, enum verify_stage stage)
{
	const struct verify_task *t = &model->tasks[task];
	struct look l = {model, st};
	uint64_t inputs = 0;
	unsigned answers;

	switch (stage) {
	case VERIFY_ASK_LIST:
		return answer_many(&l, t, model->files[t->file].name, model->files[t->file].below);
	case VERIFY_ASK_LAUNCH:
		for (int i = 0; i < model->n_files; i++)
			if (leat_steps_has(model->files[i].rule->consumers, t->step))
				inputs |= UINT64_C(1) << i;
		answers = answer_many(&l, t, "", inputs) & ~(unsigned)STREAM;
		return has_its_turn(&l, t->step) ? answers : (answers & ~(unsigned)GO) | WAIT;
	default:
		return answer_read(&l, t->step, t->file, stage);
	}
}
