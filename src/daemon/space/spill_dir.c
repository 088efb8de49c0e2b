/* The directory for what the store has no space for. */
#include "daemon/space/spill_dir.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "base/log.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/files/shown.h"
#include "daemon/space/space.h"
#include "store/attributes.h"
#include "store/private.h"
#include "store/remove.h"
#include "store/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>

_Static_assert(sizeof(LEAT_SPILL_PREFIX) > sizeof(LEAT_TEMPORARY_PREFIX), "hidden in listings");

static bool is_in_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static bool is_beside_disk(const struct leat_daemon *d)
{
	struct stat there, disk;

	return fstat(d->space->fd, &there) == 0 && fstat(d->disk_fd, &disk) == 0 &&
	       there.st_dev == disk.st_dev;
}

/* 0 or -errno. */
static int make_in(struct leat_daemon *d, const char *dir)
{
	struct leat_daemon_space *s = d->space;
	char real[PATH_MAX], path[PATH_MAX];
	size_t length = strlen(d->dir);
	int rc;

	if (!realpath(dir, real))
		return -errno;
	if (snprintf(path, sizeof(path), "%s/" LEAT_SPILL_PREFIX "XXXXXX", real) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	s->fd = leat_private_make(path);
	if (s->fd < 0)
		return s->fd;
	strcpy(s->path, path);
	if (strncmp(path, d->dir, length) == 0 && path[length] == '/')
		s->below = s->path + length + 1;
	leat_copy_default_list(d->disk_fd, s->fd); /* as far as it can be kept there */
	rc = leat_tree_set_spill(d->tree, s->fd, s->path);
	if (rc)
		leat_spill_release(d);
	else if (!s->below && is_beside_disk(d))
		d->files->aside = s->fd;
	return rc;
}

/* The directory above the workflow's, if there are staged steps, which list that. False: none that
 * may be used. */
static bool find_above(const struct leat_daemon *d, char above[PATH_MAX])
{
	const char *slash = strrchr(d->dir, '/');

	snprintf(above, PATH_MAX, "%.*s", (int)(slash - d->dir), d->dir);
	return *above && leat_steps_any_staged(d);
}

/* On the file system of the workflow's directory. */
static int make_beside(struct leat_daemon *d)
{
	char above[PATH_MAX];
	struct stat there, disk;
	int rc = find_above(d, above) ? leat_beneath_stat(AT_FDCWD, above, &there) : -EXDEV;

	if (rc || fstat(d->disk_fd, &disk) < 0 || there.st_dev != disk.st_dev)
		return -EXDEV;
	return make_in(d, above);
}

static void note_shown(struct leat_daemon *d)
{
	if (d->space->fd >= 0 && d->space->below)
		leat_shown_note(d, d->space->below, ", or name another place with --spill-dir");
}

/* There, or in the workflow's directory, unless that is in memory itself. */
static int make_default(struct leat_daemon *d)
{
	bool in_memory = is_in_memory(d->disk_fd);
	int rc = in_memory ? make_in(d, "/var/tmp") : make_beside(d);

	if (rc && !in_memory)
		rc = make_in(d, d->dir);
	note_shown(d);
	if (rc) {
		d->space->refused = true;
		leat_problem_add(d, 0,
				 "no directory for what memory has no space for: %s "
				 "(--spill-dir names one)",
				 strerror(-rc));
	}
	return rc;
}

bool leat_spill_is_ready(struct leat_daemon *d)
{
	if (d->space->fd < 0 && !d->space->refused)
		make_default(d);
	return d->space->fd >= 0;
}

/* Files that are saved over others go by it, so that there is one. */
void leat_spill_show(struct leat_daemon *d)
{
	if (d->space->fd < 0 && !is_in_memory(d->disk_fd))
		make_beside(d);
	note_shown(d);
}

/* What a killed daemon has left. */
static void clean_stale(const struct leat_daemon *d)
{
	const char *dir = d->options.spill_dir;
	char above[PATH_MAX];

	leat_private_clean_stale(dir && *dir ? dir : d->dir, LEAT_SPILL_PREFIX);
	if ((!dir || !*dir) && find_above(d, above))
		leat_private_clean_stale(above, LEAT_SPILL_PREFIX);
}

int leat_spill_init(struct leat_daemon *d, char *error, size_t error_size)
{
	const char *dir = d->options.spill_dir;
	struct stat st;
	int rc;

	clean_stale(d);
	if (!dir || !*dir)
		return 0;
	rc = make_in(d, dir);
	if (rc) {
		snprintf(error, error_size, "cannot use the spill directory %s: %s", dir,
			 strerror(-rc));
		return rc;
	}
	if (fstat(d->space->fd, &st) == 0 && st.st_dev == leat_store_dev(d->store)) {
		snprintf(error, error_size,
			 "the spill directory %s is in the memory that it is to relieve: name one "
			 "on a disk",
			 dir);
		return -EINVAL;
	}
	return 0;
}

void leat_spill_release(struct leat_daemon *d)
{
	struct leat_daemon_space *s = d->space;

	if (s->fd < 0)
		return;
	if (leat_remove_tree(AT_FDCWD, s->path) < 0)
		leat_warn("cannot remove %s", s->path);
	leat_close(&s->fd);
	s->path[0] = 0;
	s->below = NULL;
	d->files->aside = -1;
}

int leat_spill_name(const struct leat_daemon *d, const char *name, char out[PATH_MAX])
{
	const struct leat_daemon_space *s = d->space;

	return snprintf(out, PATH_MAX, "%s/%s", s->below ? s->below : s->path, name) < PATH_MAX
		       ? 0
		       : -ENAMETOOLONG;
}
