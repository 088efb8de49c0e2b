/* A file of a trace while it is written: whole records or nothing of them. One thread at a time. */
#ifndef LEAT_IOTRACE_OUT_H
#define LEAT_IOTRACE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leat_trace_out {
	int fd;       /* owned; -1 none */
	bool regular; /* what was written by half can be taken back */
	char *buffer; /* owned */
	size_t used, capacity;
	uint64_t safe;    /* bytes of the file that are whole records */
	uint64_t pending; /* records in the buffer */
};

/* Creates the file, or empties it. 0 or -errno. */
int leat_trace_out_open(struct leat_trace_out *out, const char *path);

/* Space for `bytes` more behind what is in the buffer; what was in it may have been written before
 * that. *at is set; whoever used it adds to out->used and out->pending. 0 or -errno. */
int leat_trace_out_reserve(struct leat_trace_out *out, size_t bytes, char **at);

/* Writes the buffer. After an error the file ends with the last record that is whole, and the
 * buffer is as it was. 0 or -errno. */
int leat_trace_out_flush(struct leat_trace_out *out);

/* Writes the buffer, closes and frees. 0 or -errno. */
int leat_trace_out_close(struct leat_trace_out *out);

#endif
