/* Starting another program: it must load this library too, or it must not start. A program that
 * reads and writes files unseen would break the promises made to the others. */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "preload/exec/exec.h"

#include "base/container.h"
#include "base/elf.h"
#include "base/script.h"
#include "preload/connection/client.h"
#include "preload/connection/handed.h"
#include "preload/connection/roll_call.h"
#include "preload/connection/session.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "preload/fd/lifecycle.h"
#include "shm/roll.h"

#define FEW_VARIABLES 192

/* What keeps a program from being intercepted, and what it is. */
struct obstacle {
	const char *why; /* NULL: nothing */
	enum leat_elf_kind kind;
	enum leat_container container;
	char library[256]; /* the loader does not see it where it is; "": none */
};

/* A posix_spawn child has 32 KiB of stack: so much of it for the new environment. */
struct few {
	char *variable[FEW_VARIABLES];
	char preload[PATH_MAX];
};

static ssize_t read_at(int fd, void *buffer, size_t size, off_t at)
{
	return leat_raw(SYS_pread64, fd, (long)buffer, (long)size, at, 0, 0);
}

static long stat_fd(int fd, struct stat *st)
{
#ifdef SYS_newfstatat
	return leat_raw(SYS_newfstatat, fd, (long)"", (long)st, AT_EMPTY_PATH, 0, 0);
#else
	return leat_raw(SYS_fstat, fd, (long)st, 0, 0, 0, 0);
#endif
}

static bool has_capabilities(int fd)
{
	return leat_raw(SYS_fgetxattr, fd, (long)"security.capability", 0, 0, 0, 0) > 0;
}

/* Will the loader ignore LD_PRELOAD because the program runs with more rights than its caller?
 * (Rules of the kernel: security/commoncap.c.) */
