/* What the programs in the kernel remember, and what all of them do. */
#ifndef LEAT_TRACE_EBPF_STATE_H
#define LEAT_TRACE_EBPF_STATE_H

#include "trace/ebpf/kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "trace/ebpf/record.h"

/* state.bpf.c has them; the others know them only. */
#ifndef LEAT_EBPF_STATE
#define LEAT_EBPF_STATE extern
#endif

/* One per thread that made a call which matters. */
struct thread {
	bool traced;
	__u8 class, how; /* of the call it is in */
	bool last;       /* it closes the last descriptor of `file` */
	bool released;   /* `file` was released meanwhile */
	bool seekable[2];
	__u32 flags[2];
	__u64 handle[2]; /* id; 0: none; of COPY: source and target */
	__u64 file[2];
	__u64 start_ns;
	__u64 exec_ns; /* when it last asked for another program */
	__u64 offset[2];
	__u64 args[6];
	struct leat_ebpf_cpu cpu;     /* at its start */
	struct leat_ebpf_cpu counted; /* up to when it had run for, */
	__u64 counted_run;
};

#define UNSAID (~0ULL) /* in place of the handle whose record was lost */

/* One per open file description, by the address of its struct file. */
struct handle {
	__u64 id;
	__u64 inode; /* address: tells that the struct file has another use now */
	__u64 opened_ns;
	__u64 closer_ns; /* who may have closed it last, and when */
	__u32 closer_pid;
	__u32 flags;
	bool seekable;
	bool mapped;
	bool spread; /* more descriptors may refer to it */
	bool unsaid; /* the record of its opening was lost */
};

/* A request to io_uring that is under way, by its address. */
struct request {
	__u64 start_ns;
	__u64 offset;
	__u64 size;
	struct leat_ebpf_cpu cpu;
	__u32 pid;
	__u32 opcode;
};

/* Too large for the stack. Programs do not interrupt each other on a CPU, except by mistake, which
 * `busy` finds. */
struct scratch {
	__u64 busy;
	union {
		struct leat_ebpf_named named;
		struct {
			char before[sizeof(struct leat_ebpf_named) - sizeof(struct leat_ebpf_life)];
			struct leat_ebpf_life life;
		};
	};
	char text[LEAT_EBPF_TEXT_BYTES + LEAT_EBPF_STEP_BYTES];
};

LEAT_EBPF_STATE struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
} ring SEC(".maps");

LEAT_EBPF_STATE struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

LEAT_EBPF_STATE struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 18);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct handle);
} handles SEC(".maps");

LEAT_EBPF_STATE struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct request);
} requests SEC(".maps");

LEAT_EBPF_STATE struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 12);
	__type(key, __u32);
	__type(value, __u8);
} roots SEC(".maps"); /* thread groups whose trees are traced */

LEAT_EBPF_STATE struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, __u8);
} dirs SEC(".maps"); /* addresses of inodes */

LEAT_EBPF_STATE struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

LEAT_EBPF_STATE struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct leat_ebpf_counts);
} counts SEC(".maps");

LEAT_EBPF_STATE const volatile struct leat_ebpf_config config;

LEAT_EBPF_STATE __u64 root_entry, root_mount; /* of the tracer: paths are below it */
LEAT_EBPF_STATE __u64 last_fork_ns;           /* when a process that is traced made another */

static __always_inline struct leat_ebpf_counts *counted(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

static __always_inline void lose(enum leat_ebpf_loss why, __u64 n)
{
	struct leat_ebpf_counts *c = counted();

	if (c)
		c->lost[why] += n;
}

static __always_inline void hint(void)
{
	struct leat_ebpf_counts *c = counted();

	if (c)
		c->hints++;
}

enum { MOST_LEVELS = 32 }; /* of namespaces, one in another */

/* What the tracer, in its namespace, calls the process that the task belongs to; 0: nothing. */
static __always_inline __u32 pid_of(struct task_struct *task)
{
	const struct pid *pid;
	__u32 level;

	if (!config.pids)
		return task->tgid;
	pid = task->signal->pids[1];
	level = pid->level;
	for (__u32 i = 0; i <= MOST_LEVELS && i <= level; i++) {
		const struct upid *at = (const void *)pid + bpf_core_field_offset(pid->numbers) +
					(level - i) * bpf_core_type_size(struct upid);

		if (BPF_CORE_READ(at, ns, ns.inum) == config.pids)
			return BPF_CORE_READ(at, nr);
	}
	return 0;
}

static __always_inline bool is_wanted(char type)
{
	return config.types >> ((type - 'A') & 31) & 1;
}

/* This CPU's scratch, to be given back by scratch_put; NULL, which is counted, if it is in use. */
static __always_inline struct scratch *scratch_get(void)
{
	__u32 zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);

	if (!s)
		return NULL;
	if (s->busy) {
		lose(LEAT_EBPF_LOST_MEMORY, 1);
		return NULL;
	}
	s->busy = 1;
	return s;
}

static __always_inline void scratch_put(struct scratch *s)
{
	s->busy = 0;
}

/* CPU time of a thread: see record.h, and cputime_adjust of the kernel. Between two calls of it
 * nothing has changed most of the time. */
static __always_inline void cpu_now(struct task_struct *task, struct thread *t)
{
	__u64 run = task->se.sum_exec_runtime, user = task->utime, system = task->stime, share;

	if (run == t->counted_run)
		return;
	t->counted_run = run;
	if ((user | system) >> 46) {
		user >>= 16;
		system >>= 16;
	}
	share = system && user ? (system << 16) / (user + system) : system ? 1 << 16 : 0;
	system = (run >> 16) * share + ((run & 0xffff) * share >> 16);
	if (system < t->counted.system)
		system = t->counted.system;
	user = run > system ? run - system : 0;
	if (user < t->counted.user) {
		user = t->counted.user;
		system = run > user + t->counted.system ? run - user : t->counted.system;
	}
	t->counted.user = user;
	t->counted.system = system;
}

static __always_inline __u32 cpu_since(__u64 now, __u64 then)
{
	__u64 n = (now - then) >> 10;

	return n > 0xffffffff ? 0xffffffff : n;
}

/* Fill in the end of a call, and how much CPU time it took. */
static __always_inline void call_end(struct leat_ebpf_call *c, struct task_struct *task,
				     struct thread *t)
{
	cpu_now(task, t);
	c->user = cpu_since(t->counted.user, c->cpu.user);
	c->system = cpu_since(t->counted.system, c->cpu.system);
	c->pad = 0;
	c->end_ns = bpf_ktime_get_ns();
}

#endif
