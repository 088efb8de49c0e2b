#include "store/store.h"

#include "base/fd.h"
#include "base/log.h"
#include "store/attributes.h"
#include "store/tmpfs.h"
#include "store/private.h"
#include "store/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PRIVATE_BASE "/dev/shm"

struct leat_store {
	int fd;
	int ns_fd;  /* holds the mount namespace: paths of its files keep their mount point */
	char *path; /* owned */
	dev_t dev;
	bool is_private;
};

/* Takes the descriptors over, also when it fails. */
static int wrap(int fd, int ns_fd, const char *path, bool is_private, struct leat_store **store)
{
	struct leat_store *s = calloc(1, sizeof(*s));
	struct stat st;
	int rc = 0;

	if (!s || !(s->path = strdup(path)))
		rc = -ENOMEM;
	else if (fstat(fd, &st) < 0)
		rc = -errno;
	if (rc) {
		if (s)
			free(s->path);
		free(s);
		leat_close(&fd);
		leat_close(&ns_fd);
		return rc;
	}
	s->fd = fd;
	s->ns_fd = ns_fd;
	s->dev = st.st_dev;
	s->is_private = is_private;
	*store = s;
	return 0;
}

int leat_store_create(const char *mount_point, uint64_t size_bytes, struct leat_store **store)
{
	const char *asked = getenv("LEAT_STORE");
	char shown[PATH_MAX];
	int fds[2];
	int rc;

	if (asked && strcmp(asked, "shm") == 0)
		return leat_store_create_private(store);
	rc = leat_tmpfs_mount(mount_point, size_bytes, fds);
	if (!rc)
		return wrap(fds[0], fds[1], leat_tmpfs_path(fds[0], mount_point, shown), false,
			    store);
	leat_warn("no private mount here (%s): the store is a directory in " PRIVATE_BASE
		  ", without huge pages",
		  strerror(-rc));
	return leat_store_create_private(store);
}

int leat_store_create_private(struct leat_store **store)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), PRIVATE_BASE "/leat-%u-XXXXXX", geteuid());
	fd = leat_private_make(path);
	return fd < 0 ? fd : wrap(fd, -1, path, true, store);
}

int leat_store_mirror(struct leat_store *store, int dir_fd)
{
	struct stat st;
	int rc;

	if (fstat(dir_fd, &st) < 0 ||
	    futimens(store->fd, (struct timespec[]){st.st_atim, st.st_mtim}) < 0)
		return -errno;
	rc = leat_copy_default_list(dir_fd, store->fd);
	if (rc && rc != -ENOTSUP)
		leat_warn("the default access control list of the workflow's directory cannot be "
			  "kept in the store: %s; files have other rights until they are saved",
			  strerror(-rc));
	if (store->is_private || geteuid())
		return 0;
	if (fchown(store->fd, st.st_uid, st.st_gid) < 0 ||
	    fchmod(store->fd, st.st_mode & 07777) < 0)
		return -errno;
	return 0;
}

void leat_store_destroy(struct leat_store *store)
{
	int saved = errno;

	if (!store)
		return;
	if (store->is_private && leat_remove_tree(AT_FDCWD, store->path) < 0)
		leat_warn("cannot remove %s", store->path);
	leat_close(&store->fd);
	leat_close(&store->ns_fd);
	free(store->path);
	free(store);
	errno = saved;
}

int leat_store_fd(const struct leat_store *store)
{
	return store->fd;
}

const char *leat_store_path(const struct leat_store *store)
{
	return store->path;
}

dev_t leat_store_dev(const struct leat_store *store)
{
	return store->dev;
}

bool leat_store_is_private(const struct leat_store *store)
{
	return store->is_private;
}

void leat_store_clean_stale(void)
{
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "leat-%u-", geteuid());
	leat_private_clean_stale(PRIVATE_BASE, prefix);
}

int leat_store_usage(const struct leat_store *store, uint64_t *budget_bytes, uint64_t *used_bytes)
{
	struct statvfs space;

	if (fstatvfs(store->fd, &space) < 0)
		return -errno;
	*budget_bytes = (uint64_t)space.f_blocks * space.f_frsize;
	*used_bytes = (uint64_t)(space.f_blocks - space.f_bfree) * space.f_frsize;
	return 0;
}

int leat_store_resize(const struct leat_store *store, uint64_t size_bytes)
{
	return store->is_private ? -ENOTSUP
				 : leat_tmpfs_resize(store->path, store->ns_fd, size_bytes);
}
