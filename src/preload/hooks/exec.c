/* Calls that start programs. Of a script whose name is not where the kernel finds it the
 * interpreter is run, with that name, as the kernel would do it (fs/binfmt_script.c): it is `$0`,
 * `__file__`, and what the interpreter opens. */
#include "base/script.h"
#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/text.h"
#include "preload/exec/exec.h"
#include "preload/hooks/handlers.h"
#include "preload/path/paths.h"
#include "preload/path/resolve.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef AT_EXECVE_CHECK /* Linux 6.14 */
#define AT_EXECVE_CHECK 0x10000
#endif

#define FEW_ARGUMENTS 128 /* a posix_spawn child has 32 KiB of stack */
#define HEAD (2 * LEAT_SCRIPT_DEPTH + 1)

/* The kernel calls a process (`ps`, `pkill`) by the script's name: so is the program to call
 * itself. */
static void call_next(const char *path)
{
	const char *slash = strrchr(path, '/');
	char variable[64];
	struct leat_text t = leat_text_in(variable, sizeof(variable));

	if (*path) {
		path = slash ? slash + 1 : path;
		leat_text_add(&t, LEAT_CALLED);
		leat_text_add_n(&t, path, strnlen(path, 15));
	}
	leat_environment_hand(LEAT_HAND_CALLED, variable);
}

/* What an exec has become. */
struct program {
	int dirfd, flags;
	const char *path;  /* as it was called, or as a script's first line has it */
	char *const *argv; /* of the call */
	char *const *envp;
	unsigned depth;   /* scripts so far */
	char *head[HEAD]; /* from `first` on: in place of argv[0] */
	unsigned first;
	char line[LEAT_SCRIPT_DEPTH + 1][LEAT_SCRIPT_LINE];
};

