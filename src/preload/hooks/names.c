/* Calls that make, move and remove names. Moving and removing is done by the
 * daemon, because a name may be in two places and has records. */
#include "preload/connection/client.h"
#include "preload/connection/lost.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/text.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/path/paths.h"
#include "preload/path/resolve.h"
#include "wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One of the two names of a call. */
struct name {
	int dirfd;
	const char *path;
};

struct change {
	enum leat_change what;
	unsigned flags;
	struct name first, second; /* second.path NULL: there is none */
};

/* Into t->below[which]; *inside is set if it lies inside, else the path is made
 * absolute. */
static int compose(struct leat_thread *t, const struct name *n, unsigned which, bool *inside)
{
	int rc = leat_path_find(t, n->dirfd, n->path, t->below[which]);

	if (rc < 0)
		return rc;
	*inside |= rc > 0;
	return rc ? 0 : leat_path_absolute(t, n->dirfd, n->path, t->below[which]);
}

/* A link to what a symlink outside leads to, a descriptor's perhaps. */
static bool leads_in(const struct change *ch)
{
	return leat_is_enforced() && ch->what == LEAT_CHANGE_LINK &&
	       ch->flags & AT_SYMLINK_FOLLOW && leat_path_dangles(ch->first.dirfd, ch->first.path);
}

/* 0 done or -errno, LEAT_OUTSIDE; -EAGAIN: *word. */
static int request(struct leat_thread *t, const struct change *ch, struct leat_channel_word *word)
{
	bool inside = false;
	int rc = compose(t, &ch->first, 0, &inside);

	if (!rc && !inside && leads_in(ch)) {
		inside = leat_path_follow(t, ch->first.dirfd, ch->first.path, t->below[0]);
		if (!inside)
			rc = compose(t, &ch->first, 0, &inside);
	}
	if (!rc && ch->second.path)
		rc = compose(t, &ch->second, 1, &inside);
	if (rc)
		return rc;
	if (!inside)
		return LEAT_OUTSIDE;
	return leat_channel_change(leat_client_channel(t), ch->what, ch->flags, t->below[0],
				   ch->second.path ? t->below[1] : NULL, word);
}

static bool is_empty(const struct name *n)
{
	return !n->path || !*n->path;
}

static long do_change(const struct change *ch)
{
	struct leat_guard g;
	struct leat_channel_word word = {0};
	int rc;

	/* What was known to be outside may be a symlink or gone after this. */
	if (ch->what != LEAT_CHANGE_UNLINK)
		leat_path_forget();
	if (is_empty(&ch->first) || (ch->second.path && !*ch->second.path))
		return LEAT_PASS;
	if (!leat_path_maybe(ch->first.dirfd, ch->first.path) && !leads_in(ch) &&
	    !(ch->second.path && leat_path_maybe(ch->second.dirfd, ch->second.path)))
		return LEAT_PASS;
	for (;;) {
		rc = leat_guard_acquire(&g);
		if (rc)
			return rc;
		rc = request(g.t, ch, &word);
		leat_guard_release(&g);
		if (rc == LEAT_OUTSIDE)
			return LEAT_PASS;
		if (rc != -EAGAIN)
			return rc;
		rc = leat_wait_slot(word.slot, word.seq);
		if (rc)
			return rc;
	}
}

/* A rename outside: of the workflow's directory, or of one on the way to it? */
static long rename_outside(const struct leat_syscall *c)
{
	long rc = leat_as_is(c);

	if (!rc && !leat_session_is_there())
		leat_lost(LEAT_LOST_RENAMED);
	return rc;
}

static struct name here(long path)
{
	return (struct name){.dirfd = AT_FDCWD, .path = (const char *)path};
}

static struct name at(long dirfd, long path)
{
	return (struct name){.dirfd = (int)dirfd, .path = (const char *)path};
}

#define RENAME_FLAGS (RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)

/* renameat and renameat2; the former has no flags */
long leat_hook_renameat(const struct leat_syscall *c)
{
	struct change ch = {.what = LEAT_CHANGE_RENAME,
			    .flags = c->nr == SYS_renameat2 ? (unsigned)c->a[4] : 0,
			    .first = at(c->a[0], c->a[1]),
			    .second = at(c->a[2], c->a[3])};
	long rc;

	/* The kernel refuses unknown flags before it looks at the names. */
	if (!ch.second.path || ch.flags & ~RENAME_FLAGS)
		return LEAT_PASS;
	rc = do_change(&ch);
	return rc == LEAT_PASS ? rename_outside(c) : rc;
}

