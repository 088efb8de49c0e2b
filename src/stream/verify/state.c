#include "stream/verify/state.h"

#include <string.h>

static struct verify_stage_of stage_of_read(const struct verify_model *model, unsigned at)
{
	static const enum verify_stage stages[] = {VERIFY_LOOK, VERIFY_OPEN, VERIFY_READ_END,
						   VERIFY_DONE};

	return (struct verify_stage_of){stages[model->bounds.looks || at ? at : 1], 0, false};
}

static struct verify_stage_of stage_of_write(const struct verify_model *model,
					     const struct verify_task *task, unsigned at)
{
	static const enum verify_stage stages[] = {VERIFY_CREATE, VERIFY_PUT, VERIFY_CLOSE};
	unsigned round = at / 3, rounds = task->rounds;
	struct verify_stage_of s = {.round = round,
				    .empty = model->bounds.empty || (task->empty_first && !round)};

	if (round < rounds) {
		s.stage = stages[at % 3];
	} else if (model->files[task->file].temporary && at == 3 * rounds && rounds) {
		s.stage = VERIFY_NAME;
	} else {
		s.stage = VERIFY_DONE;
	}
	return s;
}

struct verify_stage_of leat_verify_stage(const struct verify_model *model, int task, unsigned at)
{
	const struct verify_task *t = &model->tasks[task];

	switch (t->kind) {
	case VERIFY_LAUNCH:
		return (struct verify_stage_of){.stage = at ? VERIFY_DONE : VERIFY_ASK_LAUNCH};
	case VERIFY_LIST:
		return (struct verify_stage_of){.stage = at ? VERIFY_DONE : VERIFY_ASK_LIST};
	case VERIFY_READ:
		return stage_of_read(model, at);
	case VERIFY_WRITE:
		break;
	}
	return stage_of_write(model, t, at);
}

void leat_verify_state_init(const struct verify_model *model, struct verify_state *st)
{
	memset(st, 0, sizeof(*st));
	for (int step = 0; step < model->n_steps; step++)
		st->phase[step] = model->wf->steps[step].staged ? VERIFY_TO_COME : VERIFY_RUNNING;
	leat_verify_state_settle(model, st);
}

bool leat_verify_state_all_over(const struct verify_model *model, const struct verify_state *st)
{
	for (int step = 0; step < model->n_steps; step++)
		if (!leat_verify_state_over(st, step))
			return false;
	return true;
}

/* ---- what is possible ---- */

struct menu {
	const struct verify_model *model;
	const struct verify_state *st;
	struct verify_action *out;
	int n;
};

static void offer(struct menu *m, enum verify_verb verb, int step, int task)
{
	m->out[m->n++] = (struct verify_action){verb, step, task};
}

static bool is_done(const struct menu *m, int task)
{
	const struct verify_task *t = &m->model->tasks[task];

	/* What a staged step makes appears when it has ended. */
	if (t->kind == VERIFY_WRITE && m->model->wf->steps[t->step].staged)
		return true;
	return leat_verify_stage(m->model, task, m->st->at[task]).stage == VERIFY_DONE;
}

/* Files that the step has begun with and not finished. */
static unsigned at_work_with(const struct menu *m, int step)
{
	unsigned n = 0;

	for (int i = 0; i < m->model->n_tasks; i++)
		n += m->model->tasks[i].step == step && m->st->at[i] && !is_done(m, i);
	return n;
}

/* A task waits for the one that must come first, and for that of an equal file: which of two
 * equal files is written first makes no difference. */
static bool is_held_back(const struct menu *m, int task)
{
	const struct verify_task *t = &m->model->tasks[task];
	int twin = t->kind == VERIFY_WRITE ? m->model->files[t->file].twin : -1;

	if (t->after >= 0 && !is_done(m, t->after))
		return true;
	if (!m->st->at[task] && at_work_with(m, t->step) >= m->model->bounds.open)
		return true;
	for (int i = 0; twin >= 0 && !m->model->bounds.full && i < task; i++)
		if (m->model->tasks[i].kind == VERIFY_WRITE && m->model->tasks[i].step == t->step &&
		    m->model->tasks[i].file == twin)
			return m->st->at[i] <= m->st->at[task];
	return false;
}

