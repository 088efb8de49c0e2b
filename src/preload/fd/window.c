#include "preload/fd/window.h"

#include "base/fault.h"
#include "preload/hooks/handlers.h"
#include "preload/hooks/hooks.h"
#include "preload/fd/space.h"
#include "preload/core/text.h"
#include "preload/connection/timing.h"

#include <errno.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Beyond this the kernel copies as fast. */
#define MAX_SMALL 16384u
/* So many small operations are worth a mapping. */
#define MANY 24u
/* A window; a huge page, and so aligned. */
#define WINDOW (UINT64_C(2) << 20)
/* Smaller files are written by the kernel. */
#define MIN_LENGTH (UINT64_C(256) << 10)
/* From here on the next window is prepared. */
#define MANY_WINDOWS (2 * WINDOW)
/* A consumer notes that it has read so far ahead. */
#define AHEAD (UINT64_C(64) << 10)
#define COUNT_EVERY 512u
#define TIMED_CALL 100u
/* A small copy that took so long was interrupted by others. */
#define ODD_NS 20000u

enum { MAX_NAPS = 5000 };

/* Under `busy`. */
static void count_all(struct leat_fd *r)
{
	struct leat_shm_step *step = leat_client_step();
	bool writes = r->kind == LEAT_KIND_PRODUCER || r->kind == LEAT_KIND_PUBLISHER;

	if (!r->calls)
		return;
	leat_shm_count(writes ? &step->bytes_out : &step->bytes_in, r->bytes);
	leat_shm_count(writes ? &step->writes : &step->reads, r->calls);
	leat_shm_count(&step->copy_ns, r->copy_ns * r->calls);
	r->calls = 0;
	r->bytes = 0;
}

void leat_window_count(struct leat_fd *r)
{
	if (!leat_fd_take(r))
		return; /* who has it counts later */
	count_all(r);
	leat_fd_give(r);
}

