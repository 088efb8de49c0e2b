/* Everything that happens by the clock. */
#include "base/clock.h"
#include "base/log.h"
#include "daemon/client.h"
#include "daemon/files.h"
#include "daemon/spill.h"
#include "daemon/steps.h"

#include <stdlib.h>
#include <string.h>

#define TICK_MS 50u
/* So long nothing must have moved before a deadlock is looked for. */
#define QUIET_NS UINT64_C(1000000000)
#define REMIND_NS UINT64_C(30000000000)

/* Publishers do not tell the daemon of bytes; who waits for an open wants to know. */
static void sync_frontiers(struct leat_daemon *d)
{
	struct leat_conn *c;
	struct leat_file *f;

	DL_FOREACH(d->conns, c)
	{
		f = c->waiting ? leat_file_at(d, c->waiting_slot) : NULL;
		if (f)
			leat_file_sync_frontier(d, f);
	}
}

/* Anything that moves moves this number. */
static uint64_t mark(struct leat_daemon *d)
{
	uint64_t sum = d->progress;

	for (size_t i = 0; i < d->wf->n_steps; i++) {
		struct leat_shm_step *s = &d->shm->steps[i];

		sum += leat_shm_counted(&s->bytes_in) + leat_shm_counted(&s->bytes_out) +
		       leat_shm_counted(&s->reads) + leat_shm_counted(&s->writes) +
		       leat_shm_counted(&s->opens);
	}
	return sum;
}

static bool somebody_waits(struct leat_daemon *d)
{
	struct leat_conn *c;

	DL_FOREACH(d->conns, c)
	if (leat_conn_waits(c))
		return true;
	return false;
}

static void break_deadlock(struct leat_daemon *d, const char *text)
{
	struct leat_conn *c, *next;

	leat_problem_add(d, -EDEADLK, "deadlock: no step can go on\n%s", text);
	DL_FOREACH_SAFE(d->conns, c, next)
	if (leat_conn_waits(c) && c->step >= 0 && d->steps[c->step].running)
		leat_step_ended(d, c->step, 1 << 8, "it was part of a deadlock");
}

static bool all_came(const struct leat_daemon *d)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (!d->steps[i].started)
			return false;
	return true;
}

static void look_for_deadlock(struct leat_daemon *d, uint64_t quiet_ns)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool certain, remind;

	if (!out)
		return;
	certain = leat_stream_deadlock(d->stream, NULL, out) > 0;
	if (fclose(out) != 0)
		goto out;
	if (size && text[size - 1] == '\n')
		text[size - 1] = 0;
	if (certain && (!d->options.serve || all_came(d)) && leat_steps_are_idle(d)) {
		break_deadlock(d, text);
		goto out;
	}
	remind = d->options.serve && leat_clock_ns() - d->reminded_ns >= REMIND_NS;
	if (remind && quiet_ns >= REMIND_NS) {
		d->reminded_ns = leat_clock_ns();
		leat_problem_add(d, 0, "still waiting\n%s", text);
	}
out:
	free(text);
}

static void watch_progress(struct leat_daemon *d)
{
	uint64_t now = leat_clock_ns(), m = mark(d);

	if (m != d->quiet_mark || !somebody_waits(d)) {
		d->quiet_mark = m;
		d->quiet_since_ns = now;
		d->looked_ns = now;
		return;
	}
	if (now - d->looked_ns >= QUIET_NS) {
		d->looked_ns = now;
		look_for_deadlock(d, now - d->quiet_since_ns);
	}
}

static void on_tick(uv_timer_t *timer)
{
	struct leat_daemon *d = timer->data;

	leat_lives_sweep(d);
	leat_steps_settle(d);
	sync_frontiers(d);
	leat_spill_tick(d);
	if (d->odd_tick)
		leat_steps_sample(d);
	d->odd_tick = !d->odd_tick;
	watch_progress(d);
}

int leat_watch_start(struct leat_daemon *d)
{
	int rc = uv_timer_init(&d->loop, &d->tick);

	if (rc)
		return rc;
	d->tick.data = d;
	d->quiet_since_ns = d->looked_ns = d->reminded_ns = leat_clock_ns();
	return uv_timer_start(&d->tick, on_tick, TICK_MS, TICK_MS);
}
