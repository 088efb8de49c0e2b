/* Calls that move data inside the kernel: sendfile, copy_file_range, splice,
 * mmap, reflinks. */
#include "eventlog/call.h"
#include "preload/connection/client.h"
#include "preload/connection/starved.h"
#include "preload/connection/timing.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "preload/engine/patch.h"
#include "preload/fd/bytes.h"
#include "preload/fd/lifecycle.h"
#include "preload/fd/migrate.h"
#include "preload/fd/offset.h"
#include "preload/fd/promises.h"
#include "preload/fd/reading.h"
#include "preload/fd/size.h"
#include "preload/fd/space.h"
#include "preload/fd/table.h"
#include "preload/hooks/handlers.h"
#include "shm/state.h"
#include "shm/window.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* The kernel's limit for a call: of copy_file_range what is beyond is cut, of the others an error
 * if it is no ssize_t. */
#define MOST_BYTES 0x7ffff000ul

static int64_t offset_of(int fd, const int64_t *offset)
{
	return offset ? *offset : raw(SYS_lseek, fd, 0, SEEK_CUR);
}

/* One side of a copy. */
struct side {
	int fd;
	int64_t *offset; /* the program's pointer, NULL: the descriptor's own */
	int64_t at;      /* -1 for pipes and sockets */
	int64_t piece;   /* of the bytes asked for, those that were tried at once */
	bool grows;      /* what can be read now may not be all */
};

/* The kernel is to move the bytes: it must know offset and size. */
static void leave_to_kernel(int fd, bool to_write)
{
	struct leat_fd *r = leat_fd_get(fd);

	if (r)
		leat_window_release(r, fd, to_write);
}

/* All of the file is to be seen, for as long as the program likes. */
static int need_all(int fd)
{
	const struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f = r ? leat_client_file(r->slot) : NULL;

	if (!f || leat_shm_retain(f))
		return 0;
	leat_client_violation(LEAT_VIOLATION_READ_AGAIN, r->slot, 0, 0);
	return -EIO;
}

static bool ours(const struct side *s)
{
	return leat_fd_kind(s->fd) != LEAT_KIND_NONE;
}

/* Others may move the offset, so that the kernel reads elsewhere than where was looked: there must
 * be nothing in the file that was not written, no window beyond its end, no hole. 0 or -errno. */
static int expect_others(const struct side *in)
{
	const struct leat_fd *r = leat_fd_get(in->fd);
	struct leat_shm_file *f = leat_client_file(r->slot);
	const struct leat_msg_ask_true_size question = {.h.type = LEAT_MSG_ASK_TRUE_SIZE,
							.slot = r->slot};
	int rc = 0;

	if (in->offset || r->kind != LEAT_KIND_CONSUMER || leat_offset_is_ours(r->shared_offset))
		return 0;
	while (!rc && f && !(leat_shm_flags(f) & LEAT_SHM_COMMITTED) && !leat_shm_is_shut(f)) {
		rc = leat_client_ask(&question.h, NULL);
		if (rc == -EAGAIN) {
			leat_sleep(LEAT_SLEEP_NS);
			rc = 0;
		}
	}
	if (!rc && f && leat_shm_flags(f) & (LEAT_SHM_SPARSE | LEAT_SHM_EXTENTS))
		rc = leat_wait_whole(in->fd);
	return rc;
}

static bool was_there(const struct side *in)
{
	const struct leat_fd *r = leat_fd_get(in->fd);

	return r->kind != LEAT_KIND_CONSUMER || leat_still_there(r, (uint64_t)in->at);
}

static void note_in(const struct side *in, long n, uint64_t asked)
{
	struct leat_shm_step *step = leat_client_step();

	if (!ours(in) || n < 0)
		return;
	leat_note_taken(in->fd, n, asked ? UINT64_MAX : 0, in->at);
	if (!n)
		return;
	leat_note_read(in->fd, (uint64_t)in->at, (uint64_t)n, asked);
	leat_shm_count(&step->bytes_in, (uint64_t)n);
	leat_shm_count(&step->reads, 1);
}

