#include "preload/hooks/unshare.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/process.h"
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

static bool has_own_descriptors(const struct leat_syscall *c)
{
	const struct clone_args *args = (const struct clone_args *)c->a[0];
	uint64_t flags = c->nr == SYS_clone ? (uint64_t)c->a[0] : args->flags;

	return flags & CLONE_VM && !(flags & CLONE_VFORK) && !(flags & CLONE_FILES);
}

/* A thread or a vfork child is to come: libc changes the user of all threads unseen, and what the
 * child takes would be its own, but remembered here. */
long leat_hook_share_memory(const struct leat_syscall *c)
{
	if (has_own_descriptors(c))
		return refuse("clone without CLONE_FILES");
	if (!leat_in_vfork())
		leat_user_take();
	return LEAT_PASS;
}
