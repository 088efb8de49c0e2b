/* Open files: each open of the kernel is one open of ours, whose last close the daemon learns of as
 * it does for any client. */
#include "mount/files/handle.h"
#include "mount/daemon/ask.h"
#include "mount/daemon/wait.h"
#include "mount/files/alive.h"
#include "mount/files/listing.h"
#include "mount/files/open_files.h"
#include "mount/files/other.h"
#include "mount/names/handle.h"
#include "mount/record/record.h"

#include "base/fd.h"
#include "client/consumer.h"
#include "client/publisher.h"
#include "eventlog/call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <utlist.h>

static bool writes(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY;
}

/* The kernel drops the lock with the last reference to the description. */
static int lock_description(int fd, uint64_t ofd, bool write)
{
	struct flock lock = {.l_type = write ? F_WRLCK : F_RDLCK,
			     .l_whence = SEEK_SET,
			     .l_start = (off_t)(LEAT_OFD_LOCK + ofd),
			     .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

static int open_there(struct leat_mount_call *call, const struct leat_mount_location *location,
		      int flags, mode_t mode)
{
	struct stat st;
	int fd, rc = 0;

	/* Direct I/O is between the program and this process; a device is the kernel's. */
	flags = (flags & ~(O_DIRECT | O_NOCTTY)) | O_NOFOLLOW | O_CLOEXEC;
	leat_mount_become(call);
	fd = openat(location->dirfd, location->path, flags, leat_mount_mask(call, mode));
	if (fd < 0)
		rc = -errno;
	leat_mount_unmask(call);
	leat_mount_become_self(call);
	if (!rc && call->other && fstat(fd, &st) == 0 && (rc = leat_other_access(call, &st, R_OK)))
		leat_close(&fd);
	if (rc)
		return rc == -ELOOP ? -ESTALE : rc;
	if (location->ofd)
		rc = lock_description(fd, location->ofd, writes(flags));
	if (rc)
		leat_close(&fd);
	return rc ? rc : fd;
}

int leat_handle_open(struct leat_mount_call *call, fuse_ino_t ino,
		     struct leat_mount_location *location, int flags, mode_t mode,
		     struct leat_handle **handle)
{
	struct leat_handle *h = calloc(1, sizeof(*h));
	int fd = h ? open_there(call, location, flags, mode) : -ENOMEM;

	if (location->ofd || fd < 0 || flags & O_CREAT)
		leat_mount_report_opened(call, location, fd < 0 ? fd : 0);
	if (fd < 0) {
		free(h);
		return fd;
	}
	*h = (struct leat_handle){.m = call->m,
				  .fd = fd,
				  .flags = flags,
				  .kind = location->kind,
				  .slot = location->slot,
				  .ofd = location->ofd,
				  .intact = location->intact};
	leat_word_set(&h->generation, location->generation);
	if (ino)
		leat_handle_attach(h, ino);
	leat_shm_count(&leat_mount_step(call)->opens, 1);
	*handle = h;
	return 0;
}

static void report_closed(struct leat_mount_call *call, const struct leat_handle *h)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);
	const struct leat_msg_closed closed = {
		.h.type = LEAT_MSG_CLOSED, .slot = h->slot, .killed = h->abnormal, .ofd = h->ofd};
	struct leat_msg_early_size early;

	if (!call->connection)
		return;
	if (leat_publisher_may_write(h->kind) || h->ofd)
		leat_channel_report(leat_mount_channel(call), &closed.h);
	/* A consumer behaved as if a size seen early were the last word. */
	if (h->kind == LEAT_KIND_CONSUMER && h->sized && h->trusted &&
	    leat_consumer_trusted_early_size(f, h->slot, h->size_seen, h->read_end, &early))
		leat_channel_report(leat_mount_channel(call), &early.h);
}

/* Does the next open of this program depend on the close of `h`? */
static bool is_awaited(const struct leat_handle *h)
{
	return h->ofd && (h->m->acts || h->m->versions || leat_handle_is_version(h));
}

/* Returns when the daemon has heard of the close, and the step's actions have been called for it.
 */
static void await_closed(struct leat_mount_call *call, const struct leat_handle *h)
{
	if (call->connection)
		leat_mount_await_actions(call, h->slot, h->ofd, true);
}

static void count_closing(struct leat_mount *m, int change)
{
	pthread_mutex_lock(&m->lock);
	m->closing += change;
	pthread_mutex_unlock(&m->lock);
}

