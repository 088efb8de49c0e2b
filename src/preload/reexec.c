/* Starting the program anew, in another way, before it has done anything. */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "preload/engine.h"
#include "preload/intercept.h"

#define SELF "/proc/self/exe"

/* The kernel lays argc, argv, NULL and the environment out in this order. */
static char **find_argv(char **envp)
{
	for (size_t argc = 1; argc < 1u << 24; argc++)
		if ((size_t)(uintptr_t)envp[-2 - (ptrdiff_t)argc] == argc)
			return envp - 1 - argc;
	return NULL;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return leat_raw(SYS_newfstatat, AT_FDCWD, (long)a, (long)&sa, 0, 0, 0) == 0 &&
	       leat_raw(SYS_newfstatat, AT_FDCWD, (long)b, (long)&sb, 0, 0, 0) == 0 &&
	       sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* The name the program was started by, so that it keeps its name in ps; for a script that name is
 * the script's. */
static const char *find_program(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);

	return name && is_same_file(name, SELF) ? name : SELF;
}

int leat_reexec(char **envp)
{
	char **argv = find_argv(envp);

	if (!argv)
		return -ENOENT;
	return (int)leat_raw(SYS_execve, (long)find_program(), (long)argv, (long)envp, 0, 0, 0);
}

void leat_reexec_mounted(char **envp)
{
	static char self[PATH_MAX]; /* the command for the mount has another one */
	char **argv = find_argv(envp);
	long n = leat_raw(SYS_readlinkat, AT_FDCWD, (long)SELF, (long)self, sizeof self - 1, 0, 0);

	if (argv && n > 0)
		leat_exec_mounted(AT_FDCWD, self, argv, envp, 0);
}
