/* What the loops of leat run and leat serve have in common. One thread. Source: ours, over libuv.
 */
#ifndef LEAT_DRIVER_LOOP_H
#define LEAT_DRIVER_LOOP_H

#include <stddef.h>
#include <uv.h>

struct leat_oom;

/* Call `on_signal`, with handle->data = `data`, for each of the `n` signals; `handles` live until
 * leat_loop_close. 0 or an error of libuv. */
int leat_loop_watch_signals(uv_loop_t *loop, uv_signal_t *handles, const int *signals, size_t n,
			    uv_signal_cb on_signal, void *data);

/* Close all handles and the loop. Who asks the process to end from now on is not heard any more: it
 * is about to, and its status, report and clearing up would be lost. */
void leat_loop_close(uv_loop_t *loop);

/* The daemon ("the daemon ...") has gone without a word: say so, and why as far as that is known.
 */
void leat_report_lost_daemon(const char *daemon, const struct leat_oom *oom);

#endif
