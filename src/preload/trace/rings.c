/* Rings of io_uring: what is done by them to files is not seen. Those of event loops do nothing to
 * files, so it is looked what each is asked to do. */
#include "preload/trace/trace.h"

#include "base/uring.h"
#include "preload/core/maps.h"
#include "shm/tracebuf.h"

#include <linux/io_uring.h>
#include <sys/uio.h>

/* Can any of the process's rings be about to do something to a file? So it is taken to be where no
 * requests are found. */
static bool may_move(void)
{
	struct leat_maps maps;
	unsigned found = 0;
	bool moves = false;
	char *line;

	if (!leat_maps_open(&maps))
		return true;
	while (!moves && (line = leat_maps_next(&maps))) {
		uintptr_t first, end;

		if (!leat_uring_find(line, &first, &end))
			continue;
		found++;
		moves = leat_uring_moves((const void *)first, end - first);
	}
	leat_maps_close(&maps);
	return moves || !found;
}

/* The program's pointer may lead nowhere. */
static bool is_hidden(long params)
{
	struct io_uring_params p = {0};
	struct iovec here = {&p, sizeof(p)}, there = {(void *)params, sizeof(p)};
	long pid = raw(SYS_getpid);

	return raw(SYS_process_vm_readv, pid, &here, 1, &there, 1, 0) != (long)sizeof(p) ||
	       leat_uring_hides(p.flags);
}

static bool is_unseen(const struct leat_syscall *c, const struct leat_trace_self *me)
{
	if (leat_tracebuf_process_flags(leat_trace_buffer, me->process) & LEAT_TRACEBUF_RINGS)
		return false; /* that is known */
	if (c->nr == SYS_io_uring_setup)
		return is_hidden(c->a[1]);
	return c->nr != SYS_io_uring_enter || ((unsigned)c->a[1] && may_move());
}

void leat_trace_ring(const struct leat_syscall *c)
{
	const struct leat_trace_self *me = leat_trace_me();

	if (me->process != LEAT_TRACEBUF_NONE && is_unseen(c, me))
		leat_tracebuf_process_flag(leat_trace_buffer, me->process, LEAT_TRACEBUF_RINGS);
}
