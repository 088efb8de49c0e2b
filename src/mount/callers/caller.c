/* The kernel tells a FUSE server that a caller has some signal pending, or has closed a file, but
 * not why. */
#include "mount/callers/caller.h"

#include "base/fd.h"
#include "base/pidstat.h"
#include "base/procstatus.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT LEAT_SIGNAL_BIT

/* Somebody asks the program to end, and it wants to hear of it. */
#define POLITE (BIT(SIGINT) | BIT(SIGTERM) | BIT(SIGHUP) | BIT(SIGQUIT))

static int read_proc(pid_t tid, const char *what, char **text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, what);
	return leat_read_file(path, 65536, text, NULL);
}

bool leat_caller_stopped(pid_t tid)
{
	char *text = NULL;
	bool stopped;

	if (tid <= 0)
		return false;
	if (read_proc(tid, "status", &text))
		return true;
	stopped = leat_procstatus_fatal(text) ||
		  leat_procstatus_pending(text) & leat_procstatus_mask(text, "SigCgt:") & POLITE;
	free(text);
	return stopped;
}

bool leat_caller_overrides(pid_t tid)
{
	char *text = NULL;
	bool does = false;

	if (tid > 0 && read_proc(tid, "status", &text) == 0)
		does = leat_procstatus_mask(text, "CapEff:") >> CAP_DAC_OVERRIDE & 1;
	free(text);
	return does;
}

/* A thread that ends gives up its memory before its files. One that closes files because it
 * starts a program has memory, and must not be looked at by "stat": that waits for the start
 * to be over, and the start for our answer. */
static pid_t process_of(pid_t tid, bool *has_memory)
{
	const char *at = NULL;
	char *text = NULL;
	pid_t pid = 0;

	*has_memory = true;
	if (tid > 0 && read_proc(tid, "status", &text) == 0) {
		at = strstr(text, "\nTgid:");
		*has_memory = strstr(text, "\nVmSize:");
	}
	if (at)
		pid = (pid_t)atoi(at + 6);
	free(text);
	return pid;
}

bool leat_caller_ending(pid_t tid, pid_t *process, int *status)
{
	struct leat_pidstat p;
	bool has_memory;

	*process = process_of(tid, &has_memory);
	if (has_memory || !leat_pidstat_read(tid, &p) || !p.exiting)
		return false;
	*status = p.status;
	return true;
}

pid_t leat_caller_process(pid_t tid)
{
	bool has_memory;

	return process_of(tid, &has_memory);
}

/* The program has a mount namespace, in which this process is not. */
bool leat_caller_is_inside(pid_t tid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)tid);
	return stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &other) == 0 &&
	       own.st_ino != other.st_ino;
}

/* Is it the first thread of its process, whose number that has? */
static bool is_process(pid_t tid)
{
	int fd = (int)syscall(SYS_pidfd_open, tid, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

pid_t leat_caller_opener(pid_t tid)
{
	return is_process(tid) ? tid : leat_caller_process(tid);
}
