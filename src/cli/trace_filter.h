/* Options of leat trace that say what is recorded. */
#ifndef LEAT_CLI_TRACE_FILTER_H
#define LEAT_CLI_TRACE_FILTER_H

#include "cli/options.h"
#include "trace/tracer.h"

struct leat_cli_filter {
	struct leat_trace_filter filter;
	const char *filesystems[LEAT_MAX_REPEATED];
	char *dirs[LEAT_MAX_REPEATED]; /* owned */
	pid_t pids[LEAT_MAX_REPEATED];
};

/* 0, else the exit status, after one line. It is to be released, and must not move meanwhile. */
int leat_cli_filter_init(struct leat_cli_filter *f, const struct leat_args *args);
void leat_cli_filter_release(struct leat_cli_filter *f);

#endif
