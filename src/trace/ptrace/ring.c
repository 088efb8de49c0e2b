/* io_uring: what is done to files in that way is not seen, only that it is. */
#include "trace/ptrace/internal.h"

#include "base/log.h"
#include "base/memory_of.h"
#include "base/uring.h"

#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a mapping of the requests of a ring; true also where it cannot be read. */
static bool moves(pid_t tid, uintptr_t first, uintptr_t end)
{
	char part[16384];

	for (; first < end; first += sizeof(part)) {
		size_t size = end - first < sizeof(part) ? end - first : sizeof(part);

		if (leat_memory_of(tid, first, part, size) < 0 || leat_uring_moves(part, size))
			return true;
	}
	return false;
}

/* Can any of its rings be about to do something to a file? So it is taken to be where no requests
 * are found. */
static bool may_move(pid_t tid)
{
	char path[64], *line = NULL;
	bool found = false, may = false;
	size_t size = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	maps = fopen(path, "re");
	if (!maps)
		return true;
	while (!may && getline(&line, &size, maps) > 0) {
		uintptr_t first, end;

		if (!leat_uring_find(line, &first, &end))
			continue;
		found = true;
		may = moves(tid, first, end);
	}
	free(line);
	fclose(maps);
	return may || !found;
}

bool leat_ptrace_enter_uring(struct tracer *t, struct thread *th)
{
	bool takes = th->now.args[1] > 0 || th->now.args[3] & IORING_ENTER_SQ_WAKEUP;
	struct process *p = th->process;

	if (takes && !p->moves_by_rings)
		p->moves_by_rings = may_move(th->tid);
	if (!p->moves_by_rings)
		return false;
	if (!t->reported_uring)
		leat_warn("process %d uses io_uring: ptrace does not see what it does to files in "
			  "that way; it is counted as lost (the ebpf tracer may see more)",
			  (int)p->pid);
	t->reported_uring = true;
	return th->now.args[1] > 0;
}
