/* Steps on CPUs of their own (leat run --pin).
 *
 * A step holds its CPUs from the start of a launch to its end. The next one gets those that the
 * fewest steps work on; one that waits for others' files works on none, as for the space that there
 * is (launch.c); of these, those that the fewest have, and the lowest numbers. */
#include "driver/internal.h"

#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* What the steps make of a CPU. */
struct leat_pin_load {
	size_t busy; /* so many work on it, */
	size_t held; /* so many have it */
	bool chosen; /* for the step that is about to start */
};

int leat_pin_init(struct leat_driver *d)
{
	struct leat_pin *pin = &d->pin;
	int result = d->config->pin ? leat_read_cpus(&pin->cpus, &pin->n) : 0;

	if (result || !d->config->pin)
		return result;
	pin->load = calloc(pin->n, sizeof(*pin->load));
	pin->set_size = CPU_ALLOC_SIZE(pin->cpus[pin->n - 1] + 1);
	return pin->load ? 0 : -ENOMEM;
}

void leat_pin_release(struct leat_driver *d)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		free(d->steps[i].cpus);
	free(d->pin.cpus);
	free(d->pin.load);
}

static void count_load(struct leat_driver *d)
{
	struct leat_pin *pin = &d->pin;

	memset(pin->load, 0, pin->n * sizeof(*pin->load));
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		const struct leat_run_step *s = &d->steps[i];
		bool busy = s->cpus && leat_driver_is_busy(d, i);

		for (size_t c = 0; s->cpus && leat_driver_step_runs(s->state) && c < pin->n; c++) {
			bool has = CPU_ISSET_S(pin->cpus[c], pin->set_size, s->cpus);

			pin->load[c].held += has;
			pin->load[c].busy += has && busy;
		}
	}
}

static bool is_freer(const struct leat_pin_load *a, const struct leat_pin_load *b)
{
	return a->busy == b->busy ? a->held < b->held : a->busy < b->busy;
}

/* The freest CPU that is not chosen yet; there is one. */
static size_t freest(const struct leat_pin *pin)
{
	size_t best = pin->n;

	for (size_t c = 0; c < pin->n; c++)
		if (!pin->load[c].chosen &&
		    (best == pin->n || is_freer(&pin->load[c], &pin->load[best])))
			best = c;
	return best;
}

/* Put CPUs for `needed` processes into `set`; true: others work on some of them. */
static bool choose(struct leat_pin *pin, unsigned needed, cpu_set_t *set)
{
	bool shared = needed > pin->n;

	for (size_t k = 0; k < needed && k < pin->n; k++) {
		size_t c = freest(pin);

		pin->load[c].chosen = true;
		shared |= pin->load[c].busy > 0;
		CPU_SET_S(pin->cpus[c], pin->set_size, set);
	}
	return shared;
}

static void note(struct leat_driver *d, char *text)
{
	leat_console_progress(&d->console, NULL);
	leat_warn("%s", text ? text : "out of memory");
	if (text)
		leat_result_note(d->result, text);
	free(text);
}

/* Once in a run. */
static void report_shared(struct leat_driver *d, size_t step)
{
	char *cpus = leat_cpus_text(d->pin.cpus, d->pin.n);

	if (!d->pin.reported)
		note(d, leat_strf("--pin: step %s and those that run need more CPUs than there "
				  "are (%s): from now on steps share them, the least used first",
				  d->wf->steps[step].name, cpus ? cpus : "out of memory"));
	d->pin.reported = true;
	free(cpus);
}

void leat_pin_step(struct leat_driver *d, size_t step)
{
	struct leat_pin *pin = &d->pin;
	struct leat_run_step *s = &d->steps[step];
	unsigned nprocs = d->wf->steps[step].nprocs;
	const char *name = d->wf->steps[step].name;

	if (!d->config->pin)
		return;
	free(s->cpus);
	s->cpus = NULL; /* for the count: what an earlier launch had */
	count_load(d);
	s->cpus = calloc(1, pin->set_size);
	if (!s->cpus) {
		note(d, leat_strf("--pin: step %s runs on any CPU: out of memory", name));
		return;
	}
	if (choose(pin, nprocs > 1 ? nprocs : 1, s->cpus))
		report_shared(d, step);
	if (sched_setaffinity(s->process.pid, pin->set_size, s->cpus) == 0)
		return;
	/* CPUs can be taken away from leat meanwhile. */
	note(d, leat_strf("--pin: step %s runs on any CPU: %s", name, strerror(errno)));
	free(s->cpus);
	s->cpus = NULL;
}
