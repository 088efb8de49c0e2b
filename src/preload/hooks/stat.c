/* The stat families. */
#include "client/sizes.h"
#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/text.h"
#include "preload/fd/bytes.h"
#include "preload/fd/migrate.h"
#include "preload/fd/reading.h"
#include "preload/fd/table.h"
#include "preload/hooks/asker.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/hooks/stat_shown.h"
#include "preload/path/names.h"
#include "preload/path/paths.h"
#include "preload/path/resolve.h"
#include "preload/path/resolve_cache.h"
#include "shm/ctimes.h"
#include "shm/state.h"
#include "shm/window.h"
#include "wire/wire.h"

#include <errno.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* A stat of any kind. */
struct look {
	const struct leat_syscall *c;
	int dirfd;
	const char *path;
	unsigned flags;
	unsigned mask;   /* statx */
	struct stat *st; /* one of the two */
	struct statx *stx;
};

static long look_at(const struct look *l, int dirfd, const char *path, unsigned flags)
{
	if (l->stx)
		return raw(SYS_statx, dirfd, path, flags, l->mask, l->stx);
	return raw(SYS_newfstatat, dirfd, path, l->st, flags);
}

static unsigned type_of(const struct look *l)
{
	return (l->stx ? l->stx->stx_mode : l->st->st_mode) & S_IFMT;
}

/* What was seen is the directory `path`, as it is on disk. */
static void fix_times(const struct look *l, const char *path)
{
	if (type_of(l) == S_IFDIR)
		leat_show_half(path, l->st, l->stx);
}

static void fix_times_of(const struct look *l, int fd)
{
	char name[PATH_MAX];
	const char *path = NULL;

	if (type_of(l) == S_IFDIR && leat_fd_name(fd, name, sizeof(name)) >= 0)
		path = leat_path_of_name(name);
	if (path)
		fix_times(l, *path ? path : ".");
}

/* Nothing has changed since the last time. */
static bool is_known(int dirfd, const char *path, struct stat *st)
{
	const char *below = *path ? leat_path_below(dirfd, path) : NULL;
	struct leat_resolve_cached known;

	return below && leat_resolve_cache_find(below, strlen(below), true, &known, st);
}

static long enter(const struct look *l, struct leat_resolved *resolved, bool follow)
{
	struct leat_target target = {.op = LEAT_OP_STAT,
				     .dirfd = l->dirfd,
				     .path = l->path,
				     .flags = l->flags & AT_SYMLINK_NOFOLLOW,
				     .follow = follow};

	return leat_resolve(resolved, &target);
}

/* What the kernel says of the size may be ahead. False: look again. */
static bool fix_size(const struct look *l, struct leat_shm_file *f, uint32_t epoch)
{
	uint64_t length;

	if (!f || type_of(l) != S_IFREG)
		return true;
	length = l->stx ? l->stx->stx_size : (uint64_t)l->st->st_size;
	if (!leat_shm_length(f, epoch, length, &length))
		return false;
	if (l->stx)
		l->stx->stx_size = length;
	else
		l->st->st_size = (int64_t)length;
	return true;
}

/* What leat has changed does not show (shm/ctimes.h). False: look again. */
static bool fix_ctime(const struct look *l, const struct leat_shm *shm, uint64_t seen)
{
	if (!shm || !leat_shm_ctimes_seen(shm))
		return true;
	return l->stx ? leat_show_ctime_x(shm, seen, l->stx)
		      : leat_shm_ctime_show(shm, seen, l->st);
}

static const struct leat_shm *shm_known(void)
{
	const struct leat_server_info *w = leat_server_known();

	return w ? w->shm : NULL;
}

static uint32_t epoch_of(struct leat_shm_file *f)
{
	return f ? leat_shm_epoch(f) : 0;
}

static long stat_resolved(const struct look *l, const struct leat_resolved *resolved)
{
	struct leat_shm_file *f = leat_client_file(resolved->slot);
	const struct leat_shm *shm = shm_known();
	uint64_t seen;
	uint32_t epoch;
	long rc;

	do {
		seen = shm ? leat_shm_ctimes_seen(shm) : 0;
		epoch = epoch_of(f);
		rc = look_at(l, resolved->dirfd, resolved->path,
			     l->flags & ~(unsigned)AT_EMPTY_PATH);
	} while (!rc && !(fix_size(l, f, epoch) && fix_ctime(l, shm, seen)));
	return rc;
}

