/* One moment of a run: the rules under test, and where everybody is. */
#ifndef LEAT_STREAM_VERIFY_SYSTEM_H
#define LEAT_STREAM_VERIFY_SYSTEM_H

#include "stream/state/heap.h"
#include "stream/verify/state.h"

/* Something that must not be. */
struct verify_fault {
	bool found;
	struct leat_verify_finding what; /* but for the way to it */
};

struct verify_system {
	const struct verify_model *model;
	struct leat_stream *s;  /* in `heap` */
	struct leat_heap *heap; /* borrowed; in use */
	struct verify_state st;
	struct verify_fault fault; /* the first since the last action */
	unsigned violations;       /* during the last action */
	bool opened_late;          /* the last action opened a file whose meaning was final */
	int error;                 /* -ENOMEM */
	FILE *people, *log;        /* or NULL */
	uint64_t seq;              /* in `log` */
	unsigned number;           /* of the last line for people */
};

/* The beginning, or back to it. 0 or -ENOMEM. */
int leat_verify_system_begin(struct verify_system *w, const struct verify_model *model,
			     struct leat_heap *heap);

/* Let it happen, and compare what the rules say with what is meant. */
void leat_verify_system_do(struct verify_system *w, const struct verify_action *a);

/* Nothing is possible any more (but failures): is that as it should be? */
void leat_verify_system_check_end(struct verify_system *w);

#endif
