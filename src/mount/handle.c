/* Open files: each open of the kernel is one open of ours, whose last close the daemon learns of as
 * it does for any client. */
#include "base/fd.h"
#include "mount/internal.h"
#include "mount/listing.h"
#include "record/call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

static bool writes(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY;
}

/* The kernel drops the lock with the last reference to the description. */
static int lock_description(int fd, uint64_t ofd)
{
	struct flock lock = {.l_type = F_WRLCK,
			     .l_whence = SEEK_SET,
			     .l_start = (off_t)(LEAT_OFD_LOCK + ofd),
			     .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

static int open_there(struct leat_errand *call, const struct leat_place_of *place, int flags,
		      mode_t mode)
{
	int fd, rc = 0;

	/* Direct I/O is between the program and this process; a device is the kernel's. */
	flags = (flags & ~(O_DIRECT | O_NOCTTY)) | O_NOFOLLOW | O_CLOEXEC;
	leat_errand_become(call);
	fd = openat(place->dirfd, place->path, flags, mode);
	if (fd < 0)
		rc = -errno;
	leat_errand_self(call);
	if (rc)
		return rc == -ELOOP ? -ESTALE : rc;
	if (place->ofd && writes(flags))
		rc = lock_description(fd, place->ofd);
	if (rc)
		leat_close(&fd);
	return rc ? rc : fd;
}

int leat_handle_open(struct leat_errand *call, fuse_ino_t ino, struct leat_place_of *place,
		     int flags, mode_t mode, struct leat_handle **handle)
{
	struct leat_handle *h = calloc(1, sizeof(*h));
	int fd = h ? open_there(call, place, flags, mode) : -ENOMEM;

	if (place->ofd || fd < 0 || flags & O_CREAT)
		leat_errand_made(call, place, fd < 0 ? fd : 0);
	if (fd < 0) {
		free(h);
		return fd;
	}
	*h = (struct leat_handle){.m = call->m,
				  .fd = fd,
				  .flags = flags,
				  .kind = place->kind,
				  .slot = place->slot,
				  .ofd = place->ofd};
	if (ino)
		leat_handle_attach(h, ino);
	leat_shm_count(&leat_errand_step(call)->opens, 1);
	*handle = h;
	return 0;
}

/* As in the interception library: a consumer behaved as if a size seen early were the last word. */
static bool trusted_early_size(const struct leat_errand *call, const struct leat_handle *h)
{
	struct leat_shm_file *f = leat_errand_file(call, h->slot);

	if (!f || !h->sized || h->read_end > h->size_seen)
		return false;
	if (h->read_end < h->size_seen && !h->jumped)
		return false;
	return !(leat_shm_flags(f) & LEAT_SHM_COMMITTED) || leat_shm_size(f) > h->size_seen;
}

static void tell(struct leat_errand *call, const struct leat_handle *h)
{
	struct leat_msg_fact fact = {.slot = h->slot, .ofd = h->ofd};

	if (!call->line)
		return;
	if (h->kind == LEAT_KIND_PRODUCER || h->kind == LEAT_KIND_PUBLISHER) {
		fact.error = h->abnormal ? -EOWNERDEAD : 0;
		leat_line_fact(call->line, LEAT_MSG_CLOSED, &fact);
	} else if (h->kind == LEAT_KIND_CONSUMER && trusted_early_size(call, h)) {
		fact.code = LEAT_VIOLATION_EARLY_SIZE;
		fact.offset = h->read_end;
		fact.length = h->size_seen;
		leat_line_fact(call->line, LEAT_MSG_VIOLATED, &fact);
	}
}

void leat_handle_close(struct leat_errand *call, struct leat_handle *h)
{
	leat_handle_detach(h);
	if (h->map)
		munmap((void *)(uintptr_t)h->map, h->map_size);
	if (h->listing)
		leat_listing_free(call, h->listing);
	leat_close(&h->fd);
	tell(call, h);
	free(h);
}

bool leat_handle_is_final(const struct leat_errand *call, const struct leat_handle *h)
{
	struct leat_shm_file *f = leat_errand_file(call, h->slot);

	return h->kind != LEAT_KIND_CONSUMER || !f || leat_shm_flags(f) & LEAT_SHM_COMMITTED;
}

int leat_handle_whole(struct leat_errand *call, const struct leat_handle *h)
{
	struct leat_shm_file *f = leat_errand_file(call, h->slot);

	if (h->kind != LEAT_KIND_CONSUMER || !f)
		return 0;
	if (leat_shm_flags(f) & LEAT_SHM_FAILED)
		return -EIO;
	if (leat_shm_flags(f) & LEAT_SHM_COMMITTED)
		return 0;
	return leat_errand_wait(call, LEAT_CALL_WHOLE, h->slot, 0, 0);
}
