/* Paths: the components from an entry of a directory up to the root of the process, or for what is
 * not below that up to the root of the mount namespace. */
#ifndef LEAT_TRACE_EBPF_WALK_H
#define LEAT_TRACE_EBPF_WALK_H

#include "trace/ebpf/file.h"

struct walk {
	struct dentry *entry;
	struct mount *mount;
	__u32 from, used; /* of the text */
	bool cut;
	bool below;  /* it met one of `dirs` */
	bool within; /* up to the root of the file system, whatever of it is mounted */
	__u64 root_entry, root_mount;
};

static __always_inline struct mount *mount_of(struct vfsmount *mnt)
{
	return (struct mount *)((char *)mnt - bpf_core_field_offset(struct mount, mnt));
}

/* Expressions of BPF_CORE_READ are about the kernel's types only, so `w` is read beforehand. */
static long walk_step(__u32 i, struct walk *w)
{
	struct dentry *entry = w->entry, *up;
	struct mount *mount = w->mount;
	__u32 zero = 0, used = w->used;
	struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);
	long n;

	if (!s)
		return 1;
	if (config.by_dir && !w->below) {
		__u64 inode = (__u64)BPF_CORE_READ(entry, d_inode);

		w->below = bpf_map_lookup_elem(&dirs, &inode) != NULL;
	}
	if (!w->within && (__u64)entry == w->root_entry && (__u64)mount == w->root_mount)
		return 1;
	if (!w->within && entry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		struct mount *outer = BPF_CORE_READ(mount, mnt_parent);

		if (!outer || outer == mount)
			return 1;
		w->entry = BPF_CORE_READ(mount, mnt_mountpoint);
		w->mount = outer;
		return 0;
	}
	up = BPF_CORE_READ(entry, d_parent);
	if (up == entry)
		return 1;
	if (used > LEAT_EBPF_TEXT_BYTES ||
	    used - w->from > LEAT_EBPF_WALK_BYTES - LEAT_EBPF_STEP_BYTES) {
		w->cut = true;
		return 1;
	}
	n = bpf_probe_read_kernel_str(s->text + used, LEAT_EBPF_STEP_BYTES,
				      BPF_CORE_READ(entry, d_name.name));
	if (n <= 0) {
		w->cut = true;
		return 1;
	}
	w->used = used + n;
	w->entry = up;
	return 0;
}

/* Append the components of `path`, a struct path of the kernel, to the scratch in use. Returns how
 * many bytes. */
static __always_inline __u32 walk_up(struct walk *w, struct path *path, __u32 from, __u32 *cut,
				     bool *below)
{
	w->entry = BPF_CORE_READ(path, dentry);
	w->mount = mount_of(BPF_CORE_READ(path, mnt));
	w->from = w->used = from;
	bpf_loop(LEAT_EBPF_WALK_BYTES, walk_step, w, 0);
	if (w->cut)
		*cut = 1;
	if (below)
		*below |= w->below;
	return w->used - from;
}

static __always_inline struct path *root_of_task(struct task_struct *task)
{
	return (struct path *)((char *)task->fs + bpf_core_field_offset(struct fs_struct, root));
}

/* As the process that makes the call sees it. */
static __always_inline __u32 walk_path(struct path *path, __u32 from, __u32 *cut, bool *below)
{
	struct path *root = root_of_task(bpf_get_current_task_btf());
	struct walk w = {.root_entry = (__u64)BPF_CORE_READ(root, dentry),
			 .root_mount = (__u64)mount_of(BPF_CORE_READ(root, mnt))};

	return walk_up(&w, path, from, cut, below);
}

/* As the tracer sees it, if it does. */
static __always_inline __u32 walk_outside(struct path *path, __u32 from, __u32 *cut)
{
	struct walk w = {.root_entry = root_entry, .root_mount = root_mount};

	return walk_up(&w, path, from, cut, NULL);
}

/* Within its file system. */
static __always_inline __u32 walk_within(struct path *path, __u32 from, __u32 *cut, bool *below)
{
	struct walk w = {.within = true};

	return walk_up(&w, path, from, cut, below);
}

/* Has the process another root than the tracer? In another mount namespace all mounts are others,
 * that of the root too. */
static __always_inline bool is_elsewhere(struct task_struct *task)
{
	struct path *root = root_of_task(task);

	return (__u64)BPF_CORE_READ(root, dentry) != root_entry ||
	       (__u64)mount_of(BPF_CORE_READ(root, mnt)) != root_mount;
}

/* A path in a struct file, and the working directory of a task. */
static __always_inline struct path *path_of_file(__u64 file)
{
	return (struct path *)(file + bpf_core_field_offset(struct file, f_path));
}

static __always_inline struct path *path_of_task(struct task_struct *task)
{
	return (struct path *)((char *)task->fs + bpf_core_field_offset(struct fs_struct, pwd));
}

#endif
