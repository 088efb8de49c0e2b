#include "daemon/core/events.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "daemon/run/actions.h"
#include "daemon/files/files.h"
#include "daemon/run/steps.h"
#include "daemon/ops/versions.h"

#include <errno.h>
#include <string.h>

static void write_event(struct leat_daemon *d, struct leat_event *ev)
{
	int rc;

	ev->seq = d->seq++;
	ev->time_ns = leat_clock_ns();
	if (!d->log)
		return;
	rc = leat_event_write(d->log, ev);
	if (rc) {
		leat_error("event log %s: %s; it ends here", d->options.log_path, strerror(-rc));
		fclose(d->log);
		d->log = NULL;
	}
}

static void on_state(void *ctx, const char *name, enum leat_file_state state)
{
	struct leat_daemon *d = ctx;
	struct leat_event ev = {.kind = LEAT_EV_STATE, .name = name, .code = state, .step = -1};
	struct leat_file *f = leat_file_find(d, name);

	LEAT_FAULT("state");
	write_event(d, &ev);
	if (f)
		leat_file_refresh(d, f, state);
	if (f && state == LEAT_FILE_COMMITTED)
		leat_acts_committed(d, f);
	if (f && state == LEAT_FILE_COMMITTED && f->made)
		leat_marks_file(d, LEAT_MARK_COMMIT, f, d->applying);
	else if (f && state == LEAT_FILE_FAILED)
		leat_marks_file(d, LEAT_MARK_FAIL, f, d->applying);
	LEAT_FAULT("state.told");
}

static void on_wake(void *ctx, const char *name)
{
	struct leat_daemon *d = ctx;
	struct leat_event ev = {.kind = LEAT_EV_WAKE, .name = name, .step = -1};
	struct leat_file *f = leat_file_find(d, name);

	write_event(d, &ev);
	if (f)
		leat_shm_file_update(leat_file_shm(d, f), 0, 0);
	leat_step_look(d, name);
}

static void on_violation(void *ctx, enum leat_violation kind, const char *name, int step,
			 const char *text)
{
	struct leat_daemon *d = ctx;
	struct leat_file *f = leat_file_find(d, name);
	bool fatal = !d->options.warn_violations;

	(void)kind;
	d->n_violations++;
	if (f && fatal)
		f->violated = true;
	if (fatal)
		leat_steps_taint(d, leat_match(d->matcher, name), step);
	leat_problem_add(d, fatal ? -ECANCELED : 0, "violation: %s", text);
}

static void on_failed(void *ctx, const char *name, const char *why)
{
	struct leat_daemon *d = ctx;
	struct leat_file *f = leat_file_find(d, name);

	if (!f)
		return;
	free(f->why);
	f->why = strdup(why);
}

static void on_unwanted(void *ctx, const char *name)
{
	leat_versions_unwanted(ctx, name);
}

static void on_conflict(void *ctx, const char *name, int step, int other, bool harmless,
			const char *text)
{
	struct leat_daemon *d = ctx;
	struct leat_file *f = leat_file_find(d, name);
	bool fatal = !harmless && !d->options.warn_violations;

	if (f && fatal)
		f->violated = true;
	if (fatal) {
		leat_steps_taint(d, NULL, step);
		leat_steps_taint(d, leat_match(d->matcher, name), other);
	}
	d->n_violations += !harmless;
	leat_problem_add(d, fatal ? -ECANCELED : 0, harmless ? "%s" : "violation: %s", text);
}

int leat_events_init(struct leat_daemon *d, char *error, size_t error_size)
{
	static const struct leat_stream_ops ops = {
		.state = on_state,
		.wake = on_wake,
		.violation = on_violation,
		.failed = on_failed,
		.unwanted = on_unwanted,
		.conflict = on_conflict,
	};

	if (d->options.log_path) {
		d->log = fopen(d->options.log_path, "we");
		if (!d->log) {
			snprintf(error, error_size, "cannot write the event log %s: %s",
				 d->options.log_path, strerror(errno));
			return -errno;
		}
	}
	for (size_t i = 0; i < d->wf->n_steps; i++)
		d->has_views |= d->wf->steps[i].n_inports > 0;
	d->matcher = leat_matcher_new(d->wf);
	if (d->matcher)
		d->stream = leat_stream_new(d->matcher, d->wf, &ops, d);
	if (d->stream)
		return 0;
	snprintf(error, error_size, "out of memory");
	return -ENOMEM;
}

void leat_events_release(struct leat_daemon *d)
{
	if (d->log && fclose(d->log) != 0)
		leat_error("event log %s: %s", d->options.log_path, strerror(errno));
	d->log = NULL;
	leat_stream_free(d->stream);
	leat_matcher_free(d->matcher);
	d->stream = NULL;
	d->matcher = NULL;
}

/* Sizes relied on before a commit are judged when it has come, outside the
 * callback that told of it. */
static void judge_early(struct leat_daemon *d)
{
	struct leat_file *f;

	while ((f = d->early_due)) {
		struct leat_early *e;

		d->early_due = f->early_next;
		f->early_due = false;
		while ((e = f->early)) {
			f->early = e->next;
			if (f->size > e->size)
				leat_events_apply(
					d, (struct leat_event){.kind = LEAT_EV_VIOLATION,
							       .step = e->step,
							       .name = f->name,
							       .code = LEAT_VIOLATION_EARLY_SIZE,
							       .flags = LEAT_EVF_PLACED,
							       .offset = e->read_end,
							       .length = e->size});
			free(e);
		}
	}
}

int leat_events_apply(struct leat_daemon *d, struct leat_event ev)
{
	int rc;

	d->progress++;
	write_event(d, &ev);
	d->applying = ev.step;
	rc = leat_stream_apply(d->stream, &ev);
	d->applying = -1;
	if (rc)
		leat_debug("event %s of %s: %s", leat_event_kind_name(ev.kind),
			   ev.name ? ev.name : "-", strerror(-rc));
	judge_early(d);
	return rc;
}

enum leat_answer leat_events_ask(struct leat_daemon *d, int step, uint64_t waiter,
				 enum leat_call call, const char *name, uint64_t offset,
				 uint64_t length)
{
	struct leat_event ev = {.kind = LEAT_EV_ASK,
				.step = step,
				.waiter = waiter,
				.call = call,
				.name = name,
				.offset = offset,
				.length = length};
	struct leat_event answer = {.kind = LEAT_EV_ANSWER, .step = -1, .waiter = waiter};
	enum leat_answer a;

	write_event(d, &ev);
	a = leat_stream_ask(d->stream, &ev);
	answer.code = a;
	write_event(d, &answer);
	if (a != LEAT_WAIT)
		d->progress++;
	judge_early(d);
	return a;
}

void leat_events_cancel(struct leat_daemon *d, uint64_t waiter)
{
	struct leat_event ev = {.kind = LEAT_EV_CANCEL, .step = -1, .waiter = waiter};

	write_event(d, &ev);
	leat_stream_apply(d->stream, &ev);
}
