/* The windows themselves: memory, and what was copied through it. */
#include "preload/fd/mapping.h"

#include "preload/connection/client.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/fd/size.h"
#include "preload/fd/table.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <sys/mman.h>

/* How often who closes looks whether a window is used no more. */
enum { MAX_SLEEPS = 5000 };

void leat_window_note_calls(struct leat_fd *r)
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
	if (!leat_fd_acquire(r))
		return; /* who has it counts later */
	leat_window_note_calls(r);
	leat_fd_release(r);
}

static void unmap(struct leat_window *w)
{
	if (w->base)
		raw(SYS_munmap, w->base, w->end - w->start);
	*w = (struct leat_window){0};
}

/* An address for LEAT_WINDOW_BYTES bytes at which the kernel can map a huge page. */
static long find_space(void)
{
	long at = raw(SYS_mmap, 0, 2 * LEAT_WINDOW_BYTES, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t start, address = (uint64_t)at;

	if (at < 0 && at > -4096)
		return at;
	start = (address + LEAT_WINDOW_BYTES - 1) / LEAT_WINDOW_BYTES * LEAT_WINDOW_BYTES;
	if (start > address)
		raw(SYS_munmap, address, start - address);
	if (address + LEAT_WINDOW_BYTES > start)
		raw(SYS_munmap, start + LEAT_WINDOW_BYTES, address + LEAT_WINDOW_BYTES - start);
	return (long)start;
}

bool leat_window_map(struct leat_fd *r, int fd, uint64_t at, int protection, uint32_t generation)
{
	struct leat_window *w = &r->window;
	uint64_t start = at / LEAT_WINDOW_BYTES * LEAT_WINDOW_BYTES;
	long address = w->base ? (long)(uintptr_t)w->base : find_space();

	if (address < 0 && address > -4096)
		return false;
	/* in the place of the one before, if there is one */
	if (raw(SYS_mmap, address, LEAT_WINDOW_BYTES, protection, MAP_SHARED | MAP_FIXED, fd,
		start) != address) {
		raw(SYS_munmap, address, LEAT_WINDOW_BYTES);
		*w = (struct leat_window){0};
		return false;
	}
	*w = (struct leat_window){.base = (char *)(uintptr_t)address,
				  .start = start,
				  .end = start + LEAT_WINDOW_BYTES,
				  .generation = generation,
				  .writable = protection & PROT_WRITE};
	return true;
}

void leat_window_drop(struct leat_fd *r)
{
	if (!r->window.base || !leat_fd_acquire(r))
		return;
	unmap(&r->window);
	leat_fd_release(r);
}

void leat_window_close(struct leat_fd *r, int fd)
{
	bool mine = leat_fd_acquire(r);

	for (int i = 0; !mine && i < MAX_SLEEPS; i++) {
		leat_sleep(LEAT_SLEEP_NS);
		mine = leat_fd_acquire(r);
	}
	if (!mine)
		return; /* a handler that never came back left it so: the mapping stays */
	leat_window_note_calls(r);
	leat_window_truncate(r, fd, false);
	unmap(&r->window);
	leat_fd_release(r);
}
