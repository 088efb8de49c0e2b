/* Steps that run without interception, on files on disk. Event loop only. */
#ifndef LEAT_DAEMON_RUN_STAGED_H
#define LEAT_DAEMON_RUN_STAGED_H

#include "daemon/core/state.h"

/* May it start? LEAT_GO: its inputs are on disk; LEAT_WAIT: on `on`; LEAT_FAILED: never, `error`
 * (-errno) is why. */
enum leat_answer leat_staged_launch(struct leat_daemon *d, int step, struct leat_file **on,
				    int *error);
/* Why it never may, or ever may again, for that error (-errno), in words; the caller frees it.
 * NULL when out of memory. */
char *leat_staged_obstacle(struct leat_daemon *d, int step, int error);
/* It has ended: what it made on disk becomes known to the rules. */
void leat_staged_adopt(struct leat_daemon *d, int step);

#endif
