#include "sched/achieved.h"

#include "sched/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS 1e9
#define INTERVAL_NS ((uint64_t)LEAT_ACHIEVED_INTERVAL_MS * 1000000)

/* Sums over each sample: bytes, or MB/s or tasks times nanoseconds. */
struct series {
	double *v; /* owned; max_samples of them */
};

struct device_use {
	struct series taken, tasks, copied;
	uint64_t copied_bytes;
	uint64_t allocated_mbps, running; /* now, */
	uint64_t since_ns;                /* since then */
	uint64_t busy_ns;
};

struct group {
	int device;
	bool io;
	struct series read, written;
	struct leat_achieved_bytes bytes;
	uint64_t running, since_ns, busy_ns;
	struct leat_achieved_rate *rates; /* owned; capacity for max_rates */
	size_t n_rates, max_rates;
	struct leat_achieved_choice *choices; /* owned; NULL: it does not learn */
	size_t n_choices;
	uint64_t left_out;
	unsigned last_mbps; /* constraint that was chosen last */
};

struct leat_achieved {
	uint64_t start_ns;
	uint64_t interval_ns;
	unsigned n, max;            /* samples */
	struct device_use *devices; /* owned */
	struct group *groups;       /* owned */
	size_t n_devices, n_groups;
};

/* --- making ---------------------------------------------------------------------------------- */

unsigned leat_achieved_share(size_t n_types)
{
	size_t share = n_types ? LEAT_ACHIEVED_BUDGET / n_types : LEAT_ACHIEVED_MOST;

	if (share > LEAT_ACHIEVED_MOST)
		return LEAT_ACHIEVED_MOST;
	return share < LEAT_ACHIEVED_LEAST ? LEAT_ACHIEVED_LEAST : (unsigned)share & ~1u;
}

struct leat_achieved *leat_achieved_new(uint64_t start_ns, unsigned max_samples)
{
	struct leat_achieved *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->start_ns = start_ns;
	a->interval_ns = INTERVAL_NS;
	a->max = max_samples;
	return a;
}

static void release_group(struct group *g)
{
	free(g->read.v);
	free(g->written.v);
	free(g->rates);
	free(g->choices);
	*g = (struct group){.device = LEAT_ACHIEVED_NO_DEVICE};
}

void leat_achieved_free(struct leat_achieved *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_devices; i++) {
		free(a->devices[i].taken.v);
		free(a->devices[i].tasks.v);
		free(a->devices[i].copied.v);
	}
	for (size_t i = 0; i < a->n_groups; i++)
		release_group(&a->groups[i]);
	free(a->devices);
	free(a->groups);
	free(a);
}

static bool make_series(const struct leat_achieved *a, struct series *s)
{
	s->v = calloc(a->max, sizeof(*s->v));
	return s->v != NULL;
}

int leat_achieved_add_device(struct leat_achieved *a)
{
	struct device_use *more = reallocarray(a->devices, a->n_devices + 1, sizeof(*more));
	struct device_use p = {.since_ns = a->start_ns};

	if (more)
		a->devices = more;
	if (!more || !make_series(a, &p.taken) || !make_series(a, &p.tasks) ||
	    !make_series(a, &p.copied)) {
		free(p.taken.v);
		free(p.tasks.v);
		return -ENOMEM;
	}
	a->devices[a->n_devices++] = p;
	return 0;
}

static int grow_groups(struct leat_achieved *a, size_t n)
{
	struct group *more =
		n > a->n_groups ? reallocarray(a->groups, n, sizeof(*more)) : a->groups;

	if (!more)
		return n > a->n_groups ? -ENOMEM : 0;
	a->groups = more;
	for (; a->n_groups < n; a->n_groups++)
		more[a->n_groups] = (struct group){.device = LEAT_ACHIEVED_NO_DEVICE};
	return 0;
}

