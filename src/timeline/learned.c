#include "timeline/learned.h"

#include "base/format.h"
#include "timeline/result.h"
#include "sched/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leat_learned *leat_learned_new(size_t max_kinds)
{
	struct leat_learned *learned = calloc(1, sizeof(*learned));

	if (!learned)
		return NULL;
	learned->kinds = calloc(max_kinds + 1, sizeof(*learned->kinds));
	if (learned->kinds)
		return learned;
	free(learned);
	return NULL;
}

void leat_learned_free(struct leat_learned *learned)
{
	if (!learned)
		return;
	for (size_t i = 0; i < learned->n_kinds; i++) {
		free(learned->kinds[i].device);
		free(learned->kinds[i].epochs);
		free(learned->kinds[i].registry);
	}
	for (size_t i = 0; i < learned->n_devices; i++)
		free((void *)(uintptr_t)learned->devices[i].name);
	leat_achieved_free(learned->achieved);
	free(learned->kinds);
	free(learned->devices);
	free(learned);
}

/* A copy of `n` elements; one more than none, so that NULL is out of memory. */
static void *copy(const void *from, size_t n, size_t size)
{
	void *to = calloc(n + 1, size);

	if (to && n)
		memcpy(to, from, n * size);
	return to;
}

int leat_learned_add(struct leat_learned *learned, const char *task,
		     const struct leat_sched_kind_state *state, const struct leat_needs *needs,
		     const struct leat_device *device)
{
	struct leat_learned_kind *kind = &learned->kinds[learned->n_kinds++];

	*kind = (struct leat_learned_kind){
		.task = task, .io = needs->io, .bandwidth = needs->bandwidth, .state = *state};
	kind->device = device ? strdup(device->name) : NULL;
	kind->epochs = copy(state->epochs, state->n_epochs, sizeof(*kind->epochs));
	kind->registry = copy(state->registry, state->n_registry, sizeof(*kind->registry));
	/* One that was put aside stays open, and its tasks do not come any more. */
	for (size_t i = 0; kind->epochs && i < state->n_epochs; i++)
		if (kind->epochs[i].end == LEAT_SCHED_EPOCH_OPEN)
			kind->epochs[i].end = LEAT_SCHED_EPOCH_UNREGISTERED;
	kind->state.name = NULL;
	kind->state.epochs = kind->epochs;
	kind->state.registry = kind->registry;
	return kind->epochs && kind->registry && !kind->device == !device ? 0 : -ENOMEM;
}

int leat_learned_add_device(struct leat_learned *learned,
			    const struct leat_sched_device_state *state)
{
	struct leat_sched_device_state *more =
		reallocarray(learned->devices, learned->n_devices + 1, sizeof(*more));
	char *name = strdup(state->name);

	if (more)
		learned->devices = more;
	if (!more || !name) {
		free(name);
		return -ENOMEM;
	}
	more[learned->n_devices] = *state;
	more[learned->n_devices++].name = name;
	return 0;
}

static double mean_s(const struct leat_sched_kind_state *state)
{
	return state->succeeded ? state->total_s / (double)state->succeeded : 0;
}

/* --- text ------------------------------------------------------------------------------------ */

static void print_kind(const struct leat_learned_kind *kind, FILE *out)
{
	const struct leat_sched_kind_state *state = &kind->state;
	char bandwidth[64];

	leat_bandwidth_format(&kind->bandwidth, bandwidth, sizeof(bandwidth));
	fprintf(out, "I/O task %s%s%s%s%s: %llu done, mean %.2f s\n", kind->task,
		kind->device ? " on " : "", kind->device ? kind->device : "",
		*bandwidth ? ", storage_bw " : "", bandwidth,
		(unsigned long long)state->succeeded + state->failed, mean_s(state));
	for (size_t i = 0; i < state->n_epochs; i++) {
		const struct leat_sched_epoch *e = &kind->epochs[i];

		fprintf(out, "  epoch %zu: %u MB/s, %u of %u tasks, mean %.2f s, %s\n", i + 1,
			e->constraint_mbps, e->ended, e->slots, e->mean_s,
			leat_sched_epoch_word(e->end));
	}
	if (state->phase == LEAT_SCHED_LEARNED)
		fprintf(out, "  chosen last: %u MB/s\n", state->constraint_mbps);
}

static void print_device(const struct leat_learned *learned, unsigned number, FILE *out)
{
	const struct leat_sched_device_state *device = &learned->devices[number];
	struct leat_achieved_total total;
	char copied[24];

	leat_achieved_device_total(learned->achieved, number, &total);
	if (total.busy_s <= 0)
		return;
	leat_format_bytes(total.copied, copied);
	fprintf(out,
		"storage %s: %.1f of %u MB/s achieved while I/O tasks ran (%.2f s), at most %.1f; "
		"at most %u asked for at a time%s%s\n",
		device->name, total.mean_mbps, device->bandwidth_mbps, total.busy_s,
		total.peak_mbps, device->peak_mbps, total.copied ? "; leat copied " : "",
		total.copied ? copied : "");
}

void leat_learned_print(const struct leat_learned *learned, FILE *out)
{
	for (size_t i = 0; i < learned->n_kinds; i++)
		if (learned->kinds[i].io)
			print_kind(&learned->kinds[i], out);
	for (unsigned i = 0; i < learned->n_devices; i++)
		print_device(learned, i, out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void put_kind(struct leat_json *j, const struct leat_learned *learned, unsigned number)
{
	const struct leat_learned_kind *kind = &learned->kinds[number];
	char bandwidth[64];

	leat_bandwidth_format(&kind->bandwidth, bandwidth, sizeof(bandwidth));
	leat_json_object(j, NULL, false);
	leat_json_string(j, "task", kind->task);
	leat_json_bool(j, "io", kind->io);
	if (kind->device)
		leat_json_string(j, "device", kind->device);
	if (*bandwidth)
		leat_json_string(j, "storage_bw", bandwidth);
	leat_json_number(j, "done", kind->state.succeeded);
	leat_json_number(j, "failed", kind->state.failed);
	leat_json_real(j, "mean_s", mean_s(&kind->state));
	if (kind->state.phase != LEAT_SCHED_FIXED)
		leat_sched_write_learning(j, &kind->state,
					  leat_achieved_start_ns(learned->achieved));
	leat_achieved_write_kind(j, learned->achieved, number);
	leat_json_close(j);
}

void leat_learned_write(const struct leat_learned *learned, struct leat_json *j)
{
	leat_json_object(j, "scheduling", false);
	leat_json_number(j, "computing_units", learned->computing_units);
	leat_json_number(j, "io_executors", learned->io_executors);
	leat_json_list(j, "tasks", false);
	for (unsigned i = 0; i < learned->n_kinds; i++)
		put_kind(j, learned, i);
	leat_json_close(j);
	leat_json_list(j, "devices", false);
	for (unsigned i = 0; i < learned->n_devices; i++)
		leat_sched_write_device(j, &learned->devices[i], learned->achieved, i);
	leat_json_close(j);
	leat_json_close(j);
}
