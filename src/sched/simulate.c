/* Tasks of a workload from being ready to their end, on a simulated machine. */
#include "sched/simulate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/pairing.h"
#include "sched/machine.h"

struct sim_task {
	struct leat_sched_task task; /* first: the scheduler hands out pointers to it */
	unsigned group, number, iteration;
	unsigned waits; /* for so many tasks and groups */
	bool transfers; /* its seconds are over */
	double began_s;
};

struct simulation {
	const struct leat_workload *w; /* borrowed */
	struct leat_resources res;     /* shallow copy, with hosts of its own */
	struct leat_sched *s;          /* owned */
	struct leat_machine m;         /* owned */
	struct sim_task *tasks;        /* owned: by iteration, group and number */
	size_t n_tasks, per_iteration;
	size_t *first;  /* owned: of each group in an iteration */
	uint64_t *left; /* owned: tasks of each group and iteration that have not ended */
	size_t *disk;   /* owned: by group and host, which of the machine's it transfers to */
	double io_s, units_s;
	uint64_t n_io;
	struct leat_simulated *out; /* borrowed */
};

static struct sim_task *task_at(struct simulation *sim, unsigned iteration, size_t group,
				unsigned number)
{
	return &sim->tasks[iteration * sim->per_iteration + sim->first[group] + number];
}

static uint64_t now_ns(const struct simulation *sim)
{
	return (uint64_t)(sim->m.now_s * 1e9);
}

/* --- set up -------------------------------------------------------------------------------------
 */

/* A host without devices has no array of them. */
static bool has_device(const struct leat_host *host, const struct leat_device *device)
{
	return host->n_devices && device >= host->devices &&
	       device < host->devices + host->n_devices;
}

/* The number of the machine's disk: the devices of hosts in order, then the shared ones. */
static size_t disk_number(const struct leat_resources *res, size_t host, const char *name)
{
	const struct leat_device *device = leat_resources_find_device(res, host, name);
	size_t before = 0;

	for (size_t h = 0; h < res->n_hosts; h++) {
		const struct leat_host *of = &res->hosts[h];

		if (h == host && has_device(of, device))
			return before + (size_t)(device - of->devices);
		before += of->n_devices;
	}
	return device ? before + (size_t)(device - res->shared) : SIZE_MAX;
}

static int add_disks(struct simulation *sim, const struct leat_congestion *model)
{
	const struct leat_resources *res = &sim->res;
	size_t n = res->n_shared, at = 0;

	for (size_t h = 0; h < res->n_hosts; h++)
		n += res->hosts[h].n_devices;
	sim->disk = calloc(sim->w->n_groups * res->n_hosts + 1, sizeof(*sim->disk));
	if (!sim->disk || leat_machine_init(&sim->m, model, n))
		return -ENOMEM;
	for (size_t h = 0; h < res->n_hosts; h++)
		for (size_t d = 0; d < res->hosts[h].n_devices; d++)
			sim->m.disks[at++].bandwidth_mbps = res->hosts[h].devices[d].bandwidth_mbps;
	for (size_t d = 0; d < res->n_shared; d++)
		sim->m.disks[at++].bandwidth_mbps = res->shared[d].bandwidth_mbps;
	return 0;
}

/* A compute task may run on any host: all must have the device that it transfers to. */
static int find_disks(struct simulation *sim, char why[LEAT_SCHED_WHY])
{
	for (size_t g = 0; g < sim->w->n_groups; g++) {
		const struct leat_group *group = &sim->w->groups[g];

		for (size_t h = 0; group->device && h < sim->res.n_hosts; h++) {
			size_t disk = disk_number(&sim->res, h, group->device);

			sim->disk[g * sim->res.n_hosts + h] = disk;
			if (disk != SIZE_MAX || sim->out->groups[g].io)
				continue;
			snprintf(why, LEAT_SCHED_WHY,
				 "task type \"%.40s\" uses storage device \"%.40s\" and may run on "
				 "node \"%.40s\", which has none of that name",
				 group->name, group->device, sim->res.hosts[h].name);
			return -EINVAL;
		}
	}
	return 0;
}

