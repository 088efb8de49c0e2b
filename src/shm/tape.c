#include "shm/tape.h"
#include "shm/tape_private.h"

#include <string.h>

/* --- bitmaps of what is free --- */

uint32_t leat_tape_take_free(struct leat_tape_free *f, uint32_t n)
{
	for (uint32_t w = 0; w < (n + 63) / 64; w++) {
		uint64_t bits = atomic_load_explicit(&f->word[w], memory_order_relaxed);

		while (bits) {
			uint64_t lowest = bits & -bits;

			/* pairs with the release in leat_tape_give_back: what is in the table is
			 * old news */
			if (atomic_compare_exchange_weak_explicit(&f->word[w], &bits, bits ^ lowest,
								  memory_order_acquire,
								  memory_order_relaxed))
				return w * 64 + (uint32_t)__builtin_ctzll(lowest);
		}
	}
	return LEAT_TAPE_NONE;
}

void leat_tape_give_back(struct leat_tape_free *f, uint32_t i)
{
	atomic_fetch_or_explicit(&f->word[i / 64], UINT64_C(1) << i % 64, memory_order_release);
}

uint32_t leat_tape_next_taken(const struct leat_tape_free *f, uint32_t from, uint32_t n)
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
	return from < n ? from : LEAT_TAPE_NONE;
}

/* --- losses --- */

void leat_tape_lose(struct leat_tape *tape, unsigned why, uint64_t count)
{
	atomic_fetch_add_explicit(&tape->lost[why], count, memory_order_relaxed);
}

enum { FOREIGN_FREE, FOREIGN_BUSY, FOREIGN_NAMED };

/* Its entry, a new one if need be; of two who come at once each may make one. NULL: no room. */
static struct leat_tape_foreign *foreigner(struct leat_tape *tape, const char *program)
{
	size_t most = sizeof(tape->foreigners[0].program) - 1;

