/* Waiting for what the daemon or a file's record will say: the same in intercepted programs and
 * behind a mount. How the daemon is asked and how a thread sleeps is up to who waits. Results are 0
 * or -errno: -EIO if there is no daemon, -EINTR if the thread is not to go on. */
#ifndef LEAT_CLIENT_AWAIT_H
#define LEAT_CLIENT_AWAIT_H

#include "base/range.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* What a reader sleeps for. */
struct leat_byte_sleep {
	struct leat_shm_file *f;
	uint32_t seq;                   /* changes when it is to look again */
	uint64_t wake_at;               /* as does the frontier when it is here */
	const struct leat_range *parts; /* of a file with EXTENTS, NULL: of another */
	uint64_t timeout_ns;            /* at most a second */
};

/* A thread that waits. The functions return 0 or an error of the above. */
struct leat_awaiter {
	struct leat_shm *shm;       /* NULL: nothing is known of files */
	struct leat_shm_step *step; /* whose waits are counted */
	uint64_t again_ns;          /* a reader asks again after so long; at most a second */
	bool asked;                 /* the daemon counts the reader among those who wait */
	uint64_t (*now_ns)(void);   /* CLOCK_MONOTONIC */
	/* As leat_channel_ask. */
	int (*ask)(struct leat_awaiter *a, const struct leat_msg *question, uint32_t *seq);
	/* Until the record changes from `seq`, a second at most; `f` NULL: for a moment. */
	int (*sleep)(struct leat_awaiter *a, struct leat_shm_file *f, uint32_t seq);
	/* No longer than told. */
	int (*sleep_for_bytes)(struct leat_awaiter *a, const struct leat_byte_sleep *s);
	/* A reader is awake; NULL: it has nothing else to do. */
	int (*woken)(struct leat_awaiter *a);
};

/* Around a wait, which is counted: when it began. */
uint64_t leat_await_begin(const struct leat_awaiter *a);
void leat_await_end(const struct leat_awaiter *a, uint64_t since);

/* Wait for a change of the record of `slot` from `seq`, a second at most. 0: look again. */
int leat_await_change(struct leat_awaiter *a, uint32_t slot, uint32_t seq);

/* Wait until the file is complete. */
int leat_await_whole(struct leat_awaiter *a, uint32_t slot);
/* The step has actions, and description `ofd` of the file was opened, or closed: wait until they
 * have been called for it. -EIO: they failed. */
int leat_await_actions(struct leat_awaiter *a, uint32_t slot, uint64_t ofd, bool closed);

/* A write of `length` bytes found no space: have some made. 0: try again; 1: ask again, after the
 * look at what has changed meanwhile; -errno: there is none. *attempt starts at 0. */
int leat_await_space(struct leat_awaiter *a, uint32_t slot, uint64_t length, uint64_t *attempt);

#endif
