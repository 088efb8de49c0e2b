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

struct form {
	uint16_t nr;
	uint8_t path;          /* argument */
	uint8_t flags;         /* in the argument behind the path's */
	enum leat_asked asked; /* without flags */
};

static const struct form forms[] = {
#ifdef SYS_open
	{SYS_open, 0, FLAGS_ARGUMENT, LEAT_ASKED_ANY},
	{SYS_readlink, 0, FLAGS_NONE, LEAT_ASKED_LINK},
#endif
	{SYS_openat, 1, FLAGS_ARGUMENT, LEAT_ASKED_ANY},
	{SYS_openat2, 1, FLAGS_POINTED, LEAT_ASKED_ANY},
	{SYS_readlinkat, 1, FLAGS_NONE, LEAT_ASKED_LINK},
	{SYS_lgetxattr, 0, FLAGS_NONE, LEAT_ASKED_FILE},
	{SYS_llistxattr, 0, FLAGS_NONE, LEAT_ASKED_FILE},
	{SYS_lsetxattr, 0, FLAGS_NONE, LEAT_ASKED_FILE},
	{SYS_lremovexattr, 0, FLAGS_NONE, LEAT_ASKED_FILE},
};

#ifdef __x86_64__

/* Of 32-bit programs: open, readlink, openat, readlinkat, openat2. */
static const struct form forms_32[] = {
	{5, 0, FLAGS_ARGUMENT, LEAT_ASKED_ANY},   {85, 0, FLAGS_NONE, LEAT_ASKED_LINK},
	{295, 1, FLAGS_ARGUMENT, LEAT_ASKED_ANY}, {305, 1, FLAGS_NONE, LEAT_ASKED_LINK},
	{437, 1, FLAGS_POINTED, LEAT_ASKED_ANY},
};

#else

#endif

/* Calls that make the name at the end of a path; of opens those with O_CREAT and O_EXCL. */
static const struct form makers[] = {
#ifdef SYS_open
	{SYS_open, 0, FLAGS_ARGUMENT, LEAT_ASKED_ANY},
	{SYS_mkdir, 0, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_mknod, 0, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_rename, 1, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_link, 1, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_symlink, 1, FLAGS_NONE, LEAT_ASKED_ANY},
#endif
#ifdef SYS_renameat
	{SYS_renameat, 3, FLAGS_NONE, LEAT_ASKED_ANY},
#endif
	{SYS_openat, 1, FLAGS_ARGUMENT, LEAT_ASKED_ANY},
	{SYS_openat2, 1, FLAGS_POINTED, LEAT_ASKED_ANY},
	{SYS_mkdirat, 1, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_mknodat, 1, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_renameat2, 3, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_linkat, 3, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_symlinkat, 2, FLAGS_NONE, LEAT_ASKED_ANY},
};

/* Calls that only look at what is at the end of a path; of opens those that make nothing. */
static const struct form looks[] = {
#ifdef SYS_open
	{SYS_open, 0, FLAGS_ARGUMENT, LEAT_ASKED_ANY},
	{SYS_stat, 0, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_lstat, 0, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_access, 0, FLAGS_NONE, LEAT_ASKED_ANY},
#endif
	{SYS_openat, 1, FLAGS_ARGUMENT, LEAT_ASKED_ANY},
	{SYS_openat2, 1, FLAGS_POINTED, LEAT_ASKED_ANY},
#ifdef SYS_newfstatat
	{SYS_newfstatat, 1, FLAGS_NONE, LEAT_ASKED_ANY},
#endif
	{SYS_statx, 1, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_faccessat, 1, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_faccessat2, 1, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_chdir, 0, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_getxattr, 0, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_lgetxattr, 0, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_listxattr, 0, FLAGS_NONE, LEAT_ASKED_ANY},
	{SYS_llistxattr, 0, FLAGS_NONE, LEAT_ASKED_ANY},
};

