/* Records for the tracer. Nobody is woken: it looks by itself. */
#ifndef LEAT_TRACE_EBPF_EMIT_H
#define LEAT_TRACE_EBPF_EMIT_H

#include "trace/ebpf/state.h"

/* A record of a call on a handle to be filled in and submitted, or NULL: counted as lost. */
static __always_inline struct leat_ebpf_call *call_new(char type)
{
	struct leat_ebpf_call *c = bpf_ringbuf_reserve(&ring, sizeof(*c), 0);

	if (!c) {
		lose(LEAT_EBPF_LOST_BUFFER, 1);
		return NULL;
	}
	c->kind = LEAT_EBPF_CALL;
	c->type = type;
	return c;
}

static __always_inline void call_begun(struct leat_ebpf_call *c, const struct thread *t)
{
	c->start_ns = t->start_ns;
	c->cpu = t->cpu;
}

/* What the current task did to one of the files of its call. */
static __always_inline void emit_call(struct task_struct *task, struct thread *t, char type,
				      int which, __s64 result, __u64 offset, __u64 size)
{
	struct leat_ebpf_call *c;

	if ((!is_wanted(type) && type != 'X') || !t->handle[which])
		return;
	if (t->handle[which] == UNSAID) {
		lose(LEAT_EBPF_LOST_BUFFER, 1);
		return;
	}
	c = call_new(type);
	if (!c)
		return;
	call_begun(c, t);
	c->pid = pid_of(task);
	c->flags = t->flags[which];
	c->handle = t->handle[which];
	c->result = result;
	c->offset = offset;
	c->size = size;
	call_end(c, task, t);
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
}

/* A close by whoever was last seen to drop it, or by a process that ends. */
static __always_inline void emit_closed(const struct handle *h, __u32 pid, __u64 time_ns)
{
	struct leat_ebpf_call *c;

	if (h->unsaid) {
		lose(LEAT_EBPF_LOST_BUFFER, 1);
		return;
	}
	c = call_new('X');
	if (!c)
		return;
	c->pid = pid;
	c->start_ns = c->end_ns = time_ns;
	__builtin_memset(&c->cpu, 0, sizeof(c->cpu));
	c->user = c->system = c->pad = 0;
	c->flags = h->flags;
	c->handle = h->id;
	c->result = 0;
	c->offset = c->size = 0;
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
}

static __always_inline void emit_closed_unseen(const struct handle *h)
{
	emit_closed(h, h->closer_pid, h->closer_ns ? h->closer_ns : bpf_ktime_get_ns());
}

#endif
