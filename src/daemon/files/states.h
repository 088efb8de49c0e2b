/* What the rules decide of a file, and what its names are, as clients and the disk see it. Event
 * loop only. */
#ifndef LEAT_DAEMON_FILES_STATES_H
#define LEAT_DAEMON_FILES_STATES_H

#include "daemon/core/state.h"

/* The file of that name, made if need be. NULL: out of memory or slots. */
struct leat_file *leat_file_get(struct leat_daemon *d, const char *name);
/* Tell the rules that it was there before the run, if they do not know it yet. */
void leat_file_report_present(struct leat_daemon *d, struct leat_file *f);
/* Bring shared memory into line with the rules' state; wakes its waiters. */
void leat_file_refresh(struct leat_daemon *d, struct leat_file *f, enum leat_file_state state);
/* Tell the rules how far the frontier has come, and clients what the rules know. */
void leat_file_sync_frontier(struct leat_daemon *d, struct leat_file *f);
/* What a client sleeps on that the rules told to wait: changes when it is to ask again. An open may
 * go on at the first byte, which a producer publishes by itself. */
uint32_t leat_file_seq(struct leat_daemon *d, const struct leat_file *f);

/* Show clients which parts of it are written; `changed` are, or are no more. */
void leat_file_show_extents(struct leat_daemon *d, struct leat_file *f,
			    const struct leat_range *changed);
/* Whoever read a file that has been renamed, and has a name nobody produces now, sees it as final
 * when nobody writes it any more. */
void leat_file_finish_loose(struct leat_daemon *d, struct leat_file *f);
/* The name is gone or taken over: clients that hold the file see it as final. */
void leat_file_retire(struct leat_daemon *d, struct leat_file *f);
/* Now it is called `name` (whose file was retired before). 0 or -ENOMEM. */
int leat_file_rename(struct leat_daemon *d, struct leat_file *f, const char *name);

#endif
