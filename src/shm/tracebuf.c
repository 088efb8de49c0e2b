#include "shm/tracebuf.h"
#include "shm/tracebuf_private.h"

#include <string.h>

/* --- bitmaps of what is free --- */

uint32_t leat_tracebuf_take_free(struct leat_tracebuf_free *f, uint32_t n)
{
	for (uint32_t w = 0; w < (n + 63) / 64; w++) {
		uint64_t bits = atomic_load_explicit(&f->word[w], memory_order_relaxed);

		while (bits) {
			uint64_t lowest = bits & -bits;

			/* pairs with the release in leat_tracebuf_give_back: what is in the table
			 * is old news */
			if (atomic_compare_exchange_weak_explicit(&f->word[w], &bits, bits ^ lowest,
								  memory_order_acquire,
								  memory_order_relaxed))
				return w * 64 + (uint32_t)__builtin_ctzll(lowest);
		}
	}
	return LEAT_TRACEBUF_NONE;
}

void leat_tracebuf_give_back(struct leat_tracebuf_free *f, uint32_t i)
{
	atomic_fetch_or_explicit(&f->word[i / 64], UINT64_C(1) << i % 64, memory_order_release);
}

uint32_t leat_tracebuf_next_taken(const struct leat_tracebuf_free *f, uint32_t from, uint32_t n)
{
	while (from < n) {
		uint64_t taken = ~atomic_load_explicit(&f->word[from / 64], memory_order_acquire) >>
				 from % 64;

		if (taken)
			from += (uint32_t)__builtin_ctzll(taken);
		else
			from = (from / 64 + 1) * 64;
		if (taken)
			break;
	}
	return from < n ? from : LEAT_TRACEBUF_NONE;
}

/* --- losses --- */

void leat_tracebuf_lose(struct leat_tracebuf *tracebuf, unsigned why, uint64_t count)
{
	atomic_fetch_add_explicit(&tracebuf->lost[why], count, memory_order_relaxed);
}

enum { FOREIGN_FREE, FOREIGN_BUSY, FOREIGN_NAMED };

/* Its entry, a new one if need be; of two who come at once each may make one. NULL: no space. */
static struct leat_tracebuf_foreign *foreigner(struct leat_tracebuf *tracebuf, const char *program)
{
	size_t most = sizeof(tracebuf->foreigners[0].program) - 1;

	for (unsigned i = 0; i < LEAT_TRACEBUF_FOREIGNERS; i++) {
		struct leat_tracebuf_foreign *f = &tracebuf->foreigners[i];
		uint32_t state = atomic_load_explicit(&f->state, memory_order_acquire);
		size_t n = strnlen(program, most);

		if (state == FOREIGN_NAMED && strncmp(f->program, program, most) == 0)
			return f;
		if (state != FOREIGN_FREE ||
		    !atomic_compare_exchange_strong(&f->state, &state, FOREIGN_BUSY))
			continue;
		memcpy(f->program, program, n);
		f->program[n] = 0;
		atomic_store_explicit(&f->state, FOREIGN_NAMED, memory_order_release);
		return f;
	}
	return NULL;
}

uint32_t leat_tracebuf_note_foreign(struct leat_tracebuf *tracebuf, const char *program,
				    bool loaded)
{
	struct leat_tracebuf_foreign *f = foreigner(tracebuf, program);

	if (!f) {
		atomic_fetch_add_explicit(&tracebuf->foreign, 1, memory_order_relaxed);
		return LEAT_TRACEBUF_FOREIGNERS;
	}
	atomic_fetch_add_explicit(loaded ? &f->loaded : &f->asked, 1, memory_order_relaxed);
	return (uint32_t)(f - tracebuf->foreigners);
}

void leat_tracebuf_foreign_undo(struct leat_tracebuf *tracebuf, uint32_t noted)
{
	if (noted < LEAT_TRACEBUF_FOREIGNERS)
		atomic_fetch_sub_explicit(&tracebuf->foreigners[noted].asked, 1,
					  memory_order_relaxed);
	else
		atomic_fetch_sub_explicit(&tracebuf->foreign, 1, memory_order_relaxed);
}

