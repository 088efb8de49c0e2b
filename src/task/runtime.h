/* What the parts of the run time share. One lock guards all of it but what says otherwise; it is
 * held for bookkeeping only, never while a task's function runs, data are copied or files are
 * looked at.
 *
 * runtime.c  its beginning and end
 * current.c  the one there is: its lock and queues
 * data.c     contents of objects and files: versions, buffers
 * graph.c    who waits for whom; ends, failures
 * submit.c   from parameters to a task of the graph
 * resources.c  what this host has
 * schedule.c what may start when: the scheduler (src/sched) and the devices
 * pool.c     the threads
 * run.c      one call of a task's function
 * wait.c     waiting for results
 * waiters.c  waking those who wait
 * report.c   what was achieved
 * error.c    texts for people
 */
#ifndef LEAT_TASK_RUNTIME_H
#define LEAT_TASK_RUNTIME_H

#include "leat/task.h"
#include "sched/achieved.h"
#include "sched/sched.h"
#include "task/slab.h"

#include <pthread.h>
#include <uthash.h>

/* Bytes of a version. */
struct leat_buffer {
	struct leat_buffer *next; /* owned; in `garbage` */
	size_t size;
	_Alignas(max_align_t) char bytes[];
};

/* Why a task failed; kept as long as somebody may be told. */
struct leat_failure {
	unsigned refs;
	int error;        /* -errno */
	uint64_t number;  /* of the task */
	const char *kind; /* borrowed: kinds are never freed */
	char *text;       /* owned; what the function said, or NULL */
};

/* In the list of what waits for something. */
struct leat_edge {
	struct leat_task *task; /* borrowed */
	struct leat_edge *next; /* owned */
};

/* One content of an object or file: what one task, or nobody, writes, and others read. It is idle
 * when it is written and all have read it who were submitted to. Counted; see leat_version_unref.
 */
struct leat_version {
	struct leat_task *writer;     /* borrowed; NULL: it is written */
	struct leat_failure *failure; /* counted; NULL: it is good */
	struct leat_buffer *buffer;   /* owned; NULL in files, and for `size` zero bytes */
	size_t size;
	struct leat_edge *waiting;   /* owned; for it to be idle */
	struct leat_task_file *file; /* borrowed; NULL in objects */
	size_t charged;              /* bytes of `copies` while it is kept for its readers only */
	unsigned readers;            /* tasks with an IN of it that have not ended */
	unsigned refs;
	bool watched; /* some waiter wants to know when it is written */
};

struct leat_task_object {
	struct leat_version *now;              /* counted */
	size_t size;                           /* of what a task with an OUT gets */
	struct leat_task_object *next, **link; /* borrowed: of all objects */
};

/* A file that tasks which have not ended use, or that a failed task should have written. */
struct leat_task_file {
	struct leat_version *now; /* counted */
	UT_hash_handle hh;
	char path[]; /* without symlinks */
};

/* A parameter of a task. */
struct leat_slot {
	uint8_t direction, type;
	size_t size; /* of a value; of what an OUT gets */
	union {
		int64_t integer;
		double real;
		void *bytes;                /* owned */
		char *path;                 /* owned; as given */
		struct leat_buffer *buffer; /* owned; of an object that is being written */
	} u;
	struct leat_version *in;  /* counted; IN: what is read; else what was there before */
	struct leat_version *out; /* counted; NULL for IN */
};

enum leat_task_state {
	LEAT_TASK_WAITING, /* for others */
	LEAT_TASK_READY,   /* the scheduler has it */
	LEAT_TASK_STARTED, /* a thread takes it, or has it */
};

