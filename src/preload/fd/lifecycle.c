/* Descriptors that are opened, copied, closed and handed on. */
#include "preload/fd/lifecycle.h"

#include "client/consumer.h"
#include "client/publisher.h"
#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/environment.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "preload/fd/description.h"
#include "preload/fd/mapping.h"
#include "preload/fd/offset.h"
#include "preload/fd/size.h"
#include "preload/fd/table.h"
#include "shm/state.h"
#include "shm/word.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>

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

/* The number is another's now: the kind is cleared by another thread. False: it has been. */
static bool unmark(int fd, const struct leat_fd *r)
{
	return leat_byte_claim(&leat_fd_kinds[fd], (uint8_t)(r->kind + 1), 0);
}

/* The kernel has closed it, or given its number to another, by a call that was not seen. */
static void forget(int fd)
{
	struct leat_fd *r = leat_fd_get(fd);

	if (!r || !unmark(fd, r))
		return;
	leat_window_drop(r);
	if (leat_description_drop(leat_word_get(&r->description)))
		leat_offset_free(r->shared_offset);
}

int leat_fd_set(int fd, const struct leat_fd *record)
{
	uint64_t description;

	if (leat_in_vfork())
		return 0;
	if (leat_fd_in_range(fd))
		forget(fd);
	if (record->kind == LEAT_KIND_NONE) {
		if (leat_fd_in_range(fd))
			leat_byte_set(&leat_fd_kinds[fd], 0);
		return 0;
	}
	description = leat_fd_in_range(fd) ? leat_description_new(fd) : 0;
	if (!description) {
		raw(SYS_close, fd);
		return -EMFILE;
	}
	copy_record(&leat_fd_table[fd], record);
	leat_word_set(&leat_fd_table[fd].description, description);
	leat_fd_set_kind(fd, (uint8_t)(record->kind + 1));
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
		leat_window_release(r, fd, false);
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
	leat_offset_free(last->shared_offset);
	leat_fd_report_close(last);
}

/* What one is the other is, too; another thread may have found out meanwhile what that is. */
static long copy_unasked(int fd, long copy)
{
	if (copy >= 0 && copy != fd && leat_fd_may_be_ours(fd) && leat_fd_in_range((int)copy) &&
	    !leat_in_vfork()) {
		forget((int)copy);
		leat_fd_set_kind((int)copy, LEAT_FD_KIND_UNASKED);
	}
	return copy;
}

long leat_fd_copy_end(int fd, const struct leat_fd *record, long copy)
{
	if (record->kind == LEAT_KIND_NONE || copy == fd)
		return copy_unasked(fd, copy);
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
	copy_record(&leat_fd_table[copy], record);
	leat_fd_table[copy].window = (struct leat_window){0};
	leat_fd_table[copy].calls = 0;
	leat_fd_table[copy].bytes = 0;
	leat_fd_set_kind((int)copy, (uint8_t)(record->kind + 1));
	return copy;
}

static bool is_twin(int fd, const struct leat_fd *r)
{
	return leat_fd_kind(fd) && &leat_fd_table[fd] != r &&
	       leat_word_get(&leat_fd_table[fd].description) == leat_word_get(&r->description);
}

static void report_closed(const struct leat_fd *r)
{
	const struct leat_msg_closed closed = {
		.h.type = LEAT_MSG_CLOSED, .slot = r->slot, .ofd = r->ofd};
	struct leat_msg_early_size early;

	if (leat_publisher_may_write(r->kind) || r->ofd)
		leat_client_report(&closed.h);
	/* A consumer was shown a size, and behaved as if it were the last word. */
	if (r->kind == LEAT_KIND_CONSUMER && leat_fd_has(r, LEAT_FD_SIZE) &&
	    leat_fd_has(r, LEAT_FD_TRUSTED) &&
	    leat_consumer_trusted_early_size(leat_client_file(r->slot), r->slot, r->size_seen,
					     r->read_end, &early))
		leat_client_report(&early.h);
}

