/* --trace FILE of leat run. */
#ifndef LEAT_CLI_TRACE_RUN_H
#define LEAT_CLI_TRACE_RUN_H

#include "cli/options.h"
#include "driver/plan.h"
#include "timeline/result.h"
#include "trace/background.h"

#define LEAT_OPTION_ROW_TRACE                                                                      \
	{                                                                                          \
		.name = "trace", .type = LEAT_OPTION_TEXT, .argument = "FILE",                     \
		.env = "LEAT_TRACE",                                                               \
		.doc = "Record what the steps do to files, call by call, in this file: "           \
		       "compressed if its name ends in .trace, else as CSV. leat report and leat " \
		       "map read it."                                                              \
	}

struct leat_cli_trace_run {
	const char *path; /* borrowed; NULL: none is wanted */
	struct leat_trace_request request;
	struct leat_trace_progress progress;
	struct leat_trace_background *background; /* owned */
};

/* Begin, before anything starts; `plain`: the steps are not intercepted otherwise. 0, else the
 * exit status, after one line. */
int leat_cli_trace_run_begin(struct leat_cli_trace_run *t, const struct leat_args *args,
			     bool plain);

/* The steps have ended. Names those that ran and could not be recorded. 0, else the exit status,
 * after one line. */
int leat_cli_trace_run_end(struct leat_cli_trace_run *t, const struct leat_plan *plan,
			   const struct leat_result *result, bool plain);

#endif
