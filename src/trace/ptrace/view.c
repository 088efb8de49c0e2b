/* Where a thread is: its mounts and its root directory, and what it calls files there. */
#include "base/str.h"
#include "trace/ptrace/internal.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

void leat_ptrace_view_look(struct tracer *t, struct thread *th)
{
	struct leat_mounts *mounts = leat_trace_who_views(t->who);

	th->space = leat_mounts_space_of(th->tid);
	free(th->root);
	th->root = leat_mounts_root_of(th->tid);
	th->elsewhere =
		(th->space && th->space != leat_mounts_own(mounts)) || (th->root && *th->root);
	/* Now, since of a root directory that is no mount point less can be seen later. */
	if (th->space && th->space != leat_mounts_own(mounts))
		leat_trace_who_mounts(t->who, th->tid);
}

void leat_ptrace_view_inherit(struct tracer *t, struct thread *th, const struct thread *parent,
			      uint64_t clone_flags)
{
	if (clone_flags & CLONE_NEWNS) {
		leat_ptrace_view_look(t, th);
		return;
	}
	th->space = parent->space;
	th->elsewhere = parent->elsewhere;
	th->root = parent->root ? strdup(parent->root) : NULL;
}

/* ---- calls that change it ---- */

bool leat_ptrace_enter_view(struct tracer *t, struct thread *th)
{
	(void)t;
	(void)th;
	return true;
}

/* The root of all who had the same one is another. */
static void look_at_others(struct tracer *t, const struct thread *th)
{
	bool all = th->now.call->nr == SYS_pivot_root;

	for (struct thread *o = t->threads; o; o = o->hh.next)
		if (o != th && o->process &&
		    (o->process == th->process || (all && o->space == th->space)))
			leat_ptrace_view_look(t, o);
}

void leat_ptrace_leave_view(struct tracer *t, struct thread *th, int64_t result)
{
	if (result < 0)
		return;
	leat_mounts_doubt(leat_trace_who_views(t->who));
	leat_ptrace_view_look(t, th);
	if (th->now.call->nr == SYS_pivot_root || th->now.call->nr == SYS_chroot)
		look_at_others(t, th);
}

void leat_ptrace_leave_mount(struct tracer *t, struct thread *th, int64_t result)
{
	(void)th;
	if (result >= 0)
		leat_mounts_doubt(leat_trace_who_views(t->who));
}

/* ---- names ---- */

static const char *root_of(const struct thread *th)
{
	return th->elsewhere && th->root ? th->root : "";
}

char *leat_ptrace_view_seen(const struct thread *th, const char *inside)
{
	return leat_strf("%s%s", root_of(th), inside);
}

void leat_ptrace_view_name(struct tracer *t, struct thread *th, char *seen, uint64_t mount,
			   char **inside, char **outside)
{
	const char *rest;
	char *name;

	*inside = seen;
	*outside = NULL;
	if (!th->elsewhere || !seen || *seen != '/')
		return;
	name = leat_mounts_name_outside(leat_trace_who_views(t->who), th->space, th->tid, seen,
					mount);
	rest = leat_path_behind(seen, root_of(th));
	if (rest && rest != seen)
		memmove(seen, *rest ? rest : "/", strlen(*rest ? rest : "/") + 1);
	*outside = leat_mounts_other_name(name, seen);
}

/* ---- what is there ---- */

bool leat_ptrace_view_is_served(struct tracer *t, const struct thread *th)
{
	struct leat_mounts *mounts = leat_trace_who_views(t->who);

	return th->elsewhere && th->space != leat_mounts_own(mounts) &&
	       leat_mounts_have_fuse(mounts, th->space, th->tid);
}

static int open_below(int root, const char *path, uint64_t flags, bool served)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags,
			       .resolve = RESOLVE_IN_ROOT | (served ? RESOLVE_CACHED : 0)};

	return (int)syscall(SYS_openat2, root, *path ? path : "/", &how, sizeof(how));
}

int leat_ptrace_view_open(struct tracer *t, const struct thread *th, const char *path, bool follow)
{
	char link[64];
	int root, fd;

	snprintf(link, sizeof(link), "/proc/%d/root", (int)th->tid);
	root = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = open_below(root, path, follow ? 0 : O_NOFOLLOW, leat_ptrace_view_is_served(t, th));
	close(root);
	return fd;
}
