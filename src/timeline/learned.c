#include "timeline/learned.h"

#include "base/format.h"
#include "timeline/result.h"
#include "sched/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leat_learned *leat_learned_new(size_t max_types)
{
	struct leat_learned *learned = calloc(1, sizeof(*learned));

	if (!learned)
		return NULL;
	learned->types = calloc(max_types + 1, sizeof(*learned->types));
	if (learned->types)
		return learned;
	free(learned);
	return NULL;
}

void leat_learned_free(struct leat_learned *learned)
{
	if (!learned)
		return;
	for (size_t i = 0; i < learned->n_types; i++) {
		free(learned->types[i].device);
		free(learned->types[i].epochs);
		free(learned->types[i].registry);
	}
	for (size_t i = 0; i < learned->n_devices; i++)
		free((void *)(uintptr_t)learned->devices[i].name);
	leat_achieved_free(learned->achieved);
	free(learned->types);
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
		     const struct leat_sched_type_state *state, const struct leat_needs *needs,
		     const struct leat_device *device)
{
	struct leat_learned_type *type = &learned->types[learned->n_types++];

	*type = (struct leat_learned_type){
		.task = task, .io = needs->io, .bandwidth = needs->bandwidth, .state = *state};
	type->device = device ? strdup(device->name) : NULL;
	type->epochs = copy(state->epochs, state->n_epochs, sizeof(*type->epochs));
	type->registry = copy(state->registry, state->n_registry, sizeof(*type->registry));
	/* One that was put aside stays open, and its tasks do not come any more. */
	for (size_t i = 0; type->epochs && i < state->n_epochs; i++)
		if (type->epochs[i].end == LEAT_SCHED_EPOCH_OPEN)
			type->epochs[i].end = LEAT_SCHED_EPOCH_UNREGISTERED;
	type->state.name = NULL;
	type->state.epochs = type->epochs;
	type->state.registry = type->registry;
	return type->epochs && type->registry && !type->device == !device ? 0 : -ENOMEM;
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

static double mean_s(const struct leat_sched_type_state *state)
{
	return state->succeeded ? state->total_s / (double)state->succeeded : 0;
}

/* --- text ------------------------------------------------------------------------------------ */

static void print_type(const struct leat_learned_type *type, FILE *out)
{
	const struct leat_sched_type_state *state = &type->state;
	char bandwidth[64];

	leat_bandwidth_format(&type->bandwidth, bandwidth, sizeof(bandwidth));
	fprintf(out, "I/O task %s%s%s%s%s: %llu done, mean %.2f s\n", type->task,
		type->device ? " on " : "", type->device ? type->device : "",
		*bandwidth ? ", storage_bw " : "", bandwidth,
		(unsigned long long)state->succeeded + state->failed, mean_s(state));
	for (size_t i = 0; i < state->n_epochs; i++) {
		const struct leat_sched_epoch *e = &type->epochs[i];

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
		"at most %u allocated at a time%s%s\n",
		device->name, total.mean_mbps, device->bandwidth_mbps, total.busy_s,
		total.peak_mbps, device->peak_mbps, total.copied ? "; leat copied " : "",
		total.copied ? copied : "");
}

void leat_learned_print(const struct leat_learned *learned, FILE *out)
{
	for (size_t i = 0; i < learned->n_types; i++)
		if (learned->types[i].io)
			print_type(&learned->types[i], out);
	for (unsigned i = 0; i < learned->n_devices; i++)
		print_device(learned, i, out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void put_type(struct leat_json *j, const struct leat_learned *learned, unsigned number)
{
	const struct leat_learned_type *type = &learned->types[number];
	char bandwidth[64];

	leat_bandwidth_format(&type->bandwidth, bandwidth, sizeof(bandwidth));
	leat_json_object(j, NULL, false);
	leat_json_string(j, "task", type->task);
	leat_json_bool(j, "io", type->io);
	if (type->device)
		leat_json_string(j, "device", type->device);
	if (*bandwidth)
		leat_json_string(j, "storage_bw", bandwidth);
	leat_json_number(j, "done", type->state.succeeded);
	leat_json_number(j, "failed", type->state.failed);
	leat_json_real(j, "mean_s", mean_s(&type->state));
	if (type->state.phase != LEAT_SCHED_FIXED)
		leat_sched_write_learning(j, &type->state,
					  leat_achieved_start_ns(learned->achieved));
	leat_achieved_write_type(j, learned->achieved, number);
	leat_json_close(j);
}

void leat_learned_write(const struct leat_learned *learned, struct leat_json *j)
{
	leat_json_object(j, "scheduling", false);
	leat_json_number(j, "computing_units", learned->computing_units);
	leat_json_number(j, "io_executors", learned->io_executors);
	leat_json_list(j, "tasks", false);
	for (unsigned i = 0; i < learned->n_types; i++)
		put_type(j, learned, i);
	leat_json_close(j);
	leat_json_list(j, "devices", false);
	for (unsigned i = 0; i < learned->n_devices; i++)
		leat_sched_write_device(j, &learned->devices[i], learned->achieved, i);
	leat_json_close(j);
	leat_json_close(j);
}
