/* What the two forms of a trace that is written share. */
#ifndef LEAT_IOTRACE_WRITER_H
#define LEAT_IOTRACE_WRITER_H

#include "iotrace/trace.h"
#include "iotrace/out.h"

/* Longer texts are no names; a reader takes them for damage. */
enum { LEAT_TRACE_TEXT_MAX = 1 << 20 };

/* One form. Each is called by its writer only; 0 or -errno. */
struct leat_trace_form {
	int (*begin)(struct leat_trace_writer *w, const char *path,
		     const struct leat_trace_head *head);
	/* -EMSGSIZE: a text is too long; nothing was written. */
	int (*put)(struct leat_trace_writer *w, const struct leat_trace_record *record);
	int (*flush)(struct leat_trace_writer *w);
	/* The trailer is w->tail; the files are closed by the writer. */
	int (*end)(struct leat_trace_writer *w);
	/* How many records that were put are not in the file. */
	void (*unwritten)(struct leat_trace_writer *w, uint64_t *calls, uint64_t *processes);
	void (*release)(struct leat_trace_writer *w);
};

struct leat_trace_writer {
	const struct leat_trace_form *form; /* borrowed */
	struct leat_trace_out calls;        /* of a NAME.trace: all */
	struct leat_trace_out processes;
	struct leat_trace_tail tail;
	struct leat_trace_blocks *blocks; /* owned by the form; NULL for CSV */
	int rc;                           /* first error */
};

extern const struct leat_trace_form leat_trace_form_csv, leat_trace_form_blocks;

/* Bytes of the texts of a record without their NULs, or -EMSGSIZE. */
long leat_trace_texts_size(const struct leat_trace_record *record);

#endif
