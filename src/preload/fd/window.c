#include "preload/fd/window.h"

#include "base/fault.h"
#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/text.h"
#include "preload/fd/bytes.h"
#include "preload/fd/mapping.h"
#include "preload/fd/migrate.h"
#include "preload/fd/offset.h"
#include "preload/fd/reading.h"
#include "preload/fd/space.h"
#include "preload/fd/table.h"
#include "shm/state.h"
#include "shm/window.h"
#include "wire/wire.h"

#include <errno.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Beyond this the kernel copies as fast. */
#define MAX_SMALL 16384u
/* So many small operations are worth a mapping. */
#define MANY 24u
/* Smaller files are written by the kernel. */
#define MIN_LENGTH (UINT64_C(256) << 10)
/* From here on the next window is prepared. */
#define MANY_WINDOWS (2 * LEAT_WINDOW_BYTES)
/* A consumer notes that it has read so far ahead. */
#define AHEAD (UINT64_C(64) << 10)
#define COUNT_EVERY 512u
#define TIMED_CALL 100u
/* A small copy that took so long was interrupted by others. */
#define ODD_NS 20000u

static void count(struct leat_fd *r, uint64_t n)
{
	r->used++;
	r->bytes += n;
	if (++r->calls >= COUNT_EVERY)
		leat_window_note_calls(r);
}

/* Copy within the window; one copy in COUNT_EVERY is timed. Not the first ones: those of a round
 * of 4 KB each would be the first of a window each time, and stand for faults of all. */
static void copy(struct leat_fd *r, void *to, const void *from, uint64_t length)
{
	uint64_t since, ns;

	if (r->calls != TIMED_CALL) {
		memcpy(to, from, length);
		return;
	}
	since = leat_now_ns();
	memcpy(to, from, length);
	ns = leat_now_ns() - since;
	if (ns < ODD_NS)
		r->copy_ns = ns;
}

/* ---- reading ---- */

static bool may_read(enum leat_kind kind)
{
	return kind == LEAT_KIND_CONSUMER || kind == LEAT_KIND_COUNTED;
}

/* How many of `length` bytes can be read at `at` without waiting; 0: the long way. What is
 * known now holds for a while. */
static uint64_t know(struct leat_fd *r, uint64_t at, uint64_t length)
{
	struct leat_shm_file *f = leat_client_file(r->slot);
	uint32_t flags = f ? leat_shm_flags(f) : LEAT_SHM_FAILED;
	uint64_t there;

	if (flags & LEAT_SHM_FAILED)
		return 0;
	if (flags & LEAT_SHM_COMMITTED) {
		there = leat_shm_size(f);
		if (at >= there)
			return 0; /* the end */
		if (leat_has_left(r, r->generation))
			return 0; /* bytes may be there that are not here */
		r->known = there;
		return length < there - at ? length : there - at;
	}
	if (r->kind != LEAT_KIND_CONSUMER)
		return 0;
	there = leat_shm_frontier(f);
	if (at + length > there || leat_has_left(r, r->generation))
		return 0;
	there = there < at + AHEAD ? there : at + AHEAD;
	/* Before the bytes are read: a producer that changes them later must find it. */
	leat_shm_consumed(f, at, there - at);
	if (leat_shm_is_rewritten(f, (struct leat_range){at, there}))
		return 0;
	r->known = there;
	return length;
}

static bool ready_to_read(struct leat_fd *r, int fd, uint64_t at, uint64_t length)
{
	if (leat_window_holds(r, at, length) && !r->window.writable)
		return true;
	if (r->small < MANY) {
		r->small++;
		return false;
	}
	/* Who jumps about would map for each read. */
	if ((!r->window.base || r->used >= MANY) &&
	    at / LEAT_WINDOW_BYTES == (at + length - 1) / LEAT_WINDOW_BYTES &&
	    leat_window_map(r, fd, at, PROT_READ, r->generation)) {
		r->used = 0;
		return true;
	}
	r->used = MANY;
	r->small = 0; /* another try later */
	return false;
}

