/* What the scheduler knows, for reports. */
#include "sched/internal.h"

#include <string.h>

unsigned leat_sched_n_types(const struct leat_sched *s)
{
	return s->n_types;
}

void leat_sched_type_state(const struct leat_sched *s, unsigned number,
			   struct leat_sched_type_state *state)
{
	const struct task_type *type = s->types[number];

	*state = (struct leat_sched_type_state){
		.name = type->name,
		.phase = type->phase,
		.constraint_mbps = type->constraint,
		.submitted = type->submitted,
		.ready = type->ready,
		.running = type->running,
		.succeeded = type->succeeded,
		.failed = type->failed,
		.learned_from = type->learned_from,
		.choices = type->choices,
		.total_s = type->total_s,
		.epochs = type->epochs,
		.n_epochs = type->n_epochs,
		.registry = type->registry,
		.n_registry = type->n_registry,
	};
}

size_t leat_sched_n_devices(const struct leat_sched *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_families; i++)
		n += s->families[i].n_devices;
	return n;
}

int leat_sched_device_number(const struct leat_sched *s, const char *name)
{
	size_t before = 0;

	for (size_t i = 0; name && i < s->n_families; i++) {
		if (!strcmp(s->families[i].name, name))
			return (int)before;
		before += s->families[i].n_devices;
	}
	return -1;
}

void leat_sched_device_state(const struct leat_sched *s, size_t number,
			     struct leat_sched_device_state *state)
{
	const struct family *family = s->families;
	const struct device *device;

	for (; number >= family->n_devices; family++)
		number -= family->n_devices;
	device = &family->devices[number];
	*state = (struct leat_sched_device_state){
		.name = family->name,
		.host = device->host,
		.bandwidth_mbps = device->is->bandwidth_mbps,
		.allocated_mbps = device->allocated_mbps,
		.peak_mbps = device->peak_mbps,
		.running = device->running,
		.peak_running = device->peak_running,
	};
}

void leat_sched_host_state(const struct leat_sched *s, unsigned number,
			   struct leat_sched_host_state *state)
{
	const struct host *host = &s->hosts[number];

	*state = (struct leat_sched_host_state){
		.name = host->is->name,
		.free_units = host->free_units,
		.free_io_executors = host->free_executors,
		.learning = host->learner ? (int)host->learner->index : -1,
	};
}

void leat_sched_counts(const struct leat_sched *s, struct leat_sched_counts *counts)
{
	*counts = (struct leat_sched_counts){s->submitted, s->ready, s->running};
}

const char *leat_sched_epoch_word(enum leat_sched_epoch_end end)
{
	static const char *const words[] = {
		[LEAT_SCHED_EPOCH_OPEN] = "open",
		[LEAT_SCHED_EPOCH_REGISTERED] = "registered",
		[LEAT_SCHED_EPOCH_DISCARDED] = "discarded",
		[LEAT_SCHED_EPOCH_UNREGISTERED] = "short of tasks",
		[LEAT_SCHED_EPOCH_FAILED] = "failed",
	};

	return words[end];
}
