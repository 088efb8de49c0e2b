#include "preload/hooks/unshare.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/process.h"
#include "preload/fd/lifecycle.h"
#include "preload/hooks/handlers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/stat.h>

static long refuse(const char *call)
{
	return leat_hook_refuse(call, "descriptors would mean other files in one thread than in "
				      "another, which share memory");
}

/* The directory has two links, and one for each thread. */
static bool is_single_threaded(void)
{
	struct stat st;

	return !raw(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) && st.st_nlink <= 3;
}

bool leat_unshare_allows(const char *call)
{
	return (!leat_in_vfork() && is_single_threaded()) || refuse(call) == 0;
}

long leat_hook_unshare(const struct leat_syscall *c)
{
	if ((unsigned long)c->a[0] & CLONE_FILES && !leat_unshare_allows("unshare(CLONE_FILES)"))
		return -EPERM;
	return leat_hook_confine(c);
}

/* vfork has no arguments: what its registers hold is nobody's. */
static uint64_t clone_flags(const struct leat_syscall *c)
{
	switch (c->nr) {
	case SYS_clone:
		return (uint64_t)c->a[0];
	case SYS_clone3:
		return ((const struct clone_args *)c->a[0])->flags;
	default:
		return CLONE_VM | CLONE_VFORK;
	}
}

static bool has_own_descriptors(uint64_t flags)
{
	return flags & CLONE_VM && !(flags & CLONE_VFORK) && !(flags & CLONE_FILES);
}

/* A thread or a vfork child is to come: libc changes the user of all threads unseen, and what the
 * child takes would be its own, but remembered here. */
long leat_hook_share_memory(const struct leat_syscall *c)
{
	const uint64_t flags = clone_flags(c);

	if (has_own_descriptors(flags))
		return refuse("clone without CLONE_FILES");
	if (leat_in_vfork())
		return LEAT_PASS;
	leat_user_take();
	if (flags & CLONE_VFORK)
		leat_fd_learn_all();
	return LEAT_PASS;
}
