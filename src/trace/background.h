/* A trace of whatever programs this process starts with the interception library, while it does
 * other things. */
#ifndef LEAT_TRACE_BACKGROUND_H
#define LEAT_TRACE_BACKGROUND_H

#include "trace/tracer.h"

struct leat_trace_background;

/* Is it possible here? 0, or -ENOTSUP and `why`. */
int leat_trace_background_usable(char *why, size_t size);

/* Begins; from now on the environment of this process leads programs to the trace, if they have
 * libleat.so in LD_PRELOAD. `request` and what it refers to are borrowed until the end; its command
 * and `stop` do not matter. A thread writes to the request's trace and progress. NULL after a
 * message. Not while other threads use the environment. */
struct leat_trace_background *leat_trace_background_start(const struct leat_trace_request *request);

/* Ends when the programs have: what they recorded is in the trace. Frees. 0 or the -errno of
 * writing it, after a message. NULL does nothing. */
int leat_trace_background_end(struct leat_trace_background *b);

#endif
