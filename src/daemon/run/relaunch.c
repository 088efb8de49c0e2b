/* Steps that are launched once for each version of their inputs. */
#include "daemon/run/relaunch.h"

#include "base/str.h"
#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/core/processes.h"
#include "daemon/core/steps.h"
#include "daemon/files/descriptions.h"
#include "daemon/run/milestones.h"
#include "daemon/run/samples.h"
#include "model/version.h"

#include <stdio.h>
#include <string.h>

/* The questions of all steps, told apart from those of connections. */
#define MORE_WAITER (UINT64_C(1) << 61)

/* Whatever the launch did comes before its end. */
static void rest(struct leat_daemon *d, int step)
{
	leat_procs_reap(d, step);
	leat_descriptions_after_step(d, step);
	if (d->steps[step].state == LEAT_RUN_RESTING || !d->steps[step].running)
		return;
	leat_step_sample(d, step);
	leat_step_run_advance(d, step, LEAT_RUN_EVENT_REST);
	leat_milestones_step(d, LEAT_MILESTONE_END, step);
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_LAUNCH, .step = step});
}

/* By which the rules have it woken: no file is called so. */
#define NAME LEAT_VERSIONS_DIR "/step/"

bool leat_step_look(struct leat_daemon *d, const char *name)
{
	if (!leat_str_begins(name, NAME))
		return false;
	leat_problems_launchable(d, name + strlen(NAME));
	return true;
}

enum leat_answer leat_step_may_relaunch(struct leat_daemon *d, int step, bool over)
{
	char name[sizeof(NAME) + 12];

	snprintf(name, sizeof(name), NAME "%d", step);
	if (over)
		rest(d, step);
	/* Its end will say so. */
	if (d->steps[step].spoiled)
		return LEAT_NOENT;
	return leat_events_ask(d, step, MORE_WAITER + (uint64_t)step, LEAT_CALL_RELAUNCH, name, 0,
			       0);
}