/* In a batch both files are on one file system. Here one may be in memory: a
 * piece is carried over by hand. */
static long carry_over(struct side *in, const struct side *out)
{
	struct leat_guard g;
	long n = leat_guard_acquire(&g);

	if (n)
		return n;
	if (in->piece > (int64_t)sizeof(g.t->msg))
		in->piece = sizeof(g.t->msg);
	n = raw(SYS_pread64, in->fd, g.t->msg, in->piece, in->at);
	if (n > 0 && out->offset)
		n = raw(SYS_pwrite64, out->fd, g.t->msg, n, *out->offset);
	else if (n > 0)
		n = raw(SYS_write, out->fd, g.t->msg, n);
	leat_guard_release(&g);
	if (n <= 0)
		return n;
	if (in->offset)
		*in->offset += n;
	else
		raw(SYS_lseek, in->fd, n, SEEK_CUR);
	if (out->offset)
		*out->offset += n;
	return n;
}

/* Neither file moves during the call. A pipe, which may be empty for long, is not waited for in
 * it: -EAGAIN. */
static long copy_once(const struct leat_syscall *c, struct side *in, struct side *out)
{
	struct leat_syscall now = *c;
	struct leat_timing timing;
	struct leat_file_hold from, to;
	long n = leat_file_acquire(in->fd, false, &from);

	if (n)
		return n;
	n = leat_file_acquire(out->fd, true, &to);
	if (n) {
		leat_file_release(&from, 0);
		return n;
	}
	if (now.nr == SYS_splice)
		now.a[5] |= SPLICE_F_NONBLOCK;
	leat_timing_begin(&timing, (uint64_t)in->piece,
			  leat_shm_counted(&leat_client_step()->reads));
	n = leat_as_is(&now);
	leat_timing_end(&timing, ours(in) || ours(out) ? n : 0);
	if (n == -EXDEV && now.nr == SYS_copy_file_range && (ours(in) || ours(out))) {
		if (in->at < 0)
			in->at = offset_of(in->fd, in->offset);
		n = carry_over(in, out);
	}
	leat_file_release(&from, 0);
	return leat_file_release(&to, n);
}

/* A splice that found its pipe empty, or full, and was to wait for it: waits. -EAGAIN: it was
 * not. */
static long wait_for_pipe(const struct leat_syscall *c, const struct side *in,
			  const struct side *out)
{
	struct pollfd p = ours(in) ? (struct pollfd){.fd = out->fd, .events = POLLOUT}
				   : (struct pollfd){.fd = in->fd, .events = POLLIN};
	long n;

	if (c->nr != SYS_splice || c->a[5] & SPLICE_F_NONBLOCK || (ours(in) && ours(out)) ||
	    raw(SYS_fcntl, p.fd, F_GETFL) & O_NONBLOCK)
		return -EAGAIN;
	n = raw(SYS_ppoll, &p, 1, NULL, NULL, 0);
	return n < 0 ? n : 0;
}

/* The call with its length, the argument `index`, cut to what can be read now. */
static long copy_piece(const struct leat_syscall *c, unsigned index, struct side *in,
		       struct side *out)
{
	struct leat_syscall cut = *c;
	int64_t length = c->a[index];
	struct leat_space space = {0};
	long n;
	int rc;

