/* Which file a handle is on, and which file is which: numbers of inodes are used again, ids never.
 */
#ifndef LEAT_TRACE_EBPF_IDS_H
#define LEAT_TRACE_EBPF_IDS_H

#include <stdbool.h>
#include <stdint.h>

struct leat_ebpf_ids;

/* NULL: out of memory. One thread at a time, as for all of this. */
struct leat_ebpf_ids *leat_ebpf_ids_new(void);
void leat_ebpf_ids_free(struct leat_ebpf_ids *ids);

/* The id of a file by what the kernel has of it. `created`: it is new, whatever had its number
 * before. 0: out of memory. */
uint64_t leat_ebpf_ids_inode(struct leat_ebpf_ids *ids, uint32_t device, uint32_t generation,
			     uint64_t inode, bool created);

/* The handle is on that file. False: out of memory. */
bool leat_ebpf_ids_open(struct leat_ebpf_ids *ids, uint64_t handle, uint64_t inode);

/* The file of a handle; 0 unknown. */
uint64_t leat_ebpf_ids_of(struct leat_ebpf_ids *ids, uint64_t handle);

/* The handle is no more. */
void leat_ebpf_ids_close(struct leat_ebpf_ids *ids, uint64_t handle);

/* The file of that id has this path; of the many paths that a trace may have, the last are kept. */
void leat_ebpf_ids_name(struct leat_ebpf_ids *ids, const char *path, uint64_t inode);

/* The file that was last known at the path; 0 unknown. */
uint64_t leat_ebpf_ids_named(struct leat_ebpf_ids *ids, const char *path);

/* The same, and from now on nothing is known there. */
uint64_t leat_ebpf_ids_unname(struct leat_ebpf_ids *ids, const char *path);

#endif
