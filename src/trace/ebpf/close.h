/* Calls that make, copy and drop descriptors. */
#ifndef LEAT_TRACE_EBPF_CLOSE_H
#define LEAT_TRACE_EBPF_CLOSE_H

#include "trace/ebpf/data.h"
#include "trace/ebpf/thread.h"

enum { FCNTL_DUP = 0, FCNTL_DUP_CLOEXEC = 1030 };

static __always_inline bool close_enter(struct task_struct *task, struct thread *t, __u32 fd)
{
	struct handle *h = take_file(task, t, 0, fd);

	t->released = false;
	t->last = h && is_last(h, t->file[0]);
	return h;
}

static __always_inline void close_exit(struct task_struct *task, struct thread *t, __s64 result)
{
	__u64 file = t->file[0];
	struct handle *h = bpf_map_lookup_elem(&handles, &file);

	if (t->released) {
		emit_call(task, t, 'X', 0, result, 0, 0);
		return;
	}
	if (!h || (h->id != t->handle[0] && !h->unsaid))
		return;
	if (!t->last && !file_is_gone(file, h->inode)) {
		h->closer_pid = pid_of(task);
		h->closer_ns = bpf_ktime_get_ns();
		return;
	}
	if (bpf_map_delete_elem(&handles, &file) == 0)
		emit_call(task, t, 'X', 0, result, 0, 0);
}

static __always_inline bool replace_enter(struct task_struct *task, struct thread *t)
{
	struct handle *h;

	if (t->args[0] == t->args[1])
		return false;
	h = take_file(task, t, 0, t->args[0]);
	if (h)
		h->spread = true;
	return close_enter(task, t, t->args[1]);
}

static __always_inline bool dup_enter(struct task_struct *task, struct thread *t)
{
	struct handle *h = take_file(task, t, 0, t->args[0]);

	if (h)
		h->spread = true;
	return false;
}

static __always_inline bool control_enter(struct task_struct *task, struct thread *t)
{
	if (t->args[1] != FCNTL_DUP && t->args[1] != FCNTL_DUP_CLOEXEC)
		return false;
	return dup_enter(task, t);
}

#endif
