/* One moment after the other: what an action does. */
#include "stream/verify/acts.h"

#include <string.h>

/* ---- ends ---- */

static void end_process(struct verify_system *w, int step, int status)
{
	for (int i = 0; i < w->model->n_tasks; i++) {
		const struct verify_task *t = &w->model->tasks[i];

		if (t->step != step || !w->st.pending[i])
			continue;
		w->st.pending[i] = false;
		if (status < 0)
			w->st.cut[t->file] = true;
		else
			w->st.closed[i]++;
	}
	leat_verify_apply(w, (struct leat_event){.kind = LEAT_EV_PROC_EXIT,
						 .step = step,
						 .pid = leat_verify_pid(step),
						 .status = status});
}

/* What a staged step made is found on disk when it has ended. */
static void adopt(struct verify_system *w, int step)
{
	for (int i = 0; i < w->model->n_tasks; i++) {
		const struct verify_task *t = &w->model->tasks[i];

		if (t->step != step || t->kind != VERIFY_WRITE)
			continue;
		w->st.exists[t->file] = w->st.put[t->file] = 1;
		w->st.at[i] = 3;
		w->st.closed[i] = 1;
		leat_verify_apply(w, (struct leat_event){.kind = LEAT_EV_CREATE,
							 .step = step,
							 .name = w->model->files[t->file].name});
	}
}

static void end_step(struct verify_system *w, int step, int status)
{
	w->st.phase[step] = status ? VERIFY_FAILED : VERIFY_ENDED;
	leat_verify_apply(w, (struct leat_event){.kind = LEAT_EV_STEP_END,
						 .step = step,
						 .status = status,
						 .name = status ? "failed" : NULL});
}

static void end_well(struct verify_system *w, int step)
{
	bool staged = w->model->wf->steps[step].staged;
	bool split = w->model->bounds.full || w->model->bounds.style == LEAT_VERIFY_TWICE;

	leat_verify_print(w, "%s ends", leat_verify_step_name(w, step));
	if (staged)
		adopt(w, step);
	else
		end_process(w, step, 0);
	if (split && !staged)
		w->st.phase[step] = VERIFY_EXITED;
	else
		end_step(w, step, 0);
}

static void kill_step(struct verify_system *w, int step)
{
	leat_verify_print(w, "%s is killed", leat_verify_step_name(w, step));
	w->st.failures++;
	w->st.phase[step] = VERIFY_DYING;
	memset(w->st.stuck, 0, sizeof(w->st.stuck));
	if (verify_waits(&w->st, step) >= 0)
		leat_verify_apply(w, (struct leat_event){.kind = LEAT_EV_CANCEL,
							 .step = step,
							 .waiter = (uint64_t)step + 1});
	w->st.waits[step] = 0;
	w->st.woken[step] = false;
}

/* One open file after the other is closed by the kernel, then its end is reported. */
static void die(struct verify_system *w, int step)
{
	for (int i = 0; i < w->model->n_tasks; i++) {
		const struct verify_task *t = &w->model->tasks[i];
		struct verify_stage_of s = leat_verify_stage(w->model, i, w->st.at[i]);

		if (t->step != step || t->kind != VERIFY_WRITE || !w->st.open[i])
			continue;
		leat_verify_print(w, "%s, dead, has %s closed by the kernel",
				  leat_verify_step_name(w, step), leat_verify_written_name(w, i));
		w->st.at[i] = (uint8_t)(3 * s.round);
		w->st.open[i] = false;
		if (!w->model->files[t->file].temporary)
			w->st.cut[t->file] = true;
		leat_verify_close(w, i, true);
		return;
	}
	leat_verify_print(w, "%s has failed", leat_verify_step_name(w, step));
	end_process(w, step, -9);
	end_step(w, step, 1);
}

/* ---- one moment after the other ---- */

static void do_stage(struct verify_system *w, int task)
{
	struct verify_stage_of s = leat_verify_stage(w->model, task, w->st.at[task]);
	const struct verify_file *f;

	switch (s.stage) {
	case VERIFY_CREATE:
		f = &w->model->files[w->model->tasks[task].file];
		leat_verify_create(w, task, &s);
		/* Nobody sees a byte of it before it is closed. */
		if (!s.empty && !w->model->bounds.full &&
		    (f->rule->fire != LEAT_FIRE_NO_UPDATE || f->temporary))
			leat_verify_put(w, task);
		break;
	case VERIFY_PUT:
		leat_verify_put(w, task);
		break;
	case VERIFY_CLOSE:
		leat_verify_close_file(w, task);
		break;
	case VERIFY_NAME:
		leat_verify_rename(w, task);
		break;
	default:
		leat_verify_call(w, task);
		break;
	}
}

void leat_verify_system_do(struct verify_system *w, const struct verify_action *a)
{
	w->fault = (struct verify_fault){.found = false};
	w->violations = 0;
	w->opened_late = false;
	switch (a->verb) {
	case VERIFY_DO:
		do_stage(w, a->task);
		break;
	case VERIFY_RETRY:
		leat_verify_call(w, a->task);
		break;
	case VERIFY_EXIT:
		end_well(w, a->step);
		break;
	case VERIFY_END:
		end_step(w, a->step, 0);
		break;
	case VERIFY_FAIL:
		kill_step(w, a->step);
		break;
	case VERIFY_ABORT:
		die(w, a->step);
		break;
	}
	leat_verify_state_settle(w->model, &w->st);
	leat_verify_check(w);
}
