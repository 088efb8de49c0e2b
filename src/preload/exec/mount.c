/* Starting a program that cannot load this library: with its files behind a mount, by way of
 * "leat mount-exec PROGRAM ARGUMENT0...". */
#include <errno.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/putby.h"
#include "preload/connection/roll_call.h"
#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/text.h"
#include "preload/exec/exec.h"
#include "preload/fd/lifecycle.h"
#include "preload/path/program.h"
#include "shm/roll.h"

#define COMMAND "LEAT_MOUNT"
#define PRELOAD "LD_PRELOAD="
#define AUDIT "LD_AUDIT="

static char verb[] = "mount-exec";

/* The parts of the new command line; `name` and `preload` lie in the same mapping. */
struct command {
	char **argv, **envp;
	char *name, *preload;
	size_t size;
};

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static long allocate(struct command *c, size_t arguments, size_t variables)
{
	size_t pointers = (arguments + 4 + variables + 1) * sizeof(char *);
	long at;

	c->size = pointers + 3 * (size_t)PATH_MAX;
	at = leat_raw(SYS_mmap, 0, (long)c->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -4096)
		return at;
	c->argv = (char **)at;
	c->envp = c->argv + arguments + 4;
	c->name = (char *)at + pointers;
	c->preload = c->name + PATH_MAX;
	return 0;
}

/* The command is no program of the workflow: what its loader would obey is handed through under
 * names that it gives back. This library is among it, and it takes that out. */
static long put_by(char **envp, char *buffer, size_t size)
{
	for (; *envp; envp++) {
		struct leat_text t;

		if (strncmp(*envp, PRELOAD, strlen(PRELOAD)) != 0 &&
		    strncmp(*envp, AUDIT, strlen(AUDIT)) != 0)
			continue;
		if (size <= strlen(LEAT_PUT_BY) + strlen(*envp))
			return -E2BIG;
		t = leat_text_in(buffer, size);
		leat_text_add(&t, LEAT_PUT_BY);
		leat_text_add(&t, *envp);
		*envp = buffer;
		buffer += t.used + 1;
		size -= t.used + 1;
	}
	return 0;
}

static long fill(struct command *c, const char *command, char *const argv[], char *const envp[],
		 size_t capacity, char *preload)
{
	size_t n = count(argv);
	long rc = 0;

	c->argv[0] = (char *)(uintptr_t)command;
	c->argv[1] = verb;
	c->argv[2] = c->name;
	for (size_t i = 0; i < n; i++)
		c->argv[3 + i] = argv[i];
	c->argv[3 + n] = NULL;
	if (capacity) {
		rc = leat_environment_complete(envp, c->envp, preload, PATH_MAX);
	} else {
		memcpy(c->envp, envp, count(envp) * sizeof(char *));
		c->envp[count(envp)] = NULL;
	}
	return rc ? rc : put_by(c->envp, c->preload, 2 * (size_t)PATH_MAX);
}

bool leat_exec_is_mount(const char *path, char *const argv[])
{
	const char *command = leat_environment_kept(COMMAND);

	return command && path && !strcmp(path, command) && count(argv) > 3 &&
	       !strcmp(argv[1], verb);
}

long leat_exec_mounted(int dirfd, const char *path, char *const argv[], char *const envp[],
		       int flags)
{
	const char *command = leat_environment_kept(COMMAND);
	size_t capacity = leat_environment_size(envp);
	char preload[PATH_MAX], unused[64];
	struct leat_roll_entry before;
	struct command c;
	long rc;

	if (!command || !*command)
		return -EACCES;
	rc = allocate(&c, count(argv), (capacity ? capacity : count(envp)) + 1);
	if (rc)
		return rc;
	rc = leat_exec_name(dirfd, path, flags, c.name);
	if (!rc)
		rc = fill(&c, command, argv, envp, capacity, preload);
	if (!rc) {
		leat_fd_before_exec(unused, sizeof(unused)); /* it does not load this library */
		leat_roll_call_exec(path, &before);          /* once there is a mount it says so */
		rc = leat_raw(SYS_execve, (long)command, (long)c.argv, (long)c.envp, 0, 0, 0);
		leat_roll_call_failed(&before);
	}
	leat_raw(SYS_munmap, (long)c.argv, (long)c.size, 0, 0, 0, 0);
	return rc;
}
