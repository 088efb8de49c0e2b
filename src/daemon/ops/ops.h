/* What the handlers of messages keep. */
#ifndef LEAT_DAEMON_OPS_OPS_H
#define LEAT_DAEMON_OPS_OPS_H

#include "daemon/core/state.h"

struct leat_daemon_ops {
	struct leat_catalog *catalogs; /* listings in progress, by handle */
	uint64_t last_catalog;
	struct leat_dir_look *dir_looks;    /* owned */
	struct leat_dir_rights *dir_rights; /* by path; owned */
	unsigned n_dir_rights;
	unsigned n_prefaults;       /* under way */
	unsigned n_failed_reported; /* failed files somebody waited for */

	/* Under --enforce. */
	ino_t mounts;                         /* namespace the daemon was started in */
	struct leat_daemon_command *commands; /* of steps, in the workflow's directory; owned */
	struct leat_refusal *refusals;        /* that were reported; owned */
	unsigned n_refused;
};

#endif
