/* What a step did in the course of time: pieces, one after the other, each with its shares of
 * waiting, copying and resting. Memory is bounded: where a step changes what it does too often for
 * that, pieces are put together. Pure. */
#ifndef LEAT_DAEMON_RUN_TRACK_H
#define LEAT_DAEMON_RUN_TRACK_H

#include <stdint.h>

enum {
	/* Pieces of all steps together, and the least and the most that one may have. */
	LEAT_TRACK_BUDGET = 1 << 18,
	LEAT_TRACK_LEAST = 256,
	LEAT_TRACK_MOST = 4096,
};

struct leat_piece {
	uint64_t begin_ns;
	uint64_t length_ns;
	uint64_t wait_ns; /* of the length: for bytes or names of others, */
	uint64_t copy_ns; /* moving bytes of files, */
	uint64_t rest_ns; /* and between two launches */
	uint64_t bytes_in;
	uint64_t bytes_out;
	uint32_t file; /* that was waited for last, by the caller's numbers; 0: none */
};

struct leat_track {
	struct leat_piece *v; /* owned; without gaps */
	unsigned n, capacity, most;
	uint64_t grain_ns; /* neighbours were put together up to this length */
};

/* `most` is at least LEAT_TRACK_LEAST. */
void leat_track_init(struct leat_track *t, unsigned most);
void leat_track_release(struct leat_track *t);

/* How many pieces each of `n_steps` tracks may have. */
unsigned leat_track_share(unsigned n_steps);

/* Add what comes next; the time since the end of the last piece was rest. Shares beyond the length
 * are cut. When memory runs out pieces are put together. */
void leat_track_add(struct leat_track *t, const struct leat_piece *piece);

/* The last `ns` up to the end, or so much of them as is neither waiting nor rest, were copying: an
 * operation that has just ended tells so. */
void leat_track_copied(struct leat_track *t, uint64_t ns);

#endif