struct leat_task {
	const struct leat_task_kind *kind; /* borrowed */
	uint64_t number;                   /* in order of submission, from 1 */
	struct leat_task *next;            /* borrowed; in one queue at a time */
	struct leat_edge *followers;       /* owned; who reads what it writes */
	struct leat_failure *failure;      /* counted; of the first task it fails with */
	struct leat_worker *worker;        /* borrowed; while it runs */
	struct leat_task_use *use;         /* borrowed; the kind and the device it runs for */
	struct leat_sched_task sched;      /* for the scheduler */
	uint64_t began_ns;
	uint64_t io_bytes; /* only its thread looks at it while it runs */
	bool counted;      /* it has said them itself; the same */
	unsigned missing;  /* what it still waits for */
	unsigned n_slots;
	uint8_t state; /* enum leat_task_state */
	bool paid;     /* space for earlier contents has been found */
	bool released; /* it waits, or did: it holds no computing units */
	struct leat_slot slots[];
};

struct leat_queue {
	struct leat_task *first, *last; /* borrowed */
	size_t n;
};

/* A kind; it stays as it was made. */
struct leat_task_kind {
	char *name; /* owned */
	leat_task_function *function;
	struct leat_task_constraints constraints; /* owns its texts */
	struct leat_bandwidth bandwidth;
	unsigned id; /* from 0, in order of registration */
	UT_hash_handle hh;
};

/* What tasks of one kind do on one device. */
struct leat_task_use {
	const struct leat_task_kind *kind; /* borrowed */
	const struct leat_device *device;  /* borrowed; NULL: none, or none that is described */
	struct leat_task_use *next;        /* owned; of the same kind */
	unsigned sched_type;               /* the scheduler's number of it */
	unsigned running;
	uint64_t since_ns; /* when `running` became more than 0 */
	uint64_t busy_ns;  /* time during which any was running */
	uint64_t task_ns;  /* sum of their times */
	uint64_t bytes;    /* I/O of those that ended well */
	uint64_t n_done, n_failed, n_cancelled;
};

/* Somebody who waits for a result; lives on his stack. */
struct leat_task_waiter {
	pthread_cond_t wake;
	struct leat_version *version;  /* counted; NULL: for no task to be left, or fewer */
	struct leat_task *task;        /* borrowed; the task that waits, or NULL */
	bool space;                    /* without a version: for fewer */
	struct leat_task_waiter *next; /* borrowed */
};

/* A thread. */
struct leat_worker {
	pthread_t thread;
	pthread_cond_t wake;
	struct leat_tasks *tasks; /* borrowed */
	struct leat_pool *pool;   /* borrowed */
	struct leat_task *task;   /* borrowed; what it runs */
	struct leat_worker *idle; /* borrowed; next of the idle ones */
	struct leat_worker *next; /* owned; of the pool's */
	bool woken;
	uint64_t read_bytes;        /* of files, by the task it runs, of its `io_bytes` */
	struct leat_task_arg *args; /* owned; of the task it runs */
	size_t max_args;
	char *reported; /* owned; by leat_task_fail */
};

/* Threads of one sort. */
struct leat_pool {
	struct leat_queue queue;     /* tasks to run, all of which may */
	struct leat_worker *workers; /* owned */
	struct leat_worker *idle;    /* borrowed; the last that became idle first */
	unsigned n_workers, max_workers;
	unsigned n_blocked; /* workers whose task waits for others: so many more may be started */
	unsigned n_woken;   /* workers who will look into the queue */
	bool looking_out;   /* one of those has found nothing yet */
	bool complained;
};

/* More are woken with the lock. */
enum { LEAT_TO_WAKE = 8 };

enum leat_pool_id { LEAT_POOL_COMPUTE, LEAT_POOL_IO, LEAT_POOLS };

