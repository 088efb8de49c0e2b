/* Who has a file open: a program without the library would go on with what the file
 * was before it was moved. */
#include "daemon/space/holders.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MAX_MAPS (16u << 20)

/* Of what is known already: a file of anybody may be behind a server, as of another run's mount,
 * that does not answer. */
static bool is_file(int dirfd, const char *name, dev_t dev, ino_t ino)
{
	struct statx st;

	return statx(dirfd, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, &st) == 0 &&
	       st.stx_ino == ino && makedev(st.stx_dev_major, st.stx_dev_minor) == dev;
}

static bool has_open(const char *pid, dev_t dev, ino_t ino)
{
	char path[32];
	bool found = false;
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.12s/fd", pid);
	dir = opendir(path);
	if (!dir)
		return false; /* it has ended, or is another user's */
	while (!found && (e = readdir(dir)))
		found = is_file(dirfd(dir), e->d_name, dev, ino);
	closedir(dir);
	return found;
}

static bool uses_library(const char *pid)
{
	char path[32];
	char *text = NULL;
	bool uses;
	int rc;

	snprintf(path, sizeof(path), "/proc/%.12s/maps", pid);
	rc = leat_read_file(path, MAX_MAPS, &text, NULL);
	if (rc)
		return rc == -ESRCH || rc == -ENOENT;
	uses = strstr(text, "/libleat.so") || strstr(text, "/libleat-wrap.so");
	free(text);
	return uses;
}

static bool is_among(pid_t pid, const pid_t *servers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (servers[i] == pid)
			return true;
	return false;
}

bool leat_holders_follow(dev_t dev, ino_t ino, const pid_t *servers, size_t n)
{
	DIR *dir = opendir("/proc");
	bool follow = dir != NULL;
	struct dirent *e;

	while (follow && (e = readdir(dir)))
		if (*e->d_name >= '1' && *e->d_name <= '9' && atoi(e->d_name) != getpid() &&
		    !is_among(atoi(e->d_name), servers, n) && has_open(e->d_name, dev, ino))
			follow = uses_library(e->d_name);
	if (dir)
		closedir(dir);
	return follow;
}
