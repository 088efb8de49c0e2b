#include "stream/verify/acts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void leat_verify_fault(struct verify_system *w, enum leat_verify_kind kind, const char *format, ...)
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

const char *leat_verify_step_name(const struct verify_system *w, int step)
{
	return w->model->wf->steps[step].name;
}

void leat_verify_print(struct verify_system *w, const char *format, ...)
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

static void note(struct verify_system *w, struct leat_event ev)
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
	struct verify_system *w = ctx;

	note(w,
	     (struct leat_event){.kind = LEAT_EV_STATE, .step = -1, .name = name, .code = state});
	if (w->people)
		fprintf(w->people, "       %s is %s\n", name, words[state]);
}

const char *leat_verify_asked_name(const struct verify_system *w, int task)
{
	int file = w->model->tasks[task].file;

	return file < 0 ? "" : w->model->files[file].name;
}

static void on_wake(void *ctx, const char *name)
{
	struct verify_system *w = ctx;

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
	struct verify_system *w = ctx;

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

void leat_verify_apply(struct verify_system *w, struct leat_event ev)
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

enum leat_answer leat_verify_ask(struct verify_system *w, const struct leat_event *ev)
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

int leat_verify_system_begin(struct verify_system *w, const struct verify_model *model,
			     struct leat_heap *heap)
{
	static const struct leat_stream_ops ops = {
		.state = on_state, .wake = on_wake, .violation = on_violation, .failed = on_failed};

	*w = (struct verify_system){
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
