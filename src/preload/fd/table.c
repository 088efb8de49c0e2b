#include "preload/fd/table.h"
#include "preload/connection/client.h"
#include "preload/fd/description.h"
#include "preload/hooks/hooks.h"
#include "preload/core/intercept.h"
#include "preload/core/text.h"
#include "preload/connection/user.h"
#include "preload/fd/window.h"
#include "shm/word.h"
#include "eventlog/call.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

/* Hidden descriptors go here, or as high as the limit allows. */
#define HIDE_FROM 1000

uint8_t leat_fd_mark[LEAT_MAX_FD];
static struct leat_fd table[LEAT_MAX_FD];
/* marks lie below it; it never falls */
static struct leat_word end;

static bool in_range(int fd)
{
	return fd >= 0 && fd < LEAT_MAX_FD;
}

struct leat_fd *leat_fd_get(int fd)
{
	return leat_fd_kind(fd) ? &table[fd] : NULL;
}

int leat_fd_end(void)
{
	return (int)leat_word_get(&end);
}

static void mark(int fd, uint8_t value)
{
	uint64_t old = leat_word_get(&end);

	while (old <= (uint64_t)fd && !leat_word_claim(&end, old, (uint64_t)fd + 1))
		old = leat_word_get(&end);
	leat_byte_set(&leat_fd_mark[fd], value);
}

/* A record as it is now; of the copy nobody is using the window. */
static void copy_record(struct leat_fd *to, const struct leat_fd *from)
{
	memcpy(to, from, offsetof(struct leat_fd, flags));
	leat_bits_put(&to->flags, leat_bits_get(&from->flags, ~0u));
	leat_word_set(&to->busy, 0);
	leat_word_set(&to->description, leat_word_get(&from->description));
}

/* Numbers a vfork child closed or took over: the table, which is its parent's as well, does not
 * speak of what is open there now. */
enum { GONE_BITS = 1024 };
static __thread struct {
	uint32_t pid; /* of the child */
	uint64_t bits[GONE_BITS / 64];
} gone __attribute__((tls_model("initial-exec")));

static void note_gone(int fd)
{
	uint32_t pid = (uint32_t)raw(SYS_getpid);

	if (gone.pid != pid) {
		memset(gone.bits, 0, sizeof(gone.bits));
		gone.pid = pid;
	}
	if (fd < GONE_BITS)
		gone.bits[fd / 64] |= UINT64_C(1) << fd % 64;
}

static bool is_gone(int fd)
{
	return leat_in_vfork() && fd < GONE_BITS && gone.bits[fd / 64] >> fd % 64 & 1 &&
	       gone.pid == (uint32_t)raw(SYS_getpid);
}

/* The number is another's now: the mark is left to who takes it away. False: it has been. */
static bool unmark(int fd, const struct leat_fd *r)
{
	return leat_byte_claim(&leat_fd_mark[fd], (uint8_t)(r->kind + 1), 0);
}

/* The kernel has closed it, or given its number to another, by a call that was not seen. */
static void forget(int fd)
{
	struct leat_fd *r = leat_fd_get(fd);

	if (!r || !unmark(fd, r))
		return;
	leat_window_drop(r);
	if (leat_description_drop(leat_word_get(&r->description)))
		leat_offset_free(r->place);
}

int leat_fd_set(int fd, const struct leat_fd *record)
{
	uint64_t description;

	if (leat_in_vfork())
		return 0;
	if (in_range(fd))
		forget(fd);
	if (record->kind == LEAT_KIND_NONE) {
		if (in_range(fd))
			leat_byte_set(&leat_fd_mark[fd], 0);
		return 0;
	}
	description = in_range(fd) ? leat_description_new(fd) : 0;
	if (!description) {
		raw(SYS_close, fd);
		return -EMFILE;
	}
	copy_record(&table[fd], record);
	leat_word_set(&table[fd].description, description);
	mark(fd, (uint8_t)(record->kind + 1));
	return 0;
}

void leat_fd_copy_begin(int fd, struct leat_fd *record)
{
	struct leat_fd *r = leat_fd_get(fd);
	uint64_t description = r ? leat_word_get(&r->description) : 0;

	record->kind = LEAT_KIND_NONE;
	if (!r || is_gone(fd))
		return;
	if (leat_in_vfork()) { /* exec is to come, and the copy is in no table */
		leat_window_yield(r, fd, false);
		return;
	}
	if (!leat_description_hold(description))
		return;
	leat_window_count(r);
	copy_record(record, r);
	if (leat_fd_get(fd) != r || leat_word_get(&r->description) != description) {
		/* another's by now */
		record->kind = LEAT_KIND_NONE;
		leat_description_drop(description);
	}
}

