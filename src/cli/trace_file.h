/* The file of a trace, for the commands that write one. */
#ifndef LEAT_CLI_TRACE_FILE_H
#define LEAT_CLI_TRACE_FILE_H

#include "trace/tracer.h"

/* Begins the trace at `path`, of the command or NULL. NULL after a message. */
struct leat_trace_writer *leat_cli_trace_begin(const char *path, const char *tracer,
					       char *const *argv);

/* One line on standard error: what was recorded, and what is missing. */
void leat_cli_trace_report_end(const char *path, const struct leat_trace_progress *progress,
			       const struct leat_trace_tail *tail);

#endif