void leat_handle_close(struct leat_mount_call *call, struct leat_handle *h)
{
	const bool awaited = is_awaited(h);

	leat_record_closed(call, h);
	if (awaited)
		count_closing(h->m, 1);
	leat_handle_detach(h);
	if (h->map)
		munmap((void *)(uintptr_t)h->map, h->map_size);
	if (h->listing)
		leat_listing_free(call, h->listing);
	leat_close(&h->fd);
	report_closed(call, h);
	if (awaited) {
		await_closed(call, h);
		count_closing(h->m, -1);
	}
	free(h);
}

bool leat_handle_is_version(const struct leat_handle *h)
{
	return h->ofd && !writes(h->flags);
}

static void report_read(struct leat_mount_call *call, const struct leat_handle *h,
			enum leat_read how, uint64_t end, bool partly)
{
	const struct leat_msg_read read = {
		.h.type = LEAT_MSG_READ, .ofd = h->ofd, .how = how, .partly = partly, .end = end};

	if (call->connection)
		leat_mount_report(call, &read.h);
}

/* Of a version: is it empty, has a program closed it, and read nothing of it? */
static bool is_unread(const struct leat_mount_call *call, const struct leat_handle *h)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);

	return h->closer && !h->read_reported && !h->look_reported && f &&
	       leat_shm_flags(f) & LEAT_SHM_COMMITTED && !leat_shm_size(f);
}

void leat_handle_note_closed(struct leat_mount_call *call, struct leat_handle *h)
{
	/* A launch that ends with that was for this version: it is reported before the close is. */
	if (is_unread(call, h) && leat_handle_note_unread(h, true))
		report_read(call, h, LEAT_READ_LOOK, 1, false);
}

void leat_handle_flushed(struct leat_handle *h)
{
	pthread_mutex_lock(&h->m->lock);
	h->flushed = is_awaited(h);
	pthread_mutex_unlock(&h->m->lock);
}

/* As in the interception library. */
void leat_handle_note_read(struct leat_mount_call *call, struct leat_handle *h, ssize_t n,
			   size_t asked, uint64_t offset)
{
	bool report, look, grows = false;
	struct leat_shm_file *f;
	uint64_t end, size;

	if (!leat_handle_is_version(h) || n < 0)
		return;
	f = leat_mount_file(call, h->slot);
	size = f && leat_shm_flags(f) & LEAT_SHM_COMMITTED ? leat_shm_size(f) : UINT64_MAX;
	pthread_mutex_lock(&h->m->lock);
	report = !h->read_reported &&
		 leat_glance_exceeds(&h->glance, offset, (uint64_t)n, asked, size);
	end = h->glance.end;
	if (!report && !h->read_reported)
		grows = f && size == UINT64_MAX && end && end >= leat_shm_frontier(f);
	look = !report && !h->read_reported && (!h->look_reported || grows);
	h->read_reported |= report;
	h->look_reported |= look;
	pthread_mutex_unlock(&h->m->lock);
	if (report)
		leat_handle_note_unread(h, false);
	if (report || look)
		report_read(call, h, report ? LEAT_READ_ALL : LEAT_READ_LOOK, end, grows);
}

void leat_handle_note_refused(struct leat_mount_call *call, const struct leat_handle *h)
{
	report_read(call, h, LEAT_READ_LOOK, 0, false);
}

/* 20 ms; where the kernel has released files that are still to be dealt with, 2 s. */
enum { SETTLE_LOOKS = 100, RELEASE_LOOKS = 10000 };

/* A close that the kernel has still to tell of may never come: another process can have the
 * descriptor, too. `give_up` on those. */
static bool is_closing(struct leat_mount *m, bool give_up)
{
	struct leat_handle *h;
	bool closing;

	pthread_mutex_lock(&m->lock);
	closing = m->closing > 0;
	DL_FOREACH2(m->handles, h, all_next)
	{
		h->flushed = h->flushed && !give_up;
		closing |= h->flushed;
	}
	pthread_mutex_unlock(&m->lock);
	return closing;
}

static bool gives_up(struct leat_mount *m, unsigned looks)
{
	return looks >= RELEASE_LOOKS || (looks >= SETTLE_LOOKS && !leat_fuse_releases(m->session));
}

int leat_handles_settle(struct leat_mount_call *call)
{
	const struct timespec pause = {.tv_nsec = 200000};

	leat_alive_poll(call);
	for (unsigned looks = 0; is_closing(call->m, gives_up(call->m, looks)); looks++) {
		if (leat_mount_call_is_stopped(call))
			return -EINTR;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int leat_handle_whole(struct leat_mount_call *call, const struct leat_handle *h)
{
	int rc;

	if (h->kind != LEAT_KIND_CONSUMER)
		return 0;
	rc = leat_consumer_is_whole(leat_mount_file(call, h->slot));
	if (rc)
		return rc < 0 ? rc : 0;
	return leat_mount_await_whole(call, h->slot);
}
