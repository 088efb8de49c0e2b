/* A call that the server acts for: of a request of the kernel, or its own. */
#ifndef LEAT_MOUNT_DAEMON_CALL_H
#define LEAT_MOUNT_DAEMON_CALL_H

#include "mount/daemon/connection.h"
#include "mount/names/identity.h"

/* A call for which the daemon is asked: a request of the kernel, or our own (req NULL). */
struct leat_mount_call {
	struct leat_mount *m;
	fuse_req_t req;
	pid_t tid;                /* of the caller */
	bool other;               /* another user than the mount's: files/other.c */
	gid_t gid;                /* its group, as the mount has ids */
	mode_t umask;             /* and its umask, if something is to be made */
	int64_t began_ns, cpu_ns; /* for the trace: when, and the thread's CPU time then */
	struct leat_connection *connection;
};

/* What is said to the daemon for it. */
static inline struct leat_channel *leat_mount_channel(const struct leat_mount_call *call)
{
	return leat_connection_channel(call->connection);
}

/* CLOCK_MONOTONIC. */
uint64_t leat_mount_now_ns(void);
/* The request's call. -EIO if there is no daemon. */
int leat_mount_call_init(struct leat_mount_call *call, fuse_req_t req);
/* Record of a slot, or NULL. */
struct leat_shm_file *leat_mount_file(const struct leat_mount_call *call, uint32_t slot);
/* As fstat and leat_identify, 0 or -errno. The kernel's size of a file that somebody writes by
 * mapped windows may be ahead of its length, which is put into `st`; so is the time of change that
 * is shown (shm/ctimes.h). */
int leat_mount_fstat(const struct leat_mount_call *call, uint32_t slot, int fd, struct stat *st);
int leat_mount_identify(const struct leat_mount_call *call, uint32_t slot, int dirfd,
			const char *path, struct stat *st, struct leat_identity *id);
/* The half in the store of the directory `path`, as steps are shown its times. -ENOTDIR: there is
 * something else; -errno. */
int leat_mount_stat_half(const struct leat_mount *m, const char *path, struct stat *st);
/* From here to leat_mount_become_self file system calls are made with the caller's ids. */
void leat_mount_become(const struct leat_mount_call *call);
void leat_mount_become_self(const struct leat_mount_call *call);
/* Before and after something is made with `mode`, as the caller asks: where a directory has a
 * default access control list, the umask does not count. The mode to make it with. */
mode_t leat_mount_mask(const struct leat_mount_call *call, mode_t mode);
void leat_mount_unmask(const struct leat_mount_call *call);
/* The step's account. */
struct leat_shm_step *leat_mount_step(const struct leat_mount_call *call);
/* What its reads and writes are held to. */
struct leat_shm_limit *leat_mount_limit(const struct leat_mount_call *call);
/* As pread; the time it takes is counted. */
ssize_t leat_mount_pread(struct leat_mount_call *call, int fd, void *out, size_t size,
			 off_t offset);

#endif
