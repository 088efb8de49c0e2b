/* Calls of producers. */
#include "stream/verify/acts.h"

static uint64_t ofd_of(int task)
{
	return (uint64_t)task + 1;
}

const char *leat_verify_written_name(const struct verify_system *w, int task)
{
	const struct verify_file *f = &w->model->files[w->model->tasks[task].file];

	return f->temporary ? f->temporary : f->name;
}

/* As libraries look whether a file is there: an open for writing that changes nothing. */
static void look_by_open(struct verify_system *w, int task, const char *name)
{
	struct leat_event ev = {.kind = LEAT_EV_OPEN,
				.step = w->model->tasks[task].step,
				.pid = leat_verify_pid(w->model->tasks[task].step),
				.ofd = ofd_of(VERIFY_TASKS + task),
				.flags = LEAT_EVF_INTACT,
				.name = name};

	leat_verify_apply(w, ev);
	ev.kind = LEAT_EV_CLOSE;
	ev.flags = 0;
	ev.length = (uint64_t)w->st.put[w->model->tasks[task].file] * VERIFY_UNIT;
	leat_verify_apply(w, ev);
}

/* Does it change what was taken for complete, by its rule or by who goes on from it? */
static bool is_late(const struct verify_system *w, const struct verify_task *t)
{
	const struct leat_matcher *m = w->model->m;

	for (int i = 0; i < w->model->n_tasks; i++) {
		const struct verify_task *o = &w->model->tasks[i];

		if (o->kind == VERIFY_READ && o->file == t->file && w->st.at[i] &&
		    w->model->files[t->file].producers >> o->step & 1 &&
		    leat_is_strictly_upstream(m, t->step, o->step))
			return true;
	}
	return w->st.meaning[t->file] == LEAT_FILE_COMMITTED;
}

void leat_verify_create(struct verify_system *w, int task, const struct verify_stage_of *s)
{
	const struct verify_task *t = &w->model->tasks[task];
	const struct verify_file *f = &w->model->files[t->file];
	bool fresh = !w->st.put[t->file];

	leat_verify_print(w, "%s opens %s for writing", leat_verify_step_name(w, t->step),
			  leat_verify_written_name(w, task));
	if (!f->temporary) {
		w->opened_late = is_late(w, t);
		w->st.exists[t->file] = true;
		for (int i = 0; i < w->model->n_tasks; i++)
			if (w->model->tasks[i].file == t->file)
				w->st.pending[i] = false;
	}
	w->st.at[task]++;
	w->st.open[task] = true;
	if (!fresh && !f->temporary)
		look_by_open(w, task, f->name);
	leat_verify_apply(w, (struct leat_event){.kind = LEAT_EV_OPEN,
						 .step = t->step,
						 .pid = leat_verify_pid(t->step),
						 .ofd = ofd_of(task),
						 .flags = fresh ? LEAT_EVF_CREAT | LEAT_EVF_TRUNC
							  : s->empty ? 0
								     : LEAT_EVF_INTACT,
						 .name = leat_verify_written_name(w, task)});
	if (s->empty)
		w->st.at[task]++;
}

void leat_verify_put(struct verify_system *w, int task)
{
	const struct verify_task *t = &w->model->tasks[task];
	unsigned before = w->st.put[t->file]++;

	leat_verify_print(w, "%s writes to %s", leat_verify_step_name(w, t->step),
			  leat_verify_written_name(w, task));
	w->st.at[task]++;
	leat_verify_apply(w, (struct leat_event){.kind = LEAT_EV_WRITE,
						 .step = t->step,
						 .pid = leat_verify_pid(t->step),
						 .ofd = ofd_of(task)});
	leat_verify_apply(w, (struct leat_event){.kind = LEAT_EV_EXTENT,
						 .step = t->step,
						 .pid = leat_verify_pid(t->step),
						 .ofd = ofd_of(task),
						 .offset = (uint64_t)before * VERIFY_UNIT,
						 .length = VERIFY_UNIT,
						 .name = leat_verify_written_name(w, task)});
}

void leat_verify_close(struct verify_system *w, int task, bool dead)
{
	const struct verify_task *t = &w->model->tasks[task];

	leat_verify_apply(w,
			  (struct leat_event){.kind = LEAT_EV_CLOSE,
					      .step = t->step,
					      .pid = leat_verify_pid(t->step),
					      .ofd = ofd_of(task),
					      .flags = dead ? LEAT_EVF_ABNORMAL : 0,
					      .length = (uint64_t)w->st.put[t->file] * VERIFY_UNIT,
					      .name = leat_verify_written_name(w, task)});
}

void leat_verify_close_file(struct verify_system *w, int task)
{
	const struct verify_task *t = &w->model->tasks[task];

	leat_verify_print(w, "%s closes %s", leat_verify_step_name(w, t->step),
			  leat_verify_written_name(w, task));
	w->st.at[task]++;
	w->st.open[task] = false;
	if (w->st.put[t->file] || leat_verify_state_over(&w->st, t->step))
		w->st.closed[task]++;
	else
		w->st.pending[task] = true;
	if (!w->model->files[t->file].temporary)
		w->st.cut[t->file] = false;
	leat_verify_close(w, task, false);
}

void leat_verify_rename(struct verify_system *w, int task)
{
	const struct verify_task *t = &w->model->tasks[task];
	const struct verify_file *f = &w->model->files[t->file];

	leat_verify_print(w, "%s renames %s to %s", leat_verify_step_name(w, t->step), f->temporary,
			  f->name);
	w->opened_late = is_late(w, t);
	w->st.at[task]++;
	w->st.exists[t->file] = true;
	/* Giving a file its name says that it is whole, empty or not. */
	if (!w->st.closed[task])
		w->st.closed[task]++;
	w->st.pending[task] = false;
	leat_verify_apply(w, (struct leat_event){.kind = LEAT_EV_RENAME,
						 .step = t->step,
						 .pid = leat_verify_pid(t->step),
						 .name = f->temporary,
						 .to = f->name});
}
