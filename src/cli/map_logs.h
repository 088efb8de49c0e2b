/* What leat map and leat report have in common: logs, traces, and clocks. */
#ifndef LEAT_CLI_MAP_LOGS_H
#define LEAT_CLI_MAP_LOGS_H

#include "cli/options.h"
#include "iotrace/trace.h"
#include "associate/associate.h"

/* Rows of a command's table. */
#define LEAT_OPTION_ROWS_MAP                                                                       \
	{.rows = leat_cli_map_formats},                                                            \
		{.name = "slurm",                                                                  \
		 .type = LEAT_OPTION_FLAG,                                                         \
		 .doc = "Take Slurm's job steps for tasks of processes that nothing else "         \
			"attributes to a task."},                                                  \
		{.name = "skew",                                                                   \
		 .type = LEAT_OPTION_TEXT,                                                         \
		 .argument = "TRACE=SECONDS",                                                      \
		 .many = true,                                                                     \
		 .doc = "Add this many seconds to the times of this trace, whose clock was off. "  \
			"Differences that logs show are estimated in any case."},                  \
		{.name = "zone",                                                                   \
		 .type = LEAT_OPTION_TEXT,                                                         \
		 .argument = "+HH:MM",                                                             \
		 .doc = "Time zone of logs that do not have one; this machine's, or estimated "    \
			"from the trace, if not given."},                                          \
	{                                                                                          \
		.name = "slack", .type = LEAT_OPTION_SECONDS, .argument = "SECONDS",               \
		.fallback = "5", .range = "0.001..86400",                                          \
		.doc = "Difference of clocks up to which an event counts as within a task's "      \
		       "time. A log whose clock would have to be off by more than this and by "    \
		       "more than 120 s is refused."                                               \
	}

/* One option for each format of logs. */
const struct leat_option *leat_cli_map_formats(void);

struct leat_cli_map {
	struct leat_associate_map *map; /* owned */
	/* Traces, and directories that have some. */
	const char **traces; /* owned; each borrowed from the command line */
	int64_t *skew_ns;    /* owned; of each */
	size_t n_traces;
	char **runs; /* owned, with their texts; the logs of leat run among the logs */
	size_t n_runs;
};

/* Read the logs that options and operands name, by content where no option says what one is; what
 * of the operands is no log is a trace. False: it was said why not. To be closed in any case. */
bool leat_cli_map_open(struct leat_cli_map *c, const struct leat_args *args);
/* Begin to read the traces, and tell the map what their nodes are called. NULL: it was said why
 * not. */
struct leat_trace_reader *leat_cli_map_read(struct leat_cli_map *c);
/* When the map is resolved: false, as is said, if logs were given and none is of the traces. */
bool leat_cli_map_believed(const struct leat_cli_map *c);
void leat_cli_map_close(struct leat_cli_map *c);

/* What node `node` is called: its host or, where that is unknown, its trace. */
const char *leat_cli_map_host(const struct leat_cli_map *c, const struct leat_trace_reader *r,
			      unsigned node);

#endif
