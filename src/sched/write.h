/* What was achieved and learned, as JSON: the same for workflows and for programs with tasks. */
#ifndef LEAT_SCHED_WRITE_H
#define LEAT_SCHED_WRITE_H

#include "base/json.h"
#include "sched/achieved.h"
#include "sched/sched.h"

/* `epochs` and `registry` of a type that learns, and what it has chosen; times are since
 * `start_ns`. */
void leat_sched_write_learning(struct leat_json *j, const struct leat_sched_type_state *state,
			       uint64_t start_ns);

/* `achieved` of a type that has a device; of another nothing. */
void leat_achieved_write_type(struct leat_json *j, const struct leat_achieved *a, unsigned type);

/* A device, as one of a list: what was taken of it, and what was achieved, samples included. */
void leat_sched_write_device(struct leat_json *j, const struct leat_sched_device_state *state,
			     const struct leat_achieved *a, unsigned device);

#endif
