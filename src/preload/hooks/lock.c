/* fcntl and flock. Locks of programs are kept below the bytes by which the kernel
 * tells the daemon of open descriptions, and never conflict between steps: what a
 * consumer locks is final and granted without asking anybody. */
#include "preload/core/call.h"
#include "preload/fd/bytes.h"
#include "preload/fd/offset.h"
#include "preload/fd/size.h"
#include "preload/fd/table.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "wire/wire.h"

#include <errno.h>
#include <sys/file.h>
#include <unistd.h>

/* A committed or growing input. What a step makes itself, and plain files, are locked among
 * its processes as anywhere. */
static bool is_input(const struct leat_fd *r)
{
	return r->kind == LEAT_KIND_CONSUMER ||
	       (r->kind == LEAT_KIND_COUNTED && leat_fd_has(r, LEAT_FD_INPUT));
}

/* Would the kernel lock what is open like this? */
static bool may_lock(int fd, int type)
{
	long flags = raw(SYS_fcntl, fd, F_GETFL);

	if (flags < 0 || flags & O_PATH)
		return false;
	return !(type == F_WRLCK && (flags & O_ACCMODE) == O_RDONLY) &&
	       !(type == F_RDLCK && (flags & O_ACCMODE) == O_WRONLY);
}

/* The same lock counted from the start of the file, ending below our bytes. 0 or
 * -errno. */
static int below_ours(int fd, const struct flock *asked, struct flock *cut)
{
	const struct leat_fd *r = leat_fd_get(fd);
	uint64_t at;
	int64_t base = 0;

	*cut = *asked;
	if (asked->l_whence == SEEK_CUR) {
		base = leat_offset_get(r->shared_offset, &at) ? (int64_t)at
							      : raw(SYS_lseek, fd, 0, SEEK_CUR);
	} else if (asked->l_whence == SEEK_END) {
		base = (int64_t)leat_window_length(r, fd);
	} else if (asked->l_whence != SEEK_SET) {
		return -EINVAL;
	}
	if (base < 0)
		return (int)base;
	cut->l_whence = SEEK_SET;
	if (__builtin_add_overflow(asked->l_start, base, &cut->l_start) || cut->l_start < 0)
		return -EINVAL;
	if (cut->l_start >= (int64_t)LEAT_OFD_LOCK)
		return -EOVERFLOW;
	if (cut->l_len < 0) /* ends before its start: below in any case */
		return 0;
	if (cut->l_len == 0 || cut->l_len > (int64_t)LEAT_OFD_LOCK - cut->l_start)
		cut->l_len = (int64_t)LEAT_OFD_LOCK - cut->l_start;
	return 0;
}

static long lock_real(const struct leat_syscall *c, int fd, struct flock *asked, bool get)
{
	struct leat_syscall call = *c;
	struct flock cut;
	long rc = below_ours(fd, asked, &cut);

	if (rc)
		return rc;
	call.a[2] = (long)&cut;
	rc = leat_as_is(&call);
	if (rc || !get)
		return rc;
	if (cut.l_type == F_UNLCK) {
		asked->l_type = F_UNLCK;
		return 0;
	}
	/* "to the end of the file" again */
	if (cut.l_start + cut.l_len >= (int64_t)LEAT_OFD_LOCK)
		cut.l_len = 0;
	*asked = cut;
	return 0;
}

static long lock(const struct leat_syscall *c, bool get)
{
	int fd = (int)c->a[0];
	struct flock *asked = (struct flock *)c->a[2];
	const struct leat_fd *r = leat_fd_get(fd);
	int rc;

	if (!r || !asked)
		return LEAT_PASS;
	if (!is_input(r))
		return lock_real(c, fd, asked, get);
	if (!may_lock(fd, get ? F_UNLCK : asked->l_type))
		return -EBADF;
	rc = asked->l_type == F_UNLCK ? 0 : leat_wait_whole(fd);
	if (!rc && get)
		asked->l_type = F_UNLCK;
	return rc;
}

static long set_flags(const struct leat_syscall *c)
{
	struct leat_fd *r = leat_fd_get((int)c->a[0]);
	long rc;

	/* from now on the kernel says where the end is */
	if (r && c->a[2] & O_APPEND && !leat_window_release(r, (int)c->a[0], true))
		return -EIO;
	rc = leat_as_is(c);
	if (rc || !r)
		return rc;
	leat_fd_clear_flags(r, LEAT_FD_APPEND);
	if (c->a[2] & O_APPEND)
		leat_fd_set_flags(r, LEAT_FD_APPEND);
	else
		leat_fd_set_flags(r, LEAT_FD_UNSURE);
	return 0;
}

long leat_hook_fcntl(const struct leat_syscall *c)
{
	switch ((int)c->a[1]) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return leat_hook_dup(c);
	case F_SETFL:
		return set_flags(c);
	case F_GETLK:
	case F_OFD_GETLK:
		return lock(c, true);
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return lock(c, false);
	default:
		return LEAT_PASS;
	}
}

long leat_hook_flock(const struct leat_syscall *c)
{
	int fd = (int)c->a[0];
	const struct leat_fd *r = leat_fd_get(fd);

	if (!r || !is_input(r) || !may_lock(fd, F_UNLCK))
		return LEAT_PASS;
	return (c->a[1] & ~LOCK_NB) == LOCK_UN ? 0 : leat_wait_whole(fd);
}
