/* A lookup asks for one name of a path. Whether the call goes on from there, and whether it would
 * follow a symlink, the kernel does not say: the caller's system call does, in which it waits. */
#include "mount/callers/lookup.h"

#include "base/fd.h"
#include "base/memory_of.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

/* Where a call has its flags. */
enum { FLAGS_NONE, FLAGS_ARGUMENT, FLAGS_POINTED };

/* What a call does with the name at the end of its path. */
enum {
	LOOKS = 1,             /* no more than look at it */
	MAKES = 2,             /* make it, or put something in its place */
	OPENS = LOOKS | MAKES, /* the one or the other, by its flags */
	REMOVES = 4,           /* a directory, by its flags if it has any */
	MAKES_DIR = 8,
	LINKS = 16, /* what its other path leads to */
};

struct form {
	uint16_t nr;
	uint8_t path;          /* argument */
	uint8_t flags;         /* in the argument behind the path's */
	enum leat_asked asked; /* without flags */
	uint8_t does;
	uint8_t other; /* 1 + the argument that is its other path, 0: it has none */
};

static const struct form forms[] = {
#ifdef SYS_open
	{SYS_open, 0, FLAGS_ARGUMENT, LEAT_ASKED_ANY, OPENS, 0},
	{SYS_stat, 0, FLAGS_NONE, LEAT_ASKED_ANY, LOOKS, 0},
	{SYS_lstat, 0, FLAGS_NONE, LEAT_ASKED_ANY, LOOKS, 0},
	{SYS_access, 0, FLAGS_NONE, LEAT_ASKED_ANY, LOOKS, 0},
	{SYS_readlink, 0, FLAGS_NONE, LEAT_ASKED_LINK, 0, 0},
	{SYS_mkdir, 0, FLAGS_NONE, LEAT_ASKED_ANY, MAKES | MAKES_DIR, 0},
	{SYS_mknod, 0, FLAGS_NONE, LEAT_ASKED_ANY, MAKES, 0},
	{SYS_rename, 1, FLAGS_NONE, LEAT_ASKED_ANY, MAKES, 1},
	{SYS_link, 1, FLAGS_NONE, LEAT_ASKED_ANY, MAKES | LINKS, 1},
	{SYS_symlink, 1, FLAGS_NONE, LEAT_ASKED_ANY, MAKES, 0},
	{SYS_rmdir, 0, FLAGS_NONE, LEAT_ASKED_DIR, REMOVES, 0},
#endif
#ifdef SYS_renameat
	{SYS_renameat, 3, FLAGS_NONE, LEAT_ASKED_ANY, MAKES, 2},
#endif
#ifdef SYS_newfstatat
	{SYS_newfstatat, 1, FLAGS_NONE, LEAT_ASKED_ANY, LOOKS, 0},
#endif
	{SYS_openat, 1, FLAGS_ARGUMENT, LEAT_ASKED_ANY, OPENS, 0},
	{SYS_openat2, 1, FLAGS_POINTED, LEAT_ASKED_ANY, OPENS, 0},
	{SYS_statx, 1, FLAGS_NONE, LEAT_ASKED_ANY, LOOKS, 0},
	{SYS_faccessat, 1, FLAGS_NONE, LEAT_ASKED_ANY, LOOKS, 0},
	{SYS_faccessat2, 1, FLAGS_NONE, LEAT_ASKED_ANY, LOOKS, 0},
	{SYS_chdir, 0, FLAGS_NONE, LEAT_ASKED_ANY, LOOKS, 0},
	{SYS_getxattr, 0, FLAGS_NONE, LEAT_ASKED_ANY, LOOKS, 0},
	{SYS_listxattr, 0, FLAGS_NONE, LEAT_ASKED_ANY, LOOKS, 0},
	{SYS_readlinkat, 1, FLAGS_NONE, LEAT_ASKED_LINK, 0, 0},
	{SYS_lgetxattr, 0, FLAGS_NONE, LEAT_ASKED_FILE, LOOKS, 0},
	{SYS_llistxattr, 0, FLAGS_NONE, LEAT_ASKED_FILE, LOOKS, 0},
	{SYS_lsetxattr, 0, FLAGS_NONE, LEAT_ASKED_FILE, 0, 0},
	{SYS_lremovexattr, 0, FLAGS_NONE, LEAT_ASKED_FILE, 0, 0},
	{SYS_mkdirat, 1, FLAGS_NONE, LEAT_ASKED_ANY, MAKES | MAKES_DIR, 0},
	{SYS_mknodat, 1, FLAGS_NONE, LEAT_ASKED_ANY, MAKES, 0},
	{SYS_renameat2, 3, FLAGS_NONE, LEAT_ASKED_ANY, MAKES, 2},
	{SYS_linkat, 3, FLAGS_NONE, LEAT_ASKED_ANY, MAKES | LINKS, 2},
	{SYS_symlinkat, 2, FLAGS_NONE, LEAT_ASKED_ANY, MAKES, 0},
	{SYS_unlinkat, 1, FLAGS_ARGUMENT, LEAT_ASKED_DIR, REMOVES, 0},
};

