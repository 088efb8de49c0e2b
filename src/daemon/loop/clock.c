/* Everything that happens by the clock. */
#include "daemon/core/connections.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/states.h"
#include "daemon/loop/loop.h"
#include "daemon/run/deadlock.h"
#include "daemon/run/finish.h"
#include "daemon/run/ranks.h"
#include "daemon/run/steps.h"
#include "daemon/space/spill.h"

#define TICK_MS 50u

/* Publishers do not tell the daemon of bytes, nor clients of each file that they make; who waits
 * wants to know. */
static void wake_waiters(struct leat_daemon *d)
{
	struct leat_conn *c;
	struct leat_file *f;

	DL_FOREACH(d->conns, c)
	{
		f = c->waiting ? leat_file_at(d, c->waiting_slot) : NULL;
		if (f)
			leat_file_sync_frontier(d, f);
		if (f && f->nudged) {
			f->nudged = false;
			leat_shm_file_update(leat_file_shm(d, f), 0, 0);
		}
	}
}

static void on_tick(uv_timer_t *timer)
{
	struct leat_daemon *d = timer->data;

	leat_descriptions_sweep(d);
	leat_ranks_look(d);
	leat_steps_settle(d);
	wake_waiters(d);
	leat_spill_tick(d);
	leat_deadlock_look(d);
	leat_finish_retry(d);
}

int leat_clock_start(struct leat_daemon *d)
{
	int rc = uv_timer_init(&d->loop, &d->handles->tick);

	if (rc)
		return rc;
	d->handles->tick.data = d;
	leat_deadlock_init(d);
	return uv_timer_start(&d->handles->tick, on_tick, TICK_MS, TICK_MS);
}
