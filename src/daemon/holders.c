/* Who has a file open: a program without the library would go on with what the file
 * was before it was moved. */
#include "base/fd.h"
#include "daemon/spill.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_MAPS (16u << 20)

static bool has_open(const char *pid, dev_t dev, ino_t ino)
{
	char path[32];
	bool found = false;
	struct dirent *e;
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.12s/fd", pid);
	dir = opendir(path);
	if (!dir)
		return false; /* it has ended, or is another user's */
	while (!found && (e = readdir(dir)))
		found = fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && st.st_ino == ino &&
			st.st_dev == dev;
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

bool leat_holders_follow(dev_t dev, ino_t ino)
{
	DIR *dir = opendir("/proc");
	bool follow = dir != NULL;
	struct dirent *e;

	while (follow && (e = readdir(dir)))
		if (*e->d_name >= '1' && *e->d_name <= '9' && atoi(e->d_name) != getpid() &&
		    has_open(e->d_name, dev, ino))
			follow = uses_library(e->d_name);
	if (dir)
		closedir(dir);
	return follow;
}
