#include "daemon/files/persist.h"

#include "base/fault.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/timespec.h"
#include "daemon/core/observer.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/files/drop.h"
#include "daemon/files/files.h"
#include "daemon/files/locks.h"
#include "daemon/files/shown.h"
#include "daemon/files/shut_dirs.h"
#include "daemon/files/states.h"
#include "store/attributes.h"
#include "store/persist.h"
#include "store/times.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libuv's pool has so many threads. */
#define MAX_JOBS 4u

/* One file on its way to disk. */
struct leat_job {
	uv_work_t work;
	struct leat_daemon *d;
	struct leat_file *f;    /* NULL: it was forgotten, and what is made is not wanted */
	char *path;             /* owned */
	struct leat_beneath at; /* on disk; the copy takes it over */
	int in;                 /* open file, or -1: a symlink to `target` */
	char *target;           /* owned */
	enum leat_list list;
	bool first; /* in its directory in this run */
	uid_t uid;  /* of the symlink */
	gid_t gid;
	struct timespec mtime, ctime;
	struct leat_persist made; /* if rc is 0 */
	int rc;
	struct leat_job *prev, *next;
};

/* A directory that some rename goes to. */
struct leat_dirty_dir {
	UT_hash_handle hh;
	char path[]; /* of any file in it */
};

/* What prepare has taken. */
static void release(struct leat_job *j)
{
	leat_close(&j->in);
	leat_beneath_release(&j->at);
	free(j->target);
	j->target = NULL;
}

static void free_job(struct leat_job *j)
{
	release(j);
	free(j->path);
	free(j);
}

static void work(uv_work_t *w)
{
	struct leat_job *j = w->data;

	if (j->first)
		leat_persist_clean_stale(j->at.dir);
	j->rc = j->target ? leat_persist_make_symlink(&j->made, &j->at, j->target, j->uid, j->gid)
			  : leat_persist_make_file(&j->made, &j->at, j->in, j->list,
						   leat_steps_persist_by(j->d), j->path);
	j->at.owned = false;
}

/* Is it the first file of this run in that directory? */
static bool note_dir(struct leat_daemon *d, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	struct leat_dirty_dir *dir;

	HASH_FIND(hh, d->files->dirty_dirs, path, length, dir);
	if (dir)
		return false;
	dir = calloc(1, sizeof(*dir) + strlen(path) + 1);
	if (!dir)
		return true;
	strcpy(dir->path, path);
	HASH_ADD(hh, d->files->dirty_dirs, path, length, dir);
	if (!dir->hh.tbl)
		free(dir);
	return true;
}

static void forget_dirs(struct leat_daemon *d)
{
	struct leat_dirty_dir *dir, *next;

	HASH_ITER(hh, d->files->dirty_dirs, dir, next)
	{
		HASH_DEL(d->files->dirty_dirs, dir);
		free(dir);
	}
}

void leat_files_sync_dirs(struct leat_daemon *d)
{
	const struct leat_dirty_dir *dir;

	for (dir = d->files->dirty_dirs; dir; dir = dir->hh.next) {
		int rc = leat_persist_sync_parent(d->disk_fd, dir->path);

		if (rc)
			leat_problem_add(d, rc, "cannot sync the directory of %s/%s: %s", d->dir,
					 dir->path, strerror(-rc));
	}
	forget_dirs(d);
}

static void failed(struct leat_daemon *d, struct leat_file *f, int rc)
{
	f->save_error = -rc;
	leat_problem_add(d, rc, "cannot write %s/%s: %s%s", d->dir, f->name, strerror(-rc),
			 rc == -EACCES && leat_tree_is_distrusted(d->tree) ? LEAT_PERSIST_UNLIKE
									   : "");
}

static void start_jobs(struct leat_daemon *d);

/* In a sticky directory nobody replaces what is another's, but by leat's hands. Notes what the file
 * on disk will be. */
