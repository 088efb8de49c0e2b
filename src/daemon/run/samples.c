/* What the steps do, looked at from time to time: docs/reference/timeline.md, "Timeline". */
#include "daemon/run/samples.h"

#include "base/clock.h"
#include "base/pidstat.h"
#include "daemon/core/connections.h"
#include "daemon/core/processes.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/run/milestones.h"
#include "daemon/run/run.h"
#include "daemon/run/track.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { SHORTEST_MS = 10, LONGEST_MS = 50, STEPS_A_MS = 16 };

unsigned leat_samples_interval_ms(const struct leat_daemon *d)
{
	size_t ms = SHORTEST_MS + d->wf->n_steps / STEPS_A_MS;

	return ms < LONGEST_MS ? (unsigned)ms : LONGEST_MS;
}

int leat_samples_init(struct leat_daemon *d)
{
	unsigned most = leat_track_share((unsigned)d->wf->n_steps);
	int rc = uv_timer_init(&d->loop, &d->run->sampler);

	d->run->sampler.data = d;
	d->applying = -1;
	d->run->samples = calloc(d->wf->n_steps + 1, sizeof(*d->run->samples));
	if (!d->run->samples)
		return -ENOMEM;
	for (size_t i = 0; i < d->wf->n_steps; i++)
		leat_track_init(&d->run->samples[i].track, most);
	return rc;
}

void leat_samples_release(struct leat_daemon *d)
{
	for (size_t i = 0; d->run->samples && i < d->wf->n_steps; i++)
		leat_track_release(&d->run->samples[i].track);
	free(d->run->samples);
	d->run->samples = NULL;
	leat_milestones_release(d);
}

/* Counters live where clients can write: they may jump, but not back. */
static uint64_t grown(uint64_t *seen, uint64_t now)
{
	uint64_t more = now > *seen ? now - *seen : 0;

	*seen = now;
	return more;
}

/* A wait is counted when it ends. While one lasts the time is waited already, and is owed to the
 * counter. */
static uint64_t waited(struct leat_samples *s, struct leat_shm_step *shm, uint64_t length_ns)
{
	uint64_t counted = grown(&s->seen_wait, leat_shm_counted(&shm->wait_ns));
	uint64_t paid = counted < s->owed_ns ? counted : s->owed_ns;

	s->owed_ns -= paid;
	if (leat_shm_counted(&shm->waiting)) {
		s->owed_ns += length_ns;
		return length_ns;
	}
	s->owed_ns = 0;
	return counted - paid;
}

void leat_step_sample(struct leat_daemon *d, int step)
{
	const struct leat_step_run *run = &d->steps[step];
	struct leat_samples *s = &d->run->samples[step];
	struct leat_shm_step *shm = &d->shm->steps[step];
	uint64_t now = leat_clock_ns(), copied;
	struct leat_piece p = {.begin_ns = s->sampled_ns, .length_ns = now - s->sampled_ns};

	s->sampled_ns = now;
	if (!run->running)
		return;
	p.wait_ns = waited(s, shm, p.length_ns);
	p.bytes_in = grown(&s->seen_in, leat_shm_counted(&shm->bytes_in));
	p.bytes_out = grown(&s->seen_out, leat_shm_counted(&shm->bytes_out));
	copied = grown(&s->seen_copy, leat_shm_counted(&shm->copy_ns));
	if (run->state == LEAT_RUN_RESTING)
		p.rest_ns = p.length_ns;
	if (p.wait_ns)
		p.file = s->wait_file;
	leat_track_add(&s->track, &p);
	/* An operation is counted at its end, and may have begun long before. */
	leat_track_copied(&s->track, copied);
}

static void note_waits(struct leat_daemon *d)
{
	const struct leat_conn *c;

	for (size_t i = 0; i < d->wf->n_steps; i++)
		d->run->samples[i].wait_file = 0;
	DL_FOREACH(d->conns, c)
	{
		struct leat_file *f =
			c->waiting && c->step >= 0 ? leat_file_at(d, c->waiting_slot) : NULL;

		if (f)
			d->run->samples[c->step].wait_file = leat_milestones_number(d, f);
	}
}

static void on_sample(uv_timer_t *timer)
{
	struct leat_daemon *d = timer->data;
	bool runs = false;

	note_waits(d);
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		if (!d->steps[i].running)
			continue;
		leat_step_sample(d, (int)i);
		runs = true;
	}
	if (!runs)
		uv_timer_stop(timer);
}

void leat_samples_start(struct leat_daemon *d)
{
	unsigned ms = leat_samples_interval_ms(d);

	if (!uv_is_active((const uv_handle_t *)&d->run->sampler))
		uv_timer_start(&d->run->sampler, on_sample, ms, ms);
}

/* ---- CPU time ---- */

static uint64_t cpu_ns_of(pid_t pid)
{
	struct leat_pidstat p;

	if (pid <= 0 || !leat_pidstat_read(pid, &p))
		return 0;
	return p.cpu_ticks * (1000 * MS / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t leat_step_cpu_ns(struct leat_daemon *d, int step)
{
	const struct leat_step_run *run = &d->steps[step];
	struct leat_samples *s = &d->run->samples[step];
	const struct leat_proc *p;
	uint64_t sum_ns = 0;
	bool rooted = false;

	if (!run->running)
		return s->cpu_ns;
	for (p = d->procs; p; p = p->hh.next) {
		if (p->step != step)
			continue;
		sum_ns += cpu_ns_of(p->pid);
		rooted |= p->pid == run->pid;
	}
	/* The first process may be one that does not speak to us: an MPI launcher. */
	if (!rooted)
		sum_ns += cpu_ns_of(run->pid);
	if (sum_ns > s->cpu_ns)
		s->cpu_ns = sum_ns;
	return s->cpu_ns;
}
