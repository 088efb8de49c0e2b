/* Taking a row of a CSV trace apart, in place. */
#ifndef LEAT_IOTRACE_ROW_H
#define LEAT_IOTRACE_ROW_H

#include "iotrace/trace.h"

/* A row, and how far it was read. */
struct leat_trace_row {
	char *at;                 /* in: its begin; then behind it, or where it is wrong */
	char *limit;              /* end of what is there: a newline that is not part of it, with 16
				     bytes behind it that may be read */
	bool inside;              /* in: calls have no names outside */
	unsigned newlines;        /* within quotes */
	unsigned field;           /* BAD: the number of the field, from 0 */
	const char *const *names; /* BAD: of the fields; static */
	const char *reason;       /* BAD: static text */
};

enum leat_trace_row_result {
	LEAT_TRACE_ROW_OK,   /* *record is filled, its texts point into the row */
	LEAT_TRACE_ROW_MORE, /* the limit was reached first; nothing was changed */
	LEAT_TRACE_ROW_BAD,  /* nothing was changed */
};

/* Our own rows: strict. */
int leat_trace_row_call(struct leat_trace_row *row, struct leat_trace_record *record);
int leat_trace_row_process(struct leat_trace_row *row, struct leat_trace_record *record);
/* A comment that is a record: of a cgroup, a mount or an unseen program. */
int leat_trace_row_comment(struct leat_trace_row *row, struct leat_trace_record *record);
/* Does one begin there? */
bool leat_trace_row_is_comment(const char *text);

/* The paper's layout, and what its tools write: padded with spaces, paths without quotes, "C" for a
 * close. */
int leat_trace_row_foreign_call(struct leat_trace_row *row, struct leat_trace_record *record);
int leat_trace_row_foreign_process(struct leat_trace_row *row, struct leat_trace_record *record);

/* Why it is BAD, for people. */
void leat_trace_row_explain(const struct leat_trace_row *row, char *text, size_t size);

/* Does a row begin as one of either layout does, with a time? `text` ends with a newline. */
bool leat_trace_row_looks_right(const char *text);

/* Seconds with decimals as ns. False: it is no such text. */
bool leat_trace_scan_time(const char *text, int64_t *ns);

#endif
