#include "daemon/run/deadlock.h"

#include "base/clock.h"
#include "daemon/core/connections.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/run/idle.h"
#include "daemon/run/run.h"
#include "daemon/run/steps.h"

#include <errno.h>
#include <stdlib.h>

/* While somebody waits a deadlock is looked for so often. */
#define LOOK_NS UINT64_C(200000000)
/* Less often where there is so much to look at that it would take more than this part of the time.
 */
#define LOOK_SHARE 20u
/* So long a step must have done nothing before it is looked at: who finds no bytes to read tells
 * that only after a while. */
#define QUIET_NS UINT64_C(400000000)
/* And so long an MPI job must have been at rest: no message is under way longer. */
#define MPI_REST_NS UINT64_C(5000000000)
#define REMIND_NS UINT64_C(30000000000)

/* Anything the step does moves this number. */
static uint64_t step_progress(struct leat_daemon *d, size_t i)
{
	struct leat_shm_step *s = &d->shm->steps[i];

	return leat_shm_counted(&s->bytes_in) + leat_shm_counted(&s->bytes_out) +
	       leat_shm_counted(&s->reads) + leat_shm_counted(&s->writes) +
	       leat_shm_counted(&s->opens);
}

/* Anything that moves moves this number. */
static uint64_t progress_of_all(struct leat_daemon *d)
{
	uint64_t sum = d->progress;

	for (size_t i = 0; i < d->wf->n_steps; i++)
		sum += step_progress(d, i);
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

/* Of one look for a deadlock. */
struct look {
	bool *busy;    /* steps that wait, but may act all the same */
	bool *stuck;   /* steps that wait for each other */
	unsigned n;    /* so many; of a certain deadlock, if there is one */
	bool possible; /* there is one if the steps that may act do not */
	char why[LEAT_IDLE_WHY];
};

/* Has it done nothing for a while? */
static bool is_quiet(struct leat_daemon *d, size_t i, uint64_t now)
{
	struct leat_step_run *s = &d->steps[i];
	uint64_t m = step_progress(d, i);

	if (m != s->quiet_progress) {
		s->quiet_progress = m;
		s->quiet_since_ns = now;
	}
	return now - s->quiet_since_ns >= QUIET_NS;
}

/* Were its processes at rest at an earlier look, and have they been since? */
static bool is_at_rest(struct leat_daemon *d, size_t i, uint64_t now, char *why)
{
	struct leat_step_run *s = &d->steps[i];
	struct leat_idle seen;

	if (!leat_step_is_idle(d, (int)i, &seen, why))
		return false;
	/* What it did since it was looked at last, if that was not just before, nobody knows. */
	if (!s->rest_since_ns || d->run->n_looks - s->rest_look > 1 ||
	    seen.signature != s->rest_signature) {
		s->rest_signature = seen.signature;
		s->rest_since_ns = now;
	}
	s->rest_look = d->run->n_looks;
	s->rest_polls = seen.polls;
	if (now > s->rest_since_ns + (seen.polls ? MPI_REST_NS : 0))
		return true;
	snprintf(why, LEAT_IDLE_WHY, "step %s has only just come to rest", d->wf->steps[i].name);
	return false;
}

/* True if all that are stuck do nothing; those that may are noted. */
static bool are_idle(struct leat_daemon *d, struct look *l, uint64_t now)
{
	bool idle = true;

	for (size_t i = 0; i < d->wf->n_steps; i++) {
		if (!l->stuck[i])
			continue;
		l->busy[i] = !is_quiet(d, i, now) || !is_at_rest(d, i, now, l->why);
		idle = idle && !l->busy[i];
	}
	return idle;
}

/* Steps that act may release others: what is left in the end is certain. */
static void find_deadlock(struct leat_daemon *d, struct look *l, uint64_t now)
{
	int n;

	do {
		n = leat_stream_deadlock(d->stream, l->busy, l->stuck, NULL);
		l->n = n > 0 ? (unsigned)n : 0;
		l->possible = l->possible || n > 0;
	} while (l->n && !are_idle(d, l, now));
}

/* Of MPI jobs not all processes wait for files. */
static void describe_jobs(struct leat_daemon *d, const struct look *l, FILE *out)
{
	for (size_t i = 0; l->n && i < d->wf->n_steps; i++)
		if (l->stuck[i] && d->steps[i].rest_polls)
			fprintf(out,
				"each rank of the MPI job of step %s has waited, and its processes "
				"have used no CPU time but to poll, for %u s\n",
				d->wf->steps[i].name, (unsigned)(MPI_REST_NS / 1000000000));
}

/* Who waits for whom; the caller frees it. NULL when out of memory. */
static char *describe(struct leat_daemon *d, const struct look *l)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (l->n) {
		const char *lead = "these steps can never go on: ";

		for (size_t i = 0; i < d->wf->n_steps; i++) {
			if (!l->stuck[i])
				continue;
			fprintf(out, "%s%s", lead, d->wf->steps[i].name);
			lead = ", ";
		}
		putc('\n', out);
	} else if (l->possible) {
		fprintf(out, "perhaps for ever, but %s\n", l->why);
	}
	describe_jobs(d, l, out);
	leat_stream_deadlock(d->stream, l->n ? l->busy : NULL, NULL, out);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	if (size && text[size - 1] == '\n')
		text[size - 1] = 0;
	return text;
}