const char *leat_tracebuf_foreign(struct leat_tracebuf *tracebuf, unsigned index, uint64_t *times)
{
	struct leat_tracebuf_foreign *f = &tracebuf->foreigners[index];
	uint32_t asked, loaded;

	if (index >= LEAT_TRACEBUF_FOREIGNERS ||
	    atomic_load_explicit(&f->state, memory_order_acquire) != FOREIGN_NAMED)
		return NULL;
	asked = atomic_load_explicit(&f->asked, memory_order_relaxed);
	loaded = atomic_load_explicit(&f->loaded, memory_order_relaxed);
	/* Who loads it has mostly been asked for, by somebody who had it loaded. */
	*times = asked > loaded ? asked : loaded;
	return f->program;
}

uint64_t leat_tracebuf_foreign_others(struct leat_tracebuf *tracebuf)
{
	return atomic_load_explicit(&tracebuf->foreign, memory_order_relaxed);
}

uint64_t leat_tracebuf_lost(struct leat_tracebuf *tracebuf, unsigned why)
{
	return atomic_exchange_explicit(&tracebuf->lost[why], 0, memory_order_relaxed);
}

void leat_tracebuf_beat(struct leat_tracebuf *tracebuf, uint64_t now_ns)
{
	atomic_store_explicit(&tracebuf->beat_ns, now_ns, memory_order_relaxed);
}

uint64_t leat_tracebuf_last_beat(const struct leat_tracebuf *tracebuf)
{
	return atomic_load_explicit(&tracebuf->beat_ns, memory_order_relaxed);
}

/* --- processes --- */

uint32_t leat_tracebuf_process_new(struct leat_tracebuf *tracebuf, int32_t parent)
{
	uint32_t i = leat_tracebuf_take_free(&tracebuf->free_processes, LEAT_TRACEBUF_PROCESSES);

	if (i == LEAT_TRACEBUF_NONE)
		return i;
	atomic_store(&tracebuf->processes[i].parent, parent);
	atomic_store(&tracebuf->processes[i].state, LEAT_TRACEBUF_FORKING);
	return i;
}

void leat_tracebuf_process_adopt(struct leat_tracebuf *tracebuf, uint32_t process, int32_t pid)
{
	uint32_t before;

	while ((before = leat_tracebuf_process_of(tracebuf, pid)) != LEAT_TRACEBUF_NONE &&
	       before != process) {
		int32_t same = pid;

		atomic_compare_exchange_strong(&tracebuf->pids[before], &same, -pid);
	}
	atomic_store(&tracebuf->pids[process], pid);
	atomic_store(&tracebuf->processes[process].state, LEAT_TRACEBUF_LIVE);
}

uint32_t leat_tracebuf_process_of(struct leat_tracebuf *tracebuf, int32_t pid)
{
	uint32_t i = leat_tracebuf_process_next(tracebuf, 0);

	while (i != LEAT_TRACEBUF_NONE &&
	       atomic_load_explicit(&tracebuf->pids[i], memory_order_relaxed) != pid)
		i = leat_tracebuf_process_next(tracebuf, i + 1);
	return i;
}

enum leat_tracebuf_state leat_tracebuf_process_state(const struct leat_tracebuf *tracebuf,
						     uint32_t process)
{
	return (enum leat_tracebuf_state)atomic_load(&tracebuf->processes[process].state);
}

int32_t leat_tracebuf_process_pid(const struct leat_tracebuf *tracebuf, uint32_t process)
{
	return atomic_load(&tracebuf->pids[process]);
}

int32_t leat_tracebuf_process_parent(const struct leat_tracebuf *tracebuf, uint32_t process)
{
	return atomic_load(&tracebuf->processes[process].parent);
}

void leat_tracebuf_process_set(struct leat_tracebuf *tracebuf, uint32_t process,
			       enum leat_tracebuf_state state)
{
	atomic_store(&tracebuf->processes[process].state, state);
}

void leat_tracebuf_process_flag(struct leat_tracebuf *tracebuf, uint32_t process, uint32_t flag)
{
	atomic_fetch_or(&tracebuf->processes[process].flags, flag);
}

uint32_t leat_tracebuf_process_flags(const struct leat_tracebuf *tracebuf, uint32_t process)
{
	return atomic_load(&tracebuf->processes[process].flags);
}

void leat_tracebuf_process_free(struct leat_tracebuf *tracebuf, uint32_t process)
{
	struct leat_tracebuf_process *p = &tracebuf->processes[process];

	for (uint32_t l = 0; l < LEAT_TRACEBUF_LANES; l++)
		atomic_store(&p->lane[l], 0);
	atomic_store(&tracebuf->pids[process], 0);
	atomic_store(&p->parent, 0);
	atomic_store(&p->flags, 0);
	atomic_store(&p->fd_end, 0);
	atomic_store(&p->state, LEAT_TRACEBUF_FREE);
	leat_tracebuf_give_back(&tracebuf->free_processes, process);
}

