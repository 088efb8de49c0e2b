/* Who asks for a size is known by where his call returns to: glibc's fstat, fstatat and statx have
 * no frame when they enter the kernel, so that the word on top of the caller's stack is the address
 * in the code that wants to know. Of other C libraries, and of programs that make the call
 * themselves, nothing is known: they go by the size. */
#ifndef LEAT_MOUNT_CALLERS_ASKER_H
#define LEAT_MOUNT_CALLERS_ASKER_H

#include <sys/types.h>

/* May thread `tid`, which waits for what a stat of any kind shows, be shown a size that is not the
 * last, and how often? As in the interception library, by the code that makes the call. */
unsigned leat_caller_looks(pid_t tid);

#endif
