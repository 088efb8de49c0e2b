/* What the ranks of a step are given of a name: all the same versions, each at its own pace. */
#ifndef LEAT_STREAM_FLOW_SEQUENCE_H
#define LEAT_STREAM_FLOW_SEQUENCE_H

#include "stream/state/ports.h"

/* The versions that a step is given of a name, one after another: the same for all its ranks. */
struct leat_sequence {
	struct leat_sequence_key {
		const struct leat_name_state *seen;
		int64_t step;
	} key;
	struct leat_flow_port *port;
	size_t turn;                  /* source of the next one */
	uint64_t given;               /* entries so far */
	uint64_t taken;               /* of those, by all ranks that count */
	uint64_t first;               /* entry with which a rank begins that has had none, from 1 */
	struct leat_entry *entries;   /* those a rank may still be given, in order */
	struct leat_name_state *gone; /* the last that none can be given any more; NULL: none */
	struct leat_cursor *cursors;
	unsigned n_cursors;
	UT_hash_handle hh;
};

struct leat_entry {
	struct leat_name_state *name;
	struct leat_flow_link *link; /* by which it came */
	struct leat_sequence *sequence;
	uint64_t number; /* in its sequence, from 1 */
	uint64_t order;  /* among all of its inport */
	bool taken;      /* by all ranks that count */
	struct leat_entry *prev, *next;
};

/* Where a rank of the step is in a sequence. */
struct leat_cursor {
	unsigned rank;
	struct leat_sequence *sequence;
	struct leat_name_state *at; /* the version it has, */
	uint64_t number;            /* and which entry that is */
	unsigned opens;             /* its open descriptions of it */
	bool read;                  /* it was read, by it */
	uint64_t read_end;          /* all before that was, when it was not complete yet */
	bool glanced;               /* it was looked at */
	bool shared;                /* by others, while it had it open */
	bool looked;                /* and it has looked at a few bytes itself */
	bool taken;
	struct leat_cursor *next;
};

/* An open description of a version, to read it; key id. */
struct leat_take {
	uint64_t id;
	struct leat_cursor *cursor; /* NULL: it has gone on */
	bool read;
	UT_hash_handle hh;
};

/* What `step` is given as `seen`; NULL: none of it yet. */
struct leat_sequence *leat_sequence_find(const struct leat_stream *s, int step, const char *seen);
/* The same, made if need be. NULL: out of memory, or nothing is seen so. */
struct leat_sequence *leat_sequence_get(struct leat_stream *s, int step, const char *seen);
void leat_sequences_free(struct leat_stream *s);
/* The entry after what `p` (NULL: a rank that has had none) has; *e is NULL if there is none yet.
 * False: it is not kept any more. */
bool leat_sequence_next(const struct leat_sequence *q, const struct leat_cursor *p,
			struct leat_entry **e);
/* The entry that is version `n`; NULL: none that is kept. */
struct leat_entry *leat_sequence_entry(const struct leat_sequence *q,
				       const struct leat_name_state *n);
/* Version `n` is given next, by `link`. NULL when out of memory. */
struct leat_entry *leat_sequence_append(struct leat_stream *s, struct leat_sequence *q,
					struct leat_name_state *n, struct leat_flow_link *link);
/* What all ranks that count have taken is passed. */
void leat_sequence_settle(struct leat_stream *s, struct leat_sequence *q);
/* The same of all that a step is given. */
void leat_sequences_settle(struct leat_stream *s, int step);
/* The last process of a rank has ended: nobody waits for it. 0 or -ENOMEM. */
int leat_sequences_rank_end(struct leat_stream *s, int step, unsigned rank);
/* All ranks have taken entry `e`, or need not. */
void leat_entry_taken(struct leat_stream *s, struct leat_entry *e);
/* Which of the cursors of `step` is that of `rank`: steps that are no MPI job have one. */
unsigned leat_cursor_rank(const struct leat_stream *s, int step, unsigned rank);
/* NULL: it has had none. */
struct leat_cursor *leat_cursor_find(const struct leat_sequence *q, unsigned rank);
struct leat_cursor *leat_cursor_get(struct leat_stream *s, struct leat_sequence *q, unsigned rank);
/* It has taken what it has. */
void leat_cursor_taken(struct leat_stream *s, struct leat_cursor *p);
/* It goes on to entry `e`, or back to the end of what was taken. */
void leat_cursor_move(struct leat_stream *s, struct leat_cursor *p, struct leat_name_state *at,
		      uint64_t number);
/* A step has ended: nothing is kept for its ranks but what they have. */
void leat_sequences_step_over(struct leat_stream *s, int step);
/* A launch begins: its ranks begin with what has not been taken. */
void leat_sequences_launch(struct leat_stream *s, int step);

#endif
