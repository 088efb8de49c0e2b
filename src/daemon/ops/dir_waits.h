/* Directories that are not yet what they are in a batch when a step comes to them: it waits. Event
 * loop only. Source: docs/explanation/semantics.md#directories. */
#ifndef LEAT_DAEMON_OPS_DIR_WAITS_H
#define LEAT_DAEMON_OPS_DIR_WAITS_H

#include "daemon/ops/request.h"

/* How a step comes to a directory. */
enum leat_dir_coming {
	LEAT_DIR_ENTERS,       /* it is there */
	LEAT_DIR_MAKES_IN,     /* it is not there yet, and something is to be made in it */
	LEAT_DIR_LOOKS_FOR_IT, /* nor is it, and the step goes by that */
};

/* 0 or, as the rules say, an error; -EAGAIN: wait on *on. A step that has waited has not looked in
 * vain. */
int leat_dir_await(struct leat_conn *c, const char *path, enum leat_dir_coming coming,
		   struct leat_file **on);

/* The same of a directory that was found: it waits, on r->file, for one from before the run in
 * which a step before is still to make what this one reads. */
int leat_dir_await_left_over(struct leat_request *r);

#endif
