/* What is done before and after each recorded call (engine/calls.def); calls.c has the table. */
#ifndef LEAT_PRELOAD_TRACE_CALLS_H
#define LEAT_PRELOAD_TRACE_CALLS_H

#include "preload/trace/trace.h"

/* False: the call is of no interest. */
typedef bool leat_trace_begin_of(struct leat_traced *t);
/* After it, and after what the hooks had to do: `result` is what the program will see. */
typedef void leat_trace_end_of(struct leat_traced *t, long result);

/* From now on they are recorded. */
void leat_trace_calls_start(void);

#define TRACE_BEGIN(name) leat_trace_begin_of leat_trace_##name##_begin;
#define TRACE_COPY TRACE_BEGIN
#define TRACE_DATA(name) leat_trace_end_of leat_trace_##name##_end;
#define TRACE_CALL(name) TRACE_BEGIN(name) TRACE_DATA(name)
#define TRACE_NONE(name)
#define ROW(nr, class, how, hook, recorded, trace) TRACE_##recorded(trace)
#include "preload/engine/calls.def"
#undef TRACE_BEGIN
#undef TRACE_COPY
#undef TRACE_DATA
#undef TRACE_CALL
#undef TRACE_NONE

leat_trace_begin_of leat_trace_data_begin; /* of all that move bytes */

#endif