static void break_deadlock(struct leat_daemon *d, const struct look *l)
{
	char *text = describe(d, l);

	leat_problem_add(d, -EDEADLK, "deadlock: %s", text ? text : "out of memory");
	free(text);
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (l->stuck[i] && d->steps[i].running)
			leat_step_ended(d, (int)i, 1 << 8, "it was part of a deadlock");
}

/* A line now and then where nothing moves: for steps that have not come yet, or that wait for
 * each other as far as leat can see. */
static void remind(struct leat_daemon *d, const struct look *l, uint64_t quiet_ns, uint64_t now)
{
	char *text;

	if (!(d->options.serve || l->possible) || quiet_ns < REMIND_NS ||
	    now - d->run->reminded_ns < REMIND_NS)
		return;
	d->run->reminded_ns = now;
	text = describe(d, l);
	if (text)
		leat_problem_add(d, 0, "still waiting%s%s", l->possible ? ", " : "\n", text);
	free(text);
}

static void look_for_deadlock(struct leat_daemon *d, uint64_t quiet_ns, uint64_t now)
{
	struct look l = {.busy = calloc(d->wf->n_steps + 1, sizeof(bool)),
			 .stuck = calloc(d->wf->n_steps + 1, sizeof(bool))};

	if (l.busy && l.stuck) {
		find_deadlock(d, &l, now);
		if (l.n)
			break_deadlock(d, &l);
		else
			remind(d, &l, quiet_ns, now);
	}
	free(l.busy);
	free(l.stuck);
}

void leat_deadlock_look(struct leat_daemon *d)
{
	uint64_t now = leat_clock_ns(), m = progress_of_all(d), cost_ns;
	bool waits = somebody_waits(d);

	if (m != d->run->quiet_progress || !waits) {
		d->run->quiet_progress = m;
		d->run->quiet_since_ns = now;
	}
	if (waits && now < d->run->look_ns)
		return;
	d->run->n_looks++;
	if (!waits)
		return;
	look_for_deadlock(d, now - d->run->quiet_since_ns, now);
	cost_ns = leat_clock_ns() - now;
	d->run->look_ns = now + (cost_ns > LOOK_NS / LOOK_SHARE ? cost_ns * LOOK_SHARE : LOOK_NS);
}

void leat_deadlock_init(struct leat_daemon *d)
{
	d->run->quiet_since_ns = d->run->look_ns = d->run->reminded_ns = leat_clock_ns();
}
