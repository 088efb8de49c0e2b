/* Which message is handled by whom, and may be sent by whom. */
#include "daemon/core/dispatch.h"
#include "daemon/files/drop.h"
#include "daemon/loop/loop.h"
#include "daemon/ops/handlers.h"
#include "daemon/run/actions.h"

const struct leat_daemon_handler leat_daemon_handlers[] = {
	[LEAT_MSG_HELLO] = {leat_handle_hello, LEAT_FROM_NEW},
	[LEAT_MSG_RESOLVE] = {leat_handle_resolve, LEAT_FROM_BOTH},
	[LEAT_MSG_CHANGE] = {leat_handle_change, LEAT_FROM_CLIENT},
	[LEAT_MSG_LIST] = {leat_handle_list, LEAT_FROM_CLIENT},
	[LEAT_MSG_IDENTIFY] = {leat_handle_identify, LEAT_FROM_CLIENT},
	[LEAT_MSG_REPLACE_FD] = {leat_handle_replace_fd, LEAT_FROM_CLIENT},
	[LEAT_MSG_ASK_READ] = {leat_handle_ask_read, LEAT_FROM_CLIENT},
	[LEAT_MSG_ASK_WHOLE] = {leat_handle_ask_whole, LEAT_FROM_CLIENT},
	[LEAT_MSG_ASK_WRITE] = {leat_handle_ask_write, LEAT_FROM_CLIENT},
	[LEAT_MSG_ASK_SPACE] = {leat_handle_ask_space, LEAT_FROM_CLIENT},
	[LEAT_MSG_ASK_BUDGET] = {leat_handle_ask_budget, LEAT_FROM_CLIENT},
	[LEAT_MSG_ASK_ASIDE] = {leat_handle_ask_aside, LEAT_FROM_CLIENT},
	[LEAT_MSG_ASK_TRUE_SIZE] = {leat_handle_ask_true_size, LEAT_FROM_CLIENT},
	[LEAT_MSG_ASK_ACTIONS] = {leat_handle_ask_actions, LEAT_FROM_CLIENT},
	[LEAT_MSG_SYNC] = {leat_handle_sync, LEAT_FROM_CLIENT},
	[LEAT_MSG_OPENED] = {leat_handle_opened, LEAT_FROM_CLIENT},
	[LEAT_MSG_CLOSED] = {leat_handle_closed, LEAT_FROM_CLIENT},
	[LEAT_MSG_EXTENT] = {leat_handle_extent, LEAT_FROM_CLIENT},
	[LEAT_MSG_TRUNCATED] = {leat_handle_truncated, LEAT_FROM_CLIENT},
	[LEAT_MSG_DROP] = {leat_handle_drop, LEAT_FROM_CLIENT},
	[LEAT_MSG_PREFAULT] = {leat_handle_prefault, LEAT_FROM_CLIENT},
	[LEAT_MSG_READ] = {leat_handle_read, LEAT_FROM_CLIENT},
	[LEAT_MSG_WROTE] = {leat_handle_wrote, LEAT_FROM_CLIENT},
	[LEAT_MSG_WRITTEN] = {leat_handle_written, LEAT_FROM_CLIENT},
	[LEAT_MSG_EXITING] = {leat_handle_exiting, LEAT_FROM_CLIENT},
	[LEAT_MSG_VIOLATED] = {leat_handle_violated, LEAT_FROM_CLIENT},
	[LEAT_MSG_EARLY_SIZE] = {leat_handle_early_size, LEAT_FROM_CLIENT},
	[LEAT_MSG_REFUSED] = {leat_handle_refused, LEAT_FROM_CLIENT},
	[LEAT_MSG_KILLED] = {leat_handle_killed, LEAT_FROM_CLIENT},
	[LEAT_MSG_ASK_LAUNCH] = {leat_handle_ask_launch, LEAT_FROM_CONTROL},
	[LEAT_MSG_ASK_RELAUNCH] = {leat_handle_ask_relaunch, LEAT_FROM_CONTROL},
	[LEAT_MSG_ASK_SETTLED] = {leat_handle_ask_settled, LEAT_FROM_CONTROL},
	[LEAT_MSG_STOPPING] = {leat_handle_stopping, LEAT_FROM_CONTROL},
	[LEAT_MSG_STEP_START] = {leat_handle_step_start, LEAT_FROM_CONTROL},
	[LEAT_MSG_STEP_END] = {leat_handle_step_end, LEAT_FROM_CONTROL},
	[LEAT_MSG_STEP_DONE] = {leat_handle_step_done, LEAT_FROM_CONTROL},
	[LEAT_MSG_STATUS] = {leat_handle_status, LEAT_FROM_STATUS},
	[LEAT_MSG_FINISH] = {leat_handle_finish, LEAT_FROM_CONTROL},
	[LEAT_MSG_ABORT] = {leat_handle_abort, LEAT_FROM_CONTROL},
	[LEAT_MSG_ACTED] = {leat_handle_acted, LEAT_FROM_CONTROL},
	[LEAT_MSG_REAPED] = {leat_handle_reaped, LEAT_FROM_BOTH},
	[LEAT_MSG_BECOMES] = {leat_handle_becomes, LEAT_FROM_CLIENT},
};

const size_t leat_daemon_n_handlers = sizeof(leat_daemon_handlers) / sizeof(*leat_daemon_handlers);
