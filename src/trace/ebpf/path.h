/* Paths of what the kernel had: components, the last first. */
#ifndef LEAT_TRACE_EBPF_PATH_H
#define LEAT_TRACE_EBPF_PATH_H

#include <stddef.h>

/* The path of a walk (see record.h). The caller frees it. NULL: out of memory. Any thread. */
char *leat_ebpf_path_of_walk(const char *walk, size_t bytes);

/* The same with `name` (its bytes without or with a NUL at the end) below it, or `name` alone if it
 * is absolute; without ".", ".." and doubled slashes. The caller frees it. NULL: out of memory. */
char *leat_ebpf_path_below(const char *walk, size_t bytes, const char *name, size_t name_bytes);

#endif