static void count(struct leat_fd *r, uint64_t n)
{
	r->used++;
	r->bytes += n;
	if (++r->calls >= COUNT_EVERY)
		count_all(r);
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

static void unmap(struct leat_window *w)
{
	if (w->base)
		raw(SYS_munmap, w->base, w->end - w->start);
	*w = (struct leat_window){0};
}

/* An address for WINDOW bytes at which the kernel can map a huge page. */
static long find_room(void)
{
	long at = raw(SYS_mmap, 0, 2 * WINDOW, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t start, room = (uint64_t)at;

	if (at < 0 && at > -4096)
		return at;
	start = (room + WINDOW - 1) / WINDOW * WINDOW;
	if (start > room)
		raw(SYS_munmap, room, start - room);
	if (room + WINDOW > start)
		raw(SYS_munmap, start + WINDOW, room + WINDOW - start);
	return (long)start;
}

static bool map(struct leat_fd *r, int fd, uint64_t at, int protection, uint32_t home)
{
	struct leat_window *w = &r->window;
	uint64_t start = at / WINDOW * WINDOW;
	long room = w->base ? (long)(uintptr_t)w->base : find_room();

	if (room < 0 && room > -4096)
		return false;
	/* in the place of the one before, if there is one */
	if (raw(SYS_mmap, room, WINDOW, protection, MAP_SHARED | MAP_FIXED, fd, start) != room) {
		raw(SYS_munmap, room, WINDOW);
		*w = (struct leat_window){0};
		return false;
	}
	*w = (struct leat_window){.base = (char *)(uintptr_t)room,
				  .start = start,
				  .end = start + WINDOW,
				  .home = home,
				  .writable = protection & PROT_WRITE};
	return true;
}

static bool holds(const struct leat_fd *r, uint64_t at, uint64_t length)
{
	const struct leat_window *w = &r->window;

	return w->base && at >= w->start && at + length <= w->end && w->home == r->home;
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
		if (leat_has_left(r, r->home))
			return 0; /* bytes may be there that are not here */
		r->known = there;
		return length < there - at ? length : there - at;
	}
	if (r->kind != LEAT_KIND_CONSUMER)
		return 0;
	there = leat_shm_frontier(f);
	if (at + length > there || leat_has_left(r, r->home))
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
	if (holds(r, at, length) && !r->window.writable)
		return true;
	if (r->small < MANY) {
		r->small++;
		return false;
	}
	/* Who jumps about would map for each read. */
	if ((!r->window.base || r->used >= MANY) && at / WINDOW == (at + length - 1) / WINDOW &&
	    map(r, fd, at, PROT_READ, r->home)) {
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
	if (!leat_fd_take(r))
		return LEAT_WINDOW_PASS;
	done = ready_to_read(r, fd, at, length) &&
	       (!move || leat_offset_move(r->place, at, at + length));
	if (done) {
		copy(r, to, r->window.base + (at - r->window.start), length);
		leat_note_read_by(r, at, length, asked);
		count(r, length);
	}
	leat_fd_give(r);
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

	if (!is_small_read(r, length) || !leat_offset_get(r->place, &at))
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
	uint32_t home = r->home;
	long mine = open_to_map(fd);
	bool done;

	if (mine < 0)
		return false;
	done = map(r, (int)mine, at, PROT_READ | PROT_WRITE, home);
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
	uint64_t end = (at / WINDOW + 1) * WINDOW, next = at >= MANY_WINDOWS ? WINDOW : 0;
	struct leat_msg_fact fact = {.slot = r->slot, .ofd = r->ofd, .offset = end, .length = next};

	if (!extend(fd, at, end, end + next) || !map_to_write(r, fd, at))
		return false;
	if (next)
		leat_client_fact(LEAT_MSG_AHEAD, &fact);
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
	if (holds(r, at, length) && r->window.writable && leat_shm_is_ahead(f))
		return true;
	if (r->small < MANY || at < MIN_LENGTH) {
		r->small++;
		return false;
	}
	if (at / WINDOW == (at + length - 1) / WINDOW && !leat_is_over_budget(fd, WINDOW) &&
	    advance(r, fd, f, at))
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
	       !leat_fd_has(r, LEAT_FD_APPEND | LEAT_FD_TOLD) && f &&
	       !(leat_shm_flags(f) & NOT_FOR_US) && !leat_shm_is_shut(f);
}

/* The bytes [at, at+length) are the next of the file, and the window has room for them. */
static bool append(struct leat_fd *r, struct leat_shm_file *f, const void *from, uint64_t at,
		   uint64_t length)
{
	const bool publish = r->kind == LEAT_KIND_PUBLISHER;

	if (!leat_shm_copy_begin(f))
		return false;
	/* Nor may the kernel be at bytes before these, which publishing these would publish. */
	if (leat_shm_reserved(f) != at || leat_shm_holders(f, true) ||
	    !leat_offset_move(r->place, at, at + length)) {
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

	if (!length || length > MAX_SMALL || !may_write(r, f) || !leat_offset_get(r->place, &at) ||
	    !leat_fd_take(r))
		return LEAT_WINDOW_PASS;
	done = ready_to_write(r, fd, f, at, length) && append(r, f, from, at, length);
	if (done)
		count(r, length);
	leat_fd_give(r);
	return done ? (int64_t)length : LEAT_WINDOW_PASS;
}

/* ---- the true size ---- */

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

static bool settle(struct leat_shm_file *f, int fd, bool shut)
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

bool leat_window_settle(const struct leat_fd *r, int fd, bool shut)
{
	struct leat_shm_file *f = leat_fd_has(r, LEAT_FD_WRITE) ? leat_client_file(r->slot) : NULL;
	bool done = !f || (!shut && !leat_shm_is_ahead(f));
	uint64_t mask;

	for (int i = 0; !done && i < MAX_NAPS; i++) {
		if (i)
			leat_nap(LEAT_NAP_NS);
		leat_block_signals(&mask);
		done = settle(f, fd, shut);
		leat_restore_signals(&mask);
	}
	return done;
}

/* Who changes the size is mostly just waiting for a processor. If it was killed the daemon ends the
 * change, but only once nobody has the file open. */
enum { MAX_ROUNDS = 20 };

int leat_window_settle_now(const struct leat_fd *r, int fd)
{
	static struct leat_word said;

	for (int i = 0; i < MAX_ROUNDS; i++)
		if (leat_window_settle(r, fd, false))
			return 0;
	if (!leat_word_swap(&said, 1))
		leat_say(
			"an open file cannot be written: another process that writes it was killed "
			"or stopped just when it changed its size",
			NULL);
	return -EIO;
}

int leat_window_hold(const struct leat_fd *r, int fd, struct leat_hold *h)
{
	int rc;

	for (;;) {
		rc = leat_window_settle_now(r, fd);
		if (!rc)
			rc = leat_hold(fd, true, h);
		if (rc || !h->f || !leat_shm_is_ahead(h->f))
			return rc;
		leat_let_go(h, 0);
	}
}

bool leat_window_yield(struct leat_fd *r, int fd, bool shut)
{
	leat_offset_yield(r->place, fd);
	return leat_window_settle(r, fd, shut);
}

void leat_window_drop(struct leat_fd *r)
{
	if (!r->window.base || !leat_fd_take(r))
		return;
	unmap(&r->window);
	leat_fd_give(r);
}

void leat_window_close(struct leat_fd *r, int fd)
{
	bool mine = leat_fd_take(r);

	for (int i = 0; !mine && i < MAX_NAPS; i++) {
		leat_nap(LEAT_NAP_NS);
		mine = leat_fd_take(r);
	}
	if (!mine)
		return; /* a handler that never came back left it so: the mapping stays */
	count_all(r);
	leat_window_settle(r, fd, false);
	unmap(&r->window);
	leat_fd_give(r);
}