	leave_to_kernel(in->fd, false);
	leave_to_kernel(out->fd, true);
	in->at = ours(in) ? offset_of(in->fd, in->offset) : -1;
	out->at = ours(out) && out->offset ? *out->offset : -1;
	if (in->at >= 0) {
		rc = expect_others(in);
		if (rc)
			return rc;
		length = leat_readable(in->fd, in->at, length, &in->grows);
	}
	if (length < 0)
		return length;
	if (ours(out) && length) {
		rc = leat_before_write(out->fd, out->at, (uint64_t)length);
		if (rc)
			return rc;
	}
	cut.a[index] = length;
	in->piece = length;
	do {
		n = ours(out) && leat_space_is_over_budget(out->fd, (uint64_t)length)
			    ? -ENOSPC
			    : copy_once(&cut, in, out);
		rc = 0;
		if (n == -ENOSPC)
			rc = leat_space_make(out->fd, (uint64_t)length, &space) ? 0 : -ENOSPC;
		else if (n == -EAGAIN)
			rc = (int)wait_for_pipe(c, in, out);
	} while (!rc && (n == -ENOSPC || n == -EAGAIN));
	if (rc)
		return rc;
	if (n > 0 && ours(in) && !was_there(in))
		return -EIO;
	note_in(in, n, (uint64_t)c->a[index]);
	if (ours(out) && n > 0)
		leat_publish_to(out->fd, out->at < 0 ? -1 : out->at + n, n);
	return n;
}

/* The kernel moves no bytes into a file that is appended to. That is its own to say: where they
 * would go is not where the descriptor's offset is. */
static bool is_refused(const struct side *out)
{
	const struct leat_fd *r = ours(out) ? leat_fd_get(out->fd) : NULL;

	return r && leat_fd_has(r, LEAT_FD_APPEND);
}

/* All that was asked for, as of plain files: programs take less for the end. Not of a splice, which
 * moves no more than a pipe holds. Nothing is the truth only of a file that was final before; else
 * another process has moved the common offset. */
static long copy(const struct leat_syscall *c, unsigned index, struct side *in, struct side *out)
{
	struct leat_syscall rest = *c;
	long n = leat_fd_learn(in->fd), done = 0;
	bool more;

	if (!n)
		n = leat_fd_learn(out->fd);
	if (n)
		return n;
	if (is_refused(out) || (rest.a[index] < 0 && c->nr != SYS_copy_file_range))
		return leat_as_is(c);
	if ((unsigned long)rest.a[index] > MOST_BYTES)
		rest.a[index] = MOST_BYTES;
	do {
		in->grows = false;
		n = copy_piece(&rest, index, in, out);
		more = n ? n == in->piece && c->nr != SYS_splice : in->grows;
		if (n > 0) {
			done += n;
			rest.a[index] -= n;
		}
	} while (more && rest.a[index]);
	return done ? done : n;
}

long leat_hook_sendfile(const struct leat_syscall *c)
{
	struct side out = {.fd = (int)c->a[0]};
	struct side in = {.fd = (int)c->a[1], .offset = (int64_t *)c->a[2]};

	return copy(c, 3, &in, &out);
}

/* copy_file_range and splice take the same arguments. */
long leat_hook_copy_file_range(const struct leat_syscall *c)
{
	struct side in = {.fd = (int)c->a[0], .offset = (int64_t *)c->a[1]};
	struct side out = {.fd = (int)c->a[2], .offset = (int64_t *)c->a[3]};

	return copy(c, 4, &in, &out);
}

long leat_hook_splice(const struct leat_syscall *c)
{
	return leat_hook_copy_file_range(c);
}

/* A mapping of a file that still grows cannot follow it: so it stays. */
static int settle(int fd, uint64_t length)
{
	const struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f = r ? leat_client_file(r->slot) : NULL;
	uint32_t generation;
	int rc;

	if (!f || r->kind == LEAT_KIND_DIR)
		return 0;
	leat_space_to_map(fd, length);
	do {
		rc = leat_migrate_first(fd);
		generation = r->generation;
		if (!(leat_shm_flags(f) & LEAT_SHM_COMMITTED))
			leat_shm_pin(leat_server_known()->shm, f);
	} while (!rc && leat_has_left(r, generation) && !leat_in_vfork());
	return rc;
}

