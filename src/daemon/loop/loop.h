/* The daemon put together: what the loop waits for, and who is called then. Event loop only. */
#ifndef LEAT_DAEMON_LOOP_LOOP_H
#define LEAT_DAEMON_LOOP_LOOP_H

#include "daemon/core/dispatch.h"
#include "daemon/core/observer.h"

/* What the loop waits for, beside clients and processes. */
struct leat_daemon_handles {
	uv_work_t first_work;
	uv_poll_t listener;
	int spare_fd; /* to turn those away for whom there is none */
	bool crowded; /* somebody was */
	uv_timer_t tick;
	uv_signal_t on_term, on_int;
};

extern const struct leat_daemon_observer leat_daemon_observer;
extern const struct leat_stream_ops leat_daemon_decisions;
extern const struct leat_daemon_handler leat_daemon_handlers[]; /* by type of message */
extern const size_t leat_daemon_n_handlers;

/* Start the threads that copy files. 0, or -errno and one line for a person. */
int leat_pool_start(struct leat_daemon *d, char *error, size_t error_size);

/* Take connections. 0 or -errno. */
int leat_listener_start(struct leat_daemon *d);
/* Close all connections and process watches. */
void leat_listener_stop(struct leat_daemon *d);

/* Everything that happens by the clock. 0 or -errno. */
int leat_clock_start(struct leat_daemon *d);

#endif
