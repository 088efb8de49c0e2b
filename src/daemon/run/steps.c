#include "daemon/run/steps.h"

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/log.h"
#include "base/str.h"
#include "daemon/core/events.h"
#include "daemon/core/processes.h"
#include "daemon/core/steps.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/private.h"
#include "daemon/files/remove.h"
#include "daemon/run/lost.h"
#include "daemon/run/milestones.h"
#include "daemon/run/prepared.h"
#include "daemon/run/samples.h"
#include "daemon/run/staged.h"
#include "daemon/run/unmade.h"
#include "daemon/run/unseen.h"
#include "daemon/space/fit.h"
#include "daemon/space/refuse.h"
#include "daemon/space/space.h"
#include "daemon/space/spill_dir.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* An instance that began with its first process has ended when its processes, and who has started
 * them, have been gone for so long: the next one of a script may be on its way. */
#define IDLE_NS 200000000u

int leat_steps_init(struct leat_daemon *d)
{
	d->steps = calloc(d->wf->n_steps + 1, sizeof(*d->steps));
	if (!d->steps)
		return -ENOMEM;
	for (size_t i = 0; i < d->wf->n_steps; i++)
		d->steps[i].root = -1;
	return leat_samples_init(d);
}

void leat_steps_free(struct leat_daemon *d)
{
	leat_samples_release(d);
	for (size_t i = 0; d->steps && i < d->wf->n_steps; i++) {
		leat_close(&d->steps[i].root);
		free(d->steps[i].reason);
		free(d->steps[i].spoiled);
		free(d->steps[i].killed);
		leat_oom_end(&d->steps[i].oom);
		free(d->steps[i].unmade);
		leat_prepared_free(d, (int)i);
	}
	free(d->steps);
	d->steps = NULL;
}

void leat_step_begin(struct leat_daemon *d, int step, pid_t pid, enum leat_run_event event)
{
	struct leat_step_run *s = &d->steps[step];
	struct leat_cgroup *group;
	struct timespec now;

	if (s->state == LEAT_RUN_WAITING)
		s->start_ns = leat_clock_ns();
	leat_step_sample(d, step);
	leat_step_run_advance(d, step, event);
	s->running++;
	s->pid = pid;
	group = leat_space_meet(d, pid);
	if (s->oom.group)
		leat_cgroup_close(group);
	else
		leat_oom_begin_in(&s->oom, group);
	leat_samples_start(d);
	leat_milestones_step(d, LEAT_MILESTONE_LAUNCH, step);
	clock_gettime(CLOCK_REALTIME, &now);
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_STEP_START,
						 .step = step,
						 .pid = pid,
						 .name = d->wf->steps[step].name,
						 .to = d->wf->name,
						 .offset = (uint64_t)now.tv_sec * 1000000000u +
							   (uint64_t)now.tv_nsec});
	if (s->unseen) {
		leat_private_show(d);
		leat_spill_show(d);
	}
}

/* Is there who will start the next process of an instance that was found, when none is known? */
static bool has_root(const struct leat_step_run *s)
{
	struct pollfd ended = {.fd = s->root, .events = POLLIN};

	return s->root >= 0 && poll(&ended, 1, 0) == 0;
}

static void find_root(struct leat_daemon *d, int step, pid_t pid)
{
	struct leat_step_run *s = &d->steps[step];

	if (s->state != LEAT_RUN_FOUND || has_root(s))
		return;
	leat_close(&s->root);
	s->root = leat_unseen_root(d, step, pid);
}

void leat_step_process_came(struct leat_daemon *d, int step, pid_t pid)
{
	struct leat_step_run *s = &d->steps[step];

	s->processes++;
	/* Late processes of a step that somebody looks after are no new instance. */
	if (leat_run_may_begin_itself(s->state)) {
		s->first_status = -1;
		leat_step_begin(d, step, pid, LEAT_RUN_EVENT_PROCESS);
	}
	find_root(d, step, pid);
}

/* Does it answer for what the step's programs see of the directory? Then they had errors. */
static void lose_mount(struct leat_daemon *d, const struct leat_proc *p)
{
	struct leat_step_run *s = &d->steps[p->step];

	if (!p->mount || p->exiting || leat_daemon_phase_saves(d->phase))
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
	if (s->state == LEAT_RUN_FOUND && p->pid == s->pid)
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
	bool is_kill = leat_oom_is_status(status);
	char *why = is_kill && !s->killed ? leat_oom_explain(&s->oom) : NULL;
	char files[LEAT_WORD];

	if (is_kill && s->killed) {
		/* Its group may be below ours, where it counts, too. */
		s->spoiled = s->killed;
		s->killed = NULL;
	} else if (why)
		s->spoiled = leat_strf("%s, of which files of the run had %s (--memory)", why,
				       leat_format_bytes(d->space->used_bytes, files));
	else
		s->spoiled = leat_oom_explain_refused(&s->oom);
	free(why);
}

/* The step went on, or failed in another way. */
static void report_killed(const struct leat_daemon *d, int step, const char *why)
{
	leat_warn("step %s: %s", d->wf->steps[step].name, why);
}

static void blame(struct leat_daemon *d, int step, int status)
{
	struct leat_step_run *s = &d->steps[step];

	if (status && !s->spoiled)
		blame_limits(d, s, status);
	if (status && !s->spoiled)
		leat_space_blame_moves(d, step, status);
	if (s->killed)
		report_killed(d, step, s->killed);
	free(s->killed);
	s->killed = NULL;
}

void leat_step_killed(struct leat_daemon *d, int step, const char *why)
{
	struct leat_step_run *s = &d->steps[step];

	if (!s->running)
		report_killed(d, step, why);
	else if (!s->killed)
		s->killed = strdup(why);
}

void leat_step_ended(struct leat_daemon *d, int step, int status, const char *reason)
{
	struct leat_step_run *s = &d->steps[step];
	char *text;

	leat_lost_collect(d);
	leat_unseen_collect(d, step);
	blame(d, step, status);
	text = why_failed(s, status, reason);
	/* Shells and their loops take a read error for the end and go on. */
	if (!status && s->spoiled)
		status = 1 << 8;
	leat_step_sample(d, step);
	if (s->running && s->state != LEAT_RUN_RESTING)
		leat_milestones_step(d, LEAT_MILESTONE_END, step);
	if (s->running)
		s->running--;
	leat_step_run_advance(d, step,
			      s->running ? LEAT_RUN_EVENT_END_ONE : LEAT_RUN_EVENT_END_ALL);
	s->end_ns = leat_clock_ns();
	if (!s->running) {
		leat_oom_end(&s->oom);
		leat_close(&s->root);
	}
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
	leat_files_remove_hidden(d);
	if (!s->running)
		leat_private_step_over(d, step);
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

void leat_steps_settle(struct leat_daemon *d)
{
	const bool saves = leat_daemon_phase_saves(d->phase);
	uint64_t now = leat_clock_ns();

	for (int i = 0; i < (int)d->wf->n_steps; i++) {
		struct leat_step_run *s = &d->steps[i];

		if (s->state != LEAT_RUN_FOUND)
			continue;
		if (s->processes || (!saves && (now - s->idle_ns < IDLE_NS || has_root(s))) ||
		    leat_descriptions_of_step(d, i))
			continue;
		leat_step_ended(d, i, s->first_status < 0 ? SIGKILL : s->first_status, NULL);
	}
}
