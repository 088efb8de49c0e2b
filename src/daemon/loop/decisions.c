/* What the rules decide, done: all comes from here to files, steps and clients. */
#include "base/fault.h"
#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/files/states.h"
#include "daemon/files/versions.h"
#include "daemon/loop/loop.h"
#include "daemon/run/actions.h"
#include "daemon/run/milestones.h"
#include "daemon/run/relaunch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void on_state(void *ctx, const char *name, enum leat_file_state state)
{
	struct leat_daemon *d = ctx;
	struct leat_event ev = {.kind = LEAT_EV_STATE, .name = name, .code = state, .step = -1};
	struct leat_file *f = leat_file_find(d, name);

	LEAT_FAULT("state");
	leat_event_log(d, &ev);
	if (f)
		leat_file_refresh(d, f, state);
	if (f && state == LEAT_FILE_COMMITTED)
		leat_actions_committed(d, f);
	if (f && state == LEAT_FILE_COMMITTED && f->made)
		leat_milestones_file(d, LEAT_MILESTONE_COMMIT, f, d->applying);
	else if (f && state == LEAT_FILE_FAILED)
		leat_milestones_file(d, LEAT_MILESTONE_FAIL, f, d->applying);
	LEAT_FAULT("state.shown");
}

static void on_wake(void *ctx, const char *name)
{
	struct leat_daemon *d = ctx;
	struct leat_event ev = {.kind = LEAT_EV_WAKE, .name = name, .step = -1};
	struct leat_file *f = leat_file_find(d, name);

	leat_event_log(d, &ev);
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

const struct leat_stream_ops leat_daemon_decisions = {
	.state = on_state,
	.wake = on_wake,
	.violation = on_violation,
	.failed = on_failed,
	.unwanted = on_unwanted,
	.conflict = on_conflict,
};
