/* What the scheduler of a run has learned, for its report. */
#ifndef LEAT_TIMELINE_LEARNED_H
#define LEAT_TIMELINE_LEARNED_H

#include "base/json.h"
#include "model/workflow.h"
#include "sched/achieved.h"
#include "sched/sched.h"

#include <stddef.h>
#include <stdio.h>

/* One type: a task of the workflow, on one device. */
struct leat_learned_type {
	const char *task;                   /* borrowed from the model */
	char *device;                       /* owned, or NULL */
	bool io;                            /* an I/O task */
	struct leat_bandwidth bandwidth;    /* as it was asked for */
	struct leat_sched_type_state state; /* without name, epochs and registry: */
	struct leat_sched_epoch *epochs;    /* owned */
	struct leat_sched_entry *registry;  /* owned */
};

struct leat_learned {
	unsigned computing_units, io_executors;
	struct leat_learned_type *types; /* owned */
	size_t n_types;
	struct leat_sched_device_state *devices; /* owned, with their names */
	size_t n_devices;
	struct leat_achieved *achieved; /* owned; types and devices have the same numbers */
};

/* With space for so many types. NULL when out of memory. */
struct leat_learned *leat_learned_new(size_t max_types);
void leat_learned_free(struct leat_learned *learned);

/* Append a copy. 0 or -ENOMEM. `task` is borrowed; `needs`: of one of its steps; `device` may be
 * NULL. */
int leat_learned_add(struct leat_learned *learned, const char *task,
		     const struct leat_sched_type_state *state, const struct leat_needs *needs,
		     const struct leat_device *device);
int leat_learned_add_device(struct leat_learned *learned,
			    const struct leat_sched_device_state *state);

/* The lines of the summary: each type with I/O, its epochs, and what was chosen; each device that
 * I/O tasks used. */
void leat_learned_print(const struct leat_learned *learned, FILE *out);

/* The same, and samples, as `scheduling` of the report and of the timeline. */
void leat_learned_write(const struct leat_learned *learned, struct leat_json *j);

#endif