/* False: it is in none. */
static bool parse(const char *text, struct leat_caller_syscall *c)
{
	return sscanf(text,
		      "%d %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		      " %" SCNx64,
		      &c->nr, &c->args[0], &c->args[1], &c->args[2], &c->args[3], &c->args[4],
		      &c->args[5], &c->stack) == 8;
}

enum { LOOKS = 100, PAUSE_NS = 50000 };

/* The request is there before the thread that made it sleeps. */
bool leat_caller_syscall_of(pid_t tid, struct leat_caller_syscall *c)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	char path[64], *text = NULL;
	bool found = false, runs = true;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	for (unsigned i = 0; runs && i < LOOKS; i++) {
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

static const struct form *find_form(const struct form *all, size_t n, int nr)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].nr == nr)
			return &all[i];
	return NULL;
}

#define FIND_FORM(all, nr) find_form(all, sizeof(all) / sizeof(*(all)), nr)

static bool is_wide(const struct leat_caller_syscall *c)
{
	return c->stack > UINT32_MAX;
}

static const struct form *form_of(const struct leat_caller_syscall *c)
{
	return is_wide(c) ? FIND_FORM(forms, c->nr) : FIND_FORM(forms_32, c->nr);
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

static enum leat_asked asked_by(pid_t tid, const struct form *f,
				const struct leat_caller_syscall *c)
{
	return f->flags == FLAGS_NONE ? f->asked : by_flags(flags_of(tid, f, c));
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

/* The other path of a call that has two, or -1. */
static int other_path(int nr)
{
	switch (nr) {
#ifdef SYS_rename
	case SYS_rename:
	case SYS_link:
		return 0;
#endif
#ifdef SYS_renameat
	case SYS_renameat:
#endif
	case SYS_renameat2:
	case SYS_linkat:
		return 1;
	default:
		return -1;
	}
}

/* Is it on the way of the call's other path, too, so that nobody knows which of them is meant? */
static bool is_on_other_path(pid_t tid, const struct leat_caller_syscall *c, const char *name)
{
	int other = other_path(c->nr);
	char path[PATH_MAX];

	return other >= 0 &&
	       (leat_memory_string_of(tid, c->args[other], path) || after(path, name));
}

enum leat_asked leat_caller_asked(pid_t tid, const char *name)
{
	const struct form *f;
	char path[PATH_MAX];
	struct leat_caller_syscall c;

	if (tid <= 0 || !leat_caller_syscall_of(tid, &c) || !(f = form_of(&c)) ||
	    leat_memory_string_of(tid, c.args[f->path], path) || !ends_in(path, name))
		return LEAT_ASKED_ANY;
	return asked_by(tid, f, &c);
}

bool leat_caller_makes(pid_t tid, const char *name)
{
	const uint64_t anew = O_CREAT | O_EXCL;
	struct leat_caller_syscall c;
	const struct form *f;
	char path[PATH_MAX];

	return tid > 0 && leat_caller_syscall_of(tid, &c) && is_wide(&c) &&
	       (f = FIND_FORM(makers, c.nr)) &&
	       (f->flags == FLAGS_NONE || (flags_of(tid, f, &c) & anew) == anew) &&
	       !leat_memory_string_of(tid, c.args[f->path], path) && ends_at(path, name) &&
	       !is_on_other_path(tid, &c, name);
}

bool leat_caller_looks_at(pid_t tid, const char *name)
{
	struct leat_caller_syscall c;
	const struct form *f;
	char path[PATH_MAX];

	if (tid <= 0 || !leat_caller_syscall_of(tid, &c) || !is_wide(&c))
		return true;
	return (f = FIND_FORM(looks, c.nr)) &&
	       (f->flags == FLAGS_NONE || !(flags_of(tid, f, &c) & O_CREAT)) &&
	       (leat_memory_string_of(tid, c.args[f->path], path) || ends_at(path, name));
}
