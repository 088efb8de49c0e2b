/* Which task may start now, and where: compute tasks by the computing units of the hosts, I/O tasks
 * by I/O executors and by the bandwidth of storage devices, which is given or learned.
 *
 * Pure logic: no I/O, no clock, no threads; the same code drives real runs and the simulator. The
 * owner finds out which tasks are ready, asks leat_sched_next() until it has no more, runs what it
 * got, and tells when a task has ended and how long it took. All calls for one scheduler come from
 * one thread at a time. Each costs O(log hosts), and no memory: a task is a struct of the owner's.
 *
 * - A compute task takes computing units of one host.
 * - An I/O task takes none, but an I/O executor of one host, and the bandwidth of its constraint of
 *   the device that its type names.
 * - With a shared working directory a task runs on the first host that can take it; without one, a
 *   task with a home runs there, beside its data.
 * - Tasks start in the order in which they became ready, except that a task that fits may overtake
 *   tasks that do not, a bounded number of times: then capacity is kept for the oldest of those.
 * - A type with an automatic constraint learns first: alone among I/O tasks on one host (and alone
 *   on its device, if that is shared) its tasks run in epochs of a rising constraint; then the
 *   constraint is chosen from what was learned, for the number of tasks that are ready, again
 *   whenever one arrives. What has started keeps the constraint it started with.
 *
 * Source: I/O-aware PyCOMPSs, Sec. 3 and 4; docs/reference/scheduling.md. */
#ifndef LEAT_SCHED_SCHED_H
#define LEAT_SCHED_SCHED_H

#include "model/bandwidth.h"
#include "model/resources.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leat_sched;
struct leat_sched_queue;

enum {
	LEAT_SCHED_ANYWHERE = -1, /* home of a task that is not bound to a host */
	LEAT_SCHED_WHY = 256,     /* capacity for what is wrong with a type, NUL included */
};

/* --- the scheduler -----------------------------------------------------------------------------
 */

/* `res` is borrowed and must not change; it has at least one host. NULL when out of memory. */
struct leat_sched *leat_sched_new(const struct leat_resources *res);

/* Tasks that are still live are forgotten. NULL is allowed. */
void leat_sched_free(struct leat_sched *s);

/* --- types -------------------------------------------------------------------------------------
 */

/* A type of tasks: a function, or a step. Each type learns by itself; a function that writes to two
 * devices is two types. */
struct leat_sched_task_type {
	const char *name;                /* for messages and reports; copied */
	bool io;                         /* an I/O task */
	unsigned computing_units;        /* of a compute task, at least 1; of an I/O task 0 */
	const char *device;              /* of an I/O task, by name; NULL: none that is described */
	struct leat_bandwidth bandwidth; /* of an I/O task with a device */
};

/* Make a type known; *type is its number, from 0 up. 0; -ENOMEM; -EINVAL when no host could ever
 * run such a task or the constraint makes no sense, with the reason, which names the type, in
 * `why`: an unknown device, a constraint above the device's bandwidth, more units than any host
 * has... */
int leat_sched_add_type(struct leat_sched *s, const struct leat_sched_task_type *spec,
			unsigned *type, char why[LEAT_SCHED_WHY]);

/* --- tasks -------------------------------------------------------------------------------------
 */

/* One task, memory of the owner, which stays in place from submission until it has ended or is
 * cancelled. To be zeroed before; then it may be used again. */
struct leat_sched_task {
	/* Set by the owner before leat_sched_submit(). */
	unsigned type;
	int home; /* host (its index) with the task's data, or LEAT_SCHED_ANYWHERE */

	/* The answer; valid from leat_sched_next() on. */
	unsigned host;            /* index */
	unsigned constraint_mbps; /* bandwidth taken; 0: unconstrained, or a compute task */
	unsigned epoch;           /* 0, or the number of the epoch it is measured for */

	/* The scheduler's own. */
	struct leat_sched_task *next,
		*prev;                  /* borrowed: neighbours in the queue while it is ready */
	struct leat_sched_queue *queue; /* borrowed, while it is ready */
	uint64_t turn;                  /* place in the order of ready tasks */
	unsigned char state;
};

/* A task that will become ready: while there are such, an epoch that is short of tasks stays open.
 * 0, or -EINVAL: no such type, a home that is no host or one without what the type needs, a task
 * that is live, or leat_sched_end() was called. */
int leat_sched_submit(struct leat_sched *s, struct leat_sched_task *task);

/* A submitted task depends on nothing any more. 0; -EINVAL: it is not submitted; -ENOMEM: nothing
 * has changed, it may be tried again. */
int leat_sched_ready(struct leat_sched *s, struct leat_sched_task *task);

/* `now_ns`, here and below: the time on any clock that does not go back.
 *
 * The task that is to be started now, which has `host` and `constraint_mbps` set and holds its
 * resources; NULL: none until something becomes ready or ends. To be called until it returns NULL
 * after each ready, ended, cancelled, barrier and end. */
struct leat_sched_task *leat_sched_next(struct leat_sched *s, uint64_t now_ns);

/* A started task has ended and took `took_ns`. A failed task gives back what it held, and its time
 * is not learned from. 0, or -EINVAL: it was not started. The memory is the owner's again. */
int leat_sched_ended(struct leat_sched *s, struct leat_sched_task *task, uint64_t now_ns,
		     uint64_t took_ns, bool failed);

/* A started compute task waits for others, and gives back its units until it goes on or ends. 0, or
 * -EINVAL: it was not started, rests already, or is an I/O task. */