struct leat_tasks {
	pthread_mutex_t lock;
	struct leat_slab tasks, large_tasks, edges, versions;
	struct leat_task_object *objects;          /* owned */
	struct leat_task_file *files;              /* owned; by path */
	struct leat_queue settle;                  /* tasks that wait for nothing any more */
	struct leat_buffer *garbage;               /* owned; freed without the lock */
	struct leat_worker *to_wake[LEAT_TO_WAKE]; /* borrowed; woken without the lock */
	unsigned n_to_wake;
	struct leat_task_waiter *waiters; /* borrowed */
	struct leat_pool pools[LEAT_POOLS];
	struct leat_resources *resources; /* owned; of this host only */
	struct leat_sched *sched;         /* owned */
	struct leat_achieved *achieved;   /* owned; kinds and devices as in `sched` */
	struct leat_task_use **uses;      /* owned; by the id of the kind */
	unsigned n_uses;
	uint64_t started_ns;
	size_t copies_bytes, max_copies_bytes;
	size_t n_live, max_live;
	size_t n_throttled; /* waiters for less than max_live */
	uint64_t n_submitted;
	size_t n_failed, n_cancelled;       /* since the last barrier */
	struct leat_failure *first_failure; /* counted; since the last barrier */
	size_t n_running;                   /* started, and not waiting for others */
	size_t n_waiting;                   /* threads that wait for results */
	bool stop;
	char *report; /* owned; where to write it, or NULL */
};

/* Slots a task of the slab `tasks` has space for, and of `large_tasks`; more come from malloc. */
enum { LEAT_FEW_SLOTS = 3, LEAT_MANY_SLOTS = 12 };

/* --- current.c --- */

/* The run time, or NULL: owned by runtime.c, and changes only while no other thread uses tasks. */
extern struct leat_tasks *leat_tasks_running;

/* The run time, or NULL with leat_task_error said. Lock it before anything else. */
struct leat_tasks *leat_tasks_current(void);

static inline void leat_tasks_lock(struct leat_tasks *t)
{
	pthread_mutex_lock(&t->lock);
}

/* Unlock, wake whoever is to be woken, free garbage. */
void leat_tasks_unlock(struct leat_tasks *t);

void leat_queue_put(struct leat_queue *queue, struct leat_task *task);
/* NULL: it is empty. */
struct leat_task *leat_queue_take(struct leat_queue *queue);

/* The worker this thread is, or NULL. */
struct leat_worker *leat_tasks_self(void);
void leat_tasks_set_self(struct leat_worker *worker);

/* --- error.c --- */

/* Say it for leat_task_error; returns `error`. Any thread. */
int leat_tasks_set_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Say what failed, and with it `n_failed` others and `n_cancelled`. */
int leat_tasks_report_failure(const struct leat_failure *failure, size_t n_failed,
			      size_t n_cancelled);

/* Of a task that has failed with `error`, -errno; `text` is taken over. With one reference; never
 * NULL. */
struct leat_failure *leat_failure_new(const struct leat_task *task, int error, char *text);
/* For want of memory; never freed. */
extern struct leat_failure leat_failure_memory;
/* One more who may be told. */
struct leat_failure *leat_failure_ref(struct leat_failure *failure);
/* NULL is allowed. */
void leat_failure_unref(struct leat_failure *failure);

/* --- data.c --- */

/* A new version with one reference; never NULL after a reserve. */
struct leat_version *leat_version_new(struct leat_tasks *t, size_t size);
void leat_version_unref(struct leat_tasks *t, struct leat_version *version);

static inline bool leat_version_is_idle(const struct leat_version *version)
{
	return !version->writer && version->readers == 0;
}

/* The bytes of a version that is written, zeros made if need be. 0 or -ENOMEM. */
int leat_version_fill(struct leat_version *version);

/* A buffer, zero or any bytes; NULL when out of memory. Any thread, no lock. */
struct leat_buffer *leat_buffer_new(size_t size, bool zero);

/* The path of a file that need not be there, without symlinks; the caller frees it. NULL: its
 * directory is not there, or out of memory; errno says which. Any thread, no lock. */
char *leat_path_real(const char *path);
/* The record of a file by its path without symlinks; `make` makes one. NULL: there is none, or out
 * of memory. */
struct leat_task_file *leat_file_find(struct leat_tasks *t, const char *path, bool make);
/* Drop the record. */
void leat_file_forget(struct leat_tasks *t, struct leat_task_file *file);

void leat_data_release(struct leat_tasks *t);

