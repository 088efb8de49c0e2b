/* Directories of containers in which files have been opened, and what they are outside: the kernel
 * says that of opens, but not of names that are removed or changed. */
#ifndef LEAT_TRACE_EBPF_DIRS_H
#define LEAT_TRACE_EBPF_DIRS_H

#include <stdint.h>

struct leat_ebpf_dirs;

/* NULL: out of memory. One thread at a time, as for all of this. */
struct leat_ebpf_dirs *leat_ebpf_dirs_new(void);
void leat_ebpf_dirs_free(struct leat_ebpf_dirs *p);

/* `path`, of processes in that mount namespace whose mounts have changed so many times, is
 * `outside`, which has the same last component; else nothing is learned. */
void leat_ebpf_dirs_learn(struct leat_ebpf_dirs *p, uint64_t space, uint64_t event,
			  const char *path, const char *outside);

/* What a path is outside, by a file that was beside it. The caller frees it; NULL: not known. */
char *leat_ebpf_dirs_name(const struct leat_ebpf_dirs *p, uint64_t space, uint64_t event,
			  const char *path);

#endif
