/* A CSV file of a trace while it is read: a buffer in which whole rows are taken apart in place. */
#ifndef LEAT_IOTRACE_CSV_FILE_H
#define LEAT_IOTRACE_CSV_FILE_H

#include "iotrace/stream.h"

struct leat_trace_csv {
	struct leat_trace_stream stream;
	int fd;          /* owned */
	char *buffer;    /* owned */
	size_t capacity; /* bytes of a file that it has space for */
	char *at,
		*limit; /* what of it is not yet read; *limit is a newline that is not the file's */
	bool eof;       /* nothing follows limit */
	bool cut;       /* the file ended within a row */
	bool foreign;   /* the paper's layout */
	bool inside;    /* its calls have no names outside: the first version */
	bool end_seen;  /* the trailer */
	bool counted;   /* they were compared with what was read */
	uint64_t line;  /* of `at` */
	uint64_t rows;  /* well-formed ones */
	uint64_t bad;   /* others */
	struct leat_trace_tail end;
};

/* Gets more behind what is there. 1; 0: there is no more, or no space; -errno. */
int leat_trace_csv_refill(struct leat_trace_csv *c);

/* The line at c->at is there as a whole. *end is its newline; it is the limit if the file ends
 * without one, or the line is longer than the buffer. 1, 0 at the end of the file, -errno. */
int leat_trace_csv_line(struct leat_trace_csv *c, char **end);

/* Goes on behind the next newline. 0 or -errno. */
int leat_trace_csv_skip(struct leat_trace_csv *c);

/* Goes to the next row of the paper's layout: past blank lines, comments and names of columns. 1, 0
 * at the end of the file, -errno. */
int leat_trace_csv_skip_foreign(struct leat_trace_csv *c);

/* Does the paper's layout pass over a line that begins so? */
bool leat_trace_csv_is_passed_over(char first);

/* Says in stream.why what is wrong in this line; -EBADMSG. */
int leat_trace_csv_complain(struct leat_trace_csv *c, size_t column, const char *text);

/* Reads all before the first row. 0, -EBADMSG or -errno. */
int leat_trace_csv_head(struct leat_trace_csv *c);

/* Opens; stream.why and the rest are for the caller. 0 or -errno. */
int leat_trace_csv_open(struct leat_trace_csv *c, const char *path);

#endif
