/* open, openat, openat2, creat. */
#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/process.h"
#include "preload/fd/lifecycle.h"
#include "preload/fd/offset.h"
#include "preload/fd/table.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/path/paths.h"
#include "preload/path/resolve.h"
#include "shm/state.h"
#include "shm/word.h"
#include "wire/wire.h"

#include <errno.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

/* An open, however it was spelt. */
struct opening {
	const struct leat_syscall *c; /* as the program made it */
	int dirfd;
	const char *path;
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve; /* openat2 */
};

/* A lock on a byte of its own: the kernel drops it with the last reference
 * to the description, which is how the daemon learns of the true last close. */
static long lock_description(int fd, uint64_t ofd, bool write)
{
	struct flock lock = {.l_type = write ? F_WRLCK : F_RDLCK,
			     .l_whence = SEEK_SET,
			     .l_start = (off_t)(LEAT_OFD_LOCK + ofd),
			     .l_len = 1};

	return raw(SYS_fcntl, fd, F_OFD_SETLK, &lock);
}

/* The access mode 3 gives neither reading nor writing, but ioctl. */
static bool writes(uint64_t flags)
{
	return (flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR;
}

static long open_here(const struct opening *o, const struct leat_resolved *resolved)
{
	struct open_how how = {.flags = resolved->flags, .mode = o->mode, .resolve = o->resolve};

	if (!o->resolve)
		return raw(SYS_openat, resolved->dirfd, resolved->path, resolved->flags, o->mode);
	/* The kernel insists on mode 0 when nothing is created. */
	if (!(resolved->flags & O_CREAT))
		how.mode = 0;
	return raw(SYS_openat2, resolved->dirfd, resolved->path, &how, sizeof(how));
}

static uint32_t flags_of(const struct opening *o, const struct leat_resolved *resolved)
{
	struct leat_shm_file *f = leat_client_file(resolved->slot);
	uint32_t flags = 0;

	if (o->flags & O_APPEND)
		flags |= LEAT_FD_APPEND;
	if (writes(o->flags))
		flags |= LEAT_FD_WRITE;
	if (resolved->input)
		flags |= LEAT_FD_INPUT;
	if (resolved->intact)
		flags |= LEAT_FD_INTACT;
	if (f && leat_shm_frontier(f))
		flags |= LEAT_FD_UNSURE;
	if (f && resolved->kind == LEAT_KIND_CONSUMER && leat_shm_flags(f) & LEAT_SHM_DROP)
		flags |= LEAT_FD_DROP;
	return flags;
}

/* The offset of what only this process can have is kept here. Appends go where the file
 * ends, which the kernel knows. */
static struct leat_offset *shared_offset_of(const struct opening *o,
					    const struct leat_resolved *resolved, int fd)
{
	struct stat st;

	if (resolved->location != LEAT_LOCATION_STORE || !resolved->slot || leat_in_vfork() ||
	    o->flags & (O_APPEND | O_PATH) || (o->flags & O_ACCMODE) == O_ACCMODE ||
	    raw(SYS_fstat, fd, &st) || !S_ISREG(st.st_mode))
		return NULL;
	return leat_offset_new();
}

static long open_resolved(const struct opening *o, struct leat_resolved *resolved)
{
	struct leat_fd r = {.kind = (uint8_t)resolved->kind,
			    .slot = resolved->slot,
			    .generation = resolved->generation,
			    .ofd = resolved->ofd};
	long rc, fd = -EWOULDBLOCK;

	if (o->flags & O_PATH)
		resolved->flags = (uint32_t)o->flags;
	/* O_NONBLOCK: the daemon is just looking whether anybody has it open, by a lease. */
	for (unsigned i = 0; i < LEAT_MAX_MOVES; i++) {
		fd = open_here(o, resolved);
		if (fd != -EWOULDBLOCK || !resolved->slot)
			break;
	}
	if (fd < 0)
		return fd;
	/* What can neither be read nor written cannot be locked. */
	if (resolved->ofd && !(o->flags & O_PATH) && (o->flags & O_ACCMODE) != O_ACCMODE) {
		rc = lock_description((int)fd, resolved->ofd, writes(o->flags));
		if (rc < 0) {
			raw(SYS_close, fd);
			return rc;
		}
	}
	leat_shm_count(&leat_client_step()->opens, 1);
	r.flags = (struct leat_bits){flags_of(o, resolved)};
	r.shared_offset = shared_offset_of(o, resolved, (int)fd);
	rc = leat_fd_set((int)fd, &r);
	return rc < 0 ? rc : fd;
}

static int enter(const struct opening *o, struct leat_resolved *resolved, bool follow)
{
	struct leat_target target = {.op = LEAT_OP_OPEN,
				     .dirfd = o->dirfd,
				     .path = o->path,
				     .flags = (uint32_t)o->flags,
				     .mode = (uint32_t)o->mode,
				     .follow = follow};

	if (o->flags & O_PATH) {
		target.op = LEAT_OP_ACCESS;
		target.flags = o->flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0;
	}
	return leat_resolve(resolved, &target);
}

/* A file that was there when the daemon looked may have been moved since. */
static bool has_moved(const struct opening *o, const struct leat_resolved *resolved, long rc)
{
	return leat_resolved_has_moved(resolved, rc) && !(o->flags & O_CREAT);
}

/* Descriptor `fd`, or an error, if the step's actions fail. */
static long acted(const struct leat_resolved *resolved, long fd)
{
	int rc = fd < 0 ? 0 : leat_wait_acted(resolved->slot, resolved->ofd, false);

	if (rc)
		leat_fd_close((int)fd);
	return rc ? rc : fd;
}

/* Programs that are refused an unnamed file make a named one. `follow` as for enter. */
static long open_inside(const struct opening *o, struct leat_resolved *resolved, bool follow)
{
	long rc;

	if ((o->flags & O_TMPFILE) == O_TMPFILE) {
		leat_resolved_leave(resolved);
		return -EOPNOTSUPP;
	}
	for (unsigned i = 0; i < LEAT_MAX_MOVES; i++) {
		rc = open_resolved(o, resolved);
		if (!has_moved(o, resolved, rc))
			break;
		leat_resolved_result(resolved, rc);
		rc = enter(o, resolved, follow);
		if (rc)
			return rc == LEAT_OUTSIDE ? -ENOENT : rc;
		rc = -ENOENT;
	}
	return acted(resolved, leat_resolved_result(resolved, rc));
}

/* These never follow a symlink at the end, or open nothing. */
static bool is_left_alone(uint64_t flags)
{
	return flags & (O_NOFOLLOW | O_PATH) || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
}

/* A last component that is a symlink outside may lead inside. O_NOFOLLOW finds
 * out at no cost for all that are none. */
static long open_outside(const char *path, long *flags)
{
	if (is_left_alone((uint64_t)*flags) || !path || !*path)
		return LEAT_PASS;
	*flags |= O_NOFOLLOW;
	return LEAT_TRY_ERROR;
}

/* What the kernel refuses before it looks at the path (since Linux 6.4 all of it). */
static bool is_contradiction(uint64_t flags)
{
	if (flags & O_PATH)
		return false;
	if ((flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY))
		return true;
	return flags & (O_TMPFILE & ~O_DIRECTORY) &&
	       (!(flags & O_DIRECTORY) || (flags & O_ACCMODE) == O_RDONLY);
}

/* What may be ours; `flags` are the call's own. */
static long open_closely(const struct opening *o, long *flags)
{
	struct leat_resolved resolved;
	long rc;

	if (is_contradiction(o->flags))
		return -EINVAL;
	rc = enter(o, &resolved, false);
	if (rc == LEAT_OUTSIDE)
		return open_outside(o->path, flags);
	return rc ? rc : open_inside(o, &resolved, false);
}

/* It was a symlink. */
static long open_through(const struct opening *o)
{
	struct leat_resolved resolved;
	long rc = leat_path_leads_out(o->dirfd, o->path) ? LEAT_OUTSIDE : enter(o, &resolved, true);

	if (rc == LEAT_OUTSIDE)
		return leat_as_is(o->c);
	return rc ? rc : open_inside(o, &resolved, true);
}

static struct opening of_openat(const struct leat_syscall *c)
{
	return (struct opening){.c = c,
				.dirfd = (int)c->a[0],
				.path = (const char *)c->a[1],
				.flags = (unsigned)c->a[2],
				.mode = (unsigned)c->a[3]};
}

/* O_PATH: a symlink cannot be told from what it leads to by trying. */
static bool is_path_only(long flags)
{
	return leat_is_enforced() && flags & O_PATH;
}

long leat_hook_openat(struct leat_syscall *c)
{
	const char *path = (const char *)c->a[1];
	struct opening o;

	if (!is_path_only(c->a[2]) && !leat_path_maybe((int)c->a[0], path))
		return open_outside(path, &c->a[2]);
	o = of_openat(c);
	return open_closely(&o, &c->a[2]);
}

long leat_hook_openat_end(struct leat_syscall *c, long rc)
{
	struct opening o;

	if (rc != -ELOOP)
		return rc;
	c->a[2] &= ~O_NOFOLLOW;
	o = of_openat(c);
	return open_through(&o);
}

long leat_hook_openat2(const struct leat_syscall *c)
{
	const struct open_how *how = (const struct open_how *)c->a[2];
	struct opening o = {.c = c, .dirfd = (int)c->a[0], .path = (const char *)c->a[1]};
	struct leat_syscall openat;
	struct leat_resolved resolved;
	long rc;

	if (!how || (size_t)c->a[3] < sizeof(*how))
		return LEAT_PASS; /* the kernel says what is wrong with it */
	o.flags = how->flags;
	o.mode = how->mode;
	o.resolve = how->resolve;
	rc = enter(&o, &resolved, false);
	if (rc != LEAT_OUTSIDE)
		return rc ? rc : open_inside(&o, &resolved, false);
	if (o.resolve || is_left_alone(o.flags))
		return LEAT_PASS;
	openat = (struct leat_syscall){.nr = SYS_openat,
				       .a = {o.dirfd, (long)o.path, (long)o.flags, (long)o.mode}};
	return leat_both_halves(&openat, leat_hook_openat, leat_hook_openat_end);
}

#ifdef SYS_open
static struct opening of_open(const struct leat_syscall *c)
{
	return (struct opening){.c = c,
				.dirfd = AT_FDCWD,
				.path = (const char *)c->a[0],
				.flags = (unsigned)c->a[1],
				.mode = (unsigned)c->a[2]};
}

long leat_hook_open(struct leat_syscall *c)
{
	const char *path = (const char *)c->a[0];
	struct opening o;

	if (!is_path_only(c->a[1]) && !leat_path_maybe(AT_FDCWD, path))
		return open_outside(path, &c->a[1]);
	o = of_open(c);
	return open_closely(&o, &c->a[1]);
}

long leat_hook_open_end(struct leat_syscall *c, long rc)
{
	struct opening o;

	if (rc != -ELOOP)
		return rc;
	c->a[1] &= ~O_NOFOLLOW;
	o = of_open(c);
	return open_through(&o);
}

long leat_hook_creat(const struct leat_syscall *c)
{
	struct leat_syscall open = {.nr = SYS_open,
				    .a = {c->a[0], O_CREAT | O_WRONLY | O_TRUNC, c->a[1]}};

	return leat_both_halves(&open, leat_hook_open, leat_hook_open_end);
}
#endif