static bool gains_rights(int fd)
{
	long uid = leat_raw(SYS_getuid, 0, 0, 0, 0, 0, 0),
	     gid = leat_raw(SYS_getgid, 0, 0, 0, 0, 0, 0);
	struct statfs fs;
	struct stat st;
	bool set_uid, set_gid;

	/* A process that has become another user for the time being. */
	if (leat_raw(SYS_geteuid, 0, 0, 0, 0, 0, 0) != uid ||
	    leat_raw(SYS_getegid, 0, 0, 0, 0, 0, 0) != gid)
		return true;
	if (stat_fd(fd, &st) < 0)
		return false;
	set_uid = (st.st_mode & S_ISUID) && st.st_uid != (uid_t)uid;
	set_gid = (st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != (gid_t)gid;
	if (!set_uid && !set_gid && (uid == 0 || !has_capabilities(fd)))
		return false;
	if (leat_raw(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1)
		return false;
	return leat_raw(SYS_fstatfs, fd, (long)&fs, 0, 0, 0, 0) < 0 || !(fs.f_flags & ST_NOSUID);
}

static long open_program(int dirfd, const char *path, int flags)
{
	int nofollow = flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0;
	char self[LEAT_FD_PATH];

	if ((flags & AT_EMPTY_PATH) && !*path) { /* opened anew: the descriptor may be O_PATH */
		leat_fd_path(dirfd, self);
		path = self;
		dirfd = AT_FDCWD;
	}
	/* non-blocking: a FIFO is for the kernel to refuse, not to wait for */
	return leat_raw(SYS_openat, dirfd, (long)path,
			O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | nofollow, 0, 0, 0);
}

static const char other_rights[] =
	"it runs with the rights of another user (set-id or capabilities)";

/* Sets `o` to what keeps the program in `fd` from being intercepted, or leaves it. For a script,
 * cuts its interpreter out of `line` and returns it. */
static char *inspect(int fd, char line[LEAT_SCRIPT_LINE], struct obstacle *o)
{
	struct leat_script script;
	ssize_t size;

	if (gains_rights(fd)) {
		o->why = other_rights;
		return NULL;
	}
	o->kind = leat_elf_inspect(fd, read_at);
	o->why = leat_elf_obstacle(o->kind);
	if (o->kind != LEAT_ELF_NONE)
		return NULL;
	o->container = LEAT_CONTAINER_NONE; /* a script is what its interpreter is */
	size = read_at(fd, line, LEAT_SCRIPT_LINE, 0);
	if (size <= 0 || !leat_script_parse(line, (size_t)size, &script))
		return NULL;
	return script.interpreter;
}

/* What may be run and not be read may be anything. */
static void judge_unreadable(int dirfd, const char *path, int flags, struct obstacle *o)
{
	long fd = leat_raw(SYS_openat, dirfd, (long)path,
			   O_PATH | O_CLOEXEC | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0), 0,
			   0, 0);
	struct stat st;

	if (fd < 0)
		return;
	if (stat_fd((int)fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & 0111)
		o->why = gains_rights((int)fd) ? other_rights : "it cannot be read";
	leat_raw(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* Who starts it is asked only if that matters: this is every exec. */
static enum leat_container container_of(const char *path, char *const argv[], char *const envp[])
{
	enum leat_container kind = leat_container_of(path, argv, envp, false);

	if (kind == LEAT_CONTAINER_USERS && leat_raw(SYS_geteuid, 0, 0, 0, 0, 0, 0) == 0)
		kind = leat_container_of(path, argv, envp, true);
	return kind;
}

/* 0 and `o` as inspect does, following interpreters; -errno if it could not be found out. */
static long find_obstacle(int dirfd, const char *path, int flags, char *const argv[],
			  char *const envp[], struct obstacle *o)
{
	char line[LEAT_SCRIPT_LINE];

	for (int depth = 0; path && depth <= LEAT_SCRIPT_DEPTH; depth++) {
		long fd = open_program(dirfd, path, flags);

		if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM)
			return fd;
		if (fd == -EACCES)
			judge_unreadable(dirfd, path, flags, o);
		if (fd < 0)
			return 0; /* or the kernel will say so itself */
		o->container = container_of(path, argv, envp);
		path = inspect((int)fd, line, o);
		if (o->kind && !o->why && !o->container)
			leat_exec_hidden_library((int)fd, envp, o->library, sizeof o->library);
		leat_raw(SYS_close, fd, 0, 0, 0, 0, 0);
		dirfd = AT_FDCWD;
		flags = 0;
	}
	if (o->container)
		o->why = leat_container_obstacle(o->container);
	return 0;
}

static long run(int dirfd, const char *path, char *const argv[], char *const envp[], int flags)
{
	if (dirfd == AT_FDCWD && flags == 0)
		return leat_raw(SYS_execve, (long)path, (long)argv, (long)envp, 0, 0, 0);
	return leat_raw(SYS_execveat, dirfd, (long)path, (long)argv, (long)envp, flags, 0);
}

/* Not part of its caller's frame, which all ways of starting a program have. */
static __attribute__((noinline)) long run_completed(int dirfd, const char *path, char *const argv[],
						    char *const envp[], int flags, size_t capacity)
{
	struct few few;
	char **variables = few.variable;
	size_t size = capacity * sizeof *variables;
	long result;

	if (capacity > FEW_VARIABLES) {
		long at = leat_raw(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at < 0 && at > -4096)
			return at;
		variables = (char **)at;
	}
	result = leat_environment_complete(envp, variables, few.preload, sizeof few.preload);
	if (result == 0)
		result = run(dirfd, path, argv, variables, flags);
	if (capacity > FEW_VARIABLES)
		leat_raw(SYS_munmap, (long)variables, (long)size, 0, 0, 0, 0);
	return result;
}

/* What runs unseen, or cannot but fail, does not run. */
static long refuse_unfit(const char *program)
{
	char why[512];

	if (!leat_exec_unfit(why, sizeof(why)))
		return 0;
	leat_client_refused(program, why, true);
	return -EACCES;
}

static void refuse(const char *program, const struct obstacle *o)
{
	char text[512];
	struct leat_text t = leat_text_in(text, sizeof(text));

	leat_text_add(&t, o->why);
	if (o->container) /* it says so itself: the step cannot go on as if nothing were */
		leat_text_add(&t, ": cannot be intercepted; give the step `staged: true`");
	leat_client_refused(program, text, o->container != LEAT_CONTAINER_NONE);
}

/* Behind a mount, if it can have one. */
static long run_unseen(int dirfd, const char *path, char *const argv[], char *const envp[],
		       int flags, const struct obstacle *o)
{
	long error = -EACCES;

	leat_environment_hand(LEAT_HAND_CALLED, ""); /* nobody would take it */
	if (o->container != LEAT_CONTAINER_DAEMON)
		error = leat_exec_mounted(dirfd, path, argv, envp, flags);
	if (error == -EACCES)
		refuse(path, o);
	return error;
}

/* The loader is to load a library that it cannot see before this one is in place. Behind a mount it
 * sees it; without one the program would run on, or fail, without it. */
static long run_seeing(int dirfd, const char *path, char *const argv[], char *const envp[],
		       int flags, const char *library)
{
	long error = leat_exec_mounted(dirfd, path, argv, envp, flags);
	char why[1024];
	struct leat_text t = leat_text_in(why, sizeof(why));

	if (error != -EACCES)
		return error;
	leat_text_add(&t, "the dynamic loader is to load ");
	leat_text_add(&t, library);
	leat_text_add(&t, " before libleat, and does not see it where it is: cannot be "
			  "intercepted; give the step `staged: true`");
	leat_client_refused(path, why, true);
	return error;
}

/* Options by which a loader runs nothing. */
static bool runs_nothing(char *const argv[])
{
	static const char *const options[] = {"--list",    "--verify",        "--help",
					      "--version", "--list-tunables", "--list-diagnostics"};

	for (; argv && *argv; argv++)
		for (size_t i = 0; i < sizeof options / sizeof *options; i++)
			if (strcmp(*argv, options[i]) == 0)
				return true;
	return false;
}

/* Does the loader only say what it would load? */
static bool only_lists(const struct obstacle *o, char *const argv[], char *const envp[])
{
	for (; envp && *envp; envp++)
		if (**envp == 'L' && strncmp(*envp, "LD_TRACE_LOADED_OBJECTS=", 24) == 0)
			return true;
	return o->kind == LEAT_ELF_LOADER && runs_nothing(argv);
}

/* The same of one of another word size, which ldd asks, too. */
static bool is_foreign_loader(const struct obstacle *o, const char *path, char *const argv[])
{
	const char *slash = strrchr(path, '/');

	return o->kind == LEAT_ELF_FOREIGN && !o->container &&
	       !strncmp(slash ? slash + 1 : path, "ld-", 3) && argv && argv[0] &&
	       runs_nothing(argv + 1);
}

/* The program loads this library; not `is_there`: the kernel will say what is wrong with it. */
static long run_followed(int dirfd, const char *path, char *const argv[], char *const envp[],
			 int flags, bool is_there)
{
	char variable[64], connection[LEAT_HAND_SIZE];
	bool handed;
	size_t capacity;
	long error;

	leat_fd_before_exec(variable, sizeof(variable));
	if (leat_active)
		leat_environment_hand(LEAT_HAND_OPEN, variable);
	if (leat_active && is_there && leat_handed_over(connection, sizeof(connection)))
		leat_environment_hand(LEAT_HAND_CONNECTION, connection);
	handed = leat_active && leat_hand_over(variable, sizeof(variable));
	if (handed)
		leat_environment_hand(LEAT_HAND_USER, variable);
	capacity = leat_environment_size(envp);
	if (capacity == 0)
		error = run(dirfd, path, argv, envp, flags);
	else
		error = run_completed(dirfd, path, argv, envp, flags, capacity);
	if (handed)
		leat_hand_over_failed();
	leat_handed_failed();
	return error;
}

long leat_exec(int dirfd, const char *path, char *const argv[], char *const envp[], int flags)
{
	struct obstacle o = {0};
	long error = leat_active ? find_obstacle(dirfd, path, flags, argv, envp, &o) : 0;
	struct leat_roll_entry before;

	leat_environment_hand(LEAT_HAND_USER, "");
	leat_environment_hand(LEAT_HAND_OPEN, "");
	leat_environment_hand(LEAT_HAND_CONNECTION, "");
	leat_environment_hand(LEAT_HAND_CONFINED,
			      leat_active && leat_session_is_confined() ? LEAT_CONFINED "1" : "");
	if (error)
		return error;
	/* A run within a step asks for the mount itself. */
	if (leat_active && leat_exec_is_mount(path, argv))
		return leat_exec_mounted(AT_FDCWD, argv[2], argv + 3, envp, 0);
	if (o.why && leat_active && !is_foreign_loader(&o, path, argv))
		return run_unseen(dirfd, path, argv, envp, flags, &o);
	if (*o.library)
		return run_seeing(dirfd, path, argv, envp, flags, o.library);
	error = leat_active ? refuse_unfit(path) : 0;
	if (error)
		return error;
	leat_roll_call_exec(o.why || only_lists(&o, argv, envp) ? NULL : path, &before);
	error = run_followed(dirfd, path, argv, envp, flags, o.kind != LEAT_ELF_NONE);
	leat_roll_call_failed(&before);
	return error;
}
