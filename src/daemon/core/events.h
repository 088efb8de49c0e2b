/* The way to the rules: every fact and question passes here and is logged with
 * the decisions it caused. */
#ifndef LEAT_DAEMON_CORE_EVENTS_H
#define LEAT_DAEMON_CORE_EVENTS_H

#include "daemon/core/state.h"

/* Open the log, if one is asked for, and make the stream, which calls `decisions`. 0 or -errno with
 * one line in `error`. */
int leat_events_init(struct leat_daemon *d, const struct leat_stream_ops *decisions, char *error,
		     size_t error_size);
void leat_events_release(struct leat_daemon *d);

/* Note what the rules have decided; seq and time are filled in. */
void leat_event_log(struct leat_daemon *d, struct leat_event *ev);

/* Apply a fact; seq and time are filled in. 0 or what the rules said, which has
 * been reported. */
int leat_events_apply(struct leat_daemon *d, struct leat_event ev);

/* Flags of a USE that finds, or leaves, a file of that type (as in a mode). */
unsigned leat_event_use_flags(enum leat_use use, mode_t type);

/* Ask whether `step` may make `call` on `name`, in the name of `waiter`. */
enum leat_answer leat_events_ask(struct leat_daemon *d, int step, uint64_t waiter,
				 enum leat_call call, const char *name, uint64_t offset,
				 uint64_t length);

/* The waiter gave up. */
void leat_events_cancel(struct leat_daemon *d, uint64_t waiter);

#endif
