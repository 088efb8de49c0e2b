#include "daemon/run/mpi.h"

#include "base/fd.h"
#include "base/str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No stack of a thread that waits for messages is deeper: 5 KB, measured. */
#define STACK_BYTES (UINT64_C(256) << 10)

enum { PATH_SIZE = 64, MAX_CODES = 1024 };

/* ---- calls ---- */

bool leat_mpi_polls(long call, const uint64_t args[6], bool *timed)
{
	switch (call) {
#ifdef SYS_poll
	case SYS_poll:
		*timed = (int)args[2] >= 0;
		return args[1] > 0;
#endif
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
		*timed = (int)args[3] >= 0;
		return true;
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		*timed = args[4] != 0;
		return args[0] > 0;
	case SYS_ppoll:
		*timed = args[2] != 0;
		return args[1] > 0;
	default:
		return false;
	}
}

/* ---- launchers ---- */

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

bool leat_mpi_launches(pid_t pid)
{
	static const char *const names[] = {
		"orterun", "orted",         "prterun",         "prte",
		"prted",   "mpiexec.hydra", "hydra_pmi_proxy", "hydra_bstrap_proxy",
	};
	char path[PATH_SIZE], target[PATH_MAX];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	name = strrchr(target, '/');
	return name && is_one_of(name + 1, names, sizeof(names) / sizeof(*names));
}

/* Strings one after the other, as /proc shows arguments and environment. NULL: cannot be seen. */
static char *read_strings(pid_t pid, const char *what, size_t *size)
{
	char path[PATH_SIZE], *text = NULL;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	return leat_read_file(path, 16 << 20, &text, size) < 0 ? NULL : text;
}

bool leat_mpi_ends_in_time(pid_t pid)
{
	size_t n_args = 0, n_env = 0;
	char *args = read_strings(pid, "cmdline", &n_args);
	char *env = read_strings(pid, "environ", &n_env);
	bool yes = !args || !env;

	/* "--timeout" is of Open MPI, which wants it before the program. */
	for (const char *at = args; !yes && at < args + n_args; at += strlen(at) + 1)
		yes = strstr(at, "timeout");
	for (const char *at = env; !yes && at < env + n_env; at += strlen(at) + 1)
		yes = leat_str_begins(at, "MPIEXEC_TIMEOUT=");
	free(args);
	free(env);
	return yes;
}

/* ---- ranks ---- */

/* Open MPI, MPICH and those like it, Slurm. */
static long find_rank(const char *text, size_t size)
{
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "SLURM_PROCID="};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		for (const char *at = text; at < text + size; at += strlen(at) + 1)
			if (leat_str_begins(at, variables[i]))
				return strtol(at + strlen(variables[i]), NULL, 10);
	return -1;
}

long leat_mpi_rank(pid_t pid)
{
	size_t size = 0;
	char *text = read_strings(pid, "environ", &size);
	long rank = text ? find_rank(text, size) : -1;

	free(text);
	return rank > INT_MAX ? -1 : rank;
}

/* ---- whose thread ---- */

enum owner { OWNER_PROGRAM, OWNER_SYSTEM, OWNER_MPI };

struct code {
	uint64_t begin, end;
	enum owner owner;
};

/* Executable memory of a process. */
struct codes {
	size_t n;
	struct code v[MAX_CODES];
};

static bool begins_with_one(const char *name, const char *const *begins, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (leat_str_begins(name, begins[i]))
			return true;
	return false;
}

/* The C library as leat has changed it (src/preload/engine/image_x86_64.h). Of two processes that
 * do so at the same time one loses its file's name to the other. */
static bool is_image(const char *name)
{
	static const char *const endings[] = {".image", ".image (deleted)"};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t n = strlen(endings[i]);

		if (length > n && strcmp(name + length - n, endings[i]) == 0)
			return true;
	}
	return false;
}

/* By the file that it is from; code without a file may be anybody's. */
static enum owner owner_of(const char *path)
{
	static const char *const of_mpi[] = {
		"libopen-pal.", "libopen-rte.", "libprrte.", "libpmix.", "libmpi.",
		"libmpich.",    "libfabric.",   "libucs.",   "libuct",   "libucp.",
		"libpsm2.",     "libpsm3.",     "mca_",
	};
	/* Programs use libevent, too. */
	static const char *const of_system[] = {"libc.so",  "libc-2", "ld-linux", "libpthread",
						"libleat.", "[vdso]", "libevent"};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (begins_with_one(name, of_mpi, sizeof(of_mpi) / sizeof(*of_mpi)))
		return OWNER_MPI;
	if (begins_with_one(name, of_system, sizeof(of_system) / sizeof(*of_system)))
		return OWNER_SYSTEM;
	return is_image(name) ? OWNER_SYSTEM : OWNER_PROGRAM;
}

/* Note what can be executed; `end` of the memory that holds `stack`, 0: none does. False: there is
 * too much of it, or it cannot be seen. */
static bool read_maps(pid_t pid, uint64_t stack, struct codes *codes, uint64_t *end)
{
	size_t size;
	char *text = read_strings(pid, "maps", &size), *rest = text, *line;

	*end = codes->n = 0;
	while (rest && codes->n < MAX_CODES && (line = strsep(&rest, "\n"))) {
		struct code c;
		char flags[5];
		int path = 0;

		if (sscanf(line, "%lx-%lx %4s %*x %*s %*u %n", &c.begin, &c.end, flags, &path) !=
			    3 ||
		    !path)
			continue;
		if (stack >= c.begin && stack < c.end)
			*end = c.end;
		if (flags[2] == 'x') {
			c.owner = owner_of(line + path);
			codes->v[codes->n++] = c;
		}
	}
	free(text);
	return text && codes->n < MAX_CODES;
}

static enum owner owner_at(const struct codes *codes, uint64_t address)
{
	for (size_t i = 0; i < codes->n; i++)
		if (address >= codes->v[i].begin && address < codes->v[i].end)
			return codes->v[i].owner;
	return OWNER_SYSTEM; /* no code */
}

/* Return addresses, and at the end of the stack the function that the thread began with (struct
 * pthread): nothing of the program, something of the libraries. */
static bool is_of_mpi(const struct codes *codes, const uint64_t *words, size_t n)
{
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		enum owner owner = owner_at(codes, words[i]);

		if (owner == OWNER_PROGRAM)
			return false;
		found = found || owner == OWNER_MPI;
	}
	return found;
}

/* The memory of the process from `begin` to `end`; the caller frees it. NULL: it cannot be had. */
static uint64_t *read_memory(pid_t pid, uint64_t begin, uint64_t end)
{
	size_t size = (size_t)(end - begin);
	char path[PATH_SIZE];
	uint64_t *words;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	words = malloc(size);
	n = words ? pread(fd, words, size, (off_t)begin) : -1;
	leat_close(&fd);
	if (n == (ssize_t)size)
		return words;
	free(words);
	return NULL;
}

bool leat_mpi_owns(pid_t pid, const char *tid, uint64_t stack)
{
	struct codes *codes = NULL;
	uint64_t end = 0, *words = NULL;
	bool own = false;

	/* The first thread is the program's. */
	if (stack % sizeof(uint64_t) || strtol(tid, NULL, 10) == pid)
		return false;
	codes = malloc(sizeof(*codes));
	if (codes && read_maps(pid, stack, codes, &end) && end > stack &&
	    end - stack <= STACK_BYTES)
		words = read_memory(pid, stack, end);
	if (words)
		own = is_of_mpi(codes, words, (size_t)(end - stack) / sizeof(*words));
	free(words);
	free(codes);
	return own;
}