/* The program's path as the kernel can run it. */
static int path_to_run(struct leat_resolved *resolved, char out[PATH_MAX])
{
	const struct leat_server_info *w = leat_server_known();
	struct leat_text t = leat_text_in(out, PATH_MAX);
	char self[LEAT_FD_PATH];

	/* Nobody but ourselves may look through the daemon's descriptors then. */
	if (resolved->location == LEAT_LOCATION_STORE &&
	    (leat_user_is_other() || w->shm->enforced)) {
		int fd = leat_user_store_for_exec(w->store_fd);

		if (fd < 0)
			return fd;
		leat_fd_path(fd, self);
		leat_text_add(&t, self);
	} else if (resolved->location == LEAT_LOCATION_STORE)
		leat_text_add(&t, w->exec_prefix);
	else if (resolved->dirfd != AT_FDCWD && resolved->path[0] != '/')
		leat_text_add(&t, leat_session.real);
	if (t.used)
		leat_text_add(&t, "/");
	leat_text_add(&t, resolved->path);
	return t.full ? -ENAMETOOLONG : 0;
}

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* Run what is at `path`, with the arguments that the scripts before it give it. */
static long start(const struct program *p, const char *path)
{
	char *few[FEW_ARGUMENTS], **argv = few;
	size_t head = HEAD - p->first, n = count(p->argv), size;
	long result;

	if (p->depth == 0)
		return leat_exec(p->dirfd, path, p->argv, p->envp, p->flags);
	n = n ? n - 1 : 0;
	size = (head + n + 1) * sizeof(*argv);
	if (size > sizeof(few)) {
		result = raw(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		if (result < 0)
			return result;
		argv = (char **)result;
	}
	memcpy(argv, p->head + p->first, head * sizeof(*argv));
	if (n)
		memcpy(argv + head, p->argv + 1, n * sizeof(*argv));
	argv[head + n] = NULL;
	result = leat_exec(AT_FDCWD, path, argv, p->envp, 0);
	if (argv != few)
		raw(SYS_munmap, argv, size);
	return result;
}

/* Would the kernel run it? What it says else it is to say itself. */
static bool may_run(const char *path)
{
	char name[] = "", *const argv[] = {name, NULL}, *const envp[] = {NULL};
	long rc = raw(SYS_execveat, AT_FDCWD, path, argv, envp, AT_EXECVE_CHECK);

	if (rc == -EINVAL || rc == -ENOSYS)
		rc = raw(SYS_faccessat2, AT_FDCWD, path, X_OK, AT_EACCESS);
	return rc == 0;
}

/* 0: at `path` is a script, and the program is its interpreter now; 1: something else, or it has no
 * name that the interpreter could open; or -errno. */
static long interpret(struct program *p, const char *path)
{
	struct leat_script script;
	char *line = p->line[p->depth];
	long fd, size;

	if ((p->path[0] != '/' && p->dirfd != AT_FDCWD) || p->flags)
		return 1;
	fd = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 1;
	size = raw(SYS_pread64, fd, line, LEAT_SCRIPT_LINE, 0);
	raw(SYS_close, fd);
	if (size <= 0 || !leat_script_parse(line, (size_t)size, &script) || !may_run(path))
		return 1;
	if (p->depth == LEAT_SCRIPT_DEPTH)
		return -ELOOP;
	if (p->depth++ == 0) {
		p->first = HEAD - 1;
		p->head[p->first] = (char *)(uintptr_t)p->path;
		call_next(p->path);
	}
	if (script.argument)
		p->head[--p->first] = script.argument;
	p->head[--p->first] = script.interpreter;
	p->path = script.interpreter;
	p->dirfd = AT_FDCWD;
	return 0;
}

/* Where the program is, into `inside`, if the kernel would not find it by its name. */
static long find(const struct program *p, bool follow, char inside[PATH_MAX])
{
	struct leat_target target = {.op = LEAT_OP_EXEC,
				     .dirfd = p->dirfd,
				     .path = p->path,
				     .flags = (unsigned)p->flags & AT_SYMLINK_NOFOLLOW,
				     .follow = follow};
	struct leat_resolved resolved;
	long rc = leat_resolve(&resolved, &target);

	if (rc)
		return rc;
	rc = path_to_run(&resolved, inside);
	leat_resolved_leave(&resolved); /* the new program is not to start with signals blocked */
	return rc ? rc : strcmp(p->path, inside) == 0 ? LEAT_OUTSIDE : 0;
}

/* A search along PATH goes by many names at which there is nothing, not even a symlink. */
static bool is_missing(const struct program *p)
{
	struct stat st;

	return !(p->flags & AT_EMPTY_PATH) &&
	       raw(SYS_newfstatat, p->dirfd, p->path, &st, AT_SYMLINK_NOFOLLOW) == -ENOENT;
}

/* Returns only on failure, or 0: `p` is another program now, an interpreter. */
static long run_where_it_is(struct program *p, char inside[PATH_MAX])
{
	long failed, rc;

	leat_user_exec_begin();
	rc = find(p, false, inside);
	if (rc == LEAT_OUTSIDE && is_missing(p))
		return -ENOENT;
	if (rc == LEAT_OUTSIDE) {
		failed = start(p, p->path);
		if (failed != -ENOENT)
			return failed;
		if (leat_path_dangles(p->dirfd, p->path))
			rc = find(p, true, inside);
		if (rc == LEAT_OUTSIDE) { /* the interpreter may be in the store */
			rc = interpret(p, p->path);
			return rc > 0 ? failed : rc;
		}
	}
	if (rc)
		return rc;
	rc = interpret(p, inside);
	if (rc <= 0)
		return rc;
	if (p->depth == 0) /* it has a path of its own */
		p->dirfd = AT_FDCWD, p->flags = 0;
	return start(p, inside);
}

static long run(int dirfd, const char *path, char *const *argv, char *const *envp, int flags)
{
	struct program p;
	char inside[PATH_MAX];
	long failed;

	p.dirfd = dirfd;
	p.path = path;
	p.argv = argv;
	p.envp = envp;
	p.flags = flags;
	p.depth = 0;
	p.first = HEAD;
	call_next("");
	do {
		failed = run_where_it_is(&p, inside);
		leat_user_exec_failed();
	} while (failed == 0);
	return failed;
}

long leat_hook_execve(const struct leat_syscall *c)
{
	return run(AT_FDCWD, (const char *)c->a[0], (char *const *)c->a[1], (char *const *)c->a[2],
		   0);
}

long leat_hook_execveat(const struct leat_syscall *c)
{
	return run((int)c->a[0], (const char *)c->a[1], (char *const *)c->a[2],
		   (char *const *)c->a[3], (int)c->a[4]);
}
