#include "preload/fd/migrate.h"

#include "base/fault.h"
#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/log.h"
#include "preload/core/process.h"
#include "preload/fd/mapping.h"
#include "preload/fd/offset.h"
#include "preload/fd/size.h"
#include "preload/fd/table.h"
#include "shm/state.h"
#include "shm/window.h"
#include "shm/word.h"
#include "wire/wire.h"

#include <errno.h>
#include <unistd.h>

/* The new descriptor takes the number over. */
static int take_number(int fd, int new)
{
	long flags = raw(SYS_fcntl, fd, F_GETFD);
	long rc = flags < 0 ? flags : raw(SYS_dup3, new, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0);

	raw(SYS_close, new);
	return rc < 0 ? (int)rc : 0;
}

/* 0, -EAGAIN with *seq, or -errno. */
static int exchange(struct leat_thread *t, int fd, struct leat_fd *r, uint32_t *seq)
{
	const struct leat_msg_replaced_fd *reply = (const struct leat_msg_replaced_fd *)t->msg;
	int new, rc = leat_channel_replace_fd(leat_client_channel(t), r->slot, fd, &new);

	if (rc == -EAGAIN)
		*seq = reply->seq;
	if (!rc && new >= 0)
		rc = take_number(fd, new);
	LEAT_FAULT("follow.taken");
	if (rc)
		return rc;
	r->generation = reply->generation;
	leat_window_drop(r);
	return 0;
}

static bool is_moving(uint32_t generation)
{
	return generation % LEAT_GENERATION_NEXT != 0;
}

/* Others that use an offset of the former place are about to let go of it. */
enum { SLEEP_NS = 50000 };

int leat_migrate(int fd, bool write)
{
	struct leat_fd *r = leat_fd_get(fd);
	struct leat_guard g;
	uint32_t generation, seq;
	int rc;

	while (r && r->slot && leat_has_left(r, r->generation) && !leat_in_vfork()) {
		seq = leat_shm_seq(leat_client_file(r->slot));
		generation = leat_shm_generation(leat_client_file(r->slot));
		if (is_moving(generation) && !write)
			return 0;
		rc = leat_guard_acquire(&g);
		if (rc)
			return rc;
		rc = is_moving(generation) ? -EAGAIN : exchange(g.t, fd, r, &seq);
		leat_guard_release(&g);
		if (rc == -EAGAIN && is_moving(generation))
			rc = leat_wait_slot(r->slot, seq);
		else if (rc == -EAGAIN)
			leat_sleep(SLEEP_NS);
		if (rc && rc != -EAGAIN)
			return rc == -ESTALE ? -EIO : rc;
		r = leat_fd_get(fd);
	}
	return 0;
}

/* ---- staying for the moment of a call ---- */

/* The process that handed the offset to the kernel did not come to the end of that. */
static int lost_offset(void)
{
	static struct leat_word reported;

	if (!leat_word_swap(&reported, 1))
		leat_log_line(
			"the offset of an open file is lost: a process that has it open as well "
			"was "
			"killed or stopped just when it moved it",
			NULL);
	return -EIO;
}

int leat_file_acquire(int fd, bool write, struct leat_file_hold *h)
{
	const struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f = r && r->kind != LEAT_KIND_DIR ? leat_client_file(r->slot) : NULL;
	int rc = 0;

	*h = (struct leat_file_hold){.write = write};
	/* A write by a descriptor that cannot write is the kernel's to refuse. */
	if (r && leat_offset_is_lost(r->shared_offset))
		return lost_offset();
	if (!f || (write && !leat_fd_has(r, LEAT_FD_WRITE)))
		return 0;
	for (;;) {
		h->generation = r->generation;
		if (leat_shm_hold(f, write, h->generation)) {
			h->f = f;
			return 0;
		}
		if (leat_in_vfork())
			return 0;
		rc = leat_migrate(fd, write);
		if (rc)
			return rc;
	}
}

long leat_file_release(const struct leat_file_hold *h, long n)
{
	if (h->f && !leat_shm_release(h->f, h->write, h->generation) && h->write && n > 0)
		return -EIO;
	return n;
}

int leat_window_acquire(const struct leat_fd *r, int fd, struct leat_file_hold *h)
{
	int rc;

	for (;;) {
		rc = leat_window_truncate_now(r, fd);
		if (!rc)
			rc = leat_file_acquire(fd, true, h);
		if (rc || !h->f || !leat_shm_is_ahead(h->f))
			return rc;
		leat_file_release(h, 0);
	}
}