static void release_listing(const struct leat_fd *r)
{
	struct leat_guard g;

	if (!r->handle || leat_guard_acquire(&g))
		return;
	leat_channel_forget_list(leat_client_channel(g.t), r->handle);
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
 * closes that clears its kind, and then waits for who has taken it. */
static void merge(const struct leat_fd *r)
{
	int stop = leat_fd_end();

	for (int fd = 0; fd < stop; fd++) {
		struct leat_fd *into = &leat_fd_table[fd];
		bool done;

		if (!is_twin(fd, r) || !leat_fd_acquire(into))
			continue;
		done = is_twin(fd, r);
		if (done)
			put_in(into, r);
		leat_fd_release(into);
		if (done)
			return;
	}
}

/* It is about to be closed. If the daemon waits for that it is to be told; of others nobody knows
 * more than the number. Who is just asking is waited for. */
static void learn_or_forget(int fd)
{
	if (!leat_fd_is_unasked(fd) || leat_in_vfork())
		return;
	if (leat_fd_is_awaited(fd))
		leat_fd_ask(fd);
	while (leat_fd_is_unasked(fd) &&
	       !leat_byte_claim(&leat_fd_kinds[fd], LEAT_FD_KIND_UNASKED, 0))
		leat_sleep(LEAT_SLEEP_NS);
}

bool leat_fd_detach(int fd, struct leat_fd *last)
{
	struct leat_fd *r;

	learn_or_forget(fd);
	r = leat_fd_get(fd);
	if (r && leat_in_vfork())
		note_gone(fd);
	if (!r || leat_in_vfork())
		return false;
	if (!unmark(fd, r))
		return false; /* another thread closes it */
	leat_window_close(r, fd);
	copy_record(last, r);
	if (leat_description_drop(leat_word_get(&r->description))) {
		leat_offset_free(r->shared_offset);
		return true;
	}
	merge(last);
	return false;
}

void leat_fd_report_close(const struct leat_fd *last)
{
	if (last->kind == LEAT_KIND_DIR)
		release_listing(last);
	else
		report_closed(last);
	leat_wait_acted(last->slot, last->ofd, true);
}

long leat_fd_close(int fd)
{
	struct leat_fd last;
	/* Before the close: the number may be another thread's right after it. */
	bool report = leat_fd_detach(fd, &last);
	long rc = raw(SYS_close, fd);

	if (report)
		leat_fd_report_close(&last);
	return rc;
}

void leat_fd_fork_child(void)
{
	int stop = leat_fd_end();

	for (int fd = 0; fd < stop; fd++) {
		struct leat_fd *r = leat_fd_get(fd);

		/* The thread that was asking is the parent's. */
		if (leat_fd_is_unasked(fd))
			leat_byte_set(&leat_fd_kinds[fd], LEAT_FD_KIND_UNASKED);
		if (!r)
			continue;
		/* What the parent saw is the parent's to report; what it
		 * writes moves this process' offsets. */
		leat_fd_clear_flags(r, LEAT_FD_SIZE | LEAT_FD_TRUSTED);
		leat_fd_set_flags(r, LEAT_FD_UNSURE | LEAT_FD_FORKED);
		r->handle = 0;
		r->calls = 0;
		r->bytes = 0;
		leat_word_set(&r->busy, 0);
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
		leat_window_truncate(r, fd, false);
		if (r->kind == LEAT_KIND_CONSUMER)
			report_closed(r);
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
	uint32_t pid = (uint32_t)raw(SYS_getpid);

	leat_text_add(list, LEAT_OPEN);
	leat_text_add_number(list, pid);
	leat_text_add(list, leat_client_is_known(pid) ? "+:" : ":");
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
	size_t head;

	list_begin(&list);
	head = list.used;
	for (int fd = 0; fd < stop; fd++) {
		struct leat_fd *r = leat_fd_get(fd);

		if (!r && !leat_fd_is_unasked(fd))
			continue;
		if (r)
			leat_window_count(r);
		if (!is_handed_on(fd))
			continue;
		list_add(&list, fd);
		if (r && r->shared_offset && !is_gone(fd))
			leat_window_release(r, fd, false);
	}
	/* What a vfork child opened or copied is in no table. */
	if (list.full || leat_in_vfork()) {
		variable[head] = 0;
		list = (struct leat_text){.at = variable, .size = size, .used = head};
		leat_text_add(&list, "*");
	}
}
