/* Calls that name files. */
#ifndef LEAT_TRACE_EBPF_NAME_H
#define LEAT_TRACE_EBPF_NAME_H

#include "trace/ebpf/emit.h"
#include "trace/ebpf/thread.h"
#include "trace/ebpf/walk.h"

#define O_CREAT 0100
#define O_WRONLY 01
#define O_TRUNC 01000
#define AT_REMOVEDIR 0x200
#define FMODE_CREATED 0x100000
#define S_IFMT 0170000
#define S_IFREG 0100000
#define S_IFBLK 0060000
enum { AT_CWD = -100 };

static __always_inline void named_begin(struct leat_ebpf_named *r, struct task_struct *task,
					__u16 kind, char type, __s64 result)
{
	__builtin_memset(r, 0, sizeof(*r));
	r->call.kind = kind;
	r->call.type = type;
	r->call.pid = pid_of(task);
	r->call.result = result;
}

/* Hand over the record in the scratch with `used` bytes of text. */
static __always_inline bool named_submit(struct scratch *s, __u32 used)
{
	__u64 bytes = sizeof(s->named) + used;

	if (bytes > sizeof(s->named) + sizeof(s->text))
		return false;
	if (bpf_ringbuf_output(&ring, &s->named, bytes, BPF_RB_NO_WAKEUP) == 0)
		return true;
	lose(LEAT_EBPF_LOST_BUFFER, 1);
	return false;
}

/* Append the name at `pointer`, below descriptor `dir`, as part `which`. Returns the bytes used. */
static __noinline __u32 named_add(struct scratch *s, __u32 which, __u64 pointer, __s32 dir,
				  __u32 used)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 cut = 0, walked = 0;
	__u64 file = 0;
	char first = 0;
	long n;

	if (which > 1 || used > LEAT_EBPF_WALK_BYTES + LEAT_EBPF_NAME_BYTES)
		return used;
	bpf_probe_read_user(&first, 1, (void *)pointer);
	if (first != '/') {
		if (dir == AT_CWD)
			walked = walk_path(path_of_task(task), used, &cut, NULL);
		else if ((file = file_of(task, dir)))
			walked = walk_path(path_of_file(file), used, &cut, NULL);
		else
			cut = 1;
	}
	used += walked;
	if (used > 2 * LEAT_EBPF_WALK_BYTES + LEAT_EBPF_NAME_BYTES)
		return 0;
	n = bpf_probe_read_user_str(s->text + used, LEAT_EBPF_NAME_BYTES, (void *)pointer);
	if (n < 0) {
		n = 0;
		cut = 1;
	}
	s->named.walk[which] = walked;
	s->named.name[which] = n;
	if (cut)
		s->named.cut = 1;
	return used + n;
}

static __always_inline void space_add(struct scratch *s, struct task_struct *task)
{
	struct mnt_namespace *space = task->nsproxy->mnt_ns;

	s->named.space = space->ns.inum;
	s->named.event = space->event;
}

/* Where the root is that the names are below. */
static __noinline __u32 root_add(struct scratch *s, __u32 used)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (used > LEAT_EBPF_TEXT_BYTES - LEAT_EBPF_WALK_BYTES) {
		s->named.cut = 1;
		return used;
	}
	space_add(s, task);
	s->named.place = walk_outside(root_of_task(task), used, &s->named.cut);
	return used + s->named.place;
}

/* Append a string of the kernel's, with its end. Returns the bytes used. */
static __always_inline __u32 string_add(struct scratch *s, __u32 used, __u32 most, const char *text)
{
	long n = 0;

	if (used > LEAT_EBPF_TEXT_BYTES)
		return used;
	if (text)
		n = bpf_probe_read_kernel_str(s->text + used, most, text);
	if (n <= 0) {
		s->text[used] = 0;
		n = 1;
	}
	return used + n;
}

/* Where a file is that has been opened: its file system, and its path in that. */
static __noinline __u32 place_add(struct scratch *s, __u64 file, __u32 used, bool *below)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct path *path = path_of_file(file);
	struct super_block *sb = BPF_CORE_READ((struct file *)file, f_inode, i_sb);
	struct mount *mount = mount_of(BPF_CORE_READ(path, mnt));
	__u32 walked, from;

	if (used > LEAT_EBPF_WALK_BYTES + LEAT_EBPF_STEP_BYTES)
		return used;
	walked = walk_within(path, used, &s->named.cut, below);
	from = used + walked;
	if (from > 2 * LEAT_EBPF_WALK_BYTES + 2 * LEAT_EBPF_STEP_BYTES)
		return used;
	space_add(s, task);
	s->named.place = walked;
	used = string_add(s, from, LEAT_EBPF_FS_BYTES, BPF_CORE_READ(sb, s_type, name));
	used = string_add(s, used, LEAT_EBPF_FS_BYTES, BPF_CORE_READ(sb, s_subtype));
	used = string_add(s, used, LEAT_EBPF_SOURCE_BYTES, BPF_CORE_READ(mount, mnt_devname));
	s->named.system = used - from;
	return used;
}

