/* The memory budget: files that the store has no space for go to the spill
 * directory, first what nobody will read, and come back when there is space
 * (docs/explanation/how-it-works.md). */
#ifndef LEAT_DAEMON_SPACE_SPILL_H
#define LEAT_DAEMON_SPACE_SPILL_H

#include "daemon/core/state.h"

/* Where a new file of `size_bytes` goes that belongs to the store: there, or to the
 * spill directory if the store is nearly full. */
enum leat_root leat_spill_choose_root(struct leat_daemon *d, uint64_t size_bytes);
/* A file that cannot be moved just now is tried again so often. */
#define LEAT_SPILL_ATTEMPTS 200u
/* By the clock: move out what is cold, bring back what will be read. */
void leat_spill_tick(struct leat_daemon *d);
/* A write to `f` found no space. 0: try again; -EAGAIN: wait on `f`; -ENOSPC: there is
 * none, which has been reported. `attempt` counts from 0. */
int leat_spill_make_space(struct leat_conn *c, struct leat_file *f, uint64_t length,
			  uint64_t attempt);
/* Is there space for `size` bytes more on the other side of `from`? */
bool leat_spill_may_move(struct leat_daemon *d, enum leat_root from, uint64_t size);
/* Move the file itself, which somebody is writing: 0 it has begun, -EBUSY not now, or why not.
 * Process `pid`, if not 0, follows. Who has asked often gets no other try: each may take so long
 * that the next is due. */
int leat_spill_move_itself(struct leat_daemon *d, struct leat_file *f, bool asked_often, pid_t pid);

/* Before anybody writes: process `pid`, which has `f` open, is about to do it unseen. True: wait on
 * `f`, which moves to disk; false: it lies there, or has to stay (refuse.h). */
bool leat_spill_aside(struct leat_conn *c, struct leat_file *f, pid_t pid, uint64_t attempt);

#endif