int leat_achieved_add_type(struct leat_achieved *a, unsigned type, int device, bool io, bool learns)
{
	struct group *g;

	if (device < 0)
		return 0;
	if (grow_groups(a, (size_t)type + 1) < 0)
		return -ENOMEM;
	g = &a->groups[type];
	/* A type that learns has tried each of its constraints in an epoch. */
	*g = (struct group){
		.device = device, .io = io, .max_rates = learns ? LEAT_SCHED_MAX_EPOCHS + 1 : 1};
	g->rates = calloc(g->max_rates, sizeof(*g->rates));
	if (learns)
		g->choices = calloc(LEAT_ACHIEVED_CHOICES, sizeof(*g->choices));
	if (make_series(a, &g->read) && make_series(a, &g->written) && g->rates &&
	    (g->choices || !learns))
		return 0;
	release_group(g);
	return -ENOMEM;
}

static struct group *group_of(const struct leat_achieved *a, unsigned type)
{
	return leat_achieved_has_device(a, type) ? &a->groups[type] : NULL;
}

/* --- samples --------------------------------------------------------------------------------- */

static void halve(const struct leat_achieved *a, struct series *s)
{
	if (!s->v)
		return;
	for (unsigned i = 0; i < a->max / 2; i++)
		s->v[i] = s->v[2 * i] + s->v[2 * i + 1];
	memset(s->v + a->max / 2, 0, (a->max - a->max / 2) * sizeof(*s->v));
}

/* The sample of a time, counted from the start, is there. */
static void grow_to(struct leat_achieved *a, uint64_t at_ns)
{
	while (at_ns / a->interval_ns >= a->max) {
		for (size_t i = 0; i < a->n_devices; i++) {
			halve(a, &a->devices[i].taken);
			halve(a, &a->devices[i].tasks);
			halve(a, &a->devices[i].copied);
		}
		for (size_t i = 0; i < a->n_groups; i++) {
			halve(a, &a->groups[i].read);
			halve(a, &a->groups[i].written);
		}
		a->interval_ns *= 2;
		a->n = (a->n + 1) / 2;
	}
	if (at_ns / a->interval_ns >= a->n)
		a->n = (unsigned)(at_ns / a->interval_ns) + 1;
}

static uint64_t since_start(const struct leat_achieved *a, uint64_t at_ns)
{
	return at_ns > a->start_ns ? at_ns - a->start_ns : 0;
}

/* Add an amount, evenly over that time. */
static void spread(struct leat_achieved *a, struct series *s, uint64_t from_ns, uint64_t to_ns,
		   double amount)
{
	uint64_t from = since_start(a, from_ns), to = since_start(a, to_ns);

	if (amount <= 0)
		return;
	/* The end of a sample belongs to it, not to the next. */
	grow_to(a, to > from ? to - 1 : to);
	if (to <= from) {
		s->v[to / a->interval_ns] += amount;
		return;
	}
	for (uint64_t i = from / a->interval_ns; i * a->interval_ns < to; i++) {
		uint64_t begin = i * a->interval_ns, end = begin + a->interval_ns;

		begin = begin > from ? begin : from;
		end = end < to ? end : to;
		s->v[i] += amount * (double)(end - begin) / (double)(to - from);
	}
}

/* --- what goes on ---------------------------------------------------------------------------- */

static void settle_device(struct leat_achieved *a, struct device_use *p, uint64_t now_ns)
{
	double length = now_ns > p->since_ns ? (double)(now_ns - p->since_ns) : 0;

	if (length > 0) {
		spread(a, &p->taken, p->since_ns, now_ns, (double)p->allocated_mbps * length);
		spread(a, &p->tasks, p->since_ns, now_ns, (double)p->running * length);
		p->busy_ns += p->running ? now_ns - p->since_ns : 0;
	}
	p->since_ns = now_ns;
}

static struct leat_achieved_rate *rate_of(struct group *g, unsigned mbps)
{
	for (size_t i = 0; i < g->n_rates; i++)
		if (g->rates[i].constraint_mbps == mbps)
			return &g->rates[i];
	if (g->n_rates == g->max_rates)
		return NULL;
	g->rates[g->n_rates].constraint_mbps = mbps;
	return &g->rates[g->n_rates++];
}

static void note_choice(struct group *g, unsigned mbps, uint64_t now_ns)
{
	if (!g->choices || (g->n_choices && g->last_mbps == mbps))
		return;
	g->last_mbps = mbps;
	if (g->n_choices < LEAT_ACHIEVED_CHOICES)
		g->choices[g->n_choices++] = (struct leat_achieved_choice){now_ns, mbps};
	else
		g->left_out++;
}