int leat_sched_rest(struct leat_sched *s, struct leat_sched_task *task);

/* It goes on, and has its units again: also when others have them by now, since nobody can stop it.
 * Then nothing else starts there until so many are back. 0, or -EINVAL: it does not rest. */
int leat_sched_resume(struct leat_sched *s, struct leat_sched_task *task);

/* A submitted or ready task will not run. 0, or -EINVAL: it has started, or is not live. */
int leat_sched_cancel(struct leat_sched *s, struct leat_sched_task *task, uint64_t now_ns);

/* Nothing more comes until all live tasks have ended: epochs for which no task is left are closed
 * without a result, now or as soon as that is so. Over when no task is live. */
void leat_sched_barrier(struct leat_sched *s, uint64_t now_ns);

/* The same for good: nothing is submitted any more. */
void leat_sched_end(struct leat_sched *s, uint64_t now_ns);

/* --- what it knows, for reports ----------------------------------------------------------------
 */

enum leat_sched_epoch_end {
	LEAT_SCHED_EPOCH_OPEN,         /* runs, or is short of tasks */
	LEAT_SCHED_EPOCH_REGISTERED,   /* its mean is in the registry */
	LEAT_SCHED_EPOCH_DISCARDED,    /* no longer worth it: the time was not halved */
	LEAT_SCHED_EPOCH_UNREGISTERED, /* closed at a barrier or the end, short of tasks */
	LEAT_SCHED_EPOCH_FAILED,       /* all its tasks failed: held again */
};

/* One epoch of learning; the learning curve of a type is the list of them. */
struct leat_sched_epoch {
	unsigned constraint_mbps;
	unsigned slots;   /* tasks it is to have */
	unsigned started; /* tasks it had so far */
	unsigned ended;   /* of those, including the failed */
	unsigned failed;
	unsigned host;     /* learning host, by index */
	double mean_s;     /* of the tasks that succeeded; 0: none yet */
	uint64_t begin_ns; /* when the first task started */
	uint64_t end_ns;   /* when it was closed; 0: open */
	enum leat_sched_epoch_end end;
};

/* What was learned of one constraint. */
struct leat_sched_entry {
	unsigned constraint_mbps;
	unsigned slots;     /* tasks at a time on the learning host */
	uint64_t slots_all; /* on all hosts that have the device */
	double mean_s;
};

enum leat_sched_phase {
	LEAT_SCHED_FIXED,    /* nothing to learn */
	LEAT_SCHED_IDLE,     /* has not begun, or has put its learning aside; no task waits */
	LEAT_SCHED_QUEUED,   /* waits for a host to learn on */
	LEAT_SCHED_CLEARING, /* has one, on which other I/O still runs */
	LEAT_SCHED_LEARNING,
	LEAT_SCHED_LEARNED,
};

struct leat_sched_type_state {
	const char *name; /* borrowed */
	enum leat_sched_phase phase;
	unsigned constraint_mbps;              /* for the next to start; 0: none or not known */
	uint64_t submitted, ready, running;    /* tasks in these states now */
	uint64_t succeeded, failed;            /* tasks that ended */
	uint64_t learned_from;                 /* tasks that epochs had */
	uint64_t choices;                      /* times the constraint changed after learning */
	double total_s;                        /* time of the tasks that succeeded */
	const struct leat_sched_epoch *epochs; /* borrowed until the next call; in order */
	size_t n_epochs;
	const struct leat_sched_entry *registry; /* the same; by rising constraint */
	size_t n_registry;
};

unsigned leat_sched_n_types(const struct leat_sched *s);

/* `type` is a number from leat_sched_add_type(). */
void leat_sched_type_state(const struct leat_sched *s, unsigned type,
			   struct leat_sched_type_state *state);

/* The constraint that would be chosen for `n` ready tasks from what this type has learned; 0 when
 * it has learned nothing yet. */
unsigned leat_sched_choose(const struct leat_sched *s, unsigned type, uint64_t n);

/* The objective function: time in seconds of `n` tasks, `slots` at a time, `mean_s` each. */
double leat_sched_estimate(uint64_t n, uint64_t slots, double mean_s);

struct leat_sched_device_state {
	const char *name; /* borrowed */
	int host;         /* index, or -1: shared by all */
	unsigned bandwidth_mbps;
	unsigned allocated_mbps; /* of that, by running tasks */
	unsigned peak_mbps;      /* the most that was ever taken */
	uint64_t running;        /* tasks of types that name it */
	uint64_t peak_running;
};

size_t leat_sched_n_devices(const struct leat_sched *s);
/* The number of a device, of the first host that has one of that name;
 * LEAT_ACHIEVED_NO_DEVICE, -1, if there is none, as for NULL. Any thread. */
int leat_sched_device_number(const struct leat_sched *s, const char *name);
void leat_sched_device_state(const struct leat_sched *s, size_t device,
			     struct leat_sched_device_state *state);

struct leat_sched_host_state {
	const char *name; /* borrowed */
	unsigned free_units;
	unsigned free_io_executors;
	int learning; /* type that learns here, or -1 */
};

/* "registered", "short of tasks" ...: how an epoch ended. A constant. */
const char *leat_sched_epoch_word(enum leat_sched_epoch_end end);

void leat_sched_host_state(const struct leat_sched *s, unsigned host,
			   struct leat_sched_host_state *state);

/* Live tasks by state: for messages about what a run waits for. */
struct leat_sched_counts {
	uint64_t submitted, ready, running;
};

void leat_sched_counts(const struct leat_sched *s, struct leat_sched_counts *counts);

#endif
