/* Who is traced, and the table of descriptors of a process. */
#ifndef LEAT_TRACE_EBPF_THREAD_H
#define LEAT_TRACE_EBPF_THREAD_H

#include "trace/ebpf/file.h"
#include "trace/ebpf/emit.h"

static __always_inline bool is_followed(struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	struct thread *t = config.all ? NULL : bpf_task_storage_get(&threads, leader, NULL, 0);
	__u32 group;

	if (t && t->traced)
		return true;
	group = pid_of(task);
	if (config.all)
		return group && group != config.self;
	return bpf_map_lookup_elem(&roots, &group) != NULL;
}

/* Of the current task; NULL if it is not traced. */
static __always_inline struct thread *thread_of(struct task_struct *task)
{
	struct thread *t = bpf_task_storage_get(&threads, task, NULL, 0);

	if (t)
		return t->traced ? t : NULL;
	if (!is_followed(task))
		return NULL;
	t = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (t)
		t->traced = true;
	else
		lose(LEAT_EBPF_LOST_MEMORY, 1);
	return t;
}

static __always_inline bool is_users(void)
{
	__u64 ids = config.by_uid || config.by_gid ? bpf_get_current_uid_gid() : 0;

	return (!config.by_uid || (__u32)ids == config.uid) &&
	       (!config.by_gid || (__u32)(ids >> 32) == config.gid);
}

/* Does the current process hold the only descriptor? A mapping refers to the file, too, and is no
 * descriptor: what is mapped is looked at only if nobody can have got a second descriptor. */
static __always_inline bool is_last(const struct handle *h, __u64 file)
{
	return file_references(file) == 1 ||
	       (h->mapped && !h->spread && h->opened_ns > last_fork_ns);
}

enum { MOST_DESCRIPTORS = 1 << 20 }; /* that a table has, usually */

struct table_walk {
	__u32 first;
	__u32 pid;
	bool ends; /* the process does, and with it the table */
	__u64 now_ns;
};

static long table_step(__u32 i, struct table_walk *w)
{
	__u64 file = file_of(bpf_get_current_task_btf(), w->first + i);
	struct handle *h = file ? bpf_map_lookup_elem(&handles, &file) : NULL;

	if (!h)
		return 0;
	if (w->ends && is_last(h, file)) {
		struct handle old = *h;

		if (bpf_map_delete_elem(&handles, &file) == 0)
			emit_closed(&old, w->pid, w->now_ns + i);
		return 0;
	}
	h->closer_pid = w->pid;
	h->closer_ns = w->now_ns + i; /* one after the other */
	return 0;
}

/* Was the handle's closer noted by the exec that the thread is in? Only then it is that late. */
static __always_inline bool is_by_exec(const struct thread *t, const struct handle *h)
{
	return t && t->exec_ns && h->closer_ns >= t->exec_ns &&
	       h->closer_ns - t->exec_ns < MOST_DESCRIPTORS;
}

/* The current process may now close descriptors from `first` to `last`, or ends. */
static __always_inline void table_note_closer(struct task_struct *task, __u32 first, __u32 last,
					      bool ends)
{
	struct table_walk w = {
		.first = first, .pid = pid_of(task), .ends = ends, .now_ns = bpf_ktime_get_ns()};
	__u32 n = task->files->fdt->max_fds;

	if (last < n)
		n = last + 1;
	if (first < n)
		bpf_loop(n - first, table_step, &w, 0);
	hint();
}

#endif
