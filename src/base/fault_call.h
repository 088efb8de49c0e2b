/* How points of faults call the kernel: the interception library has a way of its own. */
#ifndef LEAT_BASE_FAULT_CALL_H
#define LEAT_BASE_FAULT_CALL_H

/* A system call. Its result or -errno. */
long leat_fault_call(long nr, long a, long b, long c, long d);

#endif