#ifdef __x86_64__

/* Of 32-bit programs: open, mkdir, rmdir, readlink, openat, mkdirat, unlinkat, readlinkat, openat2.
 */
static const struct form forms_32[] = {
	{5, 0, FLAGS_ARGUMENT, LEAT_ASKED_ANY, OPENS, 0},
	{39, 0, FLAGS_NONE, LEAT_ASKED_ANY, MAKES_DIR, 0},
	{40, 0, FLAGS_NONE, LEAT_ASKED_DIR, REMOVES, 0},
	{85, 0, FLAGS_NONE, LEAT_ASKED_LINK, 0, 0},
	{295, 1, FLAGS_ARGUMENT, LEAT_ASKED_ANY, OPENS, 0},
	{296, 1, FLAGS_NONE, LEAT_ASKED_ANY, MAKES_DIR, 0},
	{301, 1, FLAGS_ARGUMENT, LEAT_ASKED_DIR, REMOVES, 0},
	{305, 1, FLAGS_NONE, LEAT_ASKED_LINK, 0, 0},
	{437, 1, FLAGS_POINTED, LEAT_ASKED_ANY, OPENS, 0},
};

#else

#endif

/* False: it is in none. */
static bool parse(const char *text, struct leat_caller_syscall *c)
{
	return sscanf(text,
		      "%d %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		      " %" SCNx64,
		      &c->nr, &c->args[0], &c->args[1], &c->args[2], &c->args[3], &c->args[4],
		      &c->args[5], &c->stack) == 8;
}

enum { TRIES = 100, PAUSE_NS = 50000 };

/* The request is there before the thread that made it sleeps. */
bool leat_caller_syscall_of(pid_t tid, struct leat_caller_syscall *c)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	char path[64], *text = NULL;
	bool found = false, runs = true;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	for (unsigned i = 0; runs && i < TRIES; i++) {
		if (leat_read_file(path, 4096, &text, NULL))
			return false;
		runs = strcmp(text, "running\n") == 0;
		found = parse(text, c);
		free(text);
		if (runs)
			nanosleep(&pause, NULL);
	}
	return found;
}

static bool is_wide(const struct leat_caller_syscall *c)
{
	return c->stack > UINT32_MAX;
}

static const struct form *form_of(const struct leat_caller_syscall *c)
{
	const struct form *all = is_wide(c) ? forms : forms_32;
	size_t n =
		is_wide(c) ? sizeof(forms) / sizeof(*forms) : sizeof(forms_32) / sizeof(*forms_32);

	for (size_t i = 0; i < n; i++)
		if (all[i].nr == c->nr)
			return &all[i];
	return NULL;
}

static enum leat_asked by_flags(uint64_t flags)
{
	if (!(flags & O_NOFOLLOW))
		return LEAT_ASKED_ANY;
	return flags & O_DIRECTORY ? LEAT_ASKED_DIR : LEAT_ASKED_FILE;
}

