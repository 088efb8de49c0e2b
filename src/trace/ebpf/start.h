/* The command that is to be traced. */
#ifndef LEAT_TRACE_EBPF_START_H
#define LEAT_TRACE_EBPF_START_H

#include <sys/types.h>

struct leat_ebpf_start {
	pid_t pid;
	int go, failed; /* pipes */
};

/* Make a process that will become the command when it is let go. 0 or -errno, after a message. One
 * thread. */
int leat_ebpf_start(struct leat_ebpf_start *s, char *const *argv);

/* Let it go, and wait until it has become the command. 0, or the -errno for which it could not. */
int leat_ebpf_start_go(struct leat_ebpf_start *s);

#endif
