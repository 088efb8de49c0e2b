#include "daemon/run/peek.h"

#include "base/fd.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 96, TID_SIZE = 24 };

int leat_peek_task(pid_t pid, const char *tid, const char *what, size_t max_bytes, char **text)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/%s", (int)pid, tid, what);
	return leat_read_file(path, max_bytes, text, NULL);
}

bool leat_peek_status(pid_t pid, const char *tid, const char *key, int base, uint64_t *number)
{
	char *text = NULL;
	const char *at;

	if (leat_peek_task(pid, tid, "status", 1 << 16, &text) < 0)
		return false;
	at = strstr(text, key);
	*number = at ? strtoull(at + strlen(key), NULL, base) : 0;
	free(text);
	return at;
}

bool leat_peek_has_open(pid_t pid, const char *target)
{
	char path[PATH_SIZE], at[PATH_SIZE];
	bool found = false;
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return true; /* who knows */
	while (!found && (e = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, at, sizeof(at) - 1);

		at[n > 0 ? n : 0] = 0;
		found = n > 0 && strcmp(at, target) == 0;
	}
	closedir(dir);
	return found;
}

/* Has it set an alarm? The kernel shows the timers of POSIX; of others only the handler: of one
 * signal, since who cleans up (sort) handles all that could kill it. An alarm that is to kill
 * leaves no trace. */
bool leat_peek_has_alarm(pid_t pid)
{
	const uint64_t alarms = UINT64_C(1) << (SIGALRM - 1) | UINT64_C(1) << (SIGVTALRM - 1) |
				UINT64_C(1) << (SIGPROF - 1);
	char path[PATH_SIZE], tid[TID_SIZE], *text = NULL;
	size_t size = 0;
	uint64_t caught;

	snprintf(tid, sizeof(tid), "%d", (int)pid);
	if (!leat_peek_status(pid, tid, "SigCgt:", 16, &caught))
		return false; /* it is gone */
	snprintf(path, sizeof(path), "/proc/%d/timers", (int)pid);
	if (leat_read_file(path, 1 << 16, &text, &size) == 0)
		free(text);
	caught &= alarms;
	return (caught && caught != alarms) || size;
}

bool leat_peek_sees_children(void)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	return access(path, R_OK) == 0;
}
