#include "base/pidstat.h"

#include "base/fd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* Of the kernel. */
#define PF_EXITING 0x4ul

/* The name, in brackets, may hold anything, blanks and brackets included. */
static bool parse(const char *text, struct leat_pidstat *p)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	const char *last = strrchr(text, ' ');
	unsigned long flags;
	uint64_t used[4]; /* its own, and that of children it has waited for */

	if (!open || !close || last < close ||
	    sscanf(close + 1,
		   " %c %d %d %*d %*d %*d %lu %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %*d %*d %*d %*d %" SCNu64
		   /* memory, signals, of its exit */
		   " %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d %d",
		   &p->state, &p->parent, &p->group, &flags, &used[0], &used[1], &used[2], &used[3],
		   &p->born, &p->processor) != 10)
		return false;
	p->cpu_ticks = used[0] + used[1] + used[2] + used[3];
	snprintf(p->name, sizeof(p->name), "%.*s", (int)(close - open - 1), open + 1);
	p->exiting = flags & PF_EXITING;
	p->status = atoi(last + 1);
	return true;
}

bool leat_pidstat_read(pid_t pid, struct leat_pidstat *p)
{
	char path[32], *text = NULL;
	bool known;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (leat_read_file(path, 4096, &text, NULL) < 0)
		return false;
	known = parse(text, p);
	free(text);
	return known;
}

/* The kernel's struct pidfd_info as it was first; PIDFD_GET_INFO, PIDFD_INFO_EXIT. */
struct pidfd_info_of {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t status;
};
_Static_assert(sizeof(struct pidfd_info_of) == 64, "as the kernel has it");
#define GET_INFO _IOWR(0xff, 11, struct pidfd_info_of)
#define INFO_EXIT UINT64_C(8)

bool leat_pidfd_status(int pidfd, int *status)
{
	struct pidfd_info_of info = {.mask = INFO_EXIT};

	if (ioctl(pidfd, GET_INFO, &info) < 0 || !(info.mask & INFO_EXIT))
		return false;
	*status = info.status;
	return true;
}

static uint64_t inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* Not by our number, which that /proc need not know us by. */
uint64_t leat_pid_namespace(void)
{
	return inode_of("/proc/self/ns/pid");
}

uint64_t leat_pid_namespace_of(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return inode_of(path);
}

static bool find(const char *text, const char *key, uint64_t *value)
{
	const char *at = strstr(text, key);

	return at && sscanf(at + strlen(key), "%" SCNu64, value) == 1;
}

bool leat_pidstat_io(pid_t pid, struct leat_pidio *io)
{
	char path[32], *text = NULL;
	bool known;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	if (leat_read_file(path, 4096, &text, NULL) < 0)
		return false;
	/* "cancelled_write_bytes" is of files that were removed before they got there. */
	known = find(text, "\nread_bytes: ", &io->read) &&
		find(text, "\nwrite_bytes: ", &io->written);
	free(text);
	return known;
}
