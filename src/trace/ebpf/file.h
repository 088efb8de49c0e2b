/* Open files, as the kernel has them. */
#ifndef LEAT_TRACE_EBPF_FILE_H
#define LEAT_TRACE_EBPF_FILE_H

#include "trace/ebpf/state.h"

/* The struct file of a descriptor of the task, or 0. */
static __always_inline __u64 file_of(struct task_struct *task, __u32 fd)
{
	struct fdtable *table = task->files->fdt;
	__u64 file = 0;

	if (fd >= table->max_fds)
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), (char *)table->fd + 8UL * fd);
	return file;
}

static __always_inline __u64 file_inode(__u64 file)
{
	return (__u64)BPF_CORE_READ((struct file *)file, f_inode);
}

static __always_inline __u64 file_offset(__u64 file)
{
	return (__u64)BPF_CORE_READ((struct file *)file, f_pos);
}

/* How many refer to it; 0: it is closed. */
static __always_inline __u64 file_references(__u64 file)
{
	__s64 n;

	if (bpf_core_field_exists(struct file, f_ref)) {
		n = BPF_CORE_READ((struct file *)file, f_ref.refcnt.counter);
		return n >= 0 ? (__u64)n + 1 : 0;
	}
	n = BPF_CORE_READ((struct file___before_6_13 *)file, f_count.counter);
	return n > 0 ? (__u64)n : 0;
}

/* Was the file with that inode closed? Its memory is only ever used for a struct file. */
static __always_inline bool file_is_gone(__u64 file, __u64 inode)
{
	return file_references(file) == 0 || file_inode(file) != inode;
}

#endif