uint32_t leat_tracebuf_process_next(const struct leat_tracebuf *tracebuf, uint32_t from)
{
	return leat_tracebuf_next_taken(&tracebuf->free_processes, from, LEAT_TRACEBUF_PROCESSES);
}

/* --- descriptors --- */

static bool is_fd(int fd)
{
	return fd >= 0 && (uint32_t)fd < LEAT_TRACEBUF_FDS;
}

uint32_t leat_tracebuf_fd(const struct leat_tracebuf *tracebuf, uint32_t process, int fd)
{
	uint32_t h =
		is_fd(fd) ? atomic_load_explicit(&tracebuf->fds[process][fd], memory_order_acquire)
			  : 0;

	return h < LEAT_TRACEBUF_HANDLES ? h : 0;
}

uint32_t leat_tracebuf_fd_set(struct leat_tracebuf *tracebuf, uint32_t process, int fd,
			      uint32_t handle)
{
	_Atomic uint32_t *end = &tracebuf->processes[process].fd_end;
	uint32_t old = atomic_load_explicit(end, memory_order_relaxed), before;

	if (!is_fd(fd))
		return 0;
	while (handle && old <= (uint32_t)fd &&
	       !atomic_compare_exchange_weak(end, &old, (uint32_t)fd + 1))
		;
	before = atomic_exchange(&tracebuf->fds[process][fd], handle);
	return before < LEAT_TRACEBUF_HANDLES ? before : 0;
}

int leat_tracebuf_fd_end(const struct leat_tracebuf *tracebuf, uint32_t process)
{
	uint32_t end = atomic_load(&tracebuf->processes[process].fd_end);

	return end < LEAT_TRACEBUF_FDS ? (int)end : (int)LEAT_TRACEBUF_FDS;
}

void leat_tracebuf_fd_inherit(struct leat_tracebuf *tracebuf, uint32_t from, uint32_t to)
{
	int end = leat_tracebuf_fd_end(tracebuf, from);

	for (int fd = 0; fd < end; fd++) {
		uint32_t h = leat_tracebuf_fd(tracebuf, from, fd);

		if (h && leat_tracebuf_handle_hold(tracebuf, h))
			leat_tracebuf_fd_set(tracebuf, to, fd, h);
	}
}

/* --- handles --- */

/* The lower half is an index; the upper one changes with every taking, so that who was slow does
 * not put back what was on top long ago. */
static uint32_t pop_handle(struct leat_tracebuf *tracebuf)
{
	uint64_t top = atomic_load(&tracebuf->free_handle), next;

	do {
		uint32_t i = (uint32_t)top;

		if (!i || i >= LEAT_TRACEBUF_HANDLES)
			return 0;
		next = ((top >> 32) + 1) << 32 | atomic_load(&tracebuf->handles[i].next);
	} while (!atomic_compare_exchange_weak(&tracebuf->free_handle, &top, next));
	return (uint32_t)top;
}

static void push_handle(struct leat_tracebuf *tracebuf, uint32_t i)
{
	uint64_t top = atomic_load(&tracebuf->free_handle);

	do
		atomic_store(&tracebuf->handles[i].next, (uint32_t)top);
	while (!atomic_compare_exchange_weak(&tracebuf->free_handle, &top,
					     (top & ~UINT64_C(0xffffffff)) | i));
}

uint32_t leat_tracebuf_handle_new(struct leat_tracebuf *tracebuf, uint32_t flags)
{
	uint32_t i = pop_handle(tracebuf);
	struct leat_tracebuf_handle *h;

	if (!i) {
		uint64_t fresh = atomic_load(&tracebuf->handles_used);

		do
			if (fresh + 1 >= LEAT_TRACEBUF_HANDLES)
				return 0;
		while (!atomic_compare_exchange_weak(&tracebuf->handles_used, &fresh, fresh + 1));
		i = (uint32_t)fresh + 1;
	}
	h = &tracebuf->handles[i];
	atomic_store(&h->id, atomic_fetch_add(&tracebuf->next_id, 1) + 1);
	atomic_store(&h->offset, 0);
	atomic_store(&h->flags, flags);
	atomic_store(&h->refs, 1);
	return i;
}

uint64_t leat_tracebuf_handle_id(const struct leat_tracebuf *tracebuf, uint32_t handle)
{
	return atomic_load_explicit(&tracebuf->handles[handle].id, memory_order_relaxed);
}