static int check_replaced(const struct leat_job *j)
{
	const struct leat_beneath *at = &j->made.at;
	struct stat dir, there, made;
	int rc = j->made.fd >= 0 ? fstat(j->made.fd, &made)
				 : fstatat(at->dir, j->made.temporary, &made, AT_SYMLINK_NOFOLLOW);

	if (rc < 0 || fstatat(at->dir, ".", &dir, 0) < 0)
		return -errno;
	j->f->on_disk = (struct leat_inode){made.st_dev, made.st_ino};
	if (!leat_tree_is_distrusted(j->d->tree) || !(dir.st_mode & S_ISVTX) || !made.st_uid ||
	    made.st_uid == dir.st_uid || fstatat(at->dir, at->name, &there, AT_SYMLINK_NOFOLLOW))
		return 0;
	return there.st_uid == made.st_uid ? 0 : -EACCES;
}

/* In the loop's thread, for here only it is known that the name is still this file's. */
static int take(struct leat_job *j)
{
	struct leat_daemon *d = j->d;
	int rc;

	if (j->rc)
		return j->rc;
	if (!j->f) {
		leat_persist_drop(&j->made);
		return 0;
	}
	rc = check_replaced(j);
	if (rc) {
		leat_persist_drop(&j->made);
		return rc;
	}
	j->made.aside = d->files->aside;
	rc = leat_persist_take(&j->made);
	if (*j->made.temporary)
		leat_shown_note(d, j->made.temporary, "");
	return rc;
}

static void done(uv_work_t *w, int status)
{
	struct leat_job *j = w->data;
	struct leat_daemon *d = j->d;
	struct leat_file *f = j->f;
	int rc = status ? -ECANCELED : take(j);

	LEAT_FAULT("keep.done");
	d->files->n_jobs--;
	DL_DELETE(d->files->running_jobs, j);
	if (f) {
		f->saving = false;
		f->job = NULL;
		if (rc) {
			failed(d, f, rc);
		} else {
			f->saved = true;
			f->saved_mtime = j->mtime;
			f->saved_ctime = j->ctime;
		}
		if (f->dirty) {
			f->dirty = false;
			leat_file_persist(d, f);
		}
	}
	free_job(j);
	start_jobs(d);
	if (leat_files_persist_idle(d))
		d->observer->persisted(d);
	/* A staged step may wait for it, or who removes the directory. */
	f = leat_file_find(d, "");
	if (f)
		leat_shm_file_update(leat_file_shm(d, f), 0, 0);
}

static int prepare_symlink(struct leat_job *j, const struct leat_beneath *from)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from->dir, from->name, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = 0;
	j->target = strdup(target);
	return j->target ? 0 : -ENOMEM;
}

