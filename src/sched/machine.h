/* Simulated time: tasks that take so long, and tasks that share devices. Internal to this layer. */
#ifndef LEAT_SCHED_MACHINE_H
#define LEAT_SCHED_MACHINE_H

#include "sched/congestion.h"

#include <stddef.h>
#include <stdint.h>

/* Things that are due, the earliest first, and of equals the one that was put in first. */
struct leat_due {
	struct leat_due_entry {
		double at;
		uint64_t order;
		size_t task;
	} * v; /* owned */
	size_t n, capacity;
	uint64_t orders;
};

int leat_due_put(struct leat_due *due, double at, size_t task);
size_t leat_due_take(struct leat_due *due);

/* A device that its tasks share equally. */
struct leat_shared_disk {
	double bandwidth_mbps;
	double each_mb; /* that each task has transferred, if it was here from the start */
	double since_s; /* when that was so */
	double next_s;  /* when the first of its tasks is done; infinite: none is here */
	double busy_s;
	uint64_t most;
	struct leat_due tasks; /* due by each_mb */
};

struct leat_machine {
	struct leat_congestion model;
	double now_s;
	struct leat_due timers;
	struct leat_shared_disk *disks; /* owned */
	size_t n_disks;
};

/* 0 or -ENOMEM. */
int leat_machine_init(struct leat_machine *m, const struct leat_congestion *model, size_t n_disks);
void leat_machine_release(struct leat_machine *m);

/* `task` is done in so many seconds, or when it has transferred so many MB. 0 or -ENOMEM. */
int leat_machine_sleep(struct leat_machine *m, size_t task, double seconds);
int leat_machine_transfer(struct leat_machine *m, size_t task, size_t disk, double megabytes);

/* Let time go on to when a task is done: its number; SIZE_MAX: there is none. */
size_t leat_machine_next(struct leat_machine *m);

#endif
