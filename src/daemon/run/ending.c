#include "daemon/run/ending.h"

#include "base/clock.h"
#include "base/fault.h"
#include "daemon/core/connections.h"
#include "daemon/core/replies.h"
#include "daemon/core/steps.h"
#include "daemon/run/dying.h"
#include "daemon/run/run.h"
#include "daemon/run/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 5u
/* A process in a call that cannot be interrupted dies when that returns, if it does. */
#define DYING_NS UINT64_C(2000000000)

struct leat_ending {
	struct leat_ending *prev, *next;
	struct leat_conn *conn; /* NULL: it is gone */
	int step;
	int status;
	char *reason; /* owned */
	uint64_t since_ns;
};

void leat_endings_init(struct leat_daemon *d)
{
	uv_timer_init(&d->loop, &d->run->ending_timer);
	d->run->ending_timer.data = d;
}

/* Its parent may have seen it end well; only here is it known that it cannot have. */
static void apply(struct leat_daemon *d, struct leat_conn *c, int step, int status,
		  const char *reason)
{
	struct leat_step_run *s = &d->steps[step];

	if (s->running || (s->state == LEAT_RUN_WAITING && status))
		leat_step_ended(d, step, status, reason);
	if (c)
		leat_reply_answer(c, !status && s->spoiled ? -EIO : 0, 0, s->spoiled);
}

static void apply_waiting(struct leat_daemon *d, struct leat_ending *e)
{
	DL_DELETE(d->run->endings, e);
	apply(d, e->conn, e->step, e->status, e->reason);
	free(e->reason);
	free(e);
}

static struct leat_ending *find_ready(struct leat_daemon *d)
{
	const uint64_t now = leat_clock_ns();
	struct leat_ending *e;

	DL_FOREACH(d->run->endings, e)
	if (now - e->since_ns >= DYING_NS || !leat_step_is_dying(d, e->step))
		return e;
	return NULL;
}

/* An end that is applied may end the run, and with that all that wait. */
static void look(uv_timer_t *timer)
{
	struct leat_daemon *d = timer->data;
	struct leat_ending *e;

	while ((e = find_ready(d)))
		apply_waiting(d, e);
	if (!d->run->endings)
		uv_timer_stop(timer);
}

/* False: out of memory. */
static bool wait_for_dying(struct leat_conn *c, int step, int status, const char *reason)
{
	struct leat_daemon *d = c->d;
	struct leat_ending *e = calloc(1, sizeof(*e));

	if (!e)
		return false;
	e->conn = c;
	e->step = step;
	e->status = status;
	e->reason = reason ? strdup(reason) : NULL;
	e->since_ns = leat_clock_ns();
	DL_APPEND(d->run->endings, e);
	if (!uv_is_active((const uv_handle_t *)&d->run->ending_timer))
		uv_timer_start(&d->run->ending_timer, look, LOOK_MS, LOOK_MS);
	LEAT_FAULT("step.dying");
	return true;
}

void leat_ending_begin(struct leat_conn *c, int step, int status, const char *reason)
{
	struct leat_daemon *d = c->d;
	bool dies = leat_step_is_dying(d, step);

	if (!dies || d->phase != LEAT_DAEMON_STEPS || !wait_for_dying(c, step, status, reason))
		apply(d, c, step, status, reason);
}

bool leat_ending_of(const struct leat_daemon *d, int step)
{
	const struct leat_ending *e;

	DL_SEARCH_SCALAR(d->run->endings, e, step, step);
	return e;
}

void leat_ending_forget(struct leat_conn *c)
{
	struct leat_ending *e;

	DL_FOREACH(c->d->run->endings, e)
	if (e->conn == c)
		e->conn = NULL;
}

void leat_endings_apply(struct leat_daemon *d)
{
	while (d->run->endings)
		apply_waiting(d, d->run->endings);
}