uint32_t leat_tracebuf_handle_flags(const struct leat_tracebuf *tracebuf, uint32_t handle)
{
	return atomic_load_explicit(&tracebuf->handles[handle].flags, memory_order_relaxed);
}

void leat_tracebuf_handle_flag(struct leat_tracebuf *tracebuf, uint32_t handle, uint32_t set,
			       uint32_t clear)
{
	atomic_fetch_and(&tracebuf->handles[handle].flags, ~clear);
	atomic_fetch_or(&tracebuf->handles[handle].flags, set);
}

bool leat_tracebuf_handle_hold(struct leat_tracebuf *tracebuf, uint32_t handle)
{
	_Atomic uint64_t *refs = &tracebuf->handles[handle].refs;
	uint64_t n = atomic_load(refs);

	while (n && !atomic_compare_exchange_weak(refs, &n, n + 1))
		;
	return n > 0;
}

bool leat_tracebuf_handle_drop(struct leat_tracebuf *tracebuf, uint32_t handle, uint64_t *id,
			       uint32_t *flags)
{
	struct leat_tracebuf_handle *h = &tracebuf->handles[handle];
	uint64_t its_id = atomic_load(&h->id), n = atomic_load(&h->refs);
	uint32_t its_flags = atomic_load(&h->flags);

	while (n && !atomic_compare_exchange_weak(&h->refs, &n, n - 1))
		;
	if (n != 1)
		return false;
	push_handle(tracebuf, handle);
	*id = its_id;
	*flags = its_flags;
	return true;
}

uint64_t leat_tracebuf_handle_move(struct leat_tracebuf *tracebuf, uint32_t handle, uint64_t n)
{
	_Atomic uint64_t *offset = &tracebuf->handles[handle].offset;

	return n ? atomic_fetch_add_explicit(offset, n, memory_order_relaxed)
		 : atomic_load_explicit(offset, memory_order_relaxed);
}

void leat_tracebuf_handle_seek(struct leat_tracebuf *tracebuf, uint32_t handle, uint64_t offset)
{
	atomic_store_explicit(&tracebuf->handles[handle].offset, offset, memory_order_relaxed);
}

bool leat_tracebuf_is_good(const struct leat_tracebuf *tracebuf, uint64_t size)
{
	return tracebuf->magic == LEAT_TRACEBUF_MAGIC &&
	       tracebuf->version == LEAT_TRACEBUF_VERSION && tracebuf->size_bytes == size &&
	       tracebuf->n_chunks <= LEAT_TRACEBUF_MAX_CHUNKS;
}

void leat_tracebuf_handle_of(struct leat_tracebuf *tracebuf, uint32_t handle, uint64_t device,
			     uint64_t inode)
{
	atomic_store_explicit(&tracebuf->handles[handle].device, device, memory_order_relaxed);
	atomic_store_explicit(&tracebuf->handles[handle].inode, inode, memory_order_relaxed);
}

bool leat_tracebuf_handle_is(const struct leat_tracebuf *tracebuf, uint32_t handle, uint64_t device,
			     uint64_t inode)
{
	const struct leat_tracebuf_handle *h = &tracebuf->handles[handle];

	return atomic_load_explicit(&h->inode, memory_order_relaxed) == inode &&
	       atomic_load_explicit(&h->device, memory_order_relaxed) == device;
}

uint32_t leat_tracebuf_in_flight_add(struct leat_tracebuf *tracebuf, uint32_t handle)
{
	uint32_t none = 0, old;

	for (uint32_t i = 0; i < LEAT_TRACEBUF_IN_FLIGHT; i++, none = 0)
		if (atomic_compare_exchange_strong(&tracebuf->in_flight[i], &none, handle))
			return 0;
	old = atomic_exchange(&tracebuf->in_flight[atomic_fetch_add(&tracebuf->n_sent, 1) %
						   LEAT_TRACEBUF_IN_FLIGHT],
			      handle);
	return old < LEAT_TRACEBUF_HANDLES ? old : 0;
}

uint32_t leat_tracebuf_in_flight(const struct leat_tracebuf *tracebuf, uint32_t i)
{
	uint32_t h = atomic_load(&tracebuf->in_flight[i]);

	return h < LEAT_TRACEBUF_HANDLES ? h : 0;
}

bool leat_tracebuf_in_flight_claim(struct leat_tracebuf *tracebuf, uint32_t i, uint32_t handle)
{
	return atomic_compare_exchange_strong(&tracebuf->in_flight[i], &handle, 0);
}
