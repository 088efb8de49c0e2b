/* What is used of the kernel's types. Offsets are those of the kernel that runs: the loader puts
 * them in. So the build needs no description of any kernel. */
#ifndef LEAT_TRACE_EBPF_KERNEL_H
#define LEAT_TRACE_EBPF_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __s32 int32_t;
typedef __u64 uint64_t;
typedef __s64 int64_t;
typedef _Bool bool;
#define true 1
#define false 0
#ifndef NULL
#define NULL ((void *)0)
#endif

/* Of <linux/bpf.h>. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
#if defined(__TARGET_ARCH_x86)
	unsigned long di, si, dx, r10, r8, r9;
#else
	__u64 regs[31];
#endif
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	__s64 counter;
} atomic64_t;

typedef struct {
	long counter;
} atomic_long_t;

struct qstr {
	const unsigned char *name;
};

struct super_block;

struct inode {
	__u16 i_mode;
	unsigned long i_ino;
	__u32 i_generation;
	__s64 i_size;
	struct super_block *i_sb;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
};

struct file_system_type {
	const char *name;
};

struct super_block {
	__u32 s_dev;
	struct file_system_type *s_type;
	const char *s_subtype;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	const char *mnt_devname;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

typedef struct {
	atomic64_t refcnt;
} file_ref_t;

struct file {
	__u32 f_mode;
	__u32 f_flags;
	struct path f_path;
	struct inode *f_inode;
	__s64 f_pos;
	file_ref_t f_ref; /* since 6.13: one less than there are, negative when there are none */
};

struct file___before_6_13 {
	atomic_long_t f_count;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	atomic_t count;
	struct fdtable *fdt;
};

struct fs_struct {
	struct path root, pwd;
};

struct mm_struct {
	unsigned long env_start, env_end;
	struct file *exe_file;
};

struct ns_common {
	unsigned int inum;
};

struct mnt_namespace {
	struct ns_common ns;
	__u64 event;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

/* A process, by its number in each namespace that sees it. */
struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct signal_struct {
	atomic_t live;
	struct pid *pids[2]; /* of the thread, of the process */
	int group_exit_code;
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct thread_info {
	unsigned long flags;
	__u32 status;
};

struct task_struct {
	struct thread_info thread_info;
	int pid, tgid;
	int exit_code;
	struct task_struct *real_parent, *group_leader;
	__u64 utime, stime;
	struct sched_entity se;
	struct mm_struct *mm;
	struct fs_struct *fs;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct css_set *cgroups;
};

struct linux_binprm;

struct kiocb {
	__s64 ki_pos;
};

struct io_rw {
	struct kiocb kiocb;
	__u32 len;
};

struct io_cqe {
	__s32 res;
};

struct io_kiocb {
	struct file *file;
	__u8 opcode;
	struct io_cqe cqe;
};

#pragma clang attribute pop

/* Of user space: the same everywhere. */
struct iovec {
	void *iov_base;
	unsigned long iov_len;
};

#endif
