/* Calls that make, copy and close descriptors. Ours are hidden: to the program
 * their numbers are free. */
#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/core/rights.h"
#include "preload/fd/lifecycle.h"
#include "preload/fd/size.h"
#include "preload/fd/table.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/hooks/unshare.h"

#include <errno.h>
#include <linux/close_range.h>

long leat_hook_close(const struct leat_syscall *c)
{
	return leat_fd_close((int)c->a[0]);
}

/* Closes [first, last] by the kernel, but for descriptors of ours. */
static long close_around(unsigned first, unsigned last, unsigned flags)
{
	unsigned stop = (unsigned)leat_fd_end(), from = first;
	long rc = 0;

	for (unsigned fd = first; fd < stop && fd <= last; fd++) {
		if (!leat_fd_hidden((int)fd))
			continue;
		if (from < fd)
			rc = raw(SYS_close_range, from, fd - 1, flags);
		if (rc < 0)
			return rc;
		flags &= ~(unsigned)CLOSE_RANGE_UNSHARE;
		from = fd + 1;
	}
	return from <= last ? raw(SYS_close_range, from, last, flags) : rc;
}

long leat_hook_close_range(const struct leat_syscall *c)
{
	unsigned first = (unsigned)c->a[0], last = (unsigned)c->a[1], flags = (unsigned)c->a[2];
	unsigned stop = (unsigned)leat_fd_end();

	if (flags & CLOSE_RANGE_UNSHARE && !leat_unshare_allows("close_range(CLOSE_RANGE_UNSHARE)"))
		return -EPERM;
	if (first > last || flags & CLOSE_RANGE_CLOEXEC)
		return LEAT_PASS;
	for (unsigned fd = first; fd < stop && fd <= last; fd++)
		if (leat_fd_may_be_ours((int)fd))
			leat_fd_close((int)fd);
	return close_around(first, last, flags);
}

/* A call that copies its first argument. */
long leat_hook_dup(const struct leat_syscall *c)
{
	const int fd = (int)c->a[0];
	struct leat_fd record;

	leat_fd_copy_begin(fd, &record);
	return leat_fd_copy_end(fd, &record, leat_as_is(c));
}

/* The number is taken over, and what was open there is closed by the kernel in
 * the same moment: its record is taken off first and reported afterwards. */
long leat_hook_dup2(const struct leat_syscall *c)
{
	int fd = (int)c->a[0], to = (int)c->a[1];
	struct leat_fd last;
	bool report = false;
	long rc;

	if (leat_fd_hidden(fd))
		return -EBADF;
	if (fd == to)
		return LEAT_PASS;
	if (leat_fd_hidden(to)) {
		rc = leat_in_vfork() ? -EBUSY : leat_client_vacate(to);
		if (rc)
			return rc;
	}
	if (leat_fd_may_be_ours(to) && raw(SYS_fcntl, fd, F_GETFD) >= 0)
		report = leat_fd_detach(to, &last);
	rc = leat_hook_dup(c);
	if (report)
		leat_fd_report_close(&last);
	return rc;
}

static void adopt(int fd)
{
	if (!leat_in_vfork())
		leat_fd_adopt(fd);
}

/* Another process is to have the description: its offset is the kernel's from now on. */
static void hand_on(int fd)
{
	struct leat_fd *r = leat_fd_get(fd);

	if (r)
		leat_window_release(r, fd, false);
}

long leat_hook_sendmsg(const struct leat_syscall *c)
{
	const struct msghdr *m = (const struct msghdr *)c->a[1];

	if (m)
		leat_each_right(m, hand_on);
	return LEAT_PASS;
}

long leat_hook_sendmmsg(const struct leat_syscall *c)
{
	const struct mmsghdr *m = (const struct mmsghdr *)c->a[1];

	for (unsigned long i = 0; m && i < (unsigned long)c->a[2]; i++)
		leat_each_right(&m[i].msg_hdr, hand_on);
	return LEAT_PASS;
}

long leat_hook_recvmsg(const struct leat_syscall *c)
{
	const struct msghdr *m = (const struct msghdr *)c->a[1];
	long rc = leat_as_is(c);

	if (rc >= 0 && m)
		leat_each_right(m, adopt);
	return rc;
}

long leat_hook_recvmmsg(const struct leat_syscall *c)
{
	const struct mmsghdr *m = (const struct mmsghdr *)c->a[1];
	long rc = leat_as_is(c);

	for (long i = 0; m && i < rc; i++)
		leat_each_right(&m[i].msg_hdr, adopt);
	return rc;
}

long leat_hook_pidfd_getfd(const struct leat_syscall *c)
{
	long rc = leat_as_is(c);

	if (rc >= 0 && !leat_in_vfork())
		leat_fd_adopt((int)rc);
	return rc;
}
