/* How the scheduler keeps what it knows. Internal to this room. */
#ifndef LEAT_SCHED_INTERNAL_H
#define LEAT_SCHED_INTERNAL_H

#include "sched/first.h"
#include "sched/sched.h"

/* An allocation failure is for us to handle, not for the library to exit on. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum {
	/* So many tasks of a pool start while the head of a lane finds no room, before room is kept
	 * for it. */
	LEAT_SCHED_PATIENCE = 128,

	/* Constraints are at least doubled, up to LEAT_BANDWIDTH_MAX, which is below 2^30; and an
	 * epoch that is held again takes the place of the one that came to nothing. */
	LEAT_SCHED_MAX_EPOCHS = 64,
};

enum task_state { TASK_NEW, TASK_SUBMITTED, TASK_READY, TASK_RUNNING, TASK_RESTING };

/* What a task takes from: computing units, or I/O executors and bandwidth. */
enum pool_name { POOL_COMPUTE, POOL_IO, N_POOLS };

/* A device as it is used. */
struct device {
	const struct leat_device *is; /* borrowed */
	int host;                     /* index, or -1: shared */
	unsigned taken_mbps, peak_mbps;
	uint64_t running, peak_running; /* tasks of kinds that name it */
};

/* The devices of one name: each host's own, or one that is shared. */
struct family {
	const char *name;       /* borrowed */
	struct device *devices; /* owned */
	size_t n_devices;
	struct device *shared;  /* borrowed, the only one of `devices`; or NULL */
	struct device **at;     /* owned: by host, borrowed elements; NULL: it has none */
	struct leat_first room; /* of hosts' own devices: free MB/s where an I/O task may start */
	struct kind *learner;   /* borrowed: learns on the shared device; or NULL */
};

/* A host as it is used. */
struct host {
	const struct leat_host *is; /* borrowed */
	unsigned free_units, free_executors;
	unsigned owed_units;  /* of tasks that go on, and of which there were not enough */
	struct kind *learner; /* borrowed: has the host's I/O for itself; or NULL */
	bool kept[N_POOLS];   /* room is being kept: others start nothing */
	struct leat_sched_lane
		*blocked[N_POOLS]; /* borrowed: lists of lanes that are bound to it */
	struct family **families;  /* owned array, borrowed elements: of its own devices */
	size_t n_families;
};

/* What makes tasks alike for finding them a place. All bytes count, so it is zeroed first. */
struct lane_key {
	int pool;
	int home;
	unsigned family; /* index + 1; 0: none */
	unsigned demand; /* units, or MB/s; 0 for a kind of its own */
	unsigned kind;   /* index + 1 of a kind that learns; else 0 */
};

enum lane_state {
	LANE_EMPTY,
	LANE_OFFERED, /* in the heap */
	LANE_BLOCKED, /* no room: in the list of its pool, or of the host it is bound to */
	LANE_HELD,    /* its kind learns, and takes no more of it now */
};

/* Ready tasks that need the same, in the order in which they became ready. */
struct leat_sched_lane {
	struct lane_key key;
	struct family *family;               /* borrowed, or NULL */
	struct kind *kind;                   /* borrowed: one that learns; or NULL */
	struct leat_sched_task *head, *tail; /* borrowed */
	enum lane_state state;
	size_t heap_at;                      /* while offered */
	struct leat_sched_lane *next, *prev; /* borrowed: among the blocked */
	struct leat_sched_lane *of_kind;     /* borrowed: next lane of the kind */
	uint64_t blocked_turn;               /* turn of the head that found no room ... */
	uint64_t blocked_starts;             /* ... and the starts of the pool at that time */
	uint64_t stranded_at;                /* version of the hosts for which ... */
	unsigned stranded_mbps;              /* ... and this demand ... */
	bool stranded;                       /* ... no host is open to it */
	UT_hash_handle hh;
};

struct pool {
	struct leat_sched_lane *blocked; /* borrowed: list of those that no host alone can wake */
	uint64_t starts;
	struct leat_sched_lane *kept_for; /* borrowed: room is kept for its head; or NULL */
	int kept_host;                    /* there; -1: on the shared device of the lane's family */
};

/* A kind of tasks, and how far it has learned. */
struct kind {
	unsigned index;
	char *name; /* owned */
	bool io;
	unsigned units;
	struct family *family;            /* borrowed, or NULL */
	struct leat_bandwidth bandwidth;  /* min is 0 without bounds */
	struct leat_sched_lane *anywhere; /* borrowed: lane of tasks without a home; or NULL */
	struct leat_sched_lane *lanes;    /* borrowed: of a kind that learns, by `of_kind` */
	uint64_t submitted, ready, running, succeeded, failed;
	uint64_t learned_from, choices;
	double total_s;

	enum leat_sched_phase phase;
	int host;                 /* learning host, or -1 */
	unsigned constraint;      /* of the epoch, or the one that was chosen; 0: none yet */
	unsigned serial;          /* of the open epoch; 0: none is open */
	unsigned serials;         /* given out */
	uint64_t sum_ns;          /* of the tasks of the open epoch that succeeded */
	struct kind *next, *prev; /* borrowed: in the queue of kinds, or among those that learn */
	struct leat_sched_epoch *epochs;   /* owned: room for MAX_EPOCHS, of a kind that learns */
	struct leat_sched_entry *registry; /* owned: the same */
	size_t n_epochs, n_registry;
};

