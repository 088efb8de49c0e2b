#include "daemon/run/steps.h"

#include "daemon/ops/own.h"

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/format.h"
#include "base/log.h"
#include "base/str.h"
#include "daemon/ops/change.h"
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/files/files.h"
#include "daemon/run/lost.h"
#include "daemon/space/spill.h"
#include "daemon/run/unseen.h"
#include "model/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* An instance that began with its first process has ended when its processes
 * have been gone for so long: the next one of a script may be on its way. */
#define IDLE_NS 200000000u

int leat_steps_init(struct leat_daemon *d)
{
	d->steps = calloc(d->wf->n_steps + 1, sizeof(*d->steps));
	return d->steps ? leat_samples_init(d) : -ENOMEM;
}

void leat_steps_free(struct leat_daemon *d)
{
	leat_samples_release(d);
	for (size_t i = 0; d->steps && i < d->wf->n_steps; i++) {
		free(d->steps[i].reason);
		free(d->steps[i].spoiled);
		leat_oom_end(&d->steps[i].oom);
		free(d->steps[i].unmade);
	}
	free(d->steps);
	d->steps = NULL;
}

const char *leat_step_state_name(const struct leat_step_run *s)
{
	if (s->status)
		return "failed";
	if (s->running)
		return "running";
	return s->started ? "done" : "waiting";
}

void leat_step_begin(struct leat_daemon *d, int step, pid_t pid)
{
	struct leat_step_run *s = &d->steps[step];
	struct leat_cgroup *group;
	struct timespec now;

	if (!s->started)
		s->start_ns = leat_clock_ns();
	s->started = true;
	leat_step_sample(d, step);
	s->running++;
	s->pid = pid;
	group = leat_spill_meet(d, pid);
	if (s->oom.group)
		leat_cgroup_close(group);
	else
		leat_oom_begin_in(&s->oom, group);
	leat_samples_start(d);
	leat_marks_step(d, LEAT_MARK_LAUNCH, step);
	clock_gettime(CLOCK_REALTIME, &now);
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_STEP_START,
						 .step = step,
						 .pid = pid,
						 .name = d->wf->steps[step].name,
						 .to = d->wf->name,
						 .offset = (uint64_t)now.tv_sec * 1000000000u +
							   (uint64_t)now.tv_nsec});
}

void leat_step_process_came(struct leat_daemon *d, int step, pid_t pid)
{
	struct leat_step_run *s = &d->steps[step];

	s->processes++;
	/* Late processes of a step that somebody looks after are no new instance. */
	if (s->declared || s->running)
		return;
	s->implicit = true;
	s->first_status = -1;
	leat_step_begin(d, step, pid);
}

/* Does it answer for what the step's programs see of the directory? Then they had errors. */
static void lose_mount(struct leat_daemon *d, const struct leat_proc *p)
{
	struct leat_step_run *s = &d->steps[p->step];

	if (!p->mount || p->exiting || d->is_finishing)
		return;
	leat_error("step %s: the server of its mount (leat-mount, process %d) has ended "
		   "unexpectedly; the program behind it gets errors",
		   d->wf->steps[p->step].name, (int)p->pid);
	if (s->running && !s->spoiled)
		s->spoiled = strdup("the server of its mount ended unexpectedly");
}

void leat_step_process_left(struct leat_daemon *d, const struct leat_proc *p)
{
	struct leat_step_run *s = &d->steps[p->step];

	lose_mount(d, p);
	if (!p->exiting)
		s->death_ns = leat_clock_ns();
	if (s->implicit && p->pid == s->pid)
		s->first_status = p->exiting ? p->status << 8 : SIGKILL;
	if (s->processes && --s->processes == 0)
		s->idle_ns = leat_clock_ns();
}

static char *describe(int status)
{
	if (WIFSIGNALED(status))
		return leat_strf("killed by signal %d (%s)", WTERMSIG(status),
				 strsignal(WTERMSIG(status)));
	return leat_strf("exited with status %d", WEXITSTATUS(status));
}

void leat_step_spoil(struct leat_daemon *d, int step, const char *name)
{
	struct leat_step_run *s = &d->steps[step];
	char title[LEAT_VERSION_TITLE];

	if (s->running && !s->spoiled)
		s->spoiled = leat_strf("its input %s failed",
				       *name ? leat_version_title(name, title) : ".");
}

bool leat_step_missed(struct leat_daemon *d, int step, const char *name)
{
	struct leat_step_run *s = &d->steps[step];
	bool told = s->missed;

	if (s->running && !s->spoiled)
		s->spoiled = leat_strf("one of its ranks came too late for a version of %s", name);
	s->missed = true;
	return !told;
}

void leat_step_cramped(struct leat_daemon *d, int step, const char *name)
{
	struct leat_step_run *s = step >= 0 ? &d->steps[step] : NULL;

	if (s && s->running && !s->spoiled)
		s->spoiled = leat_strf("leat had no room for what it wrote to %s", name);
}

void leat_steps_spoil(struct leat_daemon *d, const char *why)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->steps[i].running && !d->steps[i].spoiled)
			d->steps[i].spoiled = strdup(why);
}

