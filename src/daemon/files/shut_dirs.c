#include "daemon/files/shut_dirs.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "daemon/core/problems.h"
#include "daemon/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RIGHTS = 07777, WANTED = 0300 };

struct leat_shut_dir {
	struct leat_shut_dir *next;
	int fd;
	mode_t was, is;
	char path[];
};

/* Opens it, if it is shut, and notes that. */
static bool open_dir(struct leat_daemon *d, int fd, const char *path)
{
	struct leat_shut_dir *dir;
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & WANTED) == WANTED)
		return false;
	dir = calloc(1, sizeof(*dir) + strlen(path) + 1);
	if (!dir)
		return false;
	dir->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	dir->was = st.st_mode & RIGHTS;
	dir->is = dir->was | WANTED;
	strcpy(dir->path, path);
	if (dir->fd >= 0 && leat_beneath_chmod(fd, dir->is) == 0) {
		LL_PREPEND(d->files->shut_dirs, dir);
		return true;
	}
	leat_close(&dir->fd);
	free(dir);
	return false;
}

bool leat_dirs_open(struct leat_daemon *d, const char *path)
{
	int fd = leat_beneath_open(d->disk_fd, "", O_PATH | O_DIRECTORY, 0), next;
	char dir[PATH_MAX] = "", name[NAME_MAX + 1];
	bool opened = false;
	const char *slash;
	size_t used = 0;

	if (strlen(path) >= sizeof(dir))
		leat_close(&fd);
	while (fd >= 0) {
		opened |= open_dir(d, fd, dir);
		slash = strchr(path + used, '/');
		if (!slash || (size_t)(slash - path) - used >= sizeof(name))
			break;
		memcpy(name, path + used, (size_t)(slash - path) - used);
		name[(size_t)(slash - path) - used] = 0;
		used = (size_t)(slash - path);
		memcpy(dir, path, used);
		dir[used++] = 0;
		next = leat_beneath_enter(fd, name);
		leat_close(&fd);
		fd = next;
	}
	if (fd >= 0)
		leat_close(&fd);
	return opened;
}

/* A program may have given it another mode meanwhile: that is the mode of its half in memory, too.
 */
static int shut_dir(struct leat_daemon *d, const struct leat_shut_dir *dir)
{
	struct stat st;
	mode_t mode = dir->was;

	if (fstat(dir->fd, &st) < 0)
		return -errno;
	if ((st.st_mode & RIGHTS) != dir->is)
		return 0;
	if (*dir->path && leat_tree_has(d->tree, LEAT_ROOT_STORE, dir->path, &st) &&
	    S_ISDIR(st.st_mode))
		mode = st.st_mode & RIGHTS;
	return leat_beneath_chmod(dir->fd, mode);
}

void leat_dirs_shut(struct leat_daemon *d)
{
	struct leat_shut_dir *dir;
	int rc;

	while ((dir = d->files->shut_dirs)) {
		LL_DELETE(d->files->shut_dirs, dir);
		rc = shut_dir(d, dir);
		if (rc)
			leat_problem_add(d, rc, "cannot give %s/%s its mode again: %s", d->dir,
					 dir->path, strerror(-rc));
		leat_close(&dir->fd);
		free(dir);
	}
}