long leat_hook_unlinkat(const struct leat_syscall *c)
{
	struct change ch = {.what = c->a[2] & AT_REMOVEDIR ? LEAT_CHANGE_RMDIR : LEAT_CHANGE_UNLINK,
			    .first = at(c->a[0], c->a[1])};

	return do_change(&ch);
}

long leat_hook_linkat(const struct leat_syscall *c)
{
	struct change ch = {.what = LEAT_CHANGE_LINK,
			    .flags = (unsigned)c->a[4],
			    .first = at(c->a[0], c->a[1]),
			    .second = at(c->a[2], c->a[3])};

	char self[LEAT_FD_PATH];

	/* A descriptor: the same by its name, which can be judged. */
	if (leat_is_enforced() && ch.flags & AT_EMPTY_PATH && ch.first.path && !*ch.first.path) {
		leat_fd_path(ch.first.dirfd, self);
		ch.first = here((long)self);
		ch.flags = AT_SYMLINK_FOLLOW;
	}
	return ch.second.path ? do_change(&ch) : LEAT_PASS;
}

/* --- new names: made by the program where the daemon says --- */

static int enter(struct leat_resolved *resolved, uint32_t op, struct name n, long mode)
{
	struct leat_target target = {
		.op = op, .dirfd = n.dirfd, .path = n.path, .mode = (uint32_t)mode};

	return leat_resolve(resolved, &target);
}

static long make_dir(struct name n, long mode)
{
	struct leat_resolved resolved;
	long rc = enter(&resolved, LEAT_OP_MKDIR, n, mode);

	if (rc == LEAT_OUTSIDE)
		return LEAT_PASS;
	return rc ? rc
		  : leat_resolved_made(&resolved,
				       raw(SYS_mkdirat, resolved.dirfd, resolved.path, mode));
}

static long make_node(struct name n, long mode, long dev)
{
	struct leat_resolved resolved;
	long rc = enter(&resolved, LEAT_OP_MAKE, n, mode);

	if (rc == LEAT_OUTSIDE)
		return LEAT_PASS;
	return rc ? rc
		  : leat_resolved_made(&resolved,
				       raw(SYS_mknodat, resolved.dirfd, resolved.path, mode, dev));
}

static long make_link(const char *text, struct name n)
{
	struct leat_resolved resolved;
	long rc;

	leat_path_forget();
	rc = enter(&resolved, LEAT_OP_MAKE, n, S_IFLNK | 0777);
	if (rc == LEAT_OUTSIDE)
		return LEAT_PASS;
	return rc ? rc
		  : leat_resolved_made(&resolved,
				       raw(SYS_symlinkat, text, resolved.dirfd, resolved.path));
}

long leat_hook_mkdirat(const struct leat_syscall *c)
{
	return make_dir(at(c->a[0], c->a[1]), c->a[2]);
}

long leat_hook_mknodat(const struct leat_syscall *c)
{
	return make_node(at(c->a[0], c->a[1]), c->a[2], c->a[3]);
}

long leat_hook_symlinkat(const struct leat_syscall *c)
{
	return make_link((const char *)c->a[0], at(c->a[1], c->a[2]));
}

#ifdef SYS_rename
long leat_hook_rename(const struct leat_syscall *c)
{
	struct change ch = {
		.what = LEAT_CHANGE_RENAME, .first = here(c->a[0]), .second = here(c->a[1])};

	return ch.second.path ? do_change(&ch) : LEAT_PASS;
}

long leat_hook_unlink(const struct leat_syscall *c)
{
	struct change ch = {.what = LEAT_CHANGE_UNLINK, .first = here(c->a[0])};

	return do_change(&ch);
}

long leat_hook_rmdir(const struct leat_syscall *c)
{
	struct change ch = {.what = LEAT_CHANGE_RMDIR, .first = here(c->a[0])};

	return do_change(&ch);
}

long leat_hook_link(const struct leat_syscall *c)
{
	struct change ch = {
		.what = LEAT_CHANGE_LINK, .first = here(c->a[0]), .second = here(c->a[1])};

	return ch.second.path ? do_change(&ch) : LEAT_PASS;
}

long leat_hook_mkdir(const struct leat_syscall *c)
{
	return make_dir(here(c->a[0]), c->a[1]);
}

long leat_hook_mknod(const struct leat_syscall *c)
{
	return make_node(here(c->a[0]), c->a[1], c->a[2]);
}

long leat_hook_symlink(const struct leat_syscall *c)
{
	return make_link((const char *)c->a[0], here(c->a[1]));
}
#endif
