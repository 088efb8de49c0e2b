/* What leat run and leat serve print at the end: the summary, --chart and --timeline FILE. */
#ifndef LEAT_CLI_TIMELINE_H
#define LEAT_CLI_TIMELINE_H

#include "cli/options.h"
#include "timeline/result.h"

#define LEAT_OPTION_ROW_TIMELINE                                                                   \
	{                                                                                          \
		.name = "timeline", .type = LEAT_OPTION_TEXT, .argument = "FILE",                  \
		.env = "LEAT_TIMELINE",                                                            \
		.doc = "Write when each step computed, moved data and waited to this file: as a "  \
		       "page for browsers if its name ends in .html, as a trace for "              \
		       "ui.perfetto.dev if it ends in .json."                                      \
	}
#define LEAT_OPTION_ROW_CHART                                                                      \
	{                                                                                          \
		.name = "chart", .letter = 't', .type = LEAT_OPTION_FLAG, .env = "LEAT_CHART",     \
		.doc = "Show a chart of when each step ran and when it waited."                    \
	}

struct leat_cli_timeline {
	const char *path; /* borrowed; NULL: none is wanted */
	FILE *out;        /* owned */
	bool page;
};

/* Open the file, before anything starts, so that what cannot be written is no surprise at the end.
 * 0, else the exit status, after one line. */
int leat_cli_timeline_open(struct leat_cli_timeline *t, const struct leat_args *args);

/* Write it and close the file. 0, else the exit status, after one line. */
int leat_cli_timeline_write(struct leat_cli_timeline *t, const struct leat_result *result,
			    const struct leat_workflow *wf, const char *dir);

/* Close the file if leat_cli_timeline_write has not. */
void leat_cli_timeline_close(struct leat_cli_timeline *t);

/* Print the chart, if it is asked for, and the summary, unless --quiet. */
void leat_cli_summary(const struct leat_args *args, const struct leat_result *result);

#endif
