/* Files that were moved while they were open. Each open file description of the former
 * inode is exchanged for one of the new inode: the first process that asks has it made, all
 * others that share it are given the same, so that its offset stays common to them. */
#include "daemon/files/former.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/locks.h"
#include "store/times.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Descriptions of a former inode are told apart by locks beyond those of the descriptions. */
#define LOCK_BYTE (LEAT_OFD_LOCK + (UINT64_C(1) << 56))

/* One description that was exchanged. */
struct handed {
	uint64_t byte;   /* locked by the old one as long as anybody has it */
	int fd;          /* the new one */
	uint64_t offset; /* of the old one when it was seen last */
	struct handed *prev, *next;
};

struct leat_former {
	struct leat_daemon *d;
	struct leat_file *f;
	int probe; /* former inode */
	int fresh; /* the new one */
	uint32_t generation;
	uint64_t moved_ns;
	struct handed *handed;
	struct leat_former *prev, *next;
};

int leat_former_add(struct leat_daemon *d, struct leat_file *f, int probe, int fresh,
		    uint32_t generation)
{
	struct leat_former *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	*o = (struct leat_former){.d = d,
				  .f = f,
				  .probe = probe,
				  .fresh = fresh,
				  .generation = generation,
				  .moved_ns = leat_clock_ns()};
	f->former = o;
	DL_APPEND(d->files->formers, o);
	return 0;
}

void leat_former_cancel(struct leat_file *f)
{
	struct leat_former *o = f->former;

	DL_DELETE(o->d->files->formers, o);
	f->former = NULL;
	free(o);
}

const struct leat_former *leat_former_find(const struct leat_daemon *d, uint64_t dev, uint64_t ino)
{
	const struct leat_former *o;
	struct stat st;

	DL_FOREACH(d->files->formers, o)
	if (fstat(o->probe, &st) == 0 && st.st_ino == ino && st.st_dev == dev)
		return o;
	return NULL;
}

struct leat_file *leat_former_file(const struct leat_former *o)
{
	return o->f;
}

uint32_t leat_former_generation(const struct leat_former *o)
{
	return o->generation;
}

