/* Replay of an event log through the rules: each decision in the log must come
 * out again. */
#ifndef LEAT_STREAM_REPLAY_H
#define LEAT_STREAM_REPLAY_H

#include "stream/stream.h"

struct leat_replay_result {
	uint64_t events;    /* facts and questions replayed */
	uint64_t decisions; /* answers, states and wake-ups compared */
	uint64_t differences;
};

/* Replay the log `in`; differences are described on `err` (first 20), with
 * their line. 0, or -errno when the log cannot be read. */
int leat_replay(struct leat_matcher *m, const struct leat_workflow *wf, FILE *in, FILE *err,
		struct leat_replay_result *result);

#endif