/* The last of the description's here is gone. */
static void end_description(const struct leat_fd *last)
{
	leat_offset_free(last->place);
	leat_fd_tell(last);
}

long leat_fd_copy_end(int fd, const struct leat_fd *record, long copy)
{
	if (record->kind == LEAT_KIND_NONE || copy == fd)
		return copy;
	if (copy >= LEAT_MAX_FD) {
		raw(SYS_close, copy);
		copy = -EMFILE;
	}
	if (copy < 0) {
		if (leat_description_drop(leat_word_get(&record->description)))
			end_description(record);
		return copy;
	}
	forget((int)copy);
	copy_record(&table[copy], record);
	table[copy].window = (struct leat_window){0};
	table[copy].calls = 0;
	table[copy].bytes = 0;
	mark((int)copy, (uint8_t)(record->kind + 1));
	return copy;
}

static bool is_twin(int fd, const struct leat_fd *r)
{
	return leat_fd_kind(fd) && &table[fd] != r &&
	       leat_word_get(&table[fd].description) == leat_word_get(&r->description);
}

/* A consumer was shown a size, and behaved as if it were the last word. */
static bool trusted_early_size(const struct leat_fd *r)
{
	struct leat_shm_file *f = leat_client_file(r->slot);

	if (!f || !leat_fd_has(r, LEAT_FD_SIZE) || !leat_fd_has(r, LEAT_FD_TRUSTED) ||
	    r->read_end > r->size_seen)
		return false;
	return !(leat_shm_flags(f) & LEAT_SHM_COMMITTED) || leat_shm_size(f) > r->size_seen;
}

void leat_fd_tell_wrote(struct leat_fd *r)
{
	struct leat_msg_fact fact = {.slot = r->slot, .ofd = r->ofd};

	leat_fd_clear_flags(r, LEAT_FD_INTACT);
	leat_client_fact(LEAT_MSG_WROTE, &fact);
}

static void tell_closed(const struct leat_fd *r)
{
	struct leat_msg_fact fact = {.slot = r->slot, .ofd = r->ofd};
	enum leat_kind kind = (enum leat_kind)r->kind;

	if (kind == LEAT_KIND_PRODUCER || kind == LEAT_KIND_PUBLISHER || r->ofd)
		leat_client_fact(LEAT_MSG_CLOSED, &fact);
	if (kind == LEAT_KIND_CONSUMER && trusted_early_size(r)) {
		fact.code = LEAT_VIOLATION_EARLY_SIZE;
		fact.offset = r->read_end;
		fact.length = r->size_seen;
		leat_client_fact(LEAT_MSG_VIOLATED, &fact);
	}
}

static void release_listing(const struct leat_fd *r)
{
	struct leat_guard g;

	if (!r->handle || leat_guard_take(&g))
		return;
	if (!leat_client_begin(g.t, LEAT_MSG_LIST)) {
		struct leat_msg_list *m = (struct leat_msg_list *)g.t->msg;

		m->handle = r->handle;
		m->release = 1;
		if (!leat_wire_put(m, ""))
			leat_client_send(g.t);
	}
	leat_guard_release(&g);
}

static void put_in(struct leat_fd *into, const struct leat_fd *r)
{
	if (r->read_end > into->read_end)
		into->read_end = r->read_end;
	if (leat_fd_has(r, LEAT_FD_SIZE) && !leat_fd_has(into, LEAT_FD_SIZE))
		into->size_seen = r->size_seen;
	leat_fd_set_flags(into, leat_fd_has(r, LEAT_FD_SIZE | LEAT_FD_TRUSTED));
	into->handle = r->handle;
}

/* What was noted of a descriptor that is closed goes to another one of the same description. Who
 * closes that takes its mark away, and then waits for who has taken it. */
static void merge(const struct leat_fd *r)
{
	int stop = leat_fd_end();

	for (int fd = 0; fd < stop; fd++) {
		struct leat_fd *into = &table[fd];
		bool done;

		if (!is_twin(fd, r) || !leat_fd_take(into))
			continue;
		done = is_twin(fd, r);
		if (done)
			put_in(into, r);
		leat_fd_give(into);
		if (done)
			return;
	}
}

