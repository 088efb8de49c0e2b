/* The true size of a file whose kernel's size is ahead, by windows. */
#include "preload/fd/size.h"

#include "base/fault.h"
#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/log.h"
#include "preload/fd/offset.h"
#include "preload/fd/table.h"
#include "shm/state.h"
#include "shm/window.h"
#include "shm/word.h"

enum { MAX_SLEEPS = 5000 };

uint64_t leat_window_length(const struct leat_fd *r, int fd)
{
	struct leat_shm_file *f = leat_client_file(r->slot);
	uint64_t length;
	uint32_t epoch;
	struct stat st;

	do {
		epoch = f ? leat_shm_epoch(f) : 0;
		if (raw(SYS_fstat, fd, &st))
			return 0;
		length = (uint64_t)st.st_size;
	} while (f && !leat_shm_length(f, epoch, length, &length));
	return length;
}

static bool fix_size(struct leat_shm_file *f, int fd, bool shut)
{
	enum leat_shm_window next = shut ? LEAT_WINDOW_SHUT : LEAT_WINDOW_NONE;

	if (leat_shm_window_take(f, false, false)) {
		uint64_t length = leat_shm_reserved(f);

		LEAT_FAULT("window.settle");
		if (raw(SYS_ftruncate, fd, length) < 0)
			next = LEAT_WINDOW_IDLE; /* still ahead */
		leat_shm_window_give(f, next, length);
		return next != LEAT_WINDOW_IDLE;
	}
	return shut ? leat_shm_window_shut(f) : !leat_shm_is_ahead(f);
}

bool leat_window_truncate(const struct leat_fd *r, int fd, bool shut)
{
	struct leat_shm_file *f = leat_fd_has(r, LEAT_FD_WRITE) ? leat_client_file(r->slot) : NULL;
	bool done = !f || (!shut && !leat_shm_is_ahead(f));
	uint64_t mask;

	for (int i = 0; !done && i < MAX_SLEEPS; i++) {
		if (i)
			leat_sleep(LEAT_SLEEP_NS);
		leat_block_signals(&mask);
		done = fix_size(f, fd, shut);
		leat_restore_signals(&mask);
	}
	return done;
}

/* Who changes the size is mostly just waiting for a processor. If it was killed the daemon ends the
 * change, but only once nobody has the file open. */
enum { MAX_ROUNDS = 20 };

int leat_window_truncate_now(const struct leat_fd *r, int fd)
{
	static struct leat_word reported;

	for (int i = 0; i < MAX_ROUNDS; i++)
		if (leat_window_truncate(r, fd, false))
			return 0;
	if (!leat_word_swap(&reported, 1))
		leat_log_line(
			"an open file cannot be written: another process that writes it was killed "
			"or stopped just when it changed its size",
			NULL);
	return -EIO;
}

bool leat_window_release(struct leat_fd *r, int fd, bool shut)
{
	leat_offset_release(r->shared_offset, fd);
	return leat_window_truncate(r, fd, shut);
}
