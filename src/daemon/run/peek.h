/* What /proc says of processes that are looked at for a deadlock. */
#ifndef LEAT_DAEMON_RUN_PEEK_H
#define LEAT_DAEMON_RUN_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The file `what` of a thread; the caller frees it. 0 or -errno. */
int leat_peek_task(pid_t pid, const char *tid, const char *what, size_t max_bytes, char **text);
/* The number behind `key` in the status of a thread. False: it is gone. */
bool leat_peek_status(pid_t pid, const char *tid, const char *key, int base, uint64_t *number);
/* Has the process that open, by the name that its links have? True if nobody knows. */
bool leat_peek_has_open(pid_t pid, const char *target);
/* Has it set an alarm? One that is to kill leaves no trace. */
bool leat_peek_has_alarm(pid_t pid);
/* The kernel may be built without the list of children: then nobody can be trusted to be idle. */
bool leat_peek_sees_children(void);

#endif
