#include "store/private.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "store/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens and locks. The descriptor or -errno. */
static int take(const char *path)
{
	struct stat a, b;
	int rc = 0;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &a) < 0 || lstat(path, &b) < 0)
		rc = -errno;
	else if (a.st_ino != b.st_ino || a.st_dev != b.st_dev || a.st_uid != geteuid())
		rc = -ESTALE;
	if (rc)
		leat_close(&fd);
	return rc ? rc : fd;
}

int leat_private_make(char *path)
{
	char *tail = path + strlen(path) - 6;
	int fd = -EEXIST;

	/* Another daemon that cleans up may take a directory before it is locked. */
	for (int attempt = 0; attempt < 5; attempt++) {
		memcpy(tail, "XXXXXX", 6);
		if (!mkdtemp(path))
			return -errno;
		fd = take(path);
		if (fd >= 0)
			return fd;
	}
	return fd;
}

void leat_private_clean_stale(const char *base, const char *prefix)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *dir = opendir(base);

	if (!dir)
		return;
	while ((e = readdir(dir))) {
		int fd;

		if (!leat_str_begins(e->d_name, prefix) ||
		    snprintf(path, sizeof(path), "%s/%s", base, e->d_name) >= (int)sizeof(path))
			continue;
		fd = take(path);
		if (fd < 0)
			continue;
		if (leat_remove_tree(AT_FDCWD, path) < 0)
			leat_warn("cannot remove stale %s", path);
		close(fd);
	}
	closedir(dir);
}
