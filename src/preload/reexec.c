/* Starting the program anew, in another way, before it has done anything. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "preload/engine.h"
#include "preload/intercept.h"
#include "preload/text.h"

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

/* ---- a library that has to be loaded before this one ---- */

#define PRELOAD "LD_PRELOAD="
#define FIRST "LEAT_FIRST=" /* what leat_put_first added to LD_PRELOAD */

struct order {
	bool is_late; /* this library came before */
	const char *runtime;
};

static bool has_sanitizer;

bool leat_has_sanitizer(void)
{
	return has_sanitizer;
}

static bool is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return slash && strncmp(slash + 1, name, strlen(name)) == 0;
}

static int look_for_runtime(struct dl_phdr_info *info, size_t size, void *context)
{
	struct order *order = context;
	const char *name = info->dlpi_name ? info->dlpi_name : "";

	(void)size;
	if (is_named(name, "libleat"))
		order->is_late = true;
	if (is_named(name, "libtsan.so.") || is_named(name, "liblsan.so.") ||
	    is_named(name, "libubsan.so.") || is_named(name, "libhwasan.so.") ||
	    is_named(name, "libclang_rt."))
		has_sanitizer = true;
	if (!is_named(name, "libasan.so.") && !is_named(name, "libclang_rt.asan"))
		return 0;
	has_sanitizer = true;
	order->runtime = name;
	return 1;
}

/* The entry of the variable, NULL: there is none. */
static char **find_entry(char **envp, const char *variable)
{
	for (; *envp; envp++)
		if (strncmp(*envp, variable, strlen(variable)) == 0)
			return envp;
	return NULL;
}

/* LD_PRELOAD as it was before: what this program starts has its own libraries. */
static void take_back(char **preload, char **first)
{
	const char *runtime = *first + strlen(FIRST);
	char *list = *preload + strlen(PRELOAD);
	size_t n = strlen(runtime);

	if (n && strncmp(list, runtime, n) == 0 && list[n] == ':')
		memmove(list, list + n + 1, strlen(list + n + 1) + 1);
	(*first)[strlen(FIRST)] = 0;
}

/* With one variable more. */
static char **with(char **envp, char *variable)
{
	size_t n = 0;
	char **more;
	long at;

	while (envp[n])
		n++;
	at = leat_raw(SYS_mmap, 0, (long)((n + 2) * sizeof *envp), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -4096)
		return NULL;
	more = (char **)at;
	more[0] = variable;
	memcpy(more + 1, envp, (n + 1) * sizeof *envp);
	return more;
}

static int reexec_with_first(char **envp, char **preload, const char *runtime)
{
	static char list[2 * PATH_MAX], first[PATH_MAX];
	struct leat_text l = leat_text_in(list, sizeof list), f = leat_text_in(first, sizeof first);
	char **argv = find_argv(envp);

	leat_text_add(&f, FIRST);
	leat_text_add(&f, runtime);
	leat_text_add(&l, PRELOAD);
	leat_text_add(&l, runtime);
	leat_text_add(&l, ":");
	leat_text_add(&l, *preload + strlen(PRELOAD));
	if (l.full || f.full || !argv)
		return -E2BIG;
	*preload = list;
	envp = with(envp, first);
	if (!envp)
		return -ENOMEM;
	return (int)leat_raw(SYS_execve, (long)find_program(), (long)argv, (long)envp, 0, 0, 0);
}

void leat_put_first(char **envp)
{
	char **preload = find_entry(envp, PRELOAD), **first = find_entry(envp, FIRST);
	bool is_second = first && (*first)[strlen(FIRST)];
	struct order order = {0};

	if (!preload)
		return;
	if (is_second)
		take_back(preload, first);
	dl_iterate_phdr(look_for_runtime, &order);
	if (order.runtime && order.is_late && !is_second)
		reexec_with_first(envp, preload, order.runtime);
}
