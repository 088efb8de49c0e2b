/* Starting the program anew, in another way, before it has done anything. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/start/reexec.h"

#include "base/putby.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "preload/exec/exec.h"

#define SELF "/proc/self/exe"
#define PRELOAD "LD_PRELOAD="
#define ENDING ".so"
#define WRAP_ENDING "-wrap.so" /* of the other library's name */

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

static int run_anew(char **envp)
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

/* ---- the first program, which no other has looked at ---- */

/* The entry of the variable, NULL: there is none. */
static char **find_entry(char **envp, const char *variable)
{
	for (; *envp; envp++)
		if (strncmp(*envp, variable, strlen(variable)) == 0)
			return envp;
	return NULL;
}

/* `envp` without its first entry that begins so; NULL: there is none. */
static char *take_entry(char **envp, const char *begin)
{
	char **at = find_entry(envp, begin), *entry = at ? *at : NULL;

	for (; at && *at; at++)
		at[0] = at[1];
	return entry;
}

bool leat_reexec_take_begun(char **envp, bool *was_put_by)
{
	char *entry;

	*was_put_by = false;
	if (!take_entry(envp, LEAT_BEGUN))
		return false;
	/* In place of the one that was for this start only. */
	entry = take_entry(envp, LEAT_PUT_BY PRELOAD);
	if (entry && find_entry(envp, PRELOAD)) {
		*find_entry(envp, PRELOAD) = entry + strlen(LEAT_PUT_BY);
		*was_put_by = true;
	}
	for (char **e = envp; *e; e++)
		if (strncmp(*e, LEAT_PUT_BY, strlen(LEAT_PUT_BY)) == 0) {
			*e += strlen(LEAT_PUT_BY);
			*was_put_by = true;
		}
	return true;
}

/* Where the loader itself was called nobody knows any more how. */
static long begin_again(char **envp)
{
	static char self[PATH_MAX];
	char **argv = find_argv(envp), called[32];
	const char *program = find_program();
	struct leat_text t = leat_text_in(called, sizeof called);
	char name[17] = "";
	long n;

	if (!argv || !getauxval(AT_BASE))
		return -ENOEXEC;
	if (strcmp(program, SELF) == 0) {
		n = leat_raw(SYS_readlinkat, AT_FDCWD, (long)SELF, (long)self, sizeof self - 1, 0,
			     0);
		if (n < 0)
			return n;
		program = self;
	}
	leat_raw(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
	leat_text_add(&t, LEAT_CALLED);
	leat_text_add(&t, name);
	leat_environment_hand(LEAT_HAND_CALLED, called);
	return leat_exec(AT_FDCWD, program, argv, envp, 0);
}

int leat_reexec_begun(char **envp, bool was_put_by)
{
	bool is_hidden = was_put_by;
	char library[8];
	long fd;

	if (!was_put_by) {
		fd = leat_raw(SYS_openat, AT_FDCWD, (long)SELF, O_RDONLY | O_CLOEXEC, 0, 0, 0);
		if (fd < 0)
			return 0;
		is_hidden = leat_exec_hidden_library((int)fd, envp, library, sizeof library);
		leat_raw(SYS_close, fd, 0, 0, 0, 0, 0);
	}
	return is_hidden ? (int)begin_again(envp) : 0;
}

/* ---- a library that has to be loaded before this one ---- */

#define FIRST "LEAT_FIRST=" /* what leat_put_first added to LD_PRELOAD */

struct order {
	bool is_late; /* this library came before */
	const char *runtime;
};

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
		leat_has_sanitizer = true;
	if (!is_named(name, "libasan.so.") && !is_named(name, "libclang_rt.asan"))
		return 0;
	leat_has_sanitizer = true;
	order->runtime = name;
	return 1;
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

/* ---- the other library ---- */

/* Is there a file whose name are the `size` bytes at `name`? */
static bool is_present(const char *name, size_t size)
{
	char path[PATH_MAX];

	if (size >= sizeof path)
		return false;
	memcpy(path, name, size);
	path[size] = '\0';
	return leat_raw(SYS_faccessat, AT_FDCWD, (long)path, R_OK, 0, 0, 0) == 0;
}

/* `preload` ("LD_PRELOAD=...") with the other library, which must be there: without it the program
 * would come back here for ever. */
static int rename_library(const char *preload, char *buffer, size_t size)
{
	size_t length, head, tail;
	const char *own = leat_environment_library(preload + strlen(PRELOAD), &length);

	if (!own || length < strlen(ENDING) ||
	    memcmp(own + length - strlen(ENDING), ENDING, strlen(ENDING)) != 0)
		return -ENOENT;
	head = (size_t)(own - preload) + length - strlen(ENDING);
	tail = strlen(own + length) + 1;
	if (head + strlen(WRAP_ENDING) + tail > size)
		return -E2BIG;
	memcpy(buffer, preload, head);
	memcpy(buffer + head, WRAP_ENDING, strlen(WRAP_ENDING));
	memcpy(buffer + head + strlen(WRAP_ENDING), own + length, tail);
	length += strlen(WRAP_ENDING) - strlen(ENDING);
	return is_present(buffer + (own - preload), length) ? 0 : -ENOENT;
}

int leat_reexec_with_wrappers(char **envp)
{
	static char preload[2 * PATH_MAX];

	for (char **e = envp; *e; e++) {
		int error;

		if (strncmp(*e, PRELOAD, strlen(PRELOAD)) != 0)
			continue;
		error = rename_library(*e, preload, sizeof preload);
		if (error)
			return error;
		*e = preload;
		return run_anew(envp);
	}
	return -ENOENT;
}
