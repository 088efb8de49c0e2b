/* The life of processes. */
#include "trace/ebpf/thread.h"
#include "trace/ebpf/walk.h"

static __always_inline void life_begin(struct leat_ebpf_life *r, __u16 kind,
				       struct task_struct *task)
{
	__builtin_memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->pid = pid_of(task);
	r->ppid = pid_of(task->real_parent);
	r->time_ns = bpf_ktime_get_ns();
	r->cgroup = task->cgroups->dfl_cgrp->kn->id;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(leat_fork, struct task_struct *parent, struct task_struct *child)
{
	struct leat_ebpf_counts *c = counted();
	struct leat_ebpf_life *r;
	struct thread *t;

	if (child->tgid != child->pid || !is_followed(parent))
		return 0;
	t = bpf_task_storage_get(&threads, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		lose(LEAT_EBPF_LOST_MEMORY, 1);
		return 0;
	}
	t->traced = true;
	last_fork_ns = bpf_ktime_get_ns();
	if (c)
		c->forks++;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		lose(LEAT_EBPF_LOST_BUFFER, 1);
		return 0;
	}
	life_begin(r, LEAT_EBPF_FORK, child);
	r->ppid = pid_of(parent);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exit") int BPF_PROG(leat_end, struct task_struct *task)
{
	struct leat_ebpf_counts *c = counted();
	struct leat_ebpf_life *r;

	if (task->signal->live.counter > 0 || !is_followed(task))
		return 0;
	if (task->files->count.counter == 1)
		table_note_closer(task, 0, ~0U, true);
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (r) {
		life_begin(r, LEAT_EBPF_EXIT, task);
		r->status = task->signal->group_exit_code;
		if (!r->status)
			r->status = task->group_leader->exit_code;
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	} else {
		lose(LEAT_EBPF_LOST_BUFFER, 1);
	}
	if (c)
		c->exits++;
	return 0;
}

/* ---- a program starts ---- */

struct environment_walk {
	__u64 at, end;
	__u32 from, used; /* of the text */
	bool inside;      /* of a variable that was longer than what is read at once */
};

/* Those that may say whose the process is; the tracer decides. */
#define BEGINS_4(v, a, b, c, d) ((v)[0] == (a) && (v)[1] == (b) && (v)[2] == (c) && (v)[3] == (d))

static __always_inline bool is_label(const char *v)
{
	return BEGINS_4(v, 'L', 'E', 'A', 'T') || BEGINS_4(v, 'C', 'A', 'P', 'I') ||
	       BEGINS_4(v, 'S', 'L', 'U', 'R') || BEGINS_4(v, 'N', 'X', 'F', '_') ||
	       BEGINS_4(v, 'A', 'I', 'R', 'F') || BEGINS_4(v, 'O', 'M', 'P', 'I') ||
	       BEGINS_4(v, 'P', 'M', 'I', 'X') || BEGINS_4(v, 'P', 'M', 'I', '_') ||
	       BEGINS_4(v, 'K', 'U', 'B', 'E') || BEGINS_4(v, 'P', 'O', 'D', '_') ||
	       BEGINS_4(v, 'H', 'O', 'S', 'T');
}

static long environment_step(__u32 i, struct environment_walk *w)
{
	__u32 zero = 0, used = w->used;
	struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);
	bool inside = w->inside;
	long n;

	if (!s || w->at >= w->end || used > LEAT_EBPF_TEXT_BYTES ||
	    used - w->from > LEAT_EBPF_LABEL_BYTES)
		return 1;
	n = bpf_probe_read_user_str(s->text + used, LEAT_EBPF_STEP_BYTES, (void *)w->at);
	if (n <= 0)
		return 1;
	w->inside = n == LEAT_EBPF_STEP_BYTES;
	w->at += w->inside ? n - 1 : n;
	if (!inside && is_label(s->text + used))
		w->used = used + n;
	return 0;
}

static __noinline __u32 environment_add(__u32 used)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct environment_walk w = {
		.at = task->mm->env_start, .end = task->mm->env_end, .from = used, .used = used};

	bpf_loop(1 << 14, environment_step, &w, 0);
	return w.used - used;
}

SEC("tp_btf/sched_process_exec") int BPF_PROG(leat_exec, struct task_struct *task)
{
	struct scratch *s;
	__u64 bytes, program;
	__u32 used;

	if (!is_followed(task))
		return 0;
	hint();
	s = scratch_get();
	if (!s)
		return 0;
	life_begin(&s->life, LEAT_EBPF_EXEC, task);
	s->life.mounts = task->nsproxy->mnt_ns->ns.inum;
	s->life.event = task->nsproxy->mnt_ns->event;
	program = (__u64)task->mm->exe_file;
	used = walk_path(path_of_file(program), 0, &s->life.cut, NULL);
	s->life.walk[0] = used;
	s->life.walk[1] = walk_path(path_of_task(task), used, &s->life.cut, NULL);
	used += s->life.walk[1];
	s->life.labels = environment_add(used);
	bytes = sizeof(s->life) + used + s->life.labels;
	if (bytes > sizeof(s->life) + sizeof(s->text) ||
	    bpf_ringbuf_output(&ring, &s->life, bytes, BPF_RB_NO_WAKEUP))
		lose(LEAT_EBPF_LOST_BUFFER, 1);
	scratch_put(s);
	return 0;
}
