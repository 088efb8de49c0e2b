/* A small world to try the scheduler in: tasks that take as long as a test says. */
#ifndef TEST_SCHED_WORLD_H
#define TEST_SCHED_WORLD_H

#include "sched/sched.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECOND UINT64_C(1000000000)

struct sim;

/* One task, and when it ends. */
struct sim_task {
	struct leat_sched_task task;
	uint64_t began_ns, ends_ns;
	bool fails, started;
	uint64_t order; /* of its start */
};

struct sim {
	struct leat_resources *res; /* owned */
	struct leat_sched *s;       /* owned */
	uint64_t now_ns;
	uint64_t (*took)(const struct sim *sim, const struct sim_task *task);
	/* called with each task that started or ended; may be NULL */
	void (*started)(struct sim *sim, struct sim_task *task);
	void (*ended)(struct sim *sim, struct sim_task *task);
	void *ctx;                 /* of the test */
	struct sim_task **running; /* owned array */
	size_t n_running, max_running;
	struct sim_task **all; /* owned, with the tasks */
	size_t n_all, max_all;
	uint64_t starts;
};

/* `n` hosts with so many computing units, I/O executors, and a device "ssd" of `mbps` (0: none). */
struct leat_resources *sim_resources(unsigned n, unsigned units, unsigned executors, unsigned mbps);

/* `res` is the world's from here on. */
void sim_init(struct sim *sim, struct leat_resources *res);
void sim_release(struct sim *sim);

/* An I/O type on "ssd" with this constraint, and a compute type. The number of the type. */
unsigned sim_io_type(struct sim *sim, const char *name, const char *bandwidth);
unsigned sim_compute_type(struct sim *sim, const char *name, unsigned units);

/* Add `n` ready tasks; the last of them. */
struct sim_task *sim_add(struct sim *sim, unsigned type, int home, size_t n);

/* Start what may start; how many. */
size_t sim_start(struct sim *sim);

/* End the running task that ends first, and start what may start then. False: none runs. */
bool sim_step(struct sim *sim);

/* Step until nothing runs any more. */
void sim_run(struct sim *sim);

#endif