/* Will the answer never change, whoever acts? Then it may as well be given now. */
static bool is_final(const struct menu *m, int task)
{
	const struct verify_task *t = &m->model->tasks[task];

	return t->kind == VERIFY_READ && (m->st->meaning[t->file] == LEAT_FILE_COMMITTED ||
					  m->st->meaning[t->file] == LEAT_FILE_GONE);
}

/* Does nobody else notice the next thing it does? */
static bool is_unseen(const struct menu *m, int task)
{
	const struct verify_task *t = &m->model->tasks[task];

	return is_final(m, task) || (t->kind == VERIFY_WRITE && m->model->files[t->file].private);
}

static bool is_end_unseen(const struct menu *m, int step)
{
	const struct verify_model *model = m->model;

	if (!model->by_name || m->st->phase[step] != VERIFY_RUNNING)
		return false;
	for (int i = 0; i < model->n_files; i++) {
		const struct verify_file *f = &model->files[i];

		if (f->dep_makers >> step & 1 || f->dep_nobody || f->is_dir ||
		    (f->producers >> step & 1 && !f->private &&
		     m->st->meaning[i] != LEAT_FILE_COMMITTED))
			return false;
	}
	return true;
}

/* An action of step `step` that commutes with all others and that no property speaks of: it is
 * enough to explore that one. */
static bool offer_unseen(struct menu *m, int step)
{
	bool done = true;

	if (verify_waits(m->st, step) >= 0) {
		if (m->st->woken[step] && is_final(m, verify_waits(m->st, step)))
			offer(m, VERIFY_RETRY, step, verify_waits(m->st, step));
		return m->n;
	}
	if (m->st->phase[step] != VERIFY_RUNNING)
		return false;
	for (int i = 0; i < m->model->n_tasks; i++) {
		if (m->model->tasks[i].step != step || is_done(m, i))
			continue;
		done = false;
		if (!is_unseen(m, i) || is_held_back(m, i))
			continue;
		offer(m, VERIFY_DO, step, i);
		return true;
	}
	if (done && !m->model->bounds.failures && is_end_unseen(m, step))
		offer(m, VERIFY_EXIT, step, -1);
	return m->n;
}

/* A step that has ended, but for a child that has files open: it goes on with those. */
static void offer_child(struct menu *m, int step)
{
	for (int i = 0; i < m->model->n_tasks; i++)
		if (m->model->tasks[i].step == step && m->st->open[i])
			offer(m, VERIFY_DO, step, i);
}

/* May the step end although this is not done? */
static bool may_be_left(const struct menu *m, int task)
{
	if (m->model->tasks[task].kind != VERIFY_WRITE)
		return false;
	return (m->model->bounds.omissions && !m->st->at[task]) ||
	       (m->model->bounds.children && m->st->open[task]);
}

static void offer_step(struct menu *m, int step)
{
	const struct verify_state *st = m->st;
	bool done = true;

	switch (st->phase[step]) {
	case VERIFY_DYING:
		offer(m, VERIFY_ABORT, step, -1);
		return;
	case VERIFY_EXITED:
		offer(m, VERIFY_END, step, -1);
		return;
	case VERIFY_ENDED:
		offer_child(m, step);
		return;
	case VERIFY_FAILED:
		return;
	default:
		break;
	}
	if (verify_waits(st, step) >= 0 && st->woken[step])
		offer(m, VERIFY_RETRY, step, verify_waits(st, step));
	for (int i = 0; i < m->model->n_tasks && verify_waits(st, step) < 0; i++) {
		if (m->model->tasks[i].step != step || is_done(m, i))
			continue;
		done = done && may_be_left(m, i);
		if (!is_held_back(m, i) &&
		    (st->phase[step] == VERIFY_RUNNING || m->model->tasks[i].kind == VERIFY_LAUNCH))
			offer(m, VERIFY_DO, step, i);
	}
	if (verify_waits(st, step) < 0 && done)
		offer(m, VERIFY_EXIT, step, -1);
	if (st->failures < m->model->bounds.failures && st->phase[step] == VERIFY_RUNNING)
		offer(m, VERIFY_FAIL, step, -1);
}

int leat_verify_state_next(const struct verify_model *model, const struct verify_state *st,
			   struct verify_action *out)
{
	struct menu m = {.model = model, .st = st, .out = out};

	for (int step = 0; step < model->n_steps && model->eager; step++)
		if (offer_unseen(&m, step))
			return m.n;
	for (int step = 0; step < model->n_steps; step++)
		offer_step(&m, step);
	return m.n;
}
