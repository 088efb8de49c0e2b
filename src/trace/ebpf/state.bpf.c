/* The maps, and what the tracer asks for by hand: it runs these programs itself. */
#define LEAT_EBPF_STATE
#include "trace/ebpf/file.h"
#include "trace/ebpf/emit.h"
#include "trace/ebpf/walk.h"

/* The helpers that read the kernel are for programs under the GPL. */
char leat_license[] SEC("license") = "Dual BSD/GPL";

static long sweep_one(void *map, __u64 *file, struct handle *h, void *context)
{
	struct handle old = *h;
	__u64 key = *file;

	if (!file_is_gone(key, old.inode))
		return 0;
	if (bpf_map_delete_elem(&handles, &key) == 0)
		emit_closed_unseen(&old);
	return 0;
}

/* Say of which handles the last close was not seen. */
SEC("raw_tp") int leat_sweep(void *context)
{
	bpf_for_each_map_elem(&handles, sweep_one, NULL, 0);
	return 0;
}

/* The directory that the tracer has open as context[0] is one of those that `dirs` is to name. */
SEC("raw_tp") int leat_add_dir(__u64 *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 file = file_of(task, context[0]), inode = file ? file_inode(file) : 0;
	__u8 one = 1;

	return inode ? bpf_map_update_elem(&dirs, &inode, &one, BPF_ANY) : -1;
}

/* The caller is the tracer: its root is where paths begin. */
SEC("raw_tp") int leat_set_root(void *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct path *root = root_of_task(task);

	root_entry = (__u64)BPF_CORE_READ(root, dentry);
	root_mount = (__u64)mount_of(BPF_CORE_READ(root, mnt));
	return 0;
}
