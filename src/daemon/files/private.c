/* Where files are that steps have for themselves, and what is hidden from them. */
#include "daemon/files/private.h"

#include "base/fd.h"
#include "base/private.h"
#include "base/str.h"
#include "daemon/core/processes.h"
#include "daemon/files/files.h"
#include "daemon/files/remove.h"
#include "daemon/files/shown.h"
#include "store/private.h"
#include "store/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that was there before the run, and that a step has removed for itself. */
struct leat_private_hidden {
	UT_hash_handle hh;
	char key[]; /* step, name */
};

void leat_private_init(struct leat_daemon *d)
{
	bool any = false;

	for (size_t i = 0; i < d->wf->n_steps; i++)
		any |= d->wf->steps[i].private.n > 0;
	if (any)
		leat_private_clean_stale(d->dir, LEAT_PRIVATE_PREFIX);
}

void leat_private_release(struct leat_daemon *d)
{
	struct leat_private_hidden *h, *next;

	HASH_ITER(hh, d->files->private.hidden, h, next)
	{
		HASH_DEL(d->files->private.hidden, h);
		free(h);
	}
	if (d->files->private.fd < 0)
		return;
	leat_remove_tree(d->disk_fd, d->files->private.name);
	leat_close(&d->files->private.fd);
}

/* Who may use the workflow's directory may use it as if it were that. */
static int open_top(struct leat_daemon *d)
{
	char path[PATH_MAX];

	if (d->files->private.fd >= 0)
		return 0;
	if (snprintf(path, sizeof(path), "%s/" LEAT_PRIVATE_PREFIX "XXXXXX", d->dir) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	d->files->private.fd = leat_private_make(path);
	if (d->files->private.fd < 0)
		return d->files->private.fd;
	snprintf(d->files->private.name, sizeof(d->files->private.name), "%s",
		 strrchr(path, '/') + 1);
	leat_private_show(d);
	return fchmod(d->files->private.fd, 0711) < 0 ? -errno : 0;
}

void leat_private_show(struct leat_daemon *d)
{
	if (d->files->private.fd >= 0)
		leat_shown_note(d, d->files->private.name,
				", or have it run when the steps with private files have ended");
}

/* Give a new directory the owner and the rights of the one it stands for. */
static int mirror(int fd, int dirfd, const char *path)
{
	struct stat st;
	int rc = leat_beneath_stat(dirfd, path, &st);

	if (rc)
		return rc;
	if (!geteuid() && (st.st_uid || st.st_gid) && fchown(fd, st.st_uid, st.st_gid) < 0)
		return -errno;
	return fchmod(fd, st.st_mode & 07777) < 0 ? -errno : 0;
}

/* Go down into `name`, which is made if need be and stands for `path`. Takes `fd` over; the new
 * descriptor or -errno. */
static int enter(struct leat_daemon *d, int fd, const char *name, const char *path)
{
	bool made = leat_beneath_mkdir(fd, name, 0700) == 0;
	int below = leat_beneath_open(fd, name, O_RDONLY | O_DIRECTORY, 0);
	int rc = below < 0 ? below : 0;

	close(fd);
	if (!rc && made)
		rc = mirror(below, d->disk_fd, path);
	if (rc && below >= 0)
		close(below);
	return rc ? rc : below;
}

/* Have the directories in which the step's own `name` is to be. 0 or -errno. */
int leat_private_make_parents(struct leat_daemon *d, int step, const char *name)
{
	char part[PATH_MAX], number[16];
	const char *at = name, *slash;
	int fd, rc = open_top(d);

	if (rc)
		return rc;
	snprintf(number, sizeof(number), "%d", step);
	fd = fcntl(d->files->private.fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	fd = enter(d, fd, number, "");
	while (fd >= 0 && (slash = strchr(at, '/'))) {
		char dir[PATH_MAX];

		snprintf(part, sizeof(part), "%.*s", (int)(slash - at), at);
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - name), name);
		fd = enter(d, fd, part, dir);
		at = slash + 1;
	}
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* By which name the step's own `name` is known. False: it has none at all, or that is too long. */
bool leat_private_name(const struct leat_daemon *d, int step, const char *name, char out[PATH_MAX])
{
	return d->files->private.fd >= 0 &&
	       snprintf(out, PATH_MAX, "%s/%d%s%s", d->files->private.name, step, *name ? "/" : "",
			name) < PATH_MAX;
}

static void remove_records(struct leat_daemon *d, int step, const char *dir)
{
	size_t n;
	struct leat_file **v = leat_files_below(d, dir, &n);

	for (size_t i = 0; v && i < n; i++)
		leat_file_removed(d, v[i], v[i]->name, step, 0,
				  leat_stream_is_dir(d->stream, v[i]->name) ? LEAT_EVF_DIR : 0);
	free(v);
}

/* A link to what is in the store, or what was renamed from there, is in the store, too. */
static void remove_own(struct leat_daemon *d, int step)
{
	char path[NAME_MAX + 16];

	snprintf(path, sizeof(path), "%s/%d", d->files->private.name, step);
	for (enum leat_root root = LEAT_ROOT_STORE; root <= LEAT_ROOT_DISK; root++)
		if (leat_tree_fd(d->tree, root) >= 0)
			leat_remove_tree(leat_tree_fd(d->tree, root), path);
	leat_tree_forget(d->tree);
	remove_records(d, step, path);
}

/* No other step has files of its own now: staged steps that follow find nothing. */
static void remove_empty_top(struct leat_daemon *d)
{
	if (leat_beneath_unlink(d->disk_fd, d->files->private.name, AT_REMOVEDIR) < 0)
		return;
	for (enum leat_root root = LEAT_ROOT_STORE; root <= LEAT_ROOT_SPILL; root++)
		if (leat_tree_fd(d->tree, root) >= 0)
			leat_beneath_unlink(leat_tree_fd(d->tree, root), d->files->private.name,
					    AT_REMOVEDIR);
	leat_close(&d->files->private.fd);
}

void leat_private_step_over(struct leat_daemon *d, int step)
{
	const struct leat_proc *p;

	if (d->files->private.fd < 0 || !d->wf->steps[step].private.n)
		return;
	/* A process it has left behind may use them still: then they go with the run. */
	for (p = d->procs; p; p = p->hh.next)
		if (p->step == step && !p->gone)
			return;
	remove_own(d, step);
	remove_empty_top(d);
	leat_tree_forget(d->tree);
}

static struct leat_private_hidden *find_hidden(const struct leat_daemon *d, int step,
					       const char *name)
{
	char *key = leat_strf("%d %s", step, name);
	struct leat_private_hidden *h = NULL;

	if (key)
		HASH_FIND_STR(d->files->private.hidden, key, h);
	free(key);
	return h;
}

void leat_private_hide(struct leat_daemon *d, int step, const char *name)
{
	char *key = find_hidden(d, step, name) ? NULL : leat_strf("%d %s", step, name);
	struct leat_private_hidden *h = key ? malloc(sizeof(*h) + strlen(key) + 1) : NULL;

	if (h) {
		strcpy(h->key, key);
		HASH_ADD_STR(d->files->private.hidden, key, h);
		if (!h->hh.tbl)
			free(h);
	}
	free(key);
}

bool leat_private_hides_below(const struct leat_daemon *d, int step, const char *dir,
			      char below[PATH_MAX])
{
	char *begin = leat_strf("%d %s/", step, dir);
	const struct leat_private_hidden *h = begin ? d->files->private.hidden : NULL;

	while (h && !leat_str_begins(h->key, begin))
		h = h->hh.next;
	if (h)
		snprintf(below, PATH_MAX, "%s", strchr(h->key, ' ') + 1);
	free(begin);
	return h;
}

/* The name, or a directory above it, has been removed. */
bool leat_private_hides(const struct leat_daemon *d, int step, const char *name)
{
	char above[PATH_MAX];
	char *slash;

	if (!d->files->private.hidden)
		return false;
	snprintf(above, sizeof(above), "%s", name);
	do {
		if (find_hidden(d, step, above))
			return true;
		slash = strrchr(above, '/');
		if (slash)
			*slash = 0;
	} while (slash);
	return false;
}