static int take_source(struct leat_job *j, enum leat_root root, const struct leat_beneath *from)
{
	struct stat st;

	if (fstatat(from->dir, from->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	j->first |= note_dir(j->d, j->path);
	j->mtime = st.st_mtim;
	j->ctime = leat_shown_ctime(j->d->shm, &st);
	j->uid = st.st_uid;
	j->gid = st.st_gid;
	if (S_ISLNK(st.st_mode))
		return prepare_symlink(j, from);
	j->list = leat_list_in(from->dir);
	j->in = leat_open_seen(j->d, root, from->dir, from->name);
	return j->in < 0 ? j->in : 0;
}

/* The file in the store, or what was spilled of it. 0, -ENOENT, or -EACCES: leat may not enter a
 * directory above it. */
static int find_ours(struct leat_daemon *d, const char *path, enum leat_root *root, struct stat *st)
{
	if (leat_tree_has_ours(d->tree, path, root, st))
		return 0;
	return leat_beneath_stat(leat_tree_fd(d->tree, LEAT_ROOT_STORE), path, st) == -EACCES
		       ? -EACCES
		       : -ENOENT;
}

/* What the job needs of the store is taken now: names may change later. */
static int prepare(struct leat_job *j)
{
	struct leat_daemon *d = j->d;
	struct leat_beneath from;
	enum leat_root root;
	struct stat st;
	int rc = find_ours(d, j->path, &root, &st);

	if (rc)
		return rc;
	rc = leat_tree_make_parents(d->tree, LEAT_ROOT_DISK, j->path);
	if (!rc)
		rc = leat_tree_hold_parent(d->tree, LEAT_ROOT_DISK, j->path, &j->at);
	if (!rc)
		rc = leat_tree_hold_parent(d->tree, root, j->path, &from);
	if (rc)
		return rc;
	rc = take_source(j, root, &from);
	leat_beneath_release(&from);
	return rc;
}

static bool may_write(const struct leat_job *j)
{
	return leat_beneath_access(j->at.dir, ".", W_OK | X_OK) != -EACCES;
}

/* Directories that are in the way are opened, those among them that are made for it, too. */
static int prepare_hard(struct leat_job *j)
{
	int rc;

	j->path = strdup(j->f->name);
	if (!j->path)
		return -ENOMEM;
	while (!(rc = prepare(j)) || rc == -EACCES) {
		if ((!rc && may_write(j)) || !leat_dirs_open(j->d, j->path))
			return rc;
		release(j);
	}
	return rc;
}

static void start(struct leat_daemon *d, struct leat_job *j)
{
	struct leat_file *f = j->f;
	int rc = prepare_hard(j);

	f->dirty = false;
	if (!rc) {
		j->work.data = j;
		rc = uv_queue_work(&d->loop, &j->work, work, done);
	}
	if (!rc) {
		f->saving = true;
		d->files->n_jobs++;
		DL_APPEND(d->files->running_jobs, j);
		return;
	}
	f->job = NULL;
	/* Not there any more: its UNLINK has been applied. */
	if (rc != -ENOENT)
		failed(d, f, rc);
	free_job(j);
}

static void start_jobs(struct leat_daemon *d)
{
	while (d->files->jobs && d->files->n_jobs < MAX_JOBS) {
		struct leat_job *j = d->files->jobs;

		DL_DELETE(d->files->jobs, j);
		start(d, j);
	}
	if (leat_files_persist_idle(d))
		leat_dirs_shut(d);
}

static bool is_saved(struct leat_daemon *d, const struct leat_file *f, const struct stat *st)
{
	return f->saved && leat_timespec_is_same(st->st_mtim, f->saved_mtime) &&
	       leat_tree_has(d->tree, LEAT_ROOT_DISK, f->name, NULL);
}

void leat_file_persist(struct leat_daemon *d, struct leat_file *f)
{
	enum leat_root root;
	struct leat_job *j;
	struct stat st;
	int rc;

	/* Of versions only the last counts, which nobody knows before the end. */
	if (f->dirty || (f->versioned && !leat_daemon_phase_saves(d->phase)))
		return;
	if (leat_file_retain(d, f)) {
		f->save_error = EIO;
		return;
	}
	rc = find_ours(d, f->name, &root, &st);
	if (rc == -EACCES && f->save_error != EACCES)
		failed(d, f, rc);
	if (rc || !(S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) || is_saved(d, f, &st))
		return;
	if (f->saving) {
		f->dirty = true; /* again, once the job is done */
		return;
	}
	j = calloc(1, sizeof(*j));
	if (!j) {
		failed(d, f, -ENOMEM);
		return;
	}
	j->d = d;
	j->f = f;
	j->in = -1;
	f->dirty = true;
	f->job = j;
	DL_APPEND(d->files->jobs, j);
	start_jobs(d);
}

void leat_file_persist_cancel(struct leat_daemon *d, struct leat_file *f)
{
	if (f->saving) {
		f->job->f = NULL;
	} else if (f->job) {
		DL_DELETE(d->files->jobs, f->job);
		free_job(f->job);
	}
	f->job = NULL;
	f->dirty = f->saving = f->saved = false;
}

struct leat_file *leat_files_await_persist(struct leat_daemon *d, const char *dir)
{
	const struct leat_job *j;

	DL_FOREACH(d->files->running_jobs, j)
	{
		if (!j->f && leat_path_is_below(j->path, dir))
			return leat_file_get(d, "");
	}
	return NULL;
}

bool leat_files_persist_idle(const struct leat_daemon *d)
{
	return !d->files->n_jobs && !d->files->jobs;
}

void leat_files_persist_free(struct leat_daemon *d)
{
	struct leat_job *j, *next;

	DL_FOREACH_SAFE(d->files->jobs, j, next)
	{
		DL_DELETE(d->files->jobs, j);
		free_job(j);
	}
	leat_dirs_shut(d);
	forget_dirs(d);
}
