/* How the scheduler keeps what it knows. Internal to this layer. */
#ifndef LEAT_SCHED_INTERNAL_H
#define LEAT_SCHED_INTERNAL_H

#include "sched/first.h"
#include "sched/sched.h"

/* An allocation failure is for us to handle, not for the library to exit on. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum {
	/* So many tasks of a pool start while the head of a queue finds no capacity, before
	 * capacity is kept for it. */
	LEAT_SCHED_PATIENCE = 128,

	/* Constraints are at least doubled, up to LEAT_BANDWIDTH_MAX, which is below 2^30; and an
	 * epoch that is held again takes the place of the one that came to nothing. */
	LEAT_SCHED_MAX_EPOCHS = 64,
};

enum task_state { TASK_NEW, TASK_SUBMITTED, TASK_READY, TASK_RUNNING, TASK_IDLE };

/* What a task takes from: computing units, or I/O executors and bandwidth. */
enum pool_name { POOL_COMPUTE, POOL_IO, N_POOLS };

/* A device as it is used. */
struct device {
	const struct leat_device *is; /* borrowed */
	int host;                     /* index, or -1: shared */
	unsigned allocated_mbps, peak_mbps;
	uint64_t running, peak_running; /* tasks of types that name it */
};

/* The devices of one name: each host's own, or one that is shared. */
struct family {
	const char *name;       /* borrowed */
	struct device *devices; /* owned */
	size_t n_devices;
	struct device *shared; /* borrowed, the only one of `devices`; or NULL */
	struct device **at;    /* owned: by host, borrowed elements; NULL: it has none */
	struct leat_first
		capacity; /* of hosts' own devices: free MB/s where an I/O task may start */
	struct task_type *learner; /* borrowed: learns on the shared device; or NULL */
};

/* A host as it is used. */
struct host {
	const struct leat_host *is; /* borrowed */
	unsigned free_units, free_executors;
	unsigned owed_units;       /* of tasks that go on, and of which there were not enough */
	struct task_type *learner; /* borrowed: has the host's I/O for itself; or NULL */
	bool kept[N_POOLS];        /* capacity is being kept: others start nothing */
	struct leat_sched_queue
		*blocked[N_POOLS]; /* borrowed: lists of queues that are bound to it */
	struct family **families;  /* owned array, borrowed elements: of its own devices */
	size_t n_families;
};

/* What makes tasks alike for finding them a place. All bytes count, so it is zeroed first. */
struct queue_key {
	int pool;
	int home;
	unsigned family; /* index + 1; 0: none */
	unsigned demand; /* units, or MB/s; 0 for a type of its own */
	unsigned type;   /* index + 1 of a type that learns; else 0 */
};

enum queue_state {
	QUEUE_EMPTY,
	QUEUE_OFFERED, /* in the heap */
	QUEUE_BLOCKED, /* no capacity: in the list of its pool, or of the host it is bound to */
	QUEUE_HELD,    /* its type learns, and takes no more of it now */
};

/* Ready tasks that need the same, in the order in which they became ready. */
struct leat_sched_queue {
	struct queue_key key;
	struct family *family;               /* borrowed, or NULL */
	struct task_type *type;              /* borrowed: one that learns; or NULL */
	struct leat_sched_task *head, *tail; /* borrowed */
	enum queue_state state;
	size_t heap_at;                       /* while offered */
	struct leat_sched_queue *next, *prev; /* borrowed: among the blocked */
	struct leat_sched_queue *of_type;     /* borrowed: next queue of the type */
	uint64_t blocked_turn;                /* turn of the head that found no capacity ... */
	uint64_t blocked_starts;              /* ... and the starts of the pool at that time */
	uint64_t stranded_at;                 /* version of the hosts for which ... */
	unsigned stranded_mbps;               /* ... and this demand ... */
	bool stranded;                        /* ... no host is open to it */
	UT_hash_handle hh;
};

struct pool {
	struct leat_sched_queue *blocked; /* borrowed: list of those that no host alone can wake */
	uint64_t starts;
	struct leat_sched_queue *kept_for; /* borrowed: capacity is kept for its head; or NULL */
	int kept_host; /* there; -1: on the shared device of the queue's family */
};

/* A type of tasks, and how far it has learned. */
struct task_type {
	unsigned index;
	char *name; /* owned */
	bool io;
	unsigned units;
	struct family *family;             /* borrowed, or NULL */
	struct leat_bandwidth bandwidth;   /* min is 0 without bounds */
	struct leat_sched_queue *anywhere; /* borrowed: queue of tasks without a home; or NULL */
	struct leat_sched_queue *queues;   /* borrowed: of a type that learns, by `of_type` */
	uint64_t submitted, ready, running, succeeded, failed;
	uint64_t learned_from, choices;
	double total_s;

	enum leat_sched_phase phase;
	int host;            /* learning host, or -1 */
	unsigned constraint; /* of the epoch, or the one that was chosen; 0: none yet */
	unsigned serial;     /* of the open epoch; 0: none is open */
	unsigned serials;    /* given out */
	uint64_t sum_ns;     /* of the tasks of the open epoch that succeeded */
	struct task_type *next,
		*prev; /* borrowed: in the queue of types, or among those that learn */
	struct leat_sched_epoch *epochs; /* owned: capacity for MAX_EPOCHS, of a type that learns */
	struct leat_sched_entry *registry; /* owned: the same */
	size_t n_epochs, n_registry;
};

