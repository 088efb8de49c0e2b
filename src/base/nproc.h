/* Limits on the number of processes and threads. Any thread. */
#ifndef LEAT_BASE_NPROC_H
#define LEAT_BASE_NPROC_H

#include <stdint.h>

/* Which limit there is, in words, for whoever could not start a process or thread (EAGAIN); the
 * caller frees it. NULL: none is known, or out of memory. */
char *leat_nproc_limit(void);
/* May so many more be started, as far as control groups go? NULL: yes (or out of memory); else why
 * not, in words; the caller frees it. */
char *leat_nproc_lack(uint64_t n);

#endif
