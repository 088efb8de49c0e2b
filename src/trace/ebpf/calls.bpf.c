/* The system calls: what is about to be done, and what came of it. These two programs run in every
 * system call of the machine, so what does not matter is left at once. */
#include "trace/ebpf/close.h"
#include "trace/ebpf/data.h"
#include "trace/ebpf/name.h"

#if defined(__TARGET_ARCH_x86)
#define ARG(regs, n, name) ((regs)->name)
#else
#define ARG(regs, n, name) ((regs)->regs[n])
#endif

/* A signal came before the call did anything: the kernel makes it anew, or says EINTR. */
enum { RESTARTS_FROM = -512, RESTARTS_TO = -516 };

/* Is the task in a system call of another architecture? */
static __always_inline bool is_foreign(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return task->thread_info.status & 2; /* TS_COMPAT */
#else
	return task->thread_info.flags & 1UL << 22; /* TIF_32BIT */
#endif
}

static __always_inline bool is_unlink(const struct thread *t)
{
	return !(t->how & LEAT_EBPF_AT) || !(t->args[2] & AT_REMOVEDIR);
}

/* Is its end to be looked at? */
static __always_inline bool begin(struct task_struct *task, struct thread *t)
{
	switch (t->class) {
	case LEAT_EBPF_DATA:
		return data_enter(task, t);
	case LEAT_EBPF_CLOSES:
		return close_enter(task, t, t->args[0]);
	case LEAT_EBPF_MAPS:
		return map_enter(task, t);
	case LEAT_EBPF_CONTROLS:
		return control_enter(task, t);
	case LEAT_EBPF_COPY:
		return copy_enter(task, t);
	case LEAT_EBPF_REPLACES:
		return replace_enter(task, t);
	case LEAT_EBPF_DUPS:
		return dup_enter(task, t);
	case LEAT_EBPF_SETS_SIZE:
		return size_enter(task, t);
	case LEAT_EBPF_UNLINKS:
		return is_unlink(t);
	case LEAT_EBPF_CLOSES_MANY:
		table_note_closer(task, t->args[0], t->args[1], false);
		return false;
	case LEAT_EBPF_EXECS:
		t->exec_ns = bpf_ktime_get_ns();
		table_note_closer(task, 0, ~0U, false);
		return false;
	default:
		return true;
	}
}

SEC("tp_btf/sys_enter") int BPF_PROG(leat_enter, struct pt_regs *regs, long id)
{
	struct task_struct *task;
	struct thread *t;
	bool foreign;
	__u8 class;

	if (id < 0 || id >= LEAT_EBPF_CALLS)
		return 0;
	if (!config.calls[id].class && !config.foreign[id].class)
		return 0;
	task = bpf_get_current_task_btf();
	foreign = is_foreign(task);
	class = foreign ? config.foreign[id].class : config.calls[id].class;
	if (!class)
		return 0;
	t = thread_of(task);
	if (!t)
		return 0;
	t->class = LEAT_EBPF_IGNORED;
	if (!is_users())
		return 0;
	if (foreign) {
		lose(LEAT_EBPF_LOST_UNSEEN, 1);
		return 0;
	}
	t->how = config.calls[id].how;
	t->args[0] = ARG(regs, 0, di);
	t->args[1] = ARG(regs, 1, si);
	t->args[2] = ARG(regs, 2, dx);
	t->args[3] = ARG(regs, 3, r10);
	t->args[4] = ARG(regs, 4, r8);
	t->args[5] = ARG(regs, 5, r9);
	t->class = class;
	if (!begin(task, t)) {
		t->class = LEAT_EBPF_IGNORED;
		return 0;
	}
	cpu_now(task, t);
	t->cpu = t->counted;
	t->start_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void end(struct task_struct *task, struct thread *t, __u8 class,
				__s64 result)
{
	switch (class) {
	case LEAT_EBPF_DATA:
		data_exit(task, t, result);
		break;
	case LEAT_EBPF_CLOSES:
	case LEAT_EBPF_REPLACES:
		if (class == LEAT_EBPF_CLOSES || result >= 0)
			close_exit(task, t, class == LEAT_EBPF_CLOSES ? result : 0);
		break;
	case LEAT_EBPF_OPENS:
		open_exit(task, t, result);
		break;
	case LEAT_EBPF_MAPS:
		map_exit(task, t, result);
		break;
	case LEAT_EBPF_COPY:
		copy_exit(task, t, result);
		break;
	case LEAT_EBPF_SETS_SIZE:
		size_exit(task, t, result);
		break;
	case LEAT_EBPF_UNLINKS:
		emit_names(t, 'U', result, 0, 0);
		break;
	case LEAT_EBPF_RENAMES:
		emit_names(t, 'N', result, 0, 0);
		break;
	case LEAT_EBPF_TRUNCATES:
		emit_names(t, 'T', result, 0, t->args[1]);
		break;
	case LEAT_EBPF_SUBMITS:
		if (result > 0)
			lose(LEAT_EBPF_LOST_UNSEEN, result);
		break;
	default:
		break;
	}
}

SEC("tp_btf/sys_exit") int BPF_PROG(leat_exit, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = bpf_task_storage_get(&threads, task, NULL, 0);
	__u8 class;

	if (!t || !t->class)
		return 0;
	class = t->class;
	t->class = LEAT_EBPF_IGNORED;
	if (result > RESTARTS_FROM || result < RESTARTS_TO)
		end(task, t, class, result);
	return 0;
}

/* The kernel frees a file. The call that closes it, if it is one, is told with its result. */
static __always_inline int released(__u64 file)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct handle *h = bpf_map_lookup_elem(&handles, &file);
	struct handle old;
	struct thread *t;

	if (!h)
		return 0;
	old = *h;
	if (bpf_map_delete_elem(&handles, &file))
		return 0;
	t = bpf_task_storage_get(&threads, task, NULL, 0);
	if (t && t->file[0] == file &&
	    (t->class == LEAT_EBPF_CLOSES || t->class == LEAT_EBPF_REPLACES))
		t->released = true;
	else
		emit_closed(&old, pid_of(task),
			    is_by_exec(t, &old) ? old.closer_ns : bpf_ktime_get_ns());
	return 0;
}

SEC("fentry/__fput") int BPF_PROG(leat_released, struct file *file)
{
	return released((__u64)file);
}

SEC("kprobe/__fput") int leat_released_probe(struct pt_regs *regs)
{
	return released(ARG(regs, 0, di));
}
