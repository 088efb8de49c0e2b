#include "stream/verify/acts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void leat_verify_fault(struct verify_world *w, enum leat_verify_kind kind, const char *format, ...)
{
	va_list ap;

	if (w->fault.found)
		return;
	w->fault.found = true;
	w->fault.what.kind = kind;
	va_start(ap, format);
	vsnprintf(w->fault.what.text, sizeof(w->fault.what.text), format, ap);
	va_end(ap);
}

const char *leat_verify_step_name(const struct verify_world *w, int step)
{
	return w->model->wf->steps[step].name;
}

void leat_verify_tell(struct verify_world *w, const char *format, ...)
{
	va_list ap;

	if (!w->people)
		return;
	fprintf(w->people, "%3u. ", ++w->number);
	va_start(ap, format);
	vfprintf(w->people, format, ap);
	va_end(ap);
	putc('\n', w->people);
}

static void note(struct verify_world *w, struct leat_event ev)
{
	ev.seq = w->seq++;
	if (w->log && leat_event_write(w->log, &ev))
		w->error = -EIO;
}

/* ---- what the rules say ---- */

static void on_state(void *ctx, const char *name, enum leat_file_state state)
{
	static const char *const words[] = {"absent again", "being produced", "complete", "failed",
					    "never to come"};
	struct verify_world *w = ctx;

	note(w,
	     (struct leat_event){.kind = LEAT_EV_STATE, .step = -1, .name = name, .code = state});
	if (w->people)
		fprintf(w->people, "       %s is %s\n", name, words[state]);
}

const char *leat_verify_asked_name(const struct verify_world *w, int task)
{
	int file = w->model->tasks[task].file;

	return file < 0 ? "" : w->model->files[file].name;
}

static void on_wake(void *ctx, const char *name)
{
	struct verify_world *w = ctx;

	note(w, (struct leat_event){.kind = LEAT_EV_WAKE, .step = -1, .name = name});
	for (int step = 0; step < w->model->n_steps; step++) {
		if (verify_waits(&w->st, step) < 0 ||
		    strcmp(leat_verify_asked_name(w, verify_waits(&w->st, step)), name) != 0)
			continue;
		if (w->st.stuck[step])
			leat_verify_fault(
				w, LEAT_VERIFY_WRONG,
				"a deadlock was reported, but the call of step %s on %s goes on",
				leat_verify_step_name(w, step), *name ? name : "its inputs");
		w->st.woken[step] = true;
	}
}

static void on_violation(void *ctx, enum leat_violation kind, const char *name, int step,
			 const char *text)
{
	struct verify_world *w = ctx;

	(void)kind;
	(void)name;
	(void)step;
	w->violations++;
	if (w->people)
		fprintf(w->people, "       violation: %s\n", text);
}

static void on_failed(void *ctx, const char *name, const char *why)
{
	(void)ctx;
	(void)name;
	(void)why;
}

void leat_verify_apply(struct verify_world *w, struct leat_event ev)
{
	int rc;

	note(w, ev);
	rc = leat_stream_apply(w->s, &ev);
	if (rc == -EINVAL)
		leat_verify_fault(w, LEAT_VERIFY_WRONG, "the rules refuse the event %s",
				  leat_event_kind_name(ev.kind));
	else if (rc)
		w->error = rc;
}

enum leat_answer leat_verify_ask(struct verify_world *w, const struct leat_event *ev)
{
	struct leat_event answer = {.kind = LEAT_EV_ANSWER, .step = -1, .waiter = ev->waiter};

	note(w, *ev);
	answer.code = leat_stream_ask(w->s, ev);
	note(w, answer);
	return (enum leat_answer)answer.code;
}

int leat_verify_pid(int step)
{
	return 100 + step;
}

/* ---- ends ---- */

static void end_process(struct verify_world *w, int step, int status)
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
static void adopt(struct verify_world *w, int step)
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

static void end_step(struct verify_world *w, int step, int status)
{
	w->st.phase[step] = status ? VERIFY_FAILED : VERIFY_ENDED;
	leat_verify_apply(w, (struct leat_event){.kind = LEAT_EV_STEP_END,
						 .step = step,
						 .status = status,
						 .name = status ? "failed" : NULL});
}

static void end_well(struct verify_world *w, int step)
{
	bool staged = w->model->wf->steps[step].staged;
	bool split = w->model->bounds.full || w->model->bounds.style == LEAT_VERIFY_TWICE;

	leat_verify_tell(w, "%s ends", leat_verify_step_name(w, step));
	if (staged)
		adopt(w, step);
	else
		end_process(w, step, 0);
	if (split && !staged)
		w->st.phase[step] = VERIFY_EXITED;
	else
		end_step(w, step, 0);
}

static void kill_step(struct verify_world *w, int step)
{
	leat_verify_tell(w, "%s is killed", leat_verify_step_name(w, step));
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

/* One open file after the other is closed by the kernel, then the end is told. */
static void die(struct verify_world *w, int step)
{
	for (int i = 0; i < w->model->n_tasks; i++) {
		const struct verify_task *t = &w->model->tasks[i];
		struct verify_stage_of s = leat_verify_stage(w->model, i, w->st.at[i]);

		if (t->step != step || t->kind != VERIFY_WRITE || !w->st.open[i])
			continue;
		leat_verify_tell(w, "%s, dead, has %s closed by the kernel",
				 leat_verify_step_name(w, step), leat_verify_written_name(w, i));
		w->st.at[i] = (uint8_t)(3 * s.round);
		w->st.open[i] = false;
		if (!w->model->files[t->file].temporary)
			w->st.cut[t->file] = true;
		leat_verify_close(w, i, true);
		return;
	}
	leat_verify_tell(w, "%s has failed", leat_verify_step_name(w, step));
	end_process(w, step, -9);
	end_step(w, step, 1);
}

/* ---- one moment after the other ---- */

int leat_verify_world_begin(struct verify_world *w, const struct verify_model *model,
			    struct leat_heap *heap)
{
	static const struct leat_stream_ops ops = {
		.state = on_state, .wake = on_wake, .violation = on_violation, .failed = on_failed};

	*w = (struct verify_world){
		.model = model, .heap = heap, .people = w->people, .log = w->log};
	leat_heap_clear(heap);
	w->s = leat_stream_new(model->m, model->wf, &ops, w);
	if (!w->s)
		return -ENOMEM;
	leat_verify_state_init(model, &w->st);
	for (int i = 0; i < model->n_files; i++) {
		/* A name that nobody ever mentions has no state. */
		struct leat_event ev = {
			.kind = LEAT_EV_ASK, .step = -1, .name = model->files[i].name};

		if (!model->files[i].sampled)
			leat_verify_ask(w, &ev);
	}
	for (int step = 0; step < model->n_steps; step++)
		if (!model->wf->steps[step].staged)
			leat_verify_apply(
				w, (struct leat_event){.kind = LEAT_EV_STEP_START, .step = step});
	return w->error;
}

static void do_stage(struct verify_world *w, int task)
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

void leat_verify_world_do(struct verify_world *w, const struct verify_action *a)
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