struct leat_sched {
	const struct leat_resources *res; /* borrowed */
	struct host *hosts;               /* owned */
	unsigned n_hosts;
	struct family *families; /* owned */
	size_t n_families;
	struct kind **kinds; /* owned, with what is in it */
	unsigned n_kinds;
	struct leat_first units;     /* free computing units by host */
	struct leat_first executors; /* free I/O executors by host, where an I/O task may start */
	struct pool pools[N_POOLS];
	struct leat_sched_lane *lanes; /* owned: hash */
	struct leat_sched_lane **heap; /* owned: offered lanes, the oldest head first */
	size_t n_heap, max_heap;       /* room is for all lanes there are */
	struct kind *queued;   /* borrowed: list of those that wait for a host to learn on */
	struct kind *learning; /* borrowed: list of those that have one */
	bool try_queued;       /* a host may have become free for the former */
	uint64_t version;      /* changes with the hosts that are learned on */
	uint64_t turns;
	uint64_t submitted, ready, running;
	bool closing; /* a barrier: no more tasks until all have ended */
	bool ended;   /* no more tasks at all */
};

/* --- kind.c -------------------------------------------------------------------------------------
 */

/* Could any host run such tasks? 0, or -EINVAL with the reason in `why`. `family`: that of the
 * device it names, or NULL. */
int leat_sched_kind_check(const struct leat_sched *s, const struct leat_sched_kind *spec,
			  const struct family *family, char why[LEAT_SCHED_WHY]);

/* --- lane.c: ready tasks ------------------------------------------------------------------------
 */

/* The lane for tasks of this kind and home, made if need be. NULL when out of memory. */
struct leat_sched_lane *leat_sched_lane_of(struct leat_sched *s, struct kind *kind, int home);

void leat_sched_lane_append(struct leat_sched *s, struct leat_sched_lane *lane,
			    struct leat_sched_task *task);
void leat_sched_lane_remove(struct leat_sched *s, struct leat_sched_task *task);

/* Take the lane out of the heap, as one without room or one that its kind holds back. For the
 * latter, as for a head that is removed, no room is to be kept: leat_sched_unkeep is due. */
void leat_sched_lane_block(struct leat_sched *s, struct leat_sched_lane *lane);
void leat_sched_lane_hold(struct leat_sched *s, struct leat_sched_lane *lane);

/* Put it back into the heap if it has a task. */
void leat_sched_lane_offer(struct leat_sched *s, struct leat_sched_lane *lane);

/* The same for all lanes of a kind that learns. */
void leat_sched_offer_kind(struct leat_sched *s, const struct kind *kind);
void leat_sched_lanes_free(struct leat_sched *s);

/* --- place.c: room for tasks --------------------------------------------------------------------
 */

/* What the next task of the lane takes: units, or MB/s. */
unsigned leat_sched_demand(const struct leat_sched_lane *lane);

/* The host on which the lane's head is to start now, or -1. */
int leat_sched_place(struct leat_sched *s, const struct leat_sched_lane *lane);

/* Take, and give back, what a task of `kind` needs on `host`. */
void leat_sched_take(struct leat_sched *s, const struct kind *kind, unsigned host, unsigned mbps);
void leat_sched_give(struct leat_sched *s, const struct kind *kind, unsigned host, unsigned mbps);

/* Something was given back on `host` (-1: on a shared device): offer the lanes for which there is
 * room now, and keep room for one that has waited too long. */
void leat_sched_wake(struct leat_sched *s, enum pool_name pool, int host);

/* The lane's head has started, or is gone: room that was kept for it is for all again. */
void leat_sched_unkeep(struct leat_sched *s, struct leat_sched_lane *lane);

/* Write down anew what I/O tasks may have on `host`. */
void leat_sched_refresh_io(struct leat_sched *s, unsigned host);

/* Is no host open to I/O tasks of the lane, as all are learned on? */
bool leat_sched_is_stranded(struct leat_sched *s, struct leat_sched_lane *lane);

/* Could an I/O task that takes `mbps` of a device of `family` (or NULL) ever run on `host`? */
bool leat_sched_fits_ever(const struct leat_sched *s, const struct family *family, unsigned host,
			  unsigned mbps);

/* --- learn.c: automatic constraints -------------------------------------------------------------
 */

/* Tasks at a time of constraint `mbps` on `host`. */
unsigned leat_sched_slots(const struct leat_sched *s, const struct family *family, unsigned host,
			  unsigned mbps);

/* A task of a kind that learns has become ready. */
void leat_sched_learn_ready(struct leat_sched *s, struct kind *kind);

/* May the next task of the lane, of a kind that has not learned yet, start in the epoch? */
enum learn_answer {
	LEARN_MEASURE, /* now, on the learning host */
	LEARN_PLACE,   /* its data is elsewhere: where there is room, and unmeasured */
	LEARN_HOLD,    /* not now */
};
enum learn_answer leat_sched_learn_ask(const struct leat_sched *s,
				       const struct leat_sched_lane *lane);

/* A task of the kind starts, in the epoch, which begins with the first. */
void leat_sched_learn_start(struct leat_sched *s, struct kind *kind, struct leat_sched_task *task,
			    uint64_t now_ns);

/* A task that was measured has ended. */
void leat_sched_learn_ended(struct leat_sched *s, struct kind *kind,
			    const struct leat_sched_task *task, uint64_t now_ns, uint64_t took_ns,
			    bool failed);

/* Go on where that is possible: hosts that are clear of I/O, kinds that wait for a host, epochs
 * that get no more tasks. To be called before tasks are started. */
void leat_sched_learn_settle(struct leat_sched *s, uint64_t now_ns);

/* Put learning aside that has no task while others have no other host. True: one was. */
bool leat_sched_learn_yield(struct leat_sched *s);

#endif
