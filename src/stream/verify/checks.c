/* What must hold at every moment. */
#include "stream/verify/acts.h"

static const char *readable(const struct verify_system *w, int task)
{
	const char *name = leat_verify_asked_name(w, task);

	if (*name)
		return name;
	return w->model->tasks[task].kind == VERIFY_LAUNCH ? "its inputs" : "the directory";
}

static void check_files(struct verify_system *w)
{
	static const char *const words[] = {"absent", "incomplete", "complete", "failed",
					    "never to come"};

	for (int i = 0; i < w->model->n_files; i++) {
		const struct verify_file *f = &w->model->files[i];
		enum leat_file_state reported, meant = (enum leat_file_state)w->st.meaning[i];
		enum leat_verify_kind kind = LEAT_VERIFY_WRONG;

		if (!f->governed || (f->sampled && !w->st.exists[i]))
			continue;
		reported = leat_stream_state(w->s, f->name);
		if (reported == meant)
			continue;
		if (reported == LEAT_FILE_COMMITTED || reported == LEAT_FILE_GONE)
			kind = LEAT_VERIFY_EARLY;
		else if (meant >= LEAT_FILE_COMMITTED && reported < LEAT_FILE_COMMITTED)
			kind = LEAT_VERIFY_STARVATION;
		leat_verify_fault(w, kind, "the rules take %s for %s; by what is declared it is %s",
				  f->name, words[reported], words[meant]);
	}
}

static void check_waits(struct verify_system *w)
{
	for (int step = 0; step < w->model->n_steps; step++) {
		int task = verify_waits(&w->st, step);
		enum verify_stage stage;

		if (task < 0 || w->st.woken[step])
			continue;
		stage = leat_verify_stage(w->model, task, w->st.at[task]).stage;
		if (leat_verify_state_answers(w->model, &w->st, task, stage) & 1u << LEAT_WAIT)
			continue;
		leat_verify_fault(w, LEAT_VERIFY_STARVATION,
				  "step %s waits for %s and is not woken",
				  leat_verify_step_name(w, step), readable(w, task));
	}
}

static void check_violations(struct verify_system *w)
{
	if (w->violations && w->opened_late)
		leat_verify_fault(w, LEAT_VERIFY_VIOLATION,
				  "a producer writes a file that its rule took for complete");
	else if (w->violations)
		leat_verify_fault(w, LEAT_VERIFY_WRONG, "a violation is reported that is none");
	else if (w->opened_late)
		leat_verify_fault(
			w, LEAT_VERIFY_EARLY,
			"a file that was passed on as complete is written, and nobody notices");
}

static void check_deadlock(struct verify_system *w)
{
	bool stuck[VERIFY_STEPS] = {false};
	bool waits = false;

	for (int step = 0; step < w->model->n_steps; step++)
		waits = waits || (verify_waits(&w->st, step) >= 0 && !w->st.woken[step]);
	if (!waits || leat_stream_deadlock(w->s, NULL, stuck, NULL) <= 0)
		return;
	for (int step = 0; step < w->model->n_steps; step++) {
		int task = verify_waits(&w->st, step);

		if (!stuck[step])
			continue;
		w->st.stuck[step] = true;
		w->fault.what.stuck |= UINT64_C(1) << step;
		if (task >= 0)
			w->fault.what.waits[task / 64] |= UINT64_C(1) << task % 64;
	}
	leat_verify_fault(w, LEAT_VERIFY_DEADLOCK, "deadlock");
}

void leat_verify_check(struct verify_system *w)
{
	check_files(w);
	check_violations(w);
	check_waits(w);
	if (!w->fault.found)
		check_deadlock(w);
}

void leat_verify_system_check_end(struct verify_system *w)
{
	for (int step = 0; step < w->model->n_steps; step++) {
		int task = verify_waits(&w->st, step);

		if (task >= 0 && !w->st.stuck[step])
			leat_verify_fault(w, LEAT_VERIFY_STARVATION,
					  "step %s waits for %s for ever, and no deadlock is seen",
					  leat_verify_step_name(w, step), readable(w, task));
	}
	if (!leat_verify_state_all_over(w->model, &w->st))
		return;
	for (int i = 0; i < w->model->n_files; i++) {
		const struct verify_file *f = &w->model->files[i];

		if (f->governed && w->st.meaning[i] < LEAT_FILE_COMMITTED)
			leat_verify_fault(w, LEAT_VERIFY_WRONG,
					  "all steps have ended, and %s is undecided", f->name);
	}
}
