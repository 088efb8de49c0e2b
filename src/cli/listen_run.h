/* Figures of a run for --listen. */
#ifndef LEAT_CLI_LISTEN_RUN_H
#define LEAT_CLI_LISTEN_RUN_H

#include "cli/listen.h"

struct leat_listen_run {
	const char *runtime_dir; /* borrowed; NULL: the default */
	const char *dir;         /* borrowed; of the workflow */
};

/* A leat_listen_fn: bytes, time and waiting by step, files by state, as the daemon tells them.
 * `ctx`: struct leat_listen_run. */
int leat_listen_run(void *ctx, FILE *out);

#endif