struct leat_sched {
	const struct leat_resources *res; /* borrowed */
	struct host *hosts;               /* owned */
	unsigned n_hosts;
	struct family *families; /* owned */
	size_t n_families;
	struct task_type **types; /* owned, with what is in it */
	unsigned n_types;
	struct leat_first units;     /* free computing units by host */
	struct leat_first executors; /* free I/O executors by host, where an I/O task may start */
	struct pool pools[N_POOLS];
	struct leat_sched_queue *queues; /* owned: hash */
	struct leat_sched_queue **heap;  /* owned: offered queues, the oldest head first */
	size_t n_heap, max_heap;         /* capacity is for all queues there are */
	struct task_type *queued;   /* borrowed: list of those that wait for a host to learn on */
	struct task_type *learning; /* borrowed: list of those that have one */
	bool try_queued;            /* a host may have become free for the former */
	uint64_t version;           /* changes with the hosts that are learned on */
	uint64_t turns;
	uint64_t submitted, ready, running;
	bool closing; /* a barrier: no more tasks until all have ended */
	bool ended;   /* no more tasks at all */
};

/* --- task_type.c
 * -------------------------------------------------------------------------------------
 */

/* Could any host run such tasks? 0, or -EINVAL with the reason in `why`. `family`: that of the
 * device it names, or NULL. */
int leat_sched_type_check(const struct leat_sched *s, const struct leat_sched_task_type *spec,
			  const struct family *family, char why[LEAT_SCHED_WHY]);

/* --- queue.c: ready tasks ------------------------------------------------------------------------
 */

/* The queue for tasks of this type and home, made if need be. NULL when out of memory. */
struct leat_sched_queue *leat_sched_queue_of(struct leat_sched *s, struct task_type *type,
					     int home);

void leat_sched_queue_append(struct leat_sched *s, struct leat_sched_queue *queue,
			     struct leat_sched_task *task);
void leat_sched_queue_remove(struct leat_sched *s, struct leat_sched_task *task);

/* Take the queue out of the heap, as one without capacity or one that its type holds back. For the
 * latter, as for a head that is removed, no capacity is to be kept: leat_sched_unkeep is due. */
void leat_sched_queue_block(struct leat_sched *s, struct leat_sched_queue *queue);
void leat_sched_queue_hold(struct leat_sched *s, struct leat_sched_queue *queue);

/* Put it back into the heap if it has a task. */
void leat_sched_queue_offer(struct leat_sched *s, struct leat_sched_queue *queue);

/* The same for all queues of a type that learns. */
void leat_sched_offer_type(struct leat_sched *s, const struct task_type *type);
void leat_sched_queues_free(struct leat_sched *s);

/* --- place.c: capacity for tasks
 * --------------------------------------------------------------------
 */

/* What the next task of the queue takes: units, or MB/s. */
unsigned leat_sched_demand(const struct leat_sched_queue *queue);

/* The host on which the queue's head is to start now, or -1. */
int leat_sched_place(struct leat_sched *s, const struct leat_sched_queue *queue);

/* Take, and give back, what a task of `type` needs on `host`. */
void leat_sched_take(struct leat_sched *s, const struct task_type *type, unsigned host,
		     unsigned mbps);
void leat_sched_give(struct leat_sched *s, const struct task_type *type, unsigned host,
		     unsigned mbps);

/* Something was given back on `host` (-1: on a shared device): offer the queues for which there is
 * capacity now, and keep capacity for one that has waited too long. */
void leat_sched_wake(struct leat_sched *s, enum pool_name pool, int host);

/* The queue's head has started, or is gone: capacity that was kept for it is for all again. */
void leat_sched_unkeep(struct leat_sched *s, struct leat_sched_queue *queue);

/* Write down anew what I/O tasks may have on `host`. */
void leat_sched_refresh_io(struct leat_sched *s, unsigned host);

/* Is no host open to I/O tasks of the queue, as all are learned on? */
bool leat_sched_is_stranded(struct leat_sched *s, struct leat_sched_queue *queue);

/* Could an I/O task that takes `mbps` of a device of `family` (or NULL) ever run on `host`? */
bool leat_sched_fits_ever(const struct leat_sched *s, const struct family *family, unsigned host,
			  unsigned mbps);

/* --- learn.c: automatic constraints -------------------------------------------------------------
 */

/* Tasks at a time of constraint `mbps` on `host`. */
unsigned leat_sched_slots(const struct leat_sched *s, const struct family *family, unsigned host,
			  unsigned mbps);

/* A task of a type that learns has become ready. */
void leat_sched_learn_ready(struct leat_sched *s, struct task_type *type);

/* May the next task of the queue, of a type that has not learned yet, start in the epoch? */
enum learn_answer {
	LEARN_MEASURE,   /* now, on the learning host */
	LEARN_ELSEWHERE, /* its data is elsewhere: where there is capacity, and unmeasured */
	LEARN_HOLD,      /* not now */
};
enum learn_answer leat_sched_learn_ask(const struct leat_sched *s,
				       const struct leat_sched_queue *queue);

/* A task of the type starts, in the epoch, which begins with the first. */
void leat_sched_learn_start(struct leat_sched *s, struct task_type *type,
			    struct leat_sched_task *task, uint64_t now_ns);

/* A task that was measured has ended. */
void leat_sched_learn_ended(struct leat_sched *s, struct task_type *type,
			    const struct leat_sched_task *task, uint64_t now_ns, uint64_t took_ns,
			    bool failed);

/* Go on where that is possible: hosts that are clear of I/O, types that wait for a host, epochs
 * that get no more tasks. To be called before tasks are started. */
void leat_sched_learn_settle(struct leat_sched *s, uint64_t now_ns);

/* Put learning aside that has no task while others have no other host. True: one was. */
bool leat_sched_learn_yield(struct leat_sched *s);

#endif
