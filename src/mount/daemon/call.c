/* A call that the server acts for: of a request of the kernel, or its own. */
#include "mount/daemon/call.h"
#include "mount/names/identity.h"
#include "shm/ctimes.h"
#include "shm/window.h"

#include "base/people.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t leat_mount_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* For the trace. */
static void note_arrival(struct leat_mount_call *call)
{
	call->began_ns = (int64_t)leat_mount_now_ns();
	call->cpu_ns = call->tid > 0 ? leat_thread_cpu_ns(call->tid) : 0;
}

int leat_mount_call_init(struct leat_mount_call *call, fuse_req_t req)
{
	const struct fuse_ctx *who = fuse_req_ctx(req);
	struct leat_caller user = {.uid = who->uid, .gid = who->gid};

	*call = (struct leat_mount_call){.m = leat_fuse_context(req), .req = req, .tid = who->pid};
	call->other = call->m->spec->ranged && who->uid != call->m->shown_uid;
	call->gid = who->gid;
	call->umask = who->umask & 0777;
	if (call->m->recorder)
		note_arrival(call);
	if (!call->m->as_root || (!who->uid && !who->gid))
		return leat_connection_get(call->m, &call->connection);
	user.n = fuse_req_getgroups(req, LEAT_MAX_GROUPS, user.groups);
	if (user.n < 0 || user.n > LEAT_MAX_GROUPS)
		user.n = user.n < 0 ? 0 : LEAT_MAX_GROUPS;
	return leat_connection_get_as(call->m, &user, &call->connection);
}

struct leat_shm_file *leat_mount_file(const struct leat_mount_call *call, uint32_t slot)
{
	return leat_shm_file_of(call->m->shm, slot);
}

/* Put the length into `st`. False: look again. */
static bool fix_size(struct leat_shm_file *f, uint32_t epoch, struct stat *st)
{
	uint64_t length;

	if (!f || !S_ISREG(st->st_mode))
		return true;
	if (!leat_shm_length(f, epoch, (uint64_t)st->st_size, &length))
		return false;
	st->st_size = (off_t)length;
	return true;
}

static uint32_t epoch_of(struct leat_shm_file *f)
{
	return f ? leat_shm_epoch(f) : 0;
}

int leat_mount_fstat(const struct leat_mount_call *call, uint32_t slot, int fd, struct stat *st)
{
	struct leat_shm_file *f = leat_mount_file(call, slot);
	const struct leat_shm *shm = call->m->shm;
	uint64_t seen;
	uint32_t epoch;

	do {
		seen = leat_shm_ctimes_seen(shm);
		epoch = epoch_of(f);
		if (fstat(fd, st) < 0)
			return -errno;
	} while (!fix_size(f, epoch, st) || !leat_shm_ctime_show(shm, seen, st));
	return 0;
}

int leat_mount_stat_half(const struct leat_mount *m, const char *path, struct stat *st)
{
	uint64_t seen;

	do {
		seen = leat_shm_ctimes_seen(m->shm);
		if (fstatat(m->store_fd, *path ? path : ".", st, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
	} while (!leat_shm_ctime_show(m->shm, seen, st));
	return S_ISDIR(st->st_mode) ? 0 : -ENOTDIR;
}

void leat_mount_become(const struct leat_mount_call *call)
{
	const struct leat_caller *user = &call->connection->user;

	if (!user->uid && !user->gid)
		return;
	syscall(SYS_setgroups, user->n, user->groups);
	setfsgid(user->gid);
	setfsuid(user->uid);
}

void leat_mount_become_self(const struct leat_mount_call *call)
{
	const struct leat_caller *user = &call->connection->user;

	if (!user->uid && !user->gid)
		return;
	setfsuid(0);
	setfsgid(call->m->own.gid);
	syscall(SYS_setgroups, call->m->own.n, call->m->own.groups);
}

/* A umask is of a process, but for threads that have left it there. */
static _Thread_local bool has_own_mask;

mode_t leat_mount_mask(const struct leat_mount_call *call, mode_t mode)
{
	if (!call->umask)
		return mode;
	has_own_mask = has_own_mask || unshare(CLONE_FS) == 0;
	if (!has_own_mask)
		return mode & ~call->umask;
	umask(call->umask);
	return mode;
}

void leat_mount_unmask(const struct leat_mount_call *call)
{
	if (call->umask && has_own_mask)
		umask(0);
}

/* As the caller: what the daemon found there may be another's by now. Only the server may look
 * where the daemon has moved files to. */
static int identify(const struct leat_mount_call *call, int dirfd, const char *path,
		    struct stat *st, struct leat_identity *id)
{
	int rc;

	if (dirfd == AT_FDCWD)
		return leat_identify(dirfd, path, st, id);
	leat_mount_become(call);
	rc = leat_identify(dirfd, path, st, id);
	leat_mount_become_self(call);
	return rc;
}

int leat_mount_identify(const struct leat_mount_call *call, uint32_t slot, int dirfd,
			const char *path, struct stat *st, struct leat_identity *id)
{
	struct leat_shm_file *f = leat_mount_file(call, slot);
	const struct leat_shm *shm = call->m->shm;
	uint64_t seen;
	uint32_t epoch;
	int rc;

	do {
		seen = leat_shm_ctimes_seen(shm);
		epoch = epoch_of(f);
		rc = identify(call, dirfd, path, st, id);
	} while (!rc && (!fix_size(f, epoch, st) || !leat_shm_ctime_show(shm, seen, st)));
	if (!rc)
		id->slot = slot;
	return rc;
}

static uint32_t step_of(const struct leat_mount_call *call)
{
	int32_t step = call->m->step;

	return step >= 0 && step < (int32_t)LEAT_SHM_MAX_STEPS ? (uint32_t)step : 0;
}

struct leat_shm_step *leat_mount_step(const struct leat_mount_call *call)
{
	return &call->m->shm->steps[step_of(call)];
}

struct leat_shm_limit *leat_mount_limit(const struct leat_mount_call *call)
{
	return &call->m->shm->limits[step_of(call)];
}

/* --- waiting --- */

ssize_t leat_mount_pread(struct leat_mount_call *call, int fd, void *out, size_t size, off_t offset)
{
	uint64_t since = leat_mount_now_ns();
	ssize_t n = pread(fd, out, size, offset);

	leat_shm_count(&leat_mount_step(call)->copy_ns, leat_mount_now_ns() - since);
	return n;
}

/* --- questions about names --- */