/* One or two names, as they were given. */
static __noinline int emit_names(struct thread *t, char type, __s64 result, __u32 flags, __u64 size)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool at = t->how & LEAT_EBPF_AT;
	__u32 used;
	struct scratch *s;

	if (!is_wanted(type))
		return 0;
	s = scratch_get();
	if (!s)
		return 0;
	named_begin(&s->named, task, LEAT_EBPF_NAME, type, result);
	call_begun(&s->named.call, t);
	s->named.call.flags = flags;
	s->named.call.size = size;
	used = named_add(s, 0, at ? t->args[1] : t->args[0], at ? t->args[0] : AT_CWD, 0);
	if (type == 'N')
		used = named_add(s, 1, at ? t->args[3] : t->args[1], at ? t->args[2] : AT_CWD,
				 used);
	if (is_elsewhere(task))
		used = root_add(s, used);
	call_end(&s->named.call, task, t);
	named_submit(s, used);
	scratch_put(s);
	return 0;
}

/* ---- opens ---- */

static __always_inline bool is_filesystem_wanted(__u64 inode, struct scratch *s)
{
	const char *name = BPF_CORE_READ((struct inode *)inode, i_sb, s_type, name);

	if (!config.n_filesystems)
		return true;
	__builtin_memset(s->text, 0, LEAT_EBPF_FS_BYTES);
	bpf_probe_read_kernel_str(s->text, LEAT_EBPF_FS_BYTES, name);
	for (__u32 i = 0; i < LEAT_EBPF_FILESYSTEMS; i++) {
		const volatile __u64 *a = (const volatile __u64 *)config.filesystems[i];
		__u64 *b = (__u64 *)s->text;

		if (i < config.n_filesystems && a[0] == b[0] && a[1] == b[1] && a[2] == b[2] &&
		    a[3] == b[3])
			return true;
	}
	return false;
}

/* The struct file has another use in `handles`: its close was not seen. */
static __always_inline void forget_stale(__u64 file)
{
	struct handle *h = bpf_map_lookup_elem(&handles, &file);
	struct handle old;

	if (!h)
		return;
	old = *h;
	if (bpf_map_delete_elem(&handles, &file) == 0)
		emit_closed_unseen(&old);
}

static __always_inline void fill_open(struct leat_ebpf_named *r, __u64 file, __u64 inode)
{
	struct inode *i = (struct inode *)inode;

	r->inode = BPF_CORE_READ(i, i_ino);
	r->generation = BPF_CORE_READ(i, i_generation);
	r->device = BPF_CORE_READ(i, i_sb, s_dev);
	if (BPF_CORE_READ((struct file *)file, f_mode) & FMODE_CREATED)
		r->call.type = 'C';
}

/* Each CPU has numbers of its own. */
static __always_inline __u64 new_handle(void)
{
	struct leat_ebpf_counts *c = counted();

	return c ? c->opens++ * config.cpus + bpf_get_smp_processor_id() + 1 : 0;
}

/* A file has been opened: from now on it is traced. */
static __noinline int emit_open(struct thread *t, __u64 file, __u32 flags)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 inode = file ? file_inode(file) : 0;
	struct handle h = {
		.inode = inode, .opened_ns = bpf_ktime_get_ns(), .closer_pid = pid_of(task)};
	struct scratch *s;
	bool below = false;
	__u32 used, mode;

	if (!inode)
		return 0;
	forget_stale(file);
	mode = BPF_CORE_READ((struct inode *)inode, i_mode) & S_IFMT;
	h.seekable = mode == S_IFREG || mode == S_IFBLK;
	s = scratch_get();
	if (!s)
		return 0;
	if (!is_filesystem_wanted(inode, s))
		goto out;
	named_begin(&s->named, task, LEAT_EBPF_OPEN, 'O', 0);
	call_begun(&s->named.call, t);
	s->named.call.flags = flags;
	fill_open(&s->named, file, inode);
	used = walk_path(path_of_file(file), 0, &s->named.cut, &below);
	s->named.walk[0] = used;
	if (is_elsewhere(task))
		used = place_add(s, file, used, &below);
	if (config.by_dir && !below)
		goto out;
	h.id = new_handle();
	h.flags = s->named.call.flags;
	s->named.call.handle = h.id;
	call_end(&s->named.call, task, t);
	h.unsaid = !named_submit(s, used);
	if (bpf_map_update_elem(&handles, &file, &h, BPF_ANY))
		lose(LEAT_EBPF_LOST_MEMORY, 1);
out:
	scratch_put(s);
	return 0;
}

static __always_inline __u32 open_flags(const struct thread *t)
{
	__u64 flags = 0;
	bool at = t->how & LEAT_EBPF_AT;

	if (t->how & LEAT_EBPF_CREATS)
		return O_CREAT | O_WRONLY | O_TRUNC;
	if (t->how & LEAT_EBPF_BY_STRUCT)
		bpf_probe_read_user(&flags, sizeof(flags), (void *)t->args[2]);
	else
		flags = at || (t->how & LEAT_EBPF_BY_HANDLE) ? t->args[2] : t->args[1];
	return flags;
}

static __always_inline void open_exit(struct task_struct *task, struct thread *t, __s64 result)
{
	if (result >= 0)
		emit_open(t, file_of(task, result), open_flags(t));
	else if (!(t->how & LEAT_EBPF_BY_HANDLE))
		emit_names(t, 'O', result, open_flags(t), 0);
}

#endif
