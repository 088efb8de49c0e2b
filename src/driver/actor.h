/* The processes in which the actions of steps run (src/action), one for each rank of a step: called
 * for one event at a time, and ended with their step. */
#ifndef LEAT_DRIVER_ACTOR_H
#define LEAT_DRIVER_ACTOR_H

#include "driver/internal.h"
#include "wire/wire.h"

/* The daemon asks for a call. It is noted only; d->look is set. */
void leat_actors_act(struct leat_driver *d, const struct leat_msg_act *m);
/* Call what is due. */
void leat_actors_run(struct leat_driver *d);
/* By the clock: those who take too long, and those whose step has ended. */
void leat_actors_tick(struct leat_driver *d);

/* The step is about to be launched. LEAT_TURN_LATER: its actions are called first; LEAT_TURN_NEVER:
 * out of memory. */
enum leat_turn leat_actors_launch(struct leat_driver *d, size_t step);
/* Its process has ended: true if its actions are called, leat_driver_left follows. */
bool leat_actors_exit(struct leat_driver *d, size_t step, int status);

/* Is `pid` one of them? */
bool leat_actors_has(const struct leat_driver *d, pid_t pid);
/* It has ended. False: it is none of them. */
bool leat_actors_reap(struct leat_driver *d, pid_t pid, int status);
bool leat_actors_gone(const struct leat_driver *d);
/* End and forget all. */
void leat_actors_free(struct leat_driver *d);

#endif
