/* Calls that move bytes. */
#include "base/memory_of.h"
#include "trace/ptrace/internal.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/mman.h>

/* The call is on the descriptor in args[0]. */
static struct handle *hold(struct tracer *t, struct thread *th, unsigned which, uint64_t fd)
{
	struct handle *h = leat_ptrace_handle(t, th, fd);

	th->now.handles[which] = h;
	if (h)
		leat_handle_ref(h);
	return h;
}

bool leat_ptrace_enter_io(struct tracer *t, struct thread *th)
{
	struct pending *now = &th->now;
	int how = now->call->detail & ~WRITES;

	if (leat_fdtab_names_cpus(th->fds, (uint32_t)now->args[0]))
		leat_ptrace_together_end(t);
	if (!hold(t, th, 0, now->args[0]))
		return false;
	now->size = how >= VECTOR ? leat_ptrace_iov_bytes(th->tid, now->args[1], now->args[2])
				  : now->args[2];
	now->explicit[0] = how == AT_OFFSET || how == VECTOR_AT_OFFSET ||
			   (how == VECTOR_WITH_FLAGS && now->args[3] != UINT64_MAX);
	now->offsets[0] = now->args[3];
	return true;
}

/* Where the bytes that were appended went: the end of the file has moved on with them. */
static uint64_t find_append_offset(struct tracer *t, struct thread *th, struct handle *h, int64_t n,
				   bool explicit)
{
	int fd = (int)th->now.args[0];
	int64_t end = explicit ? -1 : leat_ptrace_offset_of_fd(th->tid, fd);
	struct statx st;

	if (explicit && !leat_ptrace_view_is_served(t, th) && leat_ptrace_stat_fd(t, th, fd, &st))
		end = (int64_t)st.stx_size;
	return end >= n ? (uint64_t)(end - n) : h->offset;
}

/* Where the bytes of a handle were, whose offset moves on if it was that. */
static uint64_t place(struct tracer *t, struct thread *th, unsigned which, int64_t n, bool append)
{
	struct handle *h = th->now.handles[which];
	bool explicit = th->now.explicit[which];
	uint64_t offset = explicit ? th->now.offsets[which] : h->offset;

	if (!h->seekable)
		return 0;
	if (append && n > 0)
		offset = find_append_offset(t, th, h, n, explicit);
	if (!explicit && n > 0)
		h->offset = offset + (uint64_t)n;
	return offset;
}

static void record(struct tracer *t, struct thread *th, unsigned which, enum leat_trace_type type,
		   int64_t result, bool append)
{
	struct handle *h = th->now.handles[which];
	struct leat_trace_call call;
	uint64_t offset = place(t, th, which, result, append);

	if (!t->sink.types[type])
		return;
	call = leat_ptrace_record(th, type, result);
	call.inode = h->inode->id;
	call.handle = h->id;
	call.offset = offset;
	call.size = th->now.size;
	call.flags = h->flags;
	leat_trace_sink_call(&t->sink, &call);
}

void leat_ptrace_leave_io(struct tracer *t, struct thread *th, int64_t result)
{
	const struct pending *now = &th->now;
	bool writes = now->call->detail & WRITES;
	bool append = writes && now->handles[0]->append;

	if ((now->call->detail & ~WRITES) == VECTOR_WITH_FLAGS && writes)
		append |= (now->args[5] & RWF_APPEND) != 0;
	if (!leat_ptrace_is_restart(result))
		record(t, th, 0, writes ? LEAT_TRACE_WRITE : LEAT_TRACE_READ, result, append);
	leat_ptrace_release_held(t, th);
}

bool leat_ptrace_enter_seek(struct tracer *t, struct thread *th)
{
	return hold(t, th, 0, th->now.args[0]) != NULL;
}

void leat_ptrace_leave_seek(struct tracer *t, struct thread *th, int64_t result)
{
	if (result >= 0)
		th->now.handles[0]->offset = (uint64_t)result;
	leat_ptrace_release_held(t, th);
}

bool leat_ptrace_enter_map(struct tracer *t, struct thread *th)
{
	return hold(t, th, 0, th->now.args[4]) != NULL;
}

void leat_ptrace_leave_map(struct tracer *t, struct thread *th, int64_t result)
{
	const struct pending *now = &th->now;
	uint64_t kind = now->args[3] & MAP_TYPE;
	struct leat_trace_call call;

	/* Addresses are no errors, whatever their sign. */
	if (result < 0 && result >= -4095) {
		leat_ptrace_release_held(t, th);
		return;
	}
	call = leat_ptrace_record(th, LEAT_TRACE_MAP, 0);
	call.inode = now->handles[0]->inode->id;
	call.handle = now->handles[0]->id;
	call.size = now->args[1];
	call.offset = now->args[5];
	/* What is written to a private mapping does not get into the file. */
	call.flags = (uint32_t)now->args[2];
	if (kind == MAP_PRIVATE)
		call.flags &= ~(uint32_t)PROT_WRITE;
	leat_trace_sink_call(&t->sink, &call);
	leat_ptrace_release_held(t, th);
}

/* ---- from one file to another, inside the kernel ---- */

static void note_offset(struct thread *th, unsigned which, uint64_t address)
{
	uint64_t offset;

	if (!address || leat_memory_of(th->tid, address, &offset, sizeof(offset)) < 0)
		return;
	th->now.explicit[which] = true;
	th->now.offsets[which] = offset;
}

bool leat_ptrace_enter_copy(struct tracer *t, struct thread *th)
{
	struct pending *now = &th->now;
	bool sends = now->call->detail == SENDFILE;
	bool from = hold(t, th, 0, now->args[sends ? 1 : 0]) != NULL;
	bool to = hold(t, th, 1, now->args[sends ? 0 : 2]) != NULL;

	if (!from && !to)
		return false;
	now->size = now->args[sends ? 3 : 4];
	note_offset(th, 0, now->args[sends ? 2 : 1]);
	if (!sends)
		note_offset(th, 1, now->args[3]);
	return true;
}

void leat_ptrace_leave_copy(struct tracer *t, struct thread *th, int64_t result)
{
	if (!leat_ptrace_is_restart(result)) {
		if (th->now.handles[0])
			record(t, th, 0, LEAT_TRACE_READ, result, false);
		if (th->now.handles[1])
			record(t, th, 1, LEAT_TRACE_WRITE, result, false);
	}
	leat_ptrace_release_held(t, th);
}