/* At `at`, and if `move`, only if the offset stands there, which is then moved. */
static int64_t read_at(struct leat_fd *r, int fd, void *to, uint64_t length, uint64_t at, bool move)
{
	const uint64_t asked = length;
	bool done;

	if (at + length > r->known) {
		length = know(r, at, length);
		if (!length)
			return LEAT_WINDOW_PASS;
	}
	if (!leat_fd_acquire(r))
		return LEAT_WINDOW_PASS;
	done = ready_to_read(r, fd, at, length) &&
	       (!move || leat_offset_move(r->shared_offset, at, at + length));
	if (done) {
		copy(r, to, r->window.base + (at - r->window.start), length);
		leat_note_read_by(r, at, length, asked);
		count(r, length);
	}
	leat_fd_release(r);
	if (!done)
		return LEAT_WINDOW_PASS;
	if (leat_fd_has(r, LEAT_FD_DROP) && !leat_still_there(r, at))
		return -EIO; /* nor was it, perhaps, when it was copied */
	return (int64_t)length;
}

static bool is_small_read(const struct leat_fd *r, uint64_t length)
{
	return length && length <= MAX_SMALL && may_read((enum leat_kind)r->kind);
}

int64_t leat_window_read(struct leat_fd *r, int fd, void *to, uint64_t length)
{
	uint64_t at;

	if (!is_small_read(r, length) || !leat_offset_get(r->shared_offset, &at))
		return LEAT_WINDOW_PASS;
	return read_at(r, fd, to, length, at, true);
}

int64_t leat_window_pread(struct leat_fd *r, int fd, void *to, uint64_t length, int64_t at)
{
	if (!is_small_read(r, length) || at < 0 || (uint64_t)at > LEAT_OFFSET_VALUE)
		return LEAT_WINDOW_PASS;
	return read_at(r, fd, to, length, (uint64_t)at, false);
}

/* ---- writing ---- */