/* The time so far in which there were any. */
static void settle_busy(uint64_t running, uint64_t *since_ns, uint64_t *busy_ns, uint64_t now_ns)
{
	if (!running || now_ns <= *since_ns)
		return;
	*busy_ns += now_ns - *since_ns;
	*since_ns = now_ns;
}

/* One more or less, of something that counts the time in which there are any. */
static void count_one(uint64_t *running, uint64_t *since_ns, uint64_t *busy_ns, bool begins,
		      uint64_t now_ns)
{
	settle_busy(*running, since_ns, busy_ns, now_ns);
	if (begins && !(*running)++)
		*since_ns = now_ns;
	else if (!begins && *running)
		--*running;
}

static void count_change(struct leat_achieved *a, struct group *g, unsigned mbps, bool begins,
			 uint64_t now_ns)
{
	struct leat_achieved_rate *rate = rate_of(g, mbps);
	struct device_use *p = &a->devices[g->device];

	count_one(&g->running, &g->since_ns, &g->busy_ns, begins, now_ns);
	if (rate)
		count_one(&rate->running, &rate->since_ns, &rate->busy_ns, begins, now_ns);
	if (!g->io)
		return;
	settle_device(a, p, now_ns);
	p->running += begins ? 1 : (uint64_t)-1;
	p->allocated_mbps += begins ? mbps : -(uint64_t)mbps;
}

void leat_achieved_begin(struct leat_achieved *a, unsigned type, unsigned mbps, bool chosen,
			 uint64_t now_ns)
{
	struct group *g = group_of(a, type);

	if (!g)
		return;
	if (chosen)
		note_choice(g, mbps, now_ns);
	count_change(a, g, mbps, true, now_ns);
}

void leat_achieved_end(struct leat_achieved *a, unsigned type, unsigned mbps, uint64_t now_ns,
		       uint64_t took_ns)
{
	struct group *g = group_of(a, type);
	struct leat_achieved_rate *rate;

	if (!g)
		return;
	count_change(a, g, mbps, false, now_ns);
	rate = rate_of(g, mbps);
	if (rate) {
		rate->tasks++;
		rate->task_ns += took_ns;
	}
}

void leat_achieved_move(struct leat_achieved *a, unsigned type, unsigned mbps, uint64_t from_ns,
			uint64_t to_ns, struct leat_achieved_bytes bytes)
{
	struct group *g = group_of(a, type);
	struct leat_achieved_rate *rate;

	if (!g)
		return;
	g->bytes.read += bytes.read;
	g->bytes.written += bytes.written;
	spread(a, &g->read, from_ns, to_ns, (double)bytes.read);
	spread(a, &g->written, from_ns, to_ns, (double)bytes.written);
	rate = rate_of(g, mbps);
	if (rate)
		rate->bytes += bytes.read + bytes.written;
}

void leat_achieved_copy(struct leat_achieved *a, unsigned device, uint64_t from_ns, uint64_t to_ns,
			uint64_t bytes)
{
	a->devices[device].copied_bytes += bytes;
	spread(a, &a->devices[device].copied, from_ns, to_ns, (double)bytes);
}

void leat_achieved_settle(struct leat_achieved *a, uint64_t now_ns)
{
	for (size_t i = 0; i < a->n_devices; i++)
		settle_device(a, &a->devices[i], now_ns);
	for (size_t i = 0; i < a->n_groups; i++) {
		struct group *g = &a->groups[i];

		settle_busy(g->running, &g->since_ns, &g->busy_ns, now_ns);
		for (size_t k = 0; k < g->n_rates; k++)
			settle_busy(g->rates[k].running, &g->rates[k].since_ns,
				    &g->rates[k].busy_ns, now_ns);
	}
}

/* --- what it says ---------------------------------------------------------------------------- */

uint64_t leat_achieved_start_ns(const struct leat_achieved *a)
{
	return a->start_ns;
}

unsigned leat_achieved_n(const struct leat_achieved *a)
{
	return a->n;
}

