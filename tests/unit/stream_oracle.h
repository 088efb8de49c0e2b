/* What the rules must say, worked out from the whole trace each time: slow,
 * short and without any bookkeeping. Only for test_stream_explore. */
#ifndef LEAT_TESTS_STREAM_ORACLE_H
#define LEAT_TESTS_STREAM_ORACLE_H

#include "stream/stream.h"

enum { MAX_NAMES = 4, MAX_STEPS = 3, MAX_TRACE = 40, MAX_OFDS = 6, MAX_CALLS = 8 };

struct plan_name {
	const char *text;
	unsigned producers; /* bit i: step i; 0: undeclared */
	unsigned consumers;
	enum leat_commit commit;
	unsigned count;
	int dep; /* index of a name, -1 none */
	bool no_update;
	bool is_dir; /* complete at `count` committed files; holds all names that begin with "d/" */
};

struct question {
	int step;
	enum leat_call call;
	const char *name;
	uint64_t length; /* READ: bytes [0, length) */
};

/* What may be done to which names. */
enum verb {
	START = 1,
	END = 2,
	FAIL = 4,
	CREAT = 8,   /* open O_CREAT|O_TRUNC, by process 0 or 1 of the step */
	APPEND = 16, /* open what is there */
	CLOSE = 32,  /* with 5 bytes */
	EMPTY = 64,  /* with 0 bytes */
	ABORT = 128, /* by abnormal death */
	EXIT = 256,  /* of a process */
	KILL = 512,
	EXTENT = 1024, /* 5 bytes */
	MOVE = 2048,   /* any name to any other */
	UNLINK = 4096,
	LINK = 8192,
	CLOSED = 16384,
	EDIT = 32768,  /* open what is there, and change nothing yet */
	WRITE = 65536, /* then change it */
};

static inline bool opens_file(enum verb verb)
{
	return verb == CREAT || verb == APPEND || verb == EDIT;
}

struct plan {
	const char *name;
	const char *workflow;
	int depth;
	int n_steps;
	int instances;             /* of step 0; of the others 1 */
	unsigned verbs[MAX_STEPS]; /* of each step; without START it has begun */
	int opens;                 /* at most so many in all */
	int n_names;
	struct plan_name names[MAX_NAMES];
	int n_calls;
	struct question calls[MAX_CALLS];
};

struct action {
	enum verb verb;
	int step;
	int process; /* 0 or 1 */
	int name;
	int to;
	int ofd; /* from 1 */
};

struct oracle {
	const struct plan *plan;
	struct action trace[MAX_TRACE];
	int n;
	enum leat_file_state state[MAX_NAMES];
	bool seen[MAX_NAMES];
};

size_t oracle_plans(struct plan *plans, size_t capacity);
void oracle_init(struct oracle *o, const struct plan *plan);
/* The event for an action that is about to be pushed. */
void oracle_event(const struct oracle *o, const struct action *a, struct leat_event *ev);
/* Append to the trace and work out the new states. */
void oracle_push(struct oracle *o, const struct action *a);
enum leat_answer oracle_answer(const struct oracle *o, const struct question *q);
/* A consumer was told something. */
void oracle_answered(struct oracle *o, const struct question *q, enum leat_answer answer);
/* Actions possible now. */
int oracle_enabled(const struct oracle *o, struct action *out, int capacity);
/* The next of: close all, end all steps well. False when nothing is left. */
bool oracle_next_to_finish(const struct oracle *o, struct action *out);
void oracle_describe(const struct oracle *o, const struct action *a, char *out, size_t size);

#endif