static int lock_byte(int fd, uint64_t byte)
{
	bool writes = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
	struct flock lock = {.l_type = writes ? F_WRLCK : F_RDLCK,
			     .l_whence = SEEK_SET,
			     .l_start = (off_t)byte,
			     .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

/* Is `fd` of the description that has the byte locked? */
static bool owns(const struct leat_former *o, int fd, uint64_t byte)
{
	return leat_is_locked(o->probe, byte) && !leat_is_locked(fd, byte);
}

static void drop_handed(struct leat_former *o, struct handed *h)
{
	DL_DELETE(o->handed, h);
	leat_close(&h->fd);
	free(h);
}

/* New descriptions are kept here only for those who still have the old one. */
static void settle(struct leat_former *o)
{
	struct handed *h, *next;

	DL_FOREACH_SAFE(o->handed, h, next)
	if (!leat_is_locked(o->probe, h->byte))
		drop_handed(o, h);
}

int leat_former_has_lock(struct leat_file *f, uint64_t ofd)
{
	settle(f->former);
	return leat_is_locked(f->former->probe, LEAT_OFD_LOCK + ofd);
}

static void free_old(struct leat_former *o)
{
	struct handed *h, *next;

	DL_FOREACH_SAFE(o->handed, h, next)
	drop_handed(o, h);
	DL_DELETE(o->d->files->formers, o);
	o->f->former = NULL;
	leat_close(&o->probe);
	leat_close(&o->fresh);
	free(o);
}

void leat_formers_settle(struct leat_daemon *d)
{
	struct leat_former *o, *next;

	DL_FOREACH_SAFE(d->files->formers, o, next)
	{
		settle(o);
		if (!o->handed && !leat_is_open_elsewhere(o->probe))
			free_old(o);
	}
}

void leat_formers_free(struct leat_daemon *d)
{
	struct leat_former *o, *next;

	DL_FOREACH_SAFE(d->files->formers, o, next)
	free_old(o);
}

/* ---- exchanging ---- */

/* It was opened before its mode forbade it. */
static int open_forbidden(const struct leat_former *o, const char *path, int flags)
{
	struct leat_quiet quiet;
	struct stat st;
	int fd = -1;

	if (fstat(o->fresh, &st) < 0)
		return -1;
	leat_quiet_begin(&quiet, o->d->shm, -1);
	leat_quiet_show(&quiet, o->fresh, leat_shown_ctime(o->d->shm, &st));
	if (fchmod(o->fresh, (st.st_mode & 07777) | 0600) == 0) {
		fd = open(path, flags);
		fchmod(o->fresh, st.st_mode & 07777);
	}
	leat_quiet_end(&quiet);
	return fd;
}

/* A description of the new inode, opened as `fd` was. */
static int reopen(const struct leat_former *o, int fd)
{
	const int kept = O_ACCMODE | O_APPEND | O_NONBLOCK | O_DIRECT | O_SYNC | O_NOATIME;
	int flags = fcntl(fd, F_GETFL);
	char path[32];
	int new;

	if (flags < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", o->fresh);
	flags = (flags & kept) | O_CLOEXEC;
	new = open(path, flags);
	if (new < 0 && errno == EINVAL) /* O_DIRECT is not for every file system */
		new = open(path, flags & ~O_DIRECT);
	if (new < 0 && errno == EACCES)
		new = open_forbidden(o, path, flags);
	return new < 0 ? -errno : new;
}

/* The lock by which the last close is found goes along. */
static int lock_as_live(const struct leat_former *o, int fd, int new)
{
	const struct leat_description *l;

	DL_FOREACH(o->f->descriptions, l)
	if (owns(o, fd, LEAT_OFD_LOCK + l->id))
		return lock_byte(new, LEAT_OFD_LOCK + l->id);
	DL_FOREACH(o->f->readers_open, l)
	if (owns(o, fd, LEAT_OFD_LOCK + l->id))
		return lock_byte(new, LEAT_OFD_LOCK + l->id);
	return 0;
}

static int make_handed(struct leat_former *o, int fd, struct handed **out)
{
	struct handed *h = calloc(1, sizeof(*h));
	off_t at = lseek(fd, 0, SEEK_CUR);
	int rc;

	if (!h)
		return -ENOMEM;
	h->fd = reopen(o, fd);
	rc = h->fd < 0 ? h->fd : lock_as_live(o, fd, h->fd);
	h->byte = LOCK_BYTE + ++o->d->files->last_byte;
	if (!rc)
		rc = lock_byte(fd, h->byte);
	if (!rc && (at < 0 || lseek(h->fd, at, SEEK_SET) < 0))
		rc = -errno;
	if (rc) {
		leat_close(&h->fd);
		free(h);
		return rc;
	}
	h->offset = (uint64_t)at;
	LEAT_FAULT("switch.opened");
	DL_APPEND(o->handed, h);
	*out = h;
	return 0;
}

/* Who could not hear of the move (a child of vfork) may have used the old one since. */
static void catch_up(struct handed *h, int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR);

	if (at < 0 || (uint64_t)at == h->offset)
		return;
	lseek(h->fd, at - (off_t)h->offset, SEEK_CUR);
	h->offset = (uint64_t)at;
}

/* Calls that found the file where it was may still move an offset of the former inode. One that
 * takes longer than this belongs to a process that was stopped or killed in it. */
static bool is_used(const struct leat_former *o)
{
	return leat_shm_holders(leat_file_shm(o->d, o->f), false) &&
	       leat_clock_ns() - o->moved_ns < LEAT_HOLD_NS;
}

static bool is_inode(int fd, int other)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

bool leat_former_is(const struct leat_file *f, int fd)
{
	return f->former && is_inode(fd, f->former->probe);
}

bool leat_former_is_followed(const struct leat_file *f, int fd)
{
	return f->former && is_inode(fd, f->former->fresh);
}

int leat_former_exchange(struct leat_file *f, int fd, int *fresh)
{
	struct leat_former *o = f->former;
	struct handed *h;
	int rc;

	if (is_used(o))
		return -EAGAIN;
	settle(o);
	DL_FOREACH(o->handed, h)
	if (owns(o, fd, h->byte))
		break;
	if (!h) {
		rc = make_handed(o, fd, &h);
		if (rc)
			return rc;
	}
	catch_up(h, fd);
	LEAT_FAULT("switch.offset");
	*fresh = h->fd;
	return 0;
}
