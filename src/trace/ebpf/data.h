/* Calls on descriptors: bytes, mappings, sizes. */
#ifndef LEAT_TRACE_EBPF_DATA_H
#define LEAT_TRACE_EBPF_DATA_H

#include "trace/ebpf/file.h"
#include "trace/ebpf/emit.h"

#define O_APPEND 02000
#define MAP_ANONYMOUS 0x20
#define MAP_TYPE 0x0f
#define MAP_PRIVATE 0x02
#define PROT_WRITE 0x2
enum { MOST_VECTORS = 1024 };

/* Remember the file behind descriptor `fd` as number `which` of the call. False: it is none that is
 * traced. */
static __always_inline struct handle *take_file(struct task_struct *task, struct thread *t,
						int which, __u32 fd)
{
	__u64 file = file_of(task, fd);
	struct handle *h;

	t->handle[which] = 0;
	if (!file)
		return NULL;
	h = bpf_map_lookup_elem(&handles, &file);
	if (!h)
		return NULL;
	if (file_inode(file) != h->inode) {
		hint();
		return NULL;
	}
	t->file[which] = file;
	t->handle[which] = h->unsaid ? UNSAID : h->id;
	t->flags[which] = h->flags;
	t->seekable[which] = h->seekable;
	return h;
}

struct vector_sum {
	__u64 at, bytes;
};

static long vector_step(__u32 i, struct vector_sum *s)
{
	struct iovec v;

	if (bpf_probe_read_user(&v, sizeof(v), (void *)(s->at + i * sizeof(v))))
		return 1;
	s->bytes += v.iov_len;
	return 0;
}

static __always_inline __u64 vector_bytes(__u64 at, __u64 n)
{
	struct vector_sum s = {.at = at};

	if (n > 0 && n <= MOST_VECTORS)
		bpf_loop(n, vector_step, &s, 0);
	return s.bytes;
}

static __always_inline bool is_at_offset(const struct thread *t)
{
	return (t->how & LEAT_EBPF_AT_OFFSET) ||
	       ((t->how & LEAT_EBPF_AT_OFFSET_OR_NOT) && t->args[3] != ~0ULL);
}

static __always_inline bool data_enter(struct task_struct *task, struct thread *t)
{
	if (!is_wanted(t->how & LEAT_EBPF_WRITES ? 'W' : 'R') || !take_file(task, t, 0, t->args[0]))
		return false;
	t->offset[0] = is_at_offset(t) ? t->args[3] : file_offset(t->file[0]);
	return true;
}

/* Where it began. Whoever shares the description may have moved it before this call had its turn;
 * the kernel's offset behind the bytes that were moved is right then, too. */
static __always_inline __u64 data_offset(const struct thread *t, __s64 moved)
{
	bool appends = (t->how & LEAT_EBPF_WRITES) && (t->flags[0] & O_APPEND);
	struct file *file = (struct file *)t->file[0];

	if (!t->seekable[0])
		return 0;
	if (moved <= 0)
		return t->offset[0];
	if (!is_at_offset(t))
		return file_offset(t->file[0]) - moved;
	if (appends)
		return BPF_CORE_READ(file, f_inode, i_size) - moved;
	return t->offset[0];
}

static __always_inline void data_exit(struct task_struct *task, struct thread *t, __s64 result)
{
	__u64 size = t->how & LEAT_EBPF_VECTOR ? vector_bytes(t->args[1], t->args[2]) : t->args[2];

	emit_call(task, t, t->how & LEAT_EBPF_WRITES ? 'W' : 'R', 0, result, data_offset(t, result),
		  size);
}

/* ---- from one descriptor to another ---- */

static __always_inline void copy_offset(struct thread *t, int which, __u64 pointer)
{
	if (!t->handle[which])
		return;
	if (!pointer || bpf_probe_read_user(&t->offset[which], 8, (void *)pointer))
		t->offset[which] = file_offset(t->file[which]);
}

static __always_inline bool copy_enter(struct task_struct *task, struct thread *t)
{
	bool sends = t->how & LEAT_EBPF_SENDS;

	take_file(task, t, 0, sends ? t->args[1] : t->args[0]);
	take_file(task, t, 1, sends ? t->args[0] : t->args[2]);
	copy_offset(t, 0, sends ? t->args[2] : t->args[1]);
	copy_offset(t, 1, sends ? 0 : t->args[3]);
	return t->handle[0] || t->handle[1];
}

static __always_inline void copy_exit(struct task_struct *task, struct thread *t, __s64 result)
{
	bool sends = t->how & LEAT_EBPF_SENDS;
	__u64 size = sends ? t->args[3] : t->args[4];

	if (result > 0 && !(sends ? t->args[2] : t->args[1]) && t->handle[0])
		t->offset[0] = file_offset(t->file[0]) - result;
	if (result > 0 && !(sends ? 0 : t->args[3]) && t->handle[1])
		t->offset[1] = file_offset(t->file[1]) - result;
	emit_call(task, t, 'R', 0, result, t->seekable[0] ? t->offset[0] : 0, size);
	emit_call(task, t, 'W', 1, result, t->seekable[1] ? t->offset[1] : 0, size);
}

/* ---- mappings, and sizes ---- */

static __always_inline bool map_enter(struct task_struct *task, struct thread *t)
{
	return !(t->args[3] & MAP_ANONYMOUS) && take_file(task, t, 0, t->args[4]);
}

static __always_inline void map_exit(struct task_struct *task, struct thread *t, __s64 result)
{
	struct handle *h = bpf_map_lookup_elem(&handles, &t->file[0]);

	/* Addresses are no errors, whatever their sign. */
	if (result < 0 && result >= -4095)
		return;
	if (h)
		h->mapped = true;
	/* What is written to a private mapping does not get into the file. */
	t->flags[0] = t->args[2];
	if ((t->args[3] & MAP_TYPE) == MAP_PRIVATE)
		t->flags[0] &= ~PROT_WRITE;
	emit_call(task, t, 'M', 0, 0, t->args[5], t->args[1]);
}

static __always_inline bool size_enter(struct task_struct *task, struct thread *t)
{
	return take_file(task, t, 0, t->args[0]);
}

static __always_inline void size_exit(struct task_struct *task, struct thread *t, __s64 result)
{
	emit_call(task, t, 'T', 0, result, 0, t->args[1]);
}

#endif