/* The flags of an open; 0 if they cannot be read. */
static uint64_t flags_of(pid_t tid, const struct form *f, const struct leat_caller_syscall *c)
{
	struct open_how how = {0};

	if (f->flags == FLAGS_ARGUMENT)
		return c->args[f->path + 1];
	if (leat_memory_of(tid, c->args[f->path + 1], &how, sizeof(how)))
		return 0;
	return how.resolve & RESOLVE_NO_SYMLINKS ? how.flags | O_NOFOLLOW : how.flags;
}

static unsigned done_by(const struct form *f, uint64_t flags)
{
	if (f->flags == FLAGS_NONE)
		return f->does;
	if (f->does & REMOVES)
		return flags & AT_REMOVEDIR ? REMOVES : 0;
	if (!(flags & O_CREAT))
		return f->does & LOOKS;
	return flags & O_EXCL ? f->does & MAKES : 0;
}

/* What comes after the first part of the path that is `name`, or NULL. */
static const char *after(const char *path, const char *name)
{
	size_t size = strlen(name);

	while (*path) {
		size_t part = strcspn(path, "/");

		if (part == size && memcmp(path, name, size) == 0)
			return path + part;
		path += part;
		path += strspn(path, "/");
	}
	return NULL;
}

/* Is it the last name of the path, and no other one? */
static bool ends_in(const char *path, const char *name)
{
	const char *rest = after(path, name);

	return rest && !*rest;
}

/* The same of a directory, which may be named with a slash at the end. */
static bool ends_at(const char *path, const char *name)
{
	const char *rest = after(path, name);

	while (rest && (*rest == '/' || (*rest == '.' && (!rest[1] || rest[1] == '/'))))
		rest++;
	return rest && !*rest;
}

/* Is it on the way of the call's other path, too, so that nobody knows which of them is meant? */
static bool is_on_other_path(pid_t tid, const struct form *f, const struct leat_caller_syscall *c,
			     const char *name)
{
	char path[PATH_MAX];

	return f->other &&
	       (leat_memory_string_of(tid, c->args[f->other - 1], path) || after(path, name));
}

/* Does it give what `name` stands for another name? The kernel wants to know then whether that is a
 * file, and no symlink is followed without the flag. */
static bool is_linked(pid_t tid, const struct form *f, const struct leat_caller_syscall *c,
		      const char *name)
{
	char path[PATH_MAX];

	return (c->nr != SYS_linkat || !(c->args[4] & AT_SYMLINK_FOLLOW)) &&
	       !leat_memory_string_of(tid, c->args[f->other - 1], path) && ends_in(path, name);
}

struct leat_caller_aim leat_caller_aim_of(pid_t tid, const char *name)
{
	struct leat_caller_aim aim = {.asked = LEAT_ASKED_ANY, .looks = true};
	struct leat_caller_syscall c;
	const struct form *f;
	char path[PATH_MAX];
	uint64_t flags;
	unsigned does;

	if (tid <= 0 || !leat_caller_syscall_of(tid, &c))
		return aim;
	f = form_of(&c);
	if (!f && is_wide(&c))
		aim.looks = false;
	if (!f)
		return aim;
	flags = f->flags == FLAGS_NONE ? 0 : flags_of(tid, f, &c);
	does = done_by(f, flags);
	if (leat_memory_string_of(tid, c.args[f->path], path)) {
		aim.looks = !is_wide(&c) || does & LOOKS;
		return aim;
	}
	aim.makes_dir = does & MAKES_DIR && ends_at(path, name);
	if (does & REMOVES && ends_at(path, name))
		aim.asked = f->asked;
	else if (ends_in(path, name))
		aim.asked = f->flags == FLAGS_NONE ? f->asked : by_flags(flags);
	if (does & LINKS && is_linked(tid, f, &c, name))
		aim.asked = LEAT_ASKED_FILE;
	/* Of 32-bit programs the table has few calls. */
	if (!is_wide(&c))
		return aim;
	aim.looks = does & LOOKS && ends_at(path, name);
	aim.makes = does & MAKES && ends_at(path, name) && !is_on_other_path(tid, f, &c, name);
	return aim;
}