static int add_type(struct simulation *sim, size_t g, const struct leat_trial *trial,
		    char why[LEAT_SCHED_WHY])
{
	const struct leat_group *group = &sim->w->groups[g];
	struct leat_simulated_group *out = &sim->out->groups[g];
	bool io = group->io && trial->kind != LEAT_TRIAL_BASELINE;
	struct leat_sched_task_type spec = {
		.name = group->name,
		.io = io,
		.computing_units = io          ? 0
				   : group->io ? 1
					       : group->computing_units,
		.device = io ? group->device : NULL,
	};
	unsigned type;

	if (io && group->device)
		spec.bandwidth =
			trial->kind == LEAT_TRIAL_BANDWIDTH ? trial->bandwidth : group->bandwidth;
	out->name = group->name;
	out->io = io;
	out->bandwidth = spec.bandwidth;
	return leat_sched_add_type(sim->s, &spec, &type, why);
}

static int add_groups(struct simulation *sim, const struct leat_trial *trial,
		      char why[LEAT_SCHED_WHY])
{
	const struct leat_workload *w = sim->w;
	int ret = 0;

	sim->out->groups = calloc(w->n_groups + 1, sizeof(*sim->out->groups));
	sim->first = calloc(w->n_groups + 1, sizeof(*sim->first));
	sim->left = calloc(w->n_groups * w->iterations + 1, sizeof(*sim->left));
	if (!sim->out->groups || !sim->first || !sim->left)
		return -ENOMEM;
	sim->out->n_groups = w->n_groups;
	for (size_t g = 0; !ret && g < w->n_groups; g++) {
		sim->first[g] = sim->per_iteration;
		sim->per_iteration += w->groups[g].count;
		for (unsigned i = 0; i < w->iterations; i++)
			sim->left[i * w->n_groups + g] = w->groups[g].count;
		ret = add_type(sim, g, trial, why);
	}
	return ret;
}

static unsigned waits_of(const struct simulation *sim, const struct leat_group *group,
			 unsigned number, unsigned iteration)
{
	size_t n = group->after.n + (iteration ? group->previous.n : 0);

	for (size_t i = 0; i < group->each.n; i++)
		n += leat_pairing(sim->w->groups[group->each.v[i]].count, group->count, number).n;
	return (unsigned)n;
}

static int add_tasks(struct simulation *sim)
{
	size_t at = 0;
	int ret = 0;

	sim->n_tasks = sim->per_iteration * sim->w->iterations;
	sim->tasks = calloc(sim->n_tasks + 1, sizeof(*sim->tasks));
	if (!sim->tasks)
		return -ENOMEM;
	for (unsigned i = 0; i < sim->w->iterations; i++)
		for (unsigned g = 0; g < sim->w->n_groups; g++)
			for (unsigned n = 0; !ret && n < sim->w->groups[g].count; n++, at++) {
				struct sim_task *task = &sim->tasks[at];

				task->group = task->task.type = g;
				task->task.home = LEAT_SCHED_ANYWHERE;
				task->number = n;
				task->iteration = i;
				task->waits = waits_of(sim, &sim->w->groups[g], n, i);
				ret = leat_sched_submit(sim->s, &task->task);
			}
	return ret;
}

/* --- run
 * ------------------------------------------------------------------------------------------ */

