/* What another process has in its memory. The kernel decides who may look: as for ptrace(2). */
#ifndef LEAT_BASE_MEMORY_OF_H
#define LEAT_BASE_MEMORY_OF_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Copy `size` bytes at `address` of thread `tid`. 0 or -errno. Any thread. */
int leat_memory_of(pid_t tid, uint64_t address, void *out, size_t size);

/* Copy a string of at most PATH_MAX bytes, with its end. 0 or -errno. Any thread. */
int leat_memory_string_of(pid_t tid, uint64_t address, char out[PATH_MAX]);

#endif