double leat_achieved_interval_s(const struct leat_achieved *a)
{
	return (double)a->interval_ns / NS;
}

void leat_achieved_sample(const struct leat_achieved *a, unsigned device, unsigned i,
			  struct leat_achieved_sample *out)
{
	const struct device_use *p = &a->devices[device];
	double read = 0, written = 0, length = (double)a->interval_ns;

	for (size_t k = 0; k < a->n_groups; k++)
		if (a->groups[k].device == (int)device) {
			read += a->groups[k].read.v[i];
			written += a->groups[k].written.v[i];
		}
	/* Bytes in a nanosecond are 1000 MB in a second. */
	*out = (struct leat_achieved_sample){.allocated_mbps = p->taken.v[i] / length,
					     .tasks = p->tasks.v[i] / length,
					     .read_mbps = read * 1e3 / length,
					     .written_mbps = written * 1e3 / length,
					     .copied_mbps = p->copied.v[i] * 1e3 / length};
}

double leat_achieved_type_mbps(const struct leat_achieved *a, unsigned type, unsigned i)
{
	const struct group *g = &a->groups[type];

	return g->device < 0 ? 0 : (g->read.v[i] + g->written.v[i]) * 1e3 / (double)a->interval_ns;
}

static double mean_mbps(uint64_t bytes, uint64_t busy_ns)
{
	return busy_ns ? (double)bytes * 1e3 / (double)busy_ns : 0;
}

void leat_achieved_device_total(const struct leat_achieved *a, unsigned device,
				struct leat_achieved_total *out)
{
	uint64_t by_io = 0;
	struct leat_achieved_sample s;

	*out = (struct leat_achieved_total){.copied = a->devices[device].copied_bytes,
					    .busy_s = (double)a->devices[device].busy_ns / NS};
	for (size_t k = 0; k < a->n_groups; k++) {
		const struct group *g = &a->groups[k];

		if (g->device != (int)device)
			continue;
		out->bytes.read += g->bytes.read;
		out->bytes.written += g->bytes.written;
		by_io += g->io ? g->bytes.read + g->bytes.written : 0;
	}
	out->peak_mbps = out->mean_mbps = mean_mbps(by_io, a->devices[device].busy_ns);
	for (unsigned i = 0; i < a->n; i++) {
		leat_achieved_sample(a, device, i, &s);
		if (s.read_mbps + s.written_mbps > out->peak_mbps)
			out->peak_mbps = s.read_mbps + s.written_mbps;
	}
}

void leat_achieved_type_total(const struct leat_achieved *a, unsigned type,
			      struct leat_achieved_total *out)
{
	const struct group *g = group_of(a, type);

	*out = (struct leat_achieved_total){0};
	if (!g)
		return;
	*out = (struct leat_achieved_total){.bytes = g->bytes, .busy_s = (double)g->busy_ns / NS};
	out->mean_mbps = mean_mbps(g->bytes.read + g->bytes.written, g->busy_ns);
	out->peak_mbps = out->mean_mbps;
	for (unsigned i = 0; i < a->n; i++)
		if (leat_achieved_type_mbps(a, type, i) > out->peak_mbps)
			out->peak_mbps = leat_achieved_type_mbps(a, type, i);
}

bool leat_achieved_is_used(const struct leat_achieved *a, unsigned device)
{
	for (size_t k = 0; k < a->n_groups; k++)
		if (a->groups[k].device == (int)device)
			return true;
	return false;
}

bool leat_achieved_has_device(const struct leat_achieved *a, unsigned type)
{
	return type < a->n_groups && a->groups[type].device >= 0;
}

const struct leat_achieved_rate *leat_achieved_rates(const struct leat_achieved *a, unsigned type,
						     size_t *n)
{
	const struct group *g = group_of(a, type);

	*n = g ? g->n_rates : 0;
	return g ? g->rates : NULL;
}

const struct leat_achieved_choice *
leat_achieved_choices(const struct leat_achieved *a, unsigned type, size_t *n, uint64_t *left_out)
{
	const struct group *g = group_of(a, type);

	*n = g ? g->n_choices : 0;
	*left_out = g ? g->left_out : 0;
	return g ? g->choices : NULL;
}