/* Again, if the file was moved since the daemon looked. `follow` as for enter. */
static long look_inside(const struct look *l, struct leat_resolved *resolved, bool follow)
{
	long rc = 0;

	for (unsigned i = 0; i < LEAT_MAX_MOVES; i++) {
		rc = stat_resolved(l, resolved);
		if (!leat_resolved_has_moved(resolved, rc))
			break;
		leat_resolved_leave(resolved);
		rc = enter(l, resolved, follow);
		if (rc)
			return rc == LEAT_OUTSIDE ? -ENOENT : rc;
		rc = -ENOENT;
	}
	if (!rc && resolved->location == LEAT_LOCATION_DISK)
		fix_times(l, resolved->path);
	if (!rc && l->stx) {
		leat_show_statx(l->stx);
	} else if (!rc) {
		leat_show_stat(l->st);
		leat_resolved_remember(resolved, l->st);
	}
	leat_resolved_leave(resolved);
	return rc;
}

/* Whoever goes by the size of a file that still grows waits for the last word. *noted: he may go by
 * the one that he is about to be shown. */
static int await_size(const struct look *l, int fd, bool *noted)
{
	struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f = r ? leat_client_file(r->slot) : NULL;
	struct leat_size_looks looks;
	uint8_t may;

	*noted = true;
	if (!f || r->kind != LEAT_KIND_CONSUMER || leat_shm_flags(f) & LEAT_SHM_COMMITTED)
		return 0;
	looks = leat_asker_looks(l->c);
	may = fd == STDIN_FILENO ? looks.of_stdin : looks.at_open;
	*noted = may != LEAT_SIZE_UNUSED && !(l->stx && !(l->mask & STATX_SIZE));
	if (!*noted)
		return 0;
	if (r->looks >= may)
		return leat_wait_whole(fd);
	r->looks++;
	return 0;
}

static long look_by_fd(const struct look *l, int fd)
{
	const struct leat_fd *r;
	struct leat_shm_file *f;
	const struct leat_shm *shm = shm_known();
	uint64_t seen;
	uint32_t epoch;
	bool noted;
	long rc;

	if (leat_fd_kind(fd) == LEAT_KIND_DIR)
		leat_dir_settle(fd);
	rc = leat_migrate_first(fd);
	if (!rc)
		rc = await_size(l, fd, &noted);
	if (rc)
		return rc;
	r = leat_fd_get(fd);
	f = r ? leat_client_file(r->slot) : NULL;
	do {
		seen = shm ? leat_shm_ctimes_seen(shm) : 0;
		epoch = epoch_of(f);
		rc = leat_as_is(l->c);
	} while (!rc && !(fix_size(l, f, epoch) && fix_ctime(l, shm, seen)));
	if (rc || !r)
		return rc;
	if (noted && type_of(l) == S_IFREG)
		leat_note_size(fd, l->stx ? l->stx->stx_size : (uint64_t)l->st->st_size);
	if (r->kind == LEAT_KIND_DIR)
		fix_times_of(l, fd);
	if (l->stx)
		leat_show_statx(l->stx);
	else
		leat_show_stat(l->st);
	return 0;
}

long leat_hook_fstat(const struct leat_syscall *c)
{
	struct look l = {.c = c, .st = (struct stat *)c->a[1]};

	return look_by_fd(&l, (int)c->a[0]);
}

static bool is_fd(const char *path, unsigned flags)
{
	return (flags & AT_EMPTY_PATH) && (!path || !*path);
}

static struct look of_newfstatat(const struct leat_syscall *c)
{
	return (struct look){.c = c,
			     .dirfd = (int)c->a[0],
			     .path = (const char *)c->a[1],
			     .st = (struct stat *)c->a[2],
			     .flags = (unsigned)c->a[3]};
}

static struct look of_statx(const struct leat_syscall *c)
{
	return (struct look){.c = c,
			     .dirfd = (int)c->a[0],
			     .path = (const char *)c->a[1],
			     .flags = (unsigned)c->a[2],
			     .mask = (unsigned)c->a[3],
			     .stx = (struct statx *)c->a[4]};
}

/* A look at what may be ours; LEAT_OUTSIDE if it is not. */
static long look_closely(struct look l)
{
	struct leat_resolved resolved;
	long rc;

	if (is_fd(l.path, l.flags)) {
		if (l.dirfd != AT_FDCWD)
			return look_by_fd(&l, l.dirfd);
		l.path = ".";
	}
	rc = enter(&l, &resolved, false);
	return rc ? rc : look_inside(&l, &resolved, false);
}

