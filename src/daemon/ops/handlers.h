/* Handlers of messages (core/dispatch.h). Event loop only. */
#ifndef LEAT_DAEMON_OPS_HANDLERS_H
#define LEAT_DAEMON_OPS_HANDLERS_H

#include "daemon/core/state.h"

int leat_handle_hello(struct leat_conn *c, const void *msg);
int leat_handle_resolve(struct leat_conn *c, const void *msg);
int leat_handle_ask_read(struct leat_conn *c, const void *msg);
int leat_handle_ask_whole(struct leat_conn *c, const void *msg);
int leat_handle_ask_write(struct leat_conn *c, const void *msg);
int leat_handle_ask_space(struct leat_conn *c, const void *msg);
int leat_handle_ask_budget(struct leat_conn *c, const void *msg);
int leat_handle_ask_aside(struct leat_conn *c, const void *msg);
int leat_handle_ask_true_size(struct leat_conn *c, const void *msg);
int leat_handle_ask_actions(struct leat_conn *c, const void *msg);
int leat_handle_sync(struct leat_conn *c, const void *msg);
int leat_handle_ask_launch(struct leat_conn *c, const void *msg);
int leat_handle_ask_relaunch(struct leat_conn *c, const void *msg);
int leat_handle_ask_settled(struct leat_conn *c, const void *msg);
int leat_handle_stopping(struct leat_conn *c, const void *msg);
int leat_handle_change(struct leat_conn *c, const void *msg);
int leat_handle_list(struct leat_conn *c, const void *msg);
int leat_handle_identify(struct leat_conn *c, const void *msg);
int leat_handle_opened(struct leat_conn *c, const void *msg);
int leat_handle_closed(struct leat_conn *c, const void *msg);
int leat_handle_extent(struct leat_conn *c, const void *msg);
int leat_handle_truncated(struct leat_conn *c, const void *msg);
int leat_handle_prefault(struct leat_conn *c, const void *msg);
int leat_handle_read(struct leat_conn *c, const void *msg);
int leat_handle_wrote(struct leat_conn *c, const void *msg);
int leat_handle_written(struct leat_conn *c, const void *msg);
int leat_handle_exiting(struct leat_conn *c, const void *msg);
int leat_handle_violated(struct leat_conn *c, const void *msg);
int leat_handle_early_size(struct leat_conn *c, const void *msg);
int leat_handle_refused(struct leat_conn *c, const void *msg);
int leat_handle_killed(struct leat_conn *c, const void *msg);
int leat_handle_step_start(struct leat_conn *c, const void *msg);
int leat_handle_step_end(struct leat_conn *c, const void *msg);
int leat_handle_step_done(struct leat_conn *c, const void *msg);
int leat_handle_becomes(struct leat_conn *c, const void *msg);
int leat_handle_reaped(struct leat_conn *c, const void *msg);
int leat_handle_status(struct leat_conn *c, const void *msg);
int leat_handle_finish(struct leat_conn *c, const void *msg);
int leat_handle_abort(struct leat_conn *c, const void *msg);
int leat_handle_replace_fd(struct leat_conn *c, const void *msg);

/* What the client was allowed to make has been tried: if it is there, the rules get a CREATE. */
void leat_conn_made(struct leat_conn *c);

/* Forget the listings that clients left behind. */
void leat_catalogs_free(struct leat_daemon *d);

#endif
