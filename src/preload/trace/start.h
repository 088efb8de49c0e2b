/* Whether this process is traced, and from when on. */
#ifndef LEAT_PRELOAD_TRACE_START_H
#define LEAT_PRELOAD_TRACE_START_H

#include "preload/trace/trace.h"

/* The variable that leads to the trace buffer. */
#define LEAT_TRACE_VARIABLE "LEAT_TRACE_BUFFER"
/* Set, and not empty: nothing else is to be done, whatever workflow the process belongs to. */
#define LEAT_TRACE_ONLY "LEAT_TRACE_BUFFER_ONLY"
/* Is this process to be traced? Maps the trace buffer. In the constructor, before libc is patched.
 */
bool leat_trace_find(char **envp);
/* Say what program this is, and record from now on; not `is_patched`: its calls cannot be seen. */
void leat_trace_start(char **envp, bool is_patched);

#endif