/* Can it be told at once that this is not ours? */
static bool is_outside(int dirfd, const char *path, unsigned flags)
{
	if (!is_fd(path, flags))
		return !leat_path_maybe(dirfd, path);
	return dirfd == AT_FDCWD ? !leat_path_maybe(dirfd, ".") : !leat_fd_may_be_ours(dirfd);
}

/* Outside a symlink may lead inside; looking without following it costs nothing
 * for all that are none. */
static long look_outside(const char *path, long *flags, long how)
{
	if ((*flags & AT_SYMLINK_NOFOLLOW) || !path || !*path)
		return LEAT_PASS;
	*flags |= AT_SYMLINK_NOFOLLOW;
	return how;
}

/* It was a symlink. */
static long look_through(const struct look *l)
{
	struct leat_resolved resolved;
	long rc = leat_path_leads_out(l->dirfd, l->path) ? LEAT_OUTSIDE : enter(l, &resolved, true);

	if (rc == LEAT_OUTSIDE)
		return leat_as_is(l->c);
	return rc ? rc : look_inside(l, &resolved, true);
}

long leat_hook_newfstatat(struct leat_syscall *c)
{
	const char *path = (const char *)c->a[1];
	long rc = LEAT_OUTSIDE;

	if (!is_outside((int)c->a[0], path, (unsigned)c->a[3])) {
		if (path && is_known((int)c->a[0], path, (struct stat *)c->a[2]))
			return 0;
		rc = look_closely(of_newfstatat(c));
	}
	return rc == LEAT_OUTSIDE ? look_outside(path, &c->a[3], LEAT_TRY_LINK) : rc;
}

long leat_hook_newfstatat_end(struct leat_syscall *c, long rc)
{
	struct look l;

	if (rc || !S_ISLNK(((const struct stat *)c->a[2])->st_mode))
		return rc;
	c->a[3] &= ~AT_SYMLINK_NOFOLLOW;
	l = of_newfstatat(c);
	return look_through(&l);
}

long leat_hook_statx(struct leat_syscall *c)
{
	const char *path = (const char *)c->a[1];
	long rc = LEAT_OUTSIDE;

	if (!is_outside((int)c->a[0], path, (unsigned)c->a[2]))
		rc = look_closely(of_statx(c));
	return rc == LEAT_OUTSIDE ? look_outside(path, &c->a[2], LEAT_TRY) : rc;
}

long leat_hook_statx_end(struct leat_syscall *c, long rc)
{
	struct look l;

	if (rc || !S_ISLNK(((const struct statx *)c->a[4])->stx_mode))
		return rc;
	c->a[2] &= ~AT_SYMLINK_NOFOLLOW;
	l = of_statx(c);
	return look_through(&l);
}

#ifdef SYS_stat
static long stat_here(const struct leat_syscall *c, long flags)
{
	struct leat_syscall call = {.nr = SYS_newfstatat, .a = {AT_FDCWD, c->a[0], c->a[1], flags}};

	return leat_both_halves(&call, leat_hook_newfstatat, leat_hook_newfstatat_end);
}

long leat_hook_stat(const struct leat_syscall *c)
{
	return stat_here(c, 0);
}

long leat_hook_lstat(const struct leat_syscall *c)
{
	return stat_here(c, AT_SYMLINK_NOFOLLOW);
}
#endif

long leat_hook_statfs(const struct leat_syscall *c)
{
	struct leat_target target = {
		.op = LEAT_OP_ACCESS, .dirfd = AT_FDCWD, .path = (const char *)c->a[0]};
	struct leat_resolved resolved;
	long rc = leat_resolve(&resolved, &target);

	if (rc == LEAT_OUTSIDE)
		return LEAT_PASS;
	if (rc)
		return rc;
	for (unsigned i = 0; i < LEAT_MAX_MOVES; i++) {
		rc = raw(SYS_statfs, leat_resolved_path(&resolved), c->a[1]);
		if (!leat_resolved_has_moved(&resolved, rc))
			break;
		rc = leat_resolve_again(&resolved, &target);
		if (rc)
			return rc;
		rc = -ENOENT;
	}
	leat_resolved_leave(&resolved);
	return rc;
}