/* Between -1 and 1, always the same for a task. */
static double deviation(const struct sim_task *task)
{
	uint64_t mix = task->group * UINT64_C(0x9e3779b97f4a7c15) +
		       task->iteration * UINT64_C(0xbf58476d1ce4e5b9) + task->number + 1;

	mix ^= mix >> 30;
	mix *= UINT64_C(0xbf58476d1ce4e5b9);
	mix ^= mix >> 27;
	mix *= UINT64_C(0x94d049bb133111eb);
	mix ^= mix >> 31;
	return (double)(mix >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static size_t disk_of(const struct simulation *sim, const struct sim_task *task)
{
	return sim->disk[task->group * sim->res.n_hosts + task->task.host];
}

static int begin(struct simulation *sim, struct sim_task *task)
{
	const struct leat_group *group = &sim->w->groups[task->group];
	size_t number = (size_t)(task - sim->tasks);

	if (group->seconds > 0 || !group->megabytes)
		return leat_machine_sleep(&sim->m, number,
					  group->seconds *
						  (1 + deviation(task) * group->spread / 100));
	task->transfers = true;
	return leat_machine_transfer(&sim->m, number, disk_of(sim, task), group->megabytes);
}

static int release_task(struct simulation *sim, struct sim_task *task)
{
	return --task->waits ? 0 : leat_sched_ready(sim->s, &task->task);
}

/* All tasks of group `g` and this iteration are waited for no longer by those of `to`. */
static int release_group(struct simulation *sim, size_t g, const struct leat_groups *from,
			 size_t to, unsigned iteration)
{
	int ret = 0;

	for (size_t i = 0; i < from->n; i++)
		for (unsigned n = 0; !ret && from->v[i] == g && n < sim->w->groups[to].count; n++)
			ret = release_task(sim, task_at(sim, iteration, to, n));
	return ret;
}

/* Tasks that wait for their share of this group's tasks. */
static int release_each(struct simulation *sim, const struct sim_task *task, size_t to)
{
	const struct leat_group *group = &sim->w->groups[to];
	int ret = 0;

	for (size_t i = 0; i < group->each.n; i++) {
		struct leat_instances mine;

		if (group->each.v[i] != task->group)
			continue;
		mine = leat_pairing(group->count, sim->w->groups[task->group].count, task->number);
		for (unsigned n = mine.first; !ret && n < mine.first + mine.n; n++)
			ret = release_task(sim, task_at(sim, task->iteration, to, n));
	}
	return ret;
}

static int release_dependants(struct simulation *sim, const struct sim_task *task)
{
	uint64_t left = --sim->left[task->iteration * sim->w->n_groups + task->group];
	int ret = 0;

	for (size_t to = 0; !ret && to < sim->w->n_groups; to++) {
		const struct leat_group *group = &sim->w->groups[to];

		ret = release_each(sim, task, to);
		if (!ret && !left)
			ret = release_group(sim, task->group, &group->after, to, task->iteration);
		if (!ret && !left && task->iteration + 1 < sim->w->iterations)
			ret = release_group(sim, task->group, &group->previous, to,
					    task->iteration + 1);
	}
	return ret;
}

static void count(struct simulation *sim, const struct sim_task *task)
{
	const struct leat_group *group = &sim->w->groups[task->group];
	struct leat_simulated_group *out = &sim->out->groups[task->group];
	double took = sim->m.now_s - task->began_s;

	if (!out->tasks || task->began_s < out->begin_s)
		out->begin_s = task->began_s;
	out->end_s = sim->m.now_s;
	out->tasks++;
	out->mean_s += (took - out->mean_s) / (double)out->tasks;
	if (!out->io)
		sim->units_s += took * (group->io ? 1 : group->computing_units);
	if (!group->megabytes)
		return;
	sim->out->megabytes += group->megabytes;
	sim->io_s += took;
	sim->n_io++;
}

static int end(struct simulation *sim, struct sim_task *task)
{
	double took = sim->m.now_s - task->began_s;
	int ret;

	count(sim, task);
	ret = leat_sched_ended(sim->s, &task->task, now_ns(sim), (uint64_t)(took * 1e9), false);
	return ret ? ret : release_dependants(sim, task);
}

static int start_all(struct simulation *sim)
{
	struct leat_sched_task *next;
	int ret = 0;

	while (!ret && (next = leat_sched_next(sim->s, now_ns(sim)))) {
		struct sim_task *task = (struct sim_task *)(void *)next;

		task->began_s = sim->m.now_s;
		ret = begin(sim, task);
	}
	return ret;
}

static int run(struct simulation *sim)
{
	int ret = 0;
	size_t done;

	for (size_t i = 0; !ret && i < sim->n_tasks; i++)
		if (!sim->tasks[i].waits)
			ret = leat_sched_ready(sim->s, &sim->tasks[i].task);
	leat_sched_end(sim->s, 0);
	if (!ret)
		ret = start_all(sim);
	while (!ret && (done = leat_machine_next(&sim->m)) != SIZE_MAX) {
		struct sim_task *task = &sim->tasks[done];
		unsigned megabytes = sim->w->groups[task->group].megabytes;

		sim->out->events++;
		if (megabytes && !task->transfers) {
			task->transfers = true;
			ret = leat_machine_transfer(&sim->m, done, disk_of(sim, task), megabytes);
			continue;
		}
		ret = end(sim, task);
		if (!ret)
			ret = start_all(sim);
	}
	return ret;
}

/* --- result
 * ----------------------------------------------------------------------------------------- */

static void *copy(const void *from, size_t n, size_t size)
{
	void *to = calloc(n + 1, size);

	if (to && n)
		memcpy(to, from, n * size);
	return to;
}

static int report_group(const struct simulation *sim, unsigned type)
{
	struct leat_simulated_group *out = &sim->out->groups[type];
	struct leat_sched_type_state state;

	leat_sched_type_state(sim->s, type, &state);
	out->phase = state.phase;
	out->constraint_mbps = state.constraint_mbps;
	out->learned_from = state.learned_from;
	if (state.phase == LEAT_SCHED_LEARNED && state.n_epochs)
		out->learned_s = (double)state.epochs[state.n_epochs - 1].end_ns / 1e9;
	out->epochs = copy(state.epochs, state.n_epochs, sizeof(*out->epochs));
	out->registry = copy(state.registry, state.n_registry, sizeof(*out->registry));
	if (!out->epochs || !out->registry)
		return -ENOMEM;
	out->n_epochs = state.n_epochs;
	out->n_registry = state.n_registry;
	return 0;
}

static int report(struct simulation *sim)
{
	double units = 0;
	int ret = 0;

	for (unsigned k = 0; !ret && k < leat_sched_n_types(sim->s); k++)
		ret = report_group(sim, k);
	for (size_t d = 0; d < sim->m.n_disks; d++) {
		sim->out->busy_s += sim->m.disks[d].busy_s;
		if (sim->m.disks[d].most > sim->out->at_a_time)
			sim->out->at_a_time = sim->m.disks[d].most;
	}
	for (size_t h = 0; h < sim->res.n_hosts; h++)
		units += sim->res.hosts[h].computing_units;
	sim->out->total_s = sim->m.now_s;
	sim->out->tasks = sim->n_tasks;
	sim->out->io_s = sim->n_io ? sim->io_s / (double)sim->n_io : 0;
	if (sim->m.now_s > 0)
		sim->out->computing = sim->units_s / (units * sim->m.now_s);
	return ret;
}

void leat_simulated_release(struct leat_simulated *out)
{
	for (size_t g = 0; g < out->n_groups; g++) {
		free(out->groups[g].epochs);
		free(out->groups[g].registry);
	}
	free(out->groups);
	*out = (struct leat_simulated){0};
}

/* The resources, with as many I/O executors as the trial says. */
static int take_resources(struct simulation *sim, const struct leat_resources *res,
			  const struct leat_trial *trial)
{
	sim->res = *res;
	sim->res.hosts = copy(res->hosts, res->n_hosts, sizeof(*res->hosts));
	if (!sim->res.hosts)
		return -ENOMEM;
	for (size_t h = 0; trial->io_executors && h < res->n_hosts; h++)
		sim->res.hosts[h].io_executors = trial->io_executors;
	sim->s = leat_sched_new(&sim->res);
	return sim->s ? 0 : -ENOMEM;
}

int leat_simulate(const struct leat_resources *res, const struct leat_workload *w,
		  const struct leat_trial *trial, const struct leat_congestion *model,
		  struct leat_simulated *out, char why[LEAT_SCHED_WHY])
{
	struct simulation sim = {.w = w, .out = out};
	int ret;

	*out = (struct leat_simulated){0};
	ret = take_resources(&sim, res, trial);
	if (!ret)
		ret = add_groups(&sim, trial, why);
	if (!ret)
		ret = add_disks(&sim, model);
	if (!ret)
		ret = find_disks(&sim, why);
	if (!ret)
		ret = add_tasks(&sim);
	if (!ret)
		ret = run(&sim);
	if (!ret)
		ret = report(&sim);
	leat_sched_free(sim.s);
	leat_machine_release(&sim.m);
	free(sim.res.hosts);
	free(sim.tasks);
	free(sim.first);
	free(sim.left);
	free(sim.disk);
	if (ret)
		leat_simulated_release(out);
	return ret;
}
