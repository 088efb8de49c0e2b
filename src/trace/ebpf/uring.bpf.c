/* Requests to io_uring, which no system call shows. */
#include "trace/ebpf/name.h"

/* Of <linux/io_uring.h>. */
enum {
	URING_READV = 1,
	URING_WRITEV = 2,
	URING_READ_FIXED = 4,
	URING_WRITE_FIXED = 5,
	URING_FALLOCATE = 17,
	URING_OPENAT = 18,
	URING_CLOSE = 19,
	URING_READ = 22,
	URING_WRITE = 23,
	URING_OPENAT2 = 28,
	URING_SPLICE = 30,
	URING_RENAMEAT = 35,
	URING_UNLINKAT = 36,
	URING_FTRUNCATE = 55,
};

static __always_inline bool is_read(__u32 opcode)
{
	return opcode == URING_READV || opcode == URING_READ_FIXED || opcode == URING_READ;
}

static __always_inline bool is_write(__u32 opcode)
{
	return opcode == URING_WRITEV || opcode == URING_WRITE_FIXED || opcode == URING_WRITE;
}

/* It changes files or names in a way that is not followed here. */
static __always_inline bool is_unseen(__u32 opcode)
{
	return opcode == URING_SPLICE || opcode == URING_RENAMEAT || opcode == URING_UNLINKAT ||
	       opcode == URING_FTRUNCATE;
}

static __always_inline int submitted(struct io_kiocb *request)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 key = (__u64)request;
	struct request r = {.opcode = BPF_CORE_READ(request, opcode)};
	struct thread *t = thread_of(task);

	if (!t || !is_users())
		return 0;
	if (is_unseen(r.opcode)) {
		lose(LEAT_EBPF_LOST_UNSEEN, 1);
		return 0;
	}
	if (r.opcode == URING_CLOSE)
		table_note_closer(task, 0, ~0U, false);
	if (!is_read(r.opcode) && !is_write(r.opcode) && r.opcode != URING_OPENAT &&
	    r.opcode != URING_OPENAT2)
		return 0;
	r.pid = pid_of(task);
	r.start_ns = bpf_ktime_get_ns();
	cpu_now(task, t);
	r.cpu = t->counted;
	if (is_read(r.opcode) || is_write(r.opcode)) {
		r.offset = BPF_CORE_READ((struct io_rw *)request, kiocb.ki_pos);
		r.size = BPF_CORE_READ((struct io_rw *)request, len);
	}
	if (bpf_map_update_elem(&requests, &key, &r, BPF_ANY))
		lose(LEAT_EBPF_LOST_MEMORY, 1);
	return 0;
}

static __always_inline void transferred(struct io_kiocb *request, const struct request *r,
					__s32 result)
{
	__u64 file = (__u64)BPF_CORE_READ(request, file);
	struct handle *h = bpf_map_lookup_elem(&handles, &file);
	char type = is_read(r->opcode) ? 'R' : 'W';
	struct leat_ebpf_call *c;

	if (!h || !is_wanted(type))
		return;
	if (h->unsaid) {
		lose(LEAT_EBPF_LOST_BUFFER, 1);
		return;
	}
	c = call_new(type);
	if (!c)
		return;
	c->pid = r->pid;
	c->start_ns = r->start_ns;
	c->end_ns = bpf_ktime_get_ns();
	c->cpu = r->cpu;
	c->user = c->system = c->pad = 0; /* whoever did it */
	c->flags = h->flags;
	c->handle = h->id;
	c->result = result;
	c->size = r->size;
	/* -1: at the offset that the kernel keeps */
	c->offset = r->offset != ~0ULL ? r->offset : file_offset(file) - (result > 0 ? result : 0);
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
}

/* Its flags are those that the file kept. */
static __always_inline void opened(struct thread *t, __u64 file, const struct request *r)
{
	struct leat_ebpf_cpu cpu = t->cpu;
	__u64 start_ns = t->start_ns;

	/* The thread may be in a call of its own. */
	t->start_ns = r->start_ns;
	t->cpu = r->cpu;
	emit_open(t, file, file ? BPF_CORE_READ((struct file *)file, f_flags) : 0);
	t->start_ns = start_ns;
	t->cpu = cpu;
}

static __always_inline int completed(struct io_kiocb *request)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_of(task);
	__u64 key = (__u64)request;
	struct request *found = bpf_map_lookup_elem(&requests, &key), r;
	__s32 result;

	if (!found)
		return 0;
	r = *found;
	if (bpf_map_delete_elem(&requests, &key))
		return 0;
	result = BPF_CORE_READ(request, cqe.res);
	if (is_read(r.opcode) || is_write(r.opcode))
		transferred(request, &r, result);
	else if (result >= 0 && t && pid_of(task) == r.pid)
		opened(t, file_of(task, result), &r);
	else
		lose(LEAT_EBPF_LOST_UNSEEN, 1);
	return 0;
}

SEC("tp_btf/io_uring_submit_req") int BPF_PROG(leat_uring_submit, struct io_kiocb *request)
{
	return submitted(request);
}

/* Its name up to Linux 6.2. */
SEC("tp_btf/io_uring_submit_sqe") int BPF_PROG(leat_uring_submit_sqe, struct io_kiocb *request)
{
	return submitted(request);
}

SEC("tp_btf/io_uring_complete") int BPF_PROG(leat_uring_complete, void *ring_context, void *request)
{
	return request ? completed(request) : 0;
}