/* Only a description that can be read can be mapped. */
static long open_to_map(int fd)
{
	char path[LEAT_FD_PATH];

	leat_fd_path(fd, path);
	return raw(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
}

static bool map_to_write(struct leat_fd *r, int fd, uint64_t at)
{
	uint32_t generation = r->generation;
	long mine = open_to_map(fd);
	bool done;

	if (mine < 0)
		return false;
	done = leat_window_map(r, (int)mine, at, PROT_READ | PROT_WRITE, generation);
	raw(SYS_close, mine);
	return done;
}

/* A size beyond RLIMIT_FSIZE would end the program, although it has not written so much. */
static bool may_be(uint64_t size)
{
	struct rlimit limit;

	return !raw(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) && size <= limit.rlim_cur;
}

/* Memory first: a store that is full must be noticed here, not by a signal. */
static bool extend(int fd, uint64_t from, uint64_t to, uint64_t size)
{
	return may_be(size) && raw(SYS_ftruncate, fd, size) == 0 &&
	       raw(SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE, from, to - from) == 0;
}

/* Under the right to change the size: have a window at `at`, where the file ends. For a file that
 * grows and grows the daemon clears the memory of the next one. */
static bool open_window(struct leat_fd *r, int fd, uint64_t at)
{
	uint64_t end = (at / LEAT_WINDOW_BYTES + 1) * LEAT_WINDOW_BYTES,
		 next = at >= MANY_WINDOWS ? LEAT_WINDOW_BYTES : 0;
	const struct leat_msg_range soon = {
		.h.type = LEAT_MSG_PREFAULT, .slot = r->slot, .offset = end, .length = next};

	if (!extend(fd, at, end, end + next) || !map_to_write(r, fd, at))
		return false;
	if (next)
		leat_client_report(&soon.h);
	return true;
}

/* Make a window at the file's end, or go on to the next. All signals are blocked, because
 * a handler that writes would have to wait for us. False: the kernel's size is true. */
static bool advance(struct leat_fd *r, int fd, struct leat_shm_file *f, uint64_t at)
{
	bool begin = !leat_shm_is_ahead(f), done = false;
	uint64_t mask, length;
	struct stat st;

	leat_block_signals(&mask);
	if (leat_shm_window_take(f, begin, false)) {
		length = leat_shm_reserved(f);
		if (begin)
			length = raw(SYS_fstat, fd, &st) ? UINT64_MAX : (uint64_t)st.st_size;
		LEAT_FAULT("window.taken");
		if (length == at)
			leat_shm_window_begin(f, length);
		done = length == at && open_window(r, fd, at);
		LEAT_FAULT("window.open");
		if (!done && (!begin || length == at))
			raw(SYS_ftruncate, fd, length);
		leat_shm_window_give(f, done ? LEAT_WINDOW_IDLE : LEAT_WINDOW_NONE, length);
	}
	leat_restore_signals(&mask);
	return done;
}

static bool ready_to_write(struct leat_fd *r, int fd, struct leat_shm_file *f, uint64_t at,
			   uint64_t length)
{
	if (leat_window_holds(r, at, length) && r->window.writable && leat_shm_is_ahead(f))
		return true;
	if (r->small < MANY || at < MIN_LENGTH) {
		r->small++;
		return false;
	}
	if (at / LEAT_WINDOW_BYTES == (at + length - 1) / LEAT_WINDOW_BYTES &&
	    !leat_space_is_over_budget(fd, LEAT_WINDOW_BYTES) && advance(r, fd, f, at))
		return true;
	r->small = 0; /* another try later */
	return false;
}

#define NOT_FOR_US                                                                                 \
	(LEAT_SHM_SPARSE | LEAT_SHM_EXTENTS | LEAT_SHM_COMMITTED | LEAT_SHM_FAILED |               \
	 LEAT_SHM_SHARED)

static bool may_write(const struct leat_fd *r, struct leat_shm_file *f)
{
	return (r->kind == LEAT_KIND_PUBLISHER || r->kind == LEAT_KIND_PRODUCER) &&
	       !leat_fd_has(r, LEAT_FD_APPEND | LEAT_FD_REPORTED) && f &&
	       !(leat_shm_flags(f) & NOT_FOR_US) && !leat_shm_is_shut(f);
}

/* The bytes [at, at+length) are the next of the file, and the window has space for them. */
static bool append(struct leat_fd *r, struct leat_shm_file *f, const void *from, uint64_t at,
		   uint64_t length)
{
	const bool publish = r->kind == LEAT_KIND_PUBLISHER;

	if (!leat_shm_copy_begin(f))
		return false;
	/* Nor may the kernel be at bytes before these, which publishing these would publish. */
	if (leat_shm_reserved(f) != at || leat_shm_holders(f, true) ||
	    !leat_offset_move(r->shared_offset, at, at + length)) {
		leat_shm_copy_end(f, 0, publish);
		return false;
	}
	LEAT_FAULT("window.moved");
	copy(r, r->window.base + (at - r->window.start), from, length);
	LEAT_FAULT("window.copied");
	leat_shm_copy_end(f, at + length, publish);
	return true;
}

int64_t leat_window_write(struct leat_fd *r, int fd, const void *from, uint64_t length)
{
	struct leat_shm_file *f = leat_client_file(r->slot);
	uint64_t at;
	bool done;

	if (!length || length > MAX_SMALL || !may_write(r, f) ||
	    !leat_offset_get(r->shared_offset, &at) || !leat_fd_acquire(r))
		return LEAT_WINDOW_PASS;
	done = ready_to_write(r, fd, f, at, length) && append(r, f, from, at, length);
	if (done)
		count(r, length);
	leat_fd_release(r);
	return done ? (int64_t)length : LEAT_WINDOW_PASS;
}