	for (unsigned i = 0; i < LEAT_TAPE_FOREIGNERS; i++) {
		struct leat_tape_foreign *f = &tape->foreigners[i];
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

uint32_t leat_tape_note_foreign(struct leat_tape *tape, const char *program, bool loaded)
{
	struct leat_tape_foreign *f = foreigner(tape, program);

	if (!f) {
		atomic_fetch_add_explicit(&tape->foreign, 1, memory_order_relaxed);
		return LEAT_TAPE_FOREIGNERS;
	}
	atomic_fetch_add_explicit(loaded ? &f->loaded : &f->asked, 1, memory_order_relaxed);
	return (uint32_t)(f - tape->foreigners);
}

void leat_tape_foreign_stays(struct leat_tape *tape, uint32_t noted)
{
	if (noted < LEAT_TAPE_FOREIGNERS)
		atomic_fetch_sub_explicit(&tape->foreigners[noted].asked, 1, memory_order_relaxed);
	else
		atomic_fetch_sub_explicit(&tape->foreign, 1, memory_order_relaxed);
}

const char *leat_tape_foreign(struct leat_tape *tape, unsigned index, uint64_t *times)
{
	struct leat_tape_foreign *f = &tape->foreigners[index];
	uint32_t asked, loaded;

	if (index >= LEAT_TAPE_FOREIGNERS ||
	    atomic_load_explicit(&f->state, memory_order_acquire) != FOREIGN_NAMED)
		return NULL;
	asked = atomic_load_explicit(&f->asked, memory_order_relaxed);
	loaded = atomic_load_explicit(&f->loaded, memory_order_relaxed);
	/* Who loads it has mostly been asked for, by somebody who had it loaded. */
	*times = asked > loaded ? asked : loaded;
	return f->program;
}

uint64_t leat_tape_foreign_others(struct leat_tape *tape)
{
	return atomic_load_explicit(&tape->foreign, memory_order_relaxed);
}

uint64_t leat_tape_lost(struct leat_tape *tape, unsigned why)
{
	return atomic_exchange_explicit(&tape->lost[why], 0, memory_order_relaxed);
}

void leat_tape_beat(struct leat_tape *tape, uint64_t now_ns)
{
	atomic_store_explicit(&tape->beat_ns, now_ns, memory_order_relaxed);
}

uint64_t leat_tape_last_beat(const struct leat_tape *tape)
{
	return atomic_load_explicit(&tape->beat_ns, memory_order_relaxed);
}

/* --- processes --- */

uint32_t leat_tape_process_new(struct leat_tape *tape, int32_t parent)
{
	uint32_t i = leat_tape_take_free(&tape->free_processes, LEAT_TAPE_PROCESSES);

	if (i == LEAT_TAPE_NONE)
		return i;
	atomic_store(&tape->processes[i].parent, parent);
	atomic_store(&tape->processes[i].state, LEAT_TAPE_COMING);
	return i;
}

void leat_tape_process_adopt(struct leat_tape *tape, uint32_t process, int32_t pid)
{
	uint32_t before;

	while ((before = leat_tape_process_of(tape, pid)) != LEAT_TAPE_NONE && before != process) {
		int32_t same = pid;

		atomic_compare_exchange_strong(&tape->pids[before], &same, -pid);
	}
	atomic_store(&tape->pids[process], pid);
	atomic_store(&tape->processes[process].state, LEAT_TAPE_LIVE);
}

uint32_t leat_tape_process_of(struct leat_tape *tape, int32_t pid)
{
	uint32_t i = leat_tape_process_next(tape, 0);

	while (i != LEAT_TAPE_NONE &&
	       atomic_load_explicit(&tape->pids[i], memory_order_relaxed) != pid)
		i = leat_tape_process_next(tape, i + 1);
	return i;
}

enum leat_tape_state leat_tape_process_state(const struct leat_tape *tape, uint32_t process)
{
	return (enum leat_tape_state)atomic_load(&tape->processes[process].state);
}

int32_t leat_tape_process_pid(const struct leat_tape *tape, uint32_t process)
{
	return atomic_load(&tape->pids[process]);
}

int32_t leat_tape_process_parent(const struct leat_tape *tape, uint32_t process)
{
	return atomic_load(&tape->processes[process].parent);
}

void leat_tape_process_set(struct leat_tape *tape, uint32_t process, enum leat_tape_state state)
{
	atomic_store(&tape->processes[process].state, state);
}

void leat_tape_process_flag(struct leat_tape *tape, uint32_t process, uint32_t flag)
{
	atomic_fetch_or(&tape->processes[process].flags, flag);
}

uint32_t leat_tape_process_flags(const struct leat_tape *tape, uint32_t process)
{
	return atomic_load(&tape->processes[process].flags);
}

void leat_tape_process_free(struct leat_tape *tape, uint32_t process)
{
	struct leat_tape_process *p = &tape->processes[process];

	for (uint32_t l = 0; l < LEAT_TAPE_LANES; l++)
		atomic_store(&p->lane[l], 0);
	atomic_store(&tape->pids[process], 0);
	atomic_store(&p->parent, 0);
	atomic_store(&p->flags, 0);
	atomic_store(&p->fd_end, 0);
	atomic_store(&p->state, LEAT_TAPE_NOBODY);
	leat_tape_give_back(&tape->free_processes, process);
}

uint32_t leat_tape_process_next(const struct leat_tape *tape, uint32_t from)
{
	return leat_tape_next_taken(&tape->free_processes, from, LEAT_TAPE_PROCESSES);
}

/* --- descriptors --- */

static bool is_fd(int fd)
{
	return fd >= 0 && (uint32_t)fd < LEAT_TAPE_FDS;
}

uint32_t leat_tape_fd(const struct leat_tape *tape, uint32_t process, int fd)
{
	uint32_t h =
		is_fd(fd) ? atomic_load_explicit(&tape->fds[process][fd], memory_order_acquire) : 0;

	return h < LEAT_TAPE_HANDLES ? h : 0;
}

uint32_t leat_tape_fd_set(struct leat_tape *tape, uint32_t process, int fd, uint32_t handle)
{
	_Atomic uint32_t *end = &tape->processes[process].fd_end;
	uint32_t old = atomic_load_explicit(end, memory_order_relaxed), before;

	if (!is_fd(fd))
		return 0;
	while (handle && old <= (uint32_t)fd &&
	       !atomic_compare_exchange_weak(end, &old, (uint32_t)fd + 1))
		;
	before = atomic_exchange(&tape->fds[process][fd], handle);
	return before < LEAT_TAPE_HANDLES ? before : 0;
}

int leat_tape_fd_end(const struct leat_tape *tape, uint32_t process)
{
	uint32_t end = atomic_load(&tape->processes[process].fd_end);

	return end < LEAT_TAPE_FDS ? (int)end : (int)LEAT_TAPE_FDS;
}

void leat_tape_fd_inherit(struct leat_tape *tape, uint32_t from, uint32_t to)
{
	int end = leat_tape_fd_end(tape, from);

	for (int fd = 0; fd < end; fd++) {
		uint32_t h = leat_tape_fd(tape, from, fd);

		if (h && leat_tape_handle_hold(tape, h))
			leat_tape_fd_set(tape, to, fd, h);
	}
}

/* --- handles --- */

/* The lower half is an index; the upper one changes with every taking, so that who was slow does
 * not put back what was on top long ago. */
static uint32_t pop_handle(struct leat_tape *tape)
{
	uint64_t top = atomic_load(&tape->free_handle), next;

	do {
		uint32_t i = (uint32_t)top;

		if (!i || i >= LEAT_TAPE_HANDLES)
			return 0;
		next = ((top >> 32) + 1) << 32 | atomic_load(&tape->handles[i].next);
	} while (!atomic_compare_exchange_weak(&tape->free_handle, &top, next));
	return (uint32_t)top;
}

static void push_handle(struct leat_tape *tape, uint32_t i)
{
	uint64_t top = atomic_load(&tape->free_handle);

	do
		atomic_store(&tape->handles[i].next, (uint32_t)top);
	while (!atomic_compare_exchange_weak(&tape->free_handle, &top,
					     (top & ~UINT64_C(0xffffffff)) | i));
}

uint32_t leat_tape_handle_new(struct leat_tape *tape, uint32_t flags)
{
	uint32_t i = pop_handle(tape);
	struct leat_tape_handle *h;

	if (!i) {
		uint64_t fresh = atomic_load(&tape->handles_used);

		do
			if (fresh + 1 >= LEAT_TAPE_HANDLES)
				return 0;
		while (!atomic_compare_exchange_weak(&tape->handles_used, &fresh, fresh + 1));
		i = (uint32_t)fresh + 1;
	}
	h = &tape->handles[i];
	atomic_store(&h->id, atomic_fetch_add(&tape->next_id, 1) + 1);
	atomic_store(&h->offset, 0);
	atomic_store(&h->flags, flags);
	atomic_store(&h->refs, 1);
	return i;
}

uint64_t leat_tape_handle_id(const struct leat_tape *tape, uint32_t handle)
{
	return atomic_load_explicit(&tape->handles[handle].id, memory_order_relaxed);
}

uint32_t leat_tape_handle_flags(const struct leat_tape *tape, uint32_t handle)
{
	return atomic_load_explicit(&tape->handles[handle].flags, memory_order_relaxed);
}

void leat_tape_handle_flag(struct leat_tape *tape, uint32_t handle, uint32_t set, uint32_t clear)
{
	atomic_fetch_and(&tape->handles[handle].flags, ~clear);
	atomic_fetch_or(&tape->handles[handle].flags, set);
}

bool leat_tape_handle_hold(struct leat_tape *tape, uint32_t handle)
{
	_Atomic uint64_t *refs = &tape->handles[handle].refs;
	uint64_t n = atomic_load(refs);

	while (n && !atomic_compare_exchange_weak(refs, &n, n + 1))
		;
	return n > 0;
}

bool leat_tape_handle_drop(struct leat_tape *tape, uint32_t handle, uint64_t *id, uint32_t *flags)
{
	struct leat_tape_handle *h = &tape->handles[handle];
	uint64_t its_id = atomic_load(&h->id), n = atomic_load(&h->refs);
	uint32_t its_flags = atomic_load(&h->flags);

	while (n && !atomic_compare_exchange_weak(&h->refs, &n, n - 1))
		;
	if (n != 1)
		return false;
	push_handle(tape, handle);
	*id = its_id;
	*flags = its_flags;
	return true;
}

uint64_t leat_tape_handle_move(struct leat_tape *tape, uint32_t handle, uint64_t n)
{
	_Atomic uint64_t *offset = &tape->handles[handle].offset;

	return n ? atomic_fetch_add_explicit(offset, n, memory_order_relaxed)
		 : atomic_load_explicit(offset, memory_order_relaxed);
}

void leat_tape_handle_seek(struct leat_tape *tape, uint32_t handle, uint64_t offset)
{
	atomic_store_explicit(&tape->handles[handle].offset, offset, memory_order_relaxed);
}

bool leat_tape_is_good(const struct leat_tape *tape, uint64_t size)
{
	return tape->magic == LEAT_TAPE_MAGIC && tape->version == LEAT_TAPE_VERSION &&
	       tape->size_bytes == size && tape->n_chunks <= LEAT_TAPE_MAX_CHUNKS;
}

void leat_tape_handle_of(struct leat_tape *tape, uint32_t handle, uint64_t device, uint64_t inode)
{
	atomic_store_explicit(&tape->handles[handle].device, device, memory_order_relaxed);
	atomic_store_explicit(&tape->handles[handle].inode, inode, memory_order_relaxed);
}

bool leat_tape_handle_is(const struct leat_tape *tape, uint32_t handle, uint64_t device,
			 uint64_t inode)
{
	const struct leat_tape_handle *h = &tape->handles[handle];

	return atomic_load_explicit(&h->inode, memory_order_relaxed) == inode &&
	       atomic_load_explicit(&h->device, memory_order_relaxed) == device;
}

uint32_t leat_tape_fly(struct leat_tape *tape, uint32_t handle)
{
	uint32_t none = 0, old;

	for (uint32_t i = 0; i < LEAT_TAPE_FLYING; i++, none = 0)
		if (atomic_compare_exchange_strong(&tape->flying[i], &none, handle))
			return 0;
	old = atomic_exchange(&tape->flying[atomic_fetch_add(&tape->flown, 1) % LEAT_TAPE_FLYING],
			      handle);
	return old < LEAT_TAPE_HANDLES ? old : 0;
}

uint32_t leat_tape_flying(const struct leat_tape *tape, uint32_t i)
{
	uint32_t h = atomic_load(&tape->flying[i]);

	return h < LEAT_TAPE_HANDLES ? h : 0;
}

bool leat_tape_land(struct leat_tape *tape, uint32_t i, uint32_t handle)
{
	return atomic_compare_exchange_strong(&tape->flying[i], &handle, 0);
}
