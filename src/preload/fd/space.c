/* Writes that find no space in memory: the daemon is asked to make some. */
#include "preload/fd/space.h"

#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/process.h"
#include "preload/fd/migrate.h"
#include "preload/fd/table.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <errno.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A consumer that reads on gives memory back. One that has stood still for so long may be waiting
 * for something else, and the rest of the file has to go elsewhere. */
enum { SLEEP_NS = 500000, MAX_SLEEPS = 1000 };

static bool wait_for_reader(struct leat_shm_file *f, struct leat_space *space)
{
	uint64_t dropped;

	if (!f || !(leat_shm_flags(f) & LEAT_SHM_DROP))
		return false;
	dropped = leat_shm_dropped(f);
	if (dropped != space->dropped)
		space->sleeps = 0;
	space->dropped = dropped;
	if (space->sleeps++ >= MAX_SLEEPS)
		return false;
	leat_sleep(SLEEP_NS);
	return true;
}

bool leat_space_make(int fd, uint64_t length, struct leat_space *space)
{
	const struct leat_fd *r = leat_fd_get(fd);
	uint32_t slot = r ? r->slot : 0, generation = r ? r->generation : 0;
	struct leat_awaiter a;
	int rc;

	if (!slot || leat_in_vfork())
		return false;
	if (wait_for_reader(leat_client_file(slot), space))
		return true;
	leat_wait_init(&a);
	for (;;) {
		rc = leat_await_space(&a, slot, length, &space->attempt);
		if (rc < 0 || leat_migrate_first(fd))
			return false;
		if (!rc || r->generation != generation)
			return true;
	}
}

bool leat_space_is_over_budget(int fd, uint64_t length)
{
	static struct leat_shm_unasked unasked;
	const struct leat_server_info *w = leat_server_known();
	const struct leat_fd *r = leat_fd_get(fd);
	uint64_t sum = w && r && r->slot ? leat_shm_unasked(w->shm, &unasked, length) : 0;
	struct leat_msg_ask_budget question = {.h.type = LEAT_MSG_ASK_BUDGET, .length = sum};

	if (!sum || leat_in_vfork())
		return false;
	question.slot = r->slot;
	return leat_shm_asked(w->shm, &unasked, leat_client_ask(&question.h, NULL));
}

long leat_space_retry(const struct leat_syscall *c, int fd, uint64_t length)
{
	const struct leat_fd *r = leat_fd_get(fd);
	struct leat_space space = {0};
	struct leat_file_hold hold;
	long n;

	if (!r)
		return leat_as_is(c);
	do {
		n = leat_window_acquire(r, fd, &hold);
		if (n)
			return n;
		n = leat_file_release(&hold, leat_as_is(c));
	} while (n == -ENOSPC && leat_space_make(fd, length, &space));
	return n;
}

/* So many may write at once. */
enum { WRITERS = 4 };
#define PLENTY (UINT64_C(1) << 20)

int leat_space_set_aside(int fd, const struct leat_fd *r, uint64_t length)
{
	struct statfs fs;
	struct stat st;
	int64_t at;

	if (length <= 1 || raw(SYS_fstatfs, fd, &fs) || fs.f_type != TMPFS_MAGIC ||
	    (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize >= PLENTY + 4 * WRITERS * length)
		return 0;
	at = raw(SYS_lseek, fd, 0, SEEK_CUR);
	if (leat_fd_has(r, LEAT_FD_APPEND))
		at = raw(SYS_fstat, fd, &st) ? -1 : st.st_size;
	if (at < 0 || raw(SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE, at, WRITERS * length) == 0)
		return 0;
	return raw(SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE, at, length) == -ENOSPC ? -ENOSPC : 0;
}

static bool is_full(int fd, uint64_t wanted)
{
	struct statfs fs;

	return !raw(SYS_fstatfs, fd, &fs) && (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize < wanted;
}

void leat_space_to_map(int fd, uint64_t length)
{
	struct leat_space space = {0};
	struct statfs fs;
	struct stat st;
	uint64_t there;

	do {
		if (raw(SYS_fstat, fd, &st) || !S_ISREG(st.st_mode) || raw(SYS_fstatfs, fd, &fs) ||
		    fs.f_type != TMPFS_MAGIC)
			return;
		there = (uint64_t)st.st_blocks * 512;
		if (there >= (uint64_t)st.st_size)
			return;
		if (length > (uint64_t)st.st_size - there)
			length = (uint64_t)st.st_size - there;
	} while (is_full(fd, length) && leat_space_make(fd, length, &space));
}

bool leat_space_was_full(int fd, uint64_t wanted)
{
	struct rlimit limit;

	if (raw(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) || limit.rlim_cur != RLIM_INFINITY)
		return is_full(fd, wanted);
	return true;
}
