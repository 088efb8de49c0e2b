/* libleat.so: libc's own functions, patched. Where that cannot be done the program is started once
 * more with libleat-wrap.so, so that the wrappers cost nothing in all other places. */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "preload/engine.h"
#include "preload/intercept.h"

#define PRELOAD "LD_PRELOAD="
#define OWN_NAME "/libleat.so"
#define WRAP_NAME "/libleat-wrap.so"
#define SELF "/proc/self/exe"

const bool leat_has_wrappers = false;

void leat_wrappers_start(void)
{
}

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

/* "LD_PRELOAD=...", with the other library in place of this one. */
static int rename_library(const char *preload, char *buffer, size_t size)
{
	const char *own = strstr(preload, OWN_NAME);
	size_t head, tail;

	if (!own)
		return -ENOENT;
	head = (size_t)(own - preload);
	tail = strlen(own + strlen(OWN_NAME)) + 1;
	if (head + strlen(WRAP_NAME) + tail > size)
		return -E2BIG;
	memcpy(buffer, preload, head);
	memcpy(buffer + head, WRAP_NAME, strlen(WRAP_NAME));
	memcpy(buffer + head + strlen(WRAP_NAME), own + strlen(OWN_NAME), tail);
	return 0;
}

/* Is the library named in `preload` there to be loaded? Without it the program would come back
 * here, for ever. */
static bool is_present(const char *preload)
{
	char path[PATH_MAX];
	const char *name = strstr(preload, WRAP_NAME), *start = name, *end = name;

	while (start[-1] != '=' && start[-1] != ':' && start[-1] != ' ')
		start--;
	while (*end && *end != ':' && *end != ' ')
		end++;
	if ((size_t)(end - start) >= sizeof path)
		return false;
	memcpy(path, start, (size_t)(end - start));
	path[end - start] = '\0';
	return leat_raw(SYS_faccessat, AT_FDCWD, (long)path, 4 /* R_OK */, 0, 0, 0) == 0;
}

int leat_reexec_with_wrappers(char **envp)
{
	static char preload[2 * PATH_MAX];
	char **argv = find_argv(envp);
	int error = -ENOENT;

	for (char **e = envp; *e; e++) {
		if (strncmp(*e, PRELOAD, strlen(PRELOAD)) != 0)
			continue;
		error = rename_library(*e, preload, sizeof preload);
		if (!error)
			*e = preload;
		break;
	}
	if (error)
		return error;
	if (!argv || !is_present(preload))
		return -ENOENT;
	return (int)leat_raw(SYS_execve, (long)find_program(), (long)argv, (long)envp, 0, 0, 0);
}