bool leat_fd_detach(int fd, struct leat_fd *last)
{
	struct leat_fd *r = leat_fd_get(fd);

	if (r && leat_in_vfork())
		note_gone(fd);
	if (!r || leat_in_vfork())
		return false;
	if (!unmark(fd, r))
		return false; /* another thread closes it */
	leat_window_close(r, fd);
	copy_record(last, r);
	if (leat_description_drop(leat_word_get(&r->description))) {
		leat_offset_free(r->place);
		return true;
	}
	merge(last);
	return false;
}

void leat_fd_tell(const struct leat_fd *last)
{
	if (last->kind == LEAT_KIND_DIR)
		release_listing(last);
	else
		tell_closed(last);
	leat_wait_acted(last->slot, last->ofd, true);
}

long leat_fd_close(int fd)
{
	struct leat_fd last;
	/* Before the close: the number may be another thread's right after it. */
	bool tell = leat_fd_detach(fd, &last);
	long rc = raw(SYS_close, fd);

	if (tell)
		leat_fd_tell(&last);
	return rc;
}

static int highest_base(void)
{
	struct rlimit limit;

	if (raw(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) < 0)
		return HIDE_FROM;
	if (limit.rlim_cur > HIDE_FROM + 16)
		return HIDE_FROM;
	return (int)(limit.rlim_cur / 2);
}

int leat_fd_hide(int fd)
{
	long high = raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, highest_base());

	if (high < 0)
		high = raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 10);
	if (high >= 0 && in_range((int)high)) {
		raw(SYS_close, fd);
		fd = (int)high;
	} else if (high >= 0) {
		raw(SYS_close, high);
	}
	mark(fd, LEAT_MARK_HIDDEN);
	return fd;
}

int leat_fd_hide_here(int fd)
{
	if (!in_range(fd))
		return -EMFILE;
	raw(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
	mark(fd, LEAT_MARK_HIDDEN);
	return 0;
}

void leat_fd_reveal(int fd)
{
	leat_byte_set(&leat_fd_mark[fd], 0);
}

void leat_fd_unhide(int fd)
{
	leat_fd_reveal(fd);
	raw(SYS_close, fd);
}

void leat_fd_fork_child(void)
{
	const struct leat_world *w = leat_client_known();
	int stop = leat_fd_end();

	for (int fd = 0; fd < stop; fd++) {
		struct leat_fd *r = leat_fd_get(fd);

		if (r) {
			/* What the parent saw is the parent's to report; what it
			 * writes moves this process' offsets. */
			leat_fd_clear_flags(r, LEAT_FD_SIZE | LEAT_FD_TRUSTED);
			leat_fd_set_flags(r, LEAT_FD_UNSURE | LEAT_FD_FORKED);
			r->handle = 0;
			r->calls = 0;
			r->bytes = 0;
			leat_word_set(&r->busy, 0);
		} else if (leat_fd_hidden(fd) && !leat_user_holder(fd) &&
			   !(w && (fd == w->store_fd || fd == w->dir_fd))) {
			leat_fd_unhide(fd);
		}
	}
}

void leat_fd_exiting(void)
{
	int stop = leat_fd_end();

	for (int fd = 0; fd < stop; fd++) {
		struct leat_fd *r = leat_fd_get(fd);

		if (!r)
			continue;
		leat_window_count(r);
		leat_window_settle(r, fd, false);
		if (r->kind == LEAT_KIND_CONSUMER)
			tell_closed(r);
	}
}

/* Whether exec hands it on. */
static bool is_handed_on(int fd)
{
	long flags = raw(SYS_fcntl, fd, F_GETFD);

	return flags >= 0 && !(flags & FD_CLOEXEC);
}

static void list_begin(struct leat_text *list)
{
	leat_text_add(list, LEAT_OPEN);
	leat_text_add_number(list, (unsigned long)raw(SYS_getpid));
	leat_text_add(list, ":");
}

static void list_add(struct leat_text *list, int fd)
{
	leat_text_add_number(list, (unsigned)fd);
	leat_text_add(list, ",");
}

void leat_fd_before_exec(char *variable, size_t size)
{
	struct leat_text list = leat_text_in(variable, size);
	int stop = leat_fd_end();

	list_begin(&list);
	for (int fd = 0; fd < stop; fd++) {
		struct leat_fd *r = leat_fd_get(fd);

		if (!r)
			continue;
		leat_window_count(r);
		if (!is_handed_on(fd))
			continue;
		list_add(&list, fd);
		if (r->place && !is_gone(fd))
			leat_window_yield(r, fd, false);
	}
	/* What a vfork child opened or copied is in no table. */
	if (list.full || leat_in_vfork())
		*variable = 0;
}
