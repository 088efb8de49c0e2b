/* What the kernel says of a process, or a thread of one, in /proc/PID/status. Source:
 * proc_pid_status(5). */
#ifndef LEAT_BASE_PROCSTATUS_H
#define LEAT_BASE_PROCSTATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The bit of a signal in such a mask. */
#define LEAT_SIGNAL_BIT(signo) (UINT64_C(1) << ((signo)-1))

/* The mask behind `key`, as "SigCgt:", in the text of that file; 0 if it has none. Pure. */
uint64_t leat_procstatus_mask(const char *text, const char *key);
/* Signals that are pending and will reach it: of the thread, and of all its process. Pure. */
uint64_t leat_procstatus_pending(const char *text);
/* Those of them that nobody handles and that end a process. Pure. */
uint64_t leat_procstatus_fatal(const char *text);

/* Is the process about to be gone: has each of its threads ended, begun to end, or been sent what
 * will end it, and not yet all of them? What it had open may be open until then. Any thread. */
bool leat_process_is_dying(pid_t pid);

#endif
