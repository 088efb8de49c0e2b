#include "store/times.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/timespec.h"
#include "shm/ctimes.h"
#include "store/temporary.h"
#include "store/tree_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* ---- unseen ---- */

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

struct timespec leat_shown_ctime(const struct leat_shm *shm, const struct stat *st)
{
	struct stat shown = *st;

	/* Nobody else changes what is shown: what may not be sure is as it is. */
	if (shm)
		leat_shm_ctime_show(shm, 0, &shown);
	return shown.st_ctim;
}

static struct leat_shm_inode inode_of(const struct stat *st)
{
	return (struct leat_shm_inode){.device = st->st_dev,
				       .inode = st->st_ino,
				       .mtime = st->st_mtim,
				       .ctime = st->st_ctim};
}

static struct leat_quiet_inode *add(struct leat_quiet *q, int fd, const struct stat *st,
				    struct timespec ctime, bool keeps)
{
	const struct leat_shm_inode inode = inode_of(st);
	struct leat_quiet_inode *i = &q->of[q->n];

	if (q->n == LEAT_QUIET_INODES)
		return NULL;
	q->n++;
	*i = (struct leat_quiet_inode){
		.fd = fd, .dev = st->st_dev, .ino = st->st_ino, .keeps = keeps};
	if (q->shm)
		leat_shm_ctime_hold(q->shm, &inode, ctime, keeps);
	return i;
}

static bool has(const struct leat_quiet *q, const struct stat *st)
{
	for (unsigned n = 0; n < q->n; n++)
		if (q->of[n].ino == st->st_ino && q->of[n].dev == st->st_dev)
			return true;
	return false;
}

void leat_quiet_add(struct leat_quiet *q, int dir)
{
	struct leat_quiet_inode *i;
	struct stat st;

	if (dir < 0 || fstat(dir, &st) < 0 || has(q, &st))
		return;
	i = add(q, dir, &st, leat_shown_ctime(q->shm, &st), true);
	if (!i)
		return;
	i->times[0] = st.st_atim;
	i->times[1] = st.st_mtim;
}

void leat_quiet_show(struct leat_quiet *q, int fd, struct timespec ctime)
{
	struct stat st;

	if (q->shm && fstat(fd, &st) == 0)
		add(q, fd, &st, ctime, false);
}

void leat_quiet_begin(struct leat_quiet *q, struct leat_shm *shm, int dir)
{
	pthread_mutex_lock(&one_at_a_time);
	*q = (struct leat_quiet){.shm = shm};
	leat_quiet_add(q, dir);
}

static void settle(struct leat_shm *shm, int fd)
{
	struct leat_shm_inode inode;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return;
	inode = inode_of(&st);
	leat_shm_ctime_settle(shm, &inode);
}

void leat_quiet_end(const struct leat_quiet *q)
{
	int saved = errno;

	for (unsigned n = 0; n < q->n; n++) {
		if (q->of[n].keeps)
			leat_beneath_set_times(q->of[n].fd, q->of[n].times);
		if (q->shm)
			settle(q->shm, q->of[n].fd);
	}
	pthread_mutex_unlock(&one_at_a_time);
	errno = saved;
}

/* ---- seen ---- */

void leat_tree_touch(struct leat_tree *t, enum leat_root root, const char *path)
{
	const struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
	const char *end = strrchr(path, '/');
	char dir[PATH_MAX];

	if (root == LEAT_ROOT_STORE ||
	    snprintf(dir, sizeof(dir), "%.*s", end ? (int)(end - path) : 0, path) >= PATH_MAX)
		return;
	if (leat_beneath_times(t->fd[LEAT_ROOT_STORE], dir, now) && root == LEAT_ROOT_SPILL)
		leat_beneath_times(t->fd[LEAT_ROOT_DISK], dir, now);
}

/* ---- all of them ---- */

struct dir {
	struct dir *next;
	char path[];
};

static void push(struct dir **stack, const char *above, const char *name)
{
	size_t size = strlen(above) + strlen(name) + 2;
	struct dir *d = malloc(sizeof(*d) + size);

	if (!d)
		return; /* it keeps the times that it has */
	snprintf(d->path, size, "%s%s%s", above, *above ? "/" : "", name);
	LL_PREPEND(*stack, d);
}

static void push_below(struct dir **stack, int top, const char *path)
{
	int fd = leat_beneath_open(top, path, O_RDONLY | O_DIRECTORY, 0);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!stream) {
		if (fd >= 0)
			leat_close(&fd);
		return;
	}
	while ((e = readdir(stream)))
		if (e->d_type == DT_DIR && !leat_is_dots(e->d_name) &&
		    !leat_is_temporary_name(e->d_name))
			push(stack, path, e->d_name);
	closedir(stream);
}

/* Somebody may have put another in its place on disk. */
static bool may_carry(const struct leat_tree *t, const struct stat *a, const struct stat *b)
{
	return !t->distrusted ||
	       (a->st_mode == b->st_mode && a->st_uid == b->st_uid && a->st_gid == b->st_gid);
}

/* False: it is not in both places. */
static bool carry(struct leat_tree *t, const char *path, bool to_disk)
{
	int store = leat_beneath_open(t->fd[LEAT_ROOT_STORE], path, O_PATH | O_DIRECTORY, 0);
	int disk = leat_beneath_open(t->fd[LEAT_ROOT_DISK], path, O_PATH | O_DIRECTORY, 0);
	const struct stat *from;
	struct stat s, d;
	bool both = store >= 0 && disk >= 0 && fstat(store, &s) == 0 && fstat(disk, &d) == 0;

	from = to_disk ? &s : &d;
	if (both && may_carry(t, &s, &d) &&
	    (to_disk || leat_timespec_is_before(s.st_mtim, d.st_mtim)))
		leat_beneath_set_times(to_disk ? disk : store,
				       (struct timespec[]){from->st_atim, from->st_mtim});
	if (store >= 0)
		leat_close(&store);
	if (disk >= 0)
		leat_close(&disk);
	return both;
}

static void carry_all(struct leat_tree *t, bool to_disk)
{
	struct dir *stack = NULL, *d;

	push(&stack, "", "");
	while ((d = stack)) {
		LL_DELETE(stack, d);
		/* Before it is listed, which may change the time of the last access. */
		if (carry(t, d->path, to_disk))
			push_below(&stack, t->fd[LEAT_ROOT_STORE], d->path);
		free(d);
	}
}

void leat_tree_times_from_disk(struct leat_tree *t)
{
	carry_all(t, false);
}

void leat_tree_times_to_disk(struct leat_tree *t)
{
	carry_all(t, true);
}