/* --- graph.c --- */

/* Let the task, all of whose slots are linked, begin as soon as it may. */
void leat_graph_submit(struct leat_tasks *t, struct leat_task *task);
/* `task` waits until `before` has ended, or `version` is idle. An edge must be reserved. */
void leat_graph_follow(struct leat_tasks *t, struct leat_task *task, struct leat_task *before);
void leat_graph_follow_idle(struct leat_tasks *t, struct leat_task *task,
			    struct leat_version *version);
/* A task has ended, with that failure (counted, taken over) or NULL; it is freed. */
void leat_graph_end(struct leat_tasks *t, struct leat_task *task, struct leat_failure *failure);
/* Hand tasks that wait for nothing any more to the scheduler; to be called after the two above. */
void leat_graph_settle(struct leat_tasks *t);
/* Must `task` end before `version` can be written? */
bool leat_graph_reaches(struct leat_tasks *t, struct leat_task *task,
			const struct leat_version *version);

/* --- task.c --- */

/* A task with space for `n_slots`, and nothing in them; NULL when out of memory. */
struct leat_task *leat_task_new(struct leat_tasks *t, size_t n_slots);
/* What its slots own but versions goes with it. */
void leat_task_free(struct leat_tasks *t, struct leat_task *task);
void leat_slots_release(struct leat_slot *slots, size_t n);

/* --- resources.c --- */

/* What the file `path` says of this host, or, if that is NULL or "", what there is. The caller
 * frees it. 0 or -errno, said. No lock. */
int leat_tasks_resources(const char *path, struct leat_resources **out);

/* --- schedule.c --- */

/* Resources and scheduler, as `options` wants them. 0 or -errno, said. */
int leat_tasks_sched_init(struct leat_tasks *t, const struct leat_task_options *options);
void leat_tasks_sched_release(struct leat_tasks *t);
/* What tasks of `kind` do on the device with `path`, absolute, or NULL if they use no file. 0 or
 * -errno, said. */
int leat_tasks_sched_use(struct leat_tasks *t, const struct leat_task_kind *kind, const char *path,
			 struct leat_task_use **use);
/* A task has been submitted, waits for nothing any more, has begun, has ended, will not run. Those
 * that may fail return 0 or -errno; then nothing has changed. */
void leat_tasks_sched_submit(struct leat_tasks *t, struct leat_task *task);
int leat_tasks_sched_ready(struct leat_tasks *t, struct leat_task *task);
void leat_tasks_sched_begin(struct leat_tasks *t, struct leat_task *task);
void leat_tasks_sched_end(struct leat_tasks *t, struct leat_task *task, bool failed);
void leat_tasks_sched_cancel(struct leat_tasks *t, struct leat_task *task);
/* The task waits for others: it gives back what it holds. */
void leat_tasks_sched_pause(struct leat_tasks *t, struct leat_task *task);
/* Start what may start. After any of the above. */
void leat_tasks_sched_next(struct leat_tasks *t);
/* Nothing more comes for now. */
void leat_tasks_sched_barrier(struct leat_tasks *t);

/* --- run.c --- */

/* Call the task's function: with the lock, which is given up meanwhile. */
void leat_run_task(struct leat_worker *worker, struct leat_task *task);

/* --- pool.c --- */

/* Wake or make threads for what is in the queues, but for `self`, who looks by himself. */
void leat_pool_wake(struct leat_tasks *t, const struct leat_worker *self);
/* End all threads. Without the lock. */
void leat_pool_stop(struct leat_tasks *t);

/* --- waiters.c --- */

/* Tell those who wait for a version that has been written, or for tasks to become fewer. */
void leat_wait_written(struct leat_tasks *t, const struct leat_version *version);
void leat_wait_fewer(struct leat_tasks *t);

/* --- wait.c --- */

/* Wait until there may be one more task. */
void leat_wait_space(struct leat_tasks *t);
/* What leat_task_barrier does. */
int leat_wait_all(struct leat_tasks *t);

#endif
