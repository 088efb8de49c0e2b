/* What the kernel says of a process in /proc/PID/stat. */
#ifndef LEAT_BASE_PIDSTAT_H
#define LEAT_BASE_PIDSTAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct leat_pidstat {
	char name[64]; /* of its program, cut short */
	char state;    /* 'R', 'S'; 'Z': it has ended, and its parent has not asked */
	pid_t parent;
	pid_t group;
	bool exiting;       /* it closes its files, or has */
	uint64_t cpu_ticks; /* CPU time, with that of children it has waited for, in clock ticks */
	int processor;      /* on which it runs, or ran last */
	uint64_t born;      /* clock ticks: tells it from who has its number later */
	int status;         /* as from waitpid, if it is exiting, and we may know */
};

/* Look at a process, or a thread of one. False: it is gone, or cannot be looked at. Any thread.
 * Source: proc_pid_stat(5). */
bool leat_pidstat_read(pid_t pid, struct leat_pidstat *p);

/* How a process ended, also when its parent has asked: *status is as from waitpid. False: nobody
 * knows, before Linux 6.15. Any thread. */
bool leat_pidfd_status(int pidfd, int *status);

/* The inode of this process's namespace of process numbers, 0 if nobody knows. Any thread. Source:
 * pid_namespaces(7). */
uint64_t leat_pid_namespace(void);
/* The same of another process; 0 also if we may not ask. Any thread. */
uint64_t leat_pid_namespace_of(pid_t pid);

struct leat_pidio {
	uint64_t read, written;
};

/* Bytes that a process, and its children that it has waited for, had from storage or left to be
 * written to it; also when it has ended and its parent has not asked. False: nobody knows, or we
 * may not ask. Any thread. Source: proc_pid_io(5). */
bool leat_pidstat_io(pid_t pid, struct leat_pidio *io);

#endif
