/* The calls of the lower parts (core/observer.h), passed on to those whom they concern. */
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/observer.h"
#include "daemon/core/processes.h"
#include "daemon/daemon.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/sizes.h"
#include "daemon/loop/loop.h"
#include "daemon/ops/handlers.h"
#include "daemon/run/actions.h"
#include "daemon/run/ending.h"
#include "daemon/run/finish.h"
#include "daemon/run/ranks.h"
#include "daemon/run/steps.h"

#include <signal.h>

static void went_on(struct leat_conn *c)
{
	if (c->pending)
		leat_description_confirm(c->pending);
	leat_conn_made(c);
}

static void dropping(struct leat_conn *c)
{
	went_on(c);
	leat_actions_forget(c);
	leat_ending_forget(c);
}

static void dropped(struct leat_conn *c)
{
	struct leat_daemon *d = c->d;
	bool owner = d->driver && c->control & LEAT_CONTROL_EVENTS && c->pid == d->driver;

	if (c->instance && !owner && d->phase == LEAT_DAEMON_STEPS)
		leat_step_abandoned(d, c->instance_step, c->pid);
	if (owner)
		leat_finish_abort(d, d->options.serve ? "leat serve is gone" : "leat run is gone");
}

/* The closes that its end brought about come before the end itself. */
static void exited(struct leat_proc *p)
{
	struct leat_daemon *d = p->d;
	bool normally = p->exiting && !p->cut_short;

	leat_descriptions_after_exit(d, p);
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_PROC_EXIT,
						 .step = p->step,
						 .pid = p->pid,
						 .status = normally ? p->status : -SIGKILL,
						 .code = leat_rank_left(p)});
	leat_step_process_left(d, p);
}

const struct leat_daemon_observer leat_daemon_observer = {
	.went_on = went_on,
	.dropping = dropping,
	.dropped = dropped,
	.exited = exited,
	.sizes_due = leat_sizes_judge,
	.closed = leat_actions_closed,
	.persisted = leat_finish_continue,
};
