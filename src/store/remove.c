#include "store/remove.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Other processes may make something in a directory once it is empty, each time. */
#define ATTEMPTS 100

static int remove_below(int fd, dev_t dev);

static int empty_directory(int fd, const char *name, dev_t dev)
{
	struct stat st;
	int sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (sub < 0)
		return -errno;
	if (fstat(sub, &st) < 0 || st.st_dev != dev) {
		close(sub);
		return -EXDEV;
	}
	return remove_below(sub, dev);
}

static int remove_entry(int fd, const char *name, dev_t dev)
{
	if (unlinkat(fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		int rc = empty_directory(fd, name, dev);

		if (rc || unlinkat(fd, name, AT_REMOVEDIR) == 0)
			return rc;
		if (errno != ENOTEMPTY)
			return -errno;
	}
	return -ENOTEMPTY;
}

/* Owns `fd`. */
static int remove_below(int fd, dev_t dev)
{
	struct dirent *e;
	int rc = 0;
	DIR *dir = fdopendir(fd);

	if (!dir) {
		rc = -errno;
		close(fd);
		return rc;
	}
	while ((e = readdir(dir))) {
		int one;

		if (leat_is_dots(e->d_name))
			continue;
		one = remove_entry(fd, e->d_name, dev);
		rc = rc ? rc : one;
	}
	closedir(dir);
	return rc;
}

int leat_remove_tree(int dirfd, const char *path)
{
	struct stat st;

	if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	return remove_entry(dirfd, path, st.st_dev);
}
