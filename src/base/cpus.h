/* The CPUs that this process has. */
#ifndef LEAT_BASE_CPUS_H
#define LEAT_BASE_CPUS_H

#include <sched.h>
#include <stddef.h>

/* The CPUs it may run on, a set of *size bytes; CPU_FREE. NULL with errno set. Any thread. */
cpu_set_t *leat_cpus_allowed(size_t *size);
/* So many of them can work at a time: less, if a control group has a quota of CPU time (a part of
 * one counts as one). 0: not known. Any thread. */
unsigned leat_count_cpus(void);

#endif