static long map_memory(const struct leat_syscall *c)
{
	bool only_set_aside = c->a[2] == PROT_NONE, is_stack = c->a[3] & MAP_STACK;
	long at = leat_as_is(c);

	/* malloc does without what it sets aside for threads; a thread not without its stack, which
	 * is made writable, and so data, next. */
	if (at == -ENOMEM && (!only_set_aside || is_stack))
		leat_note_refused(RLIMIT_AS, (uint64_t)c->a[1]);
	if (is_stack ? only_set_aside : at == -ENOMEM && !only_set_aside)
		leat_note_refused(RLIMIT_DATA, (uint64_t)c->a[1]);
	return at;
}

/* A library that makes system calls which would not be seen is not loaded. */
static long map(const struct leat_syscall *c)
{
	char name[PATH_MAX];
	long at;

	if (!(c->a[2] & PROT_EXEC) || c->a[3] & MAP_ANONYMOUS)
		return map_memory(c);
	at = leat_code_map(c);
	if (at != -ENOEXEC)
		return at;
	if (leat_fd_name((int)c->a[4], name, sizeof(name)) < 0)
		name[0] = 0;
	leat_client_refused(name, LEAT_UNSEEN_LIBRARY, false);
	return -EACCES;
}

static bool is_ours(int fd)
{
	return fd >= 0 && fd < LEAT_MAX_FD && leat_fd_kinds[fd];
}

/* A mapping shows the file as it will be: a consumer's waits for the commit. Its
 * length was a guess if it was made before, and counts as read that far. What a
 * producer writes by it is published at its last close. */
long leat_hook_mmap(const struct leat_syscall *c)
{
	int fd = (int)c->a[4];
	int rc;
	long at;

	if (!is_ours(fd))
		return map(c);
	rc = c->a[3] & MAP_ANONYMOUS ? 0 : leat_fd_learn(fd);
	if (!rc && !(c->a[3] & MAP_ANONYMOUS))
		rc = leat_wait_whole(fd);
	if (!rc && !(c->a[3] & MAP_ANONYMOUS))
		rc = settle(fd, (uint64_t)c->a[1]);
	if (rc)
		return rc;
	if (!(c->a[3] & MAP_ANONYMOUS)) {
		/* What is written by it, now or after mprotect, nobody sees. */
		if (c->a[3] & MAP_SHARED && leat_fd_get(fd)) {
			leat_before_change(leat_fd_get(fd));
			leat_report_written(leat_fd_get(fd), (uint64_t)c->a[5], (uint64_t)c->a[1]);
		}
		leave_to_kernel(fd, true);
		rc = need_all(fd);
		if (rc)
			return rc;
	}
	at = map(c);
	if ((at >= 0 || at < -4095) && !(c->a[3] & MAP_ANONYMOUS)) {
		leat_note_mapped(fd, (uint64_t)c->a[5], (uint64_t)c->a[1]);
		leat_note_taken(fd, 0, UINT64_MAX, c->a[5]);
	}
	return at;
}

/* ioctl: what copies file contents by reference, or looks at the offset */
long leat_hook_ioctl(const struct leat_syscall *c)
{
	const struct file_clone_range *range = (const struct file_clone_range *)c->a[2];
	int in = -1, rc;
	long n;
	struct stat st;

	if ((unsigned long)c->a[1] == FICLONE)
		in = (int)c->a[2];
	else if ((unsigned long)c->a[1] == FICLONERANGE && range)
		in = (int)range->src_fd;
	else if ((unsigned long)c->a[1] == FIONREAD)
		leave_to_kernel((int)c->a[0], false);
	if (in < 0)
		return leat_as_is(c);
	rc = leat_fd_learn(in);
	if (!rc)
		rc = leat_wait_whole(in);
	if (rc)
		return rc;
	leave_to_kernel(in, false);
	leave_to_kernel((int)c->a[0], true);
	rc = need_all(in);
	if (rc)
		return rc;
	rc = leat_before_write((int)c->a[0], 0, UINT64_MAX);
	if (rc)
		return rc;
	n = leat_space_retry(c, (int)c->a[0], 0);
	if (!n && !raw(SYS_fstat, c->a[0], &st))
		leat_publish_to((int)c->a[0], st.st_size, st.st_size);
	return n;
}