static char *why_failed(const struct leat_step_run *s, int status, const char *reason)
{
	char *how, *text;

	if (!status)
		return s->spoiled ? strdup(s->spoiled) : NULL;
	if (reason && *reason)
		return strdup(reason);
	how = describe(status);
	if (!s->spoiled || !how)
		return how;
	text = leat_strf("%s; %s", s->spoiled, how);
	free(how);
	return text;
}

/* Where a limit of its control group ended it, nobody else tells what to do. */
static void blame_limits(struct leat_daemon *d, struct leat_step_run *s, int status)
{
	char *why = leat_oom_is_status(status) ? leat_oom_tell(&s->oom) : NULL;
	char files[LEAT_WORD];

	if (why)
		s->spoiled = leat_strf("%s, of which files of the run had %s (--memory)", why,
				       leat_format_bytes(d->spill.used_bytes, files));
	else
		s->spoiled = leat_oom_tell_refused(&s->oom);
	free(why);
}

void leat_step_ended(struct leat_daemon *d, int step, int status, const char *reason)
{
	struct leat_step_run *s = &d->steps[step];
	char *text;

	leat_lost_collect(d);
	leat_unseen_collect(d, step);
	if (status && !s->spoiled)
		blame_limits(d, s, status);
	text = why_failed(s, status, reason);
	/* Shells and their loops take a read error for the end and go on. */
	if (!status && s->spoiled)
		status = 1 << 8;
	leat_step_sample(d, step);
	if (s->running && !s->resting)
		leat_marks_step(d, LEAT_MARK_END, step);
	if (s->running)
		s->running--;
	s->started = true;
	s->implicit = false;
	s->end_ns = leat_clock_ns();
	if (!s->running)
		leat_oom_end(&s->oom);
	LEAT_FAULT("step.end");
	if (d->wf->steps[step].staged)
		leat_staged_adopt(d, step);
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_STEP_END,
						 .step = step,
						 .pid = s->pid,
						 .status = status,
						 .name = text});
	if (status && !s->status) {
		s->status = status;
		s->reason = text;
		text = NULL;
	}
	free(text);
	leat_change_settle_hidden(d);
	if (!s->running)
		leat_own_step_over(d, step);
	leat_unmade_note(d, step);
	LEAT_FAULT("step.settled");
}

void leat_step_abandoned(struct leat_daemon *d, int step, pid_t parent)
{
	struct leat_step_run *s = &d->steps[step];

	if (!s->running)
		return;
	if (!s->spoiled)
		blame_limits(d, s, SIGKILL);
	if (!s->spoiled)
		s->spoiled = leat_strf("leat exec (process %d), which started its command, was "
				       "killed before that had ended",
				       (int)parent);
	leat_step_ended(d, step, SIGKILL, s->spoiled);
}

int leat_step_culprit(const struct leat_daemon *d, const struct leat_file_rule *rule)
{
	int n = (int)d->wf->n_steps;

	for (int i = leat_steps_next(rule->producers, 0, n); i < n;
	     i = leat_steps_next(rule->producers, i + 1, n))
		if (d->steps[i].status)
			return i;
	return -1;
}

/* Has a step failed that may make what the name or pattern stands for? */
static bool has_failed(const struct leat_daemon *d, const char *input)
{
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		const struct leat_names *outputs = &d->wf->steps[i].outputs;

		for (size_t k = 0; d->steps[i].status && k < outputs->n; k++)
			if (leat_pattern_overlap(outputs->v[k].text, input))
				return true;
	}
	return false;
}

const char *leat_step_failed_input(const struct leat_daemon *d, int step)
{
	const struct leat_names *inputs = &d->wf->steps[step].inputs;

	for (size_t i = 0; i < inputs->n; i++)
		if (leat_stream_state(d->stream, inputs->v[i].text) == LEAT_FILE_FAILED ||
		    has_failed(d, inputs->v[i].text))
			return inputs->v[i].text;
	return NULL;
}

int leat_step_never_made(struct leat_daemon *d, const char *name)
{
	const struct leat_file_rule *rule;

	if (leat_pattern_is_wild(name) || leat_file_find(d, name))
		return -1;
	rule = leat_match(d->matcher, name);
	return rule ? leat_step_culprit(d, rule) : -1;
}

char *leat_step_blame(const struct leat_daemon *d, int step)
{
	const char *reason = d->steps[step].reason;

	return leat_strf("step %s, which produces it, failed: %s", d->wf->steps[step].name,
			 reason ? reason : "unknown reason");
}

void leat_steps_settle(struct leat_daemon *d)
{
	uint64_t now = leat_clock_ns();

	for (int i = 0; i < (int)d->wf->n_steps; i++) {
		struct leat_step_run *s = &d->steps[i];

		if (!s->implicit || !s->running)
			continue;
		if (s->processes || (!d->is_finishing && now - s->idle_ns < IDLE_NS) ||
		    leat_lives_of_step(d, i))
			continue;
		leat_step_ended(d, i, s->first_status < 0 ? SIGKILL : s->first_status, NULL);
	}
}
