/* The kernel tells a FUSE server that a caller has some signal pending, or has closed a file, but
 * not why. */
#ifndef LEAT_MOUNT_CALLERS_CALLER_H
#define LEAT_MOUNT_CALLERS_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

/* Must a wait of thread `tid` end: is it to die, or asked to end? */
bool leat_caller_stopped(pid_t tid);
/* Does it go by rights over files that are others'? */
bool leat_caller_overrides(pid_t tid);
/* Is it ending now? Then *status is as from waitpid. *process in any case, 0 if it is gone. */
bool leat_caller_ending(pid_t tid, pid_t *process, int *status);
/* The process of a thread, 0 if it is gone. */
pid_t leat_caller_process(pid_t tid);
/* Is it of the program, and not somebody outside who looks at what that has open? */
bool leat_caller_is_inside(pid_t tid);
/* The same at less cost for a process's first thread: the process that opens a file for writing,
 * whose end will matter; 0: it is gone. */
pid_t leat_caller_opener(pid_t tid);

#endif
