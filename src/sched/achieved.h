/* What tasks achieved on storage devices in the course of time: bytes of each type, the bandwidth
 * that was taken, and how many ran.
 *
 * Time is cut into samples of one length, which doubles, neighbours being put together, whenever
 * there would be too many: sums stay exact, memory and reports bounded. All memory is had when
 * devices and types are made known. Pure, like the scheduler; all calls for one of these come from
 * one thread at a time. Times are nanoseconds on the clock of `start_ns`; one before it is taken as
 * it. */
#ifndef LEAT_SCHED_ACHIEVED_H
#define LEAT_SCHED_ACHIEVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leat_achieved;

enum {
	LEAT_ACHIEVED_MOST = 1024,       /* samples at most */
	LEAT_ACHIEVED_LEAST = 256,       /* the same, where there are very many types */
	LEAT_ACHIEVED_BUDGET = 1 << 18,  /* samples of all types together */
	LEAT_ACHIEVED_INTERVAL_MS = 100, /* of a sample at first */
	LEAT_ACHIEVED_CHOICES = 512,     /* of a type's constraint that are kept */
	LEAT_ACHIEVED_NO_DEVICE = -1,
};

/* So many samples can be kept of each of `n_types`. */
unsigned leat_achieved_share(size_t n_types);

/* `max_samples` is at least 2, and even. NULL when out of memory. */
struct leat_achieved *leat_achieved_new(uint64_t start_ns, unsigned max_samples);
/* NULL is allowed. */
void leat_achieved_free(struct leat_achieved *a);

/* Make a device known; they have numbers from 0 up. 0 or -ENOMEM. */
int leat_achieved_add_device(struct leat_achieved *a);

/* Make a type known, by any number. It is on `device`, or on none: of such a type, or one that was
 * not made known, nothing is kept. `learns`: its constraint changes. 0 or -ENOMEM: it is not known.
 */
int leat_achieved_add_type(struct leat_achieved *a, unsigned type, int device, bool io,
			   bool learns);

/* A task of the type, with that constraint (0: none), has begun, or ended, which took `took_ns`.
 * `chosen`: not for an epoch. */
void leat_achieved_begin(struct leat_achieved *a, unsigned type, unsigned mbps, bool chosen,
			 uint64_t now_ns);
void leat_achieved_end(struct leat_achieved *a, unsigned type, unsigned mbps, uint64_t now_ns,
		       uint64_t took_ns);

struct leat_achieved_bytes {
	uint64_t read, written;
};

/* It has moved bytes, at some time between the two: they are spread evenly. */
void leat_achieved_move(struct leat_achieved *a, unsigned type, unsigned mbps, uint64_t from_ns,
			uint64_t to_ns, struct leat_achieved_bytes bytes);

/* Something else than tasks has written bytes to a device, at some time between the two. */
void leat_achieved_copy(struct leat_achieved *a, unsigned device, uint64_t from_ns, uint64_t to_ns,
			uint64_t bytes);

/* What is still running is counted up to now. Before any of the below. */
void leat_achieved_settle(struct leat_achieved *a, uint64_t now_ns);

/* --- what it says --- */

uint64_t leat_achieved_start_ns(const struct leat_achieved *a);
/* Samples there are, up to the last in which anything was on any device. */
unsigned leat_achieved_n(const struct leat_achieved *a);
/* Length of a sample in seconds. */
double leat_achieved_interval_s(const struct leat_achieved *a);

/* Means over the time of sample `i`, which begins i intervals after the start; MB: 1e6 bytes. */
struct leat_achieved_sample {
	double allocated_mbps; /* sum of the constraints of I/O tasks */
	double tasks;          /* I/O tasks that ran at a time */
	double read_mbps, written_mbps;
	double copied_mbps; /* by something else than tasks */
};
void leat_achieved_sample(const struct leat_achieved *a, unsigned device, unsigned i,
			  struct leat_achieved_sample *out);
/* MB/s of one type in sample `i`, both directions. */
double leat_achieved_type_mbps(const struct leat_achieved *a, unsigned type, unsigned i);

struct leat_achieved_total {
	struct leat_achieved_bytes bytes;
	uint64_t copied;  /* bytes, to a device, by something else than tasks */
	double busy_s;    /* time in which any task of it ran; of a device: any I/O task */
	double mean_mbps; /* in that time; of a device that of I/O tasks only */
	double peak_mbps; /* the most in any sample, or the mean, if that is more */
};
void leat_achieved_device_total(const struct leat_achieved *a, unsigned device,
				struct leat_achieved_total *out);
void leat_achieved_type_total(const struct leat_achieved *a, unsigned type,
			      struct leat_achieved_total *out);
/* Is any type on the device? */
bool leat_achieved_is_used(const struct leat_achieved *a, unsigned device);
/* Is anything kept of the type? */
bool leat_achieved_has_device(const struct leat_achieved *a, unsigned type);

/* What tasks with one constraint achieved. */
struct leat_achieved_rate {
	unsigned constraint_mbps;
	uint64_t tasks;   /* that ended */
	uint64_t bytes;   /* read and written */
	uint64_t task_ns; /* sum of their times */
	uint64_t busy_ns; /* time in which any ran */
	uint64_t running, since_ns;
};
/* In the order in which they were first used; borrowed. */
const struct leat_achieved_rate *leat_achieved_rates(const struct leat_achieved *a, unsigned type,
						     size_t *n);

/* From then on tasks of a type that learns began with that constraint, which had been chosen. */
struct leat_achieved_choice {
	uint64_t at_ns;
	unsigned constraint_mbps;
};
/* In the order of time; borrowed. Of more than LEAT_ACHIEVED_CHOICES the first are told, and how
 * many were left out. */
const struct leat_achieved_choice *
leat_achieved_choices(const struct leat_achieved *a, unsigned type, size_t *n, uint64_t *left_out);

#endif
