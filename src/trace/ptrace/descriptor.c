/* Calls on descriptors. */
#include "trace/ptrace/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/ioctl.h>

/* A descriptor is free to be used by others before its close returns: it is taken when the close
 * begins. */
bool leat_ptrace_enter_close(struct tracer *t, struct thread *th)
{
	(void)t;
	th->now.handles[0] = leat_fdtab_take(th->fds, (uint32_t)th->now.args[0]);
	return th->now.handles[0] != NULL;
}

void leat_ptrace_leave_close(struct tracer *t, struct thread *th, int64_t result)
{
	(void)result; /* the descriptor is closed also where the last write-back failed */
	leat_ptrace_release_held(t, th);
}

bool leat_ptrace_enter_close_range(struct tracer *t, struct thread *th)
{
	(void)t;
	(void)th;
	return true;
}

void leat_ptrace_leave_close_range(struct tracer *t, struct thread *th, int64_t result)
{
	uint32_t first = (uint32_t)th->now.args[0], last = (uint32_t)th->now.args[1];
	uint64_t flags = th->now.args[2];

	if (result < 0 || ((flags & CLOSE_RANGE_UNSHARE) && !leat_ptrace_unshare(t, th)))
		return;
	for (size_t fd = first; fd <= last && fd < th->fds->n; fd++) {
		struct handle *h;

		if (flags & CLOSE_RANGE_CLOEXEC) {
			th->fds->slots[fd].cloexec = true;
			continue;
		}
		h = leat_fdtab_take(th->fds, fd);
		if (h)
			leat_ptrace_release(t, h, th, 0);
	}
}

/* ---- copies of descriptors ---- */

/* `fd` now is the description of `h` (a reference), or one that is not traced. */
static void put(struct tracer *t, struct thread *th, uint64_t fd, struct handle *h, bool cloexec)
{
	struct fdtab *fds = th->fds;
	bool names_cpus = leat_fdtab_names_cpus(fds, (uint32_t)th->now.args[0]);
	struct slot *slot = h || names_cpus ? leat_fdtab_make(fds, fd) : leat_fdtab_slot(fds, fd);
	struct handle *old = leat_fdtab_take(fds, fd);

	if (slot)
		*slot = (struct slot){.handle = h,
				      .cloexec = cloexec,
				      .ignored = names_cpus && !h,
				      .names_cpus = names_cpus};
	else if (h)
		leat_ptrace_release(t, h, th, 0);
	if (old)
		leat_ptrace_release(t, old, th, 0);
}

bool leat_ptrace_enter_dup(struct tracer *t, struct thread *th)
{
	struct handle *h = leat_ptrace_handle(t, th, th->now.args[0]);

	th->now.handles[0] = h;
	if (h)
		leat_handle_ref(h);
	/* Those that replace a descriptor close it. */
	return h || th->now.call->detail != DUP ||
	       leat_fdtab_names_cpus(th->fds, (uint32_t)th->now.args[0]);
}

void leat_ptrace_leave_dup(struct tracer *t, struct thread *th, int64_t result)
{
	struct pending *now = &th->now;
	int how = now->call->detail;
	bool to_itself = how != DUP && now->args[0] == now->args[1];
	struct handle *h = now->handles[0];

	if (result >= 0 && !to_itself) {
		now->handles[0] = NULL;
		put(t, th, (uint64_t)result, h, how == DUP3 && (now->args[2] & O_CLOEXEC));
	}
	leat_ptrace_release_held(t, th);
}

bool leat_ptrace_enter_fcntl(struct tracer *t, struct thread *th)
{
	struct handle *h = leat_ptrace_handle(t, th, th->now.args[0]);

	if (!h)
		return false;
	leat_handle_ref(h);
	th->now.handles[0] = h;
	return true;
}

static void set_cloexec(struct thread *th, bool on)
{
	struct slot *slot = leat_fdtab_slot(th->fds, (uint32_t)th->now.args[0]);

	if (slot)
		slot->cloexec = on;
}

void leat_ptrace_leave_fcntl(struct tracer *t, struct thread *th, int64_t result)
{
	struct pending *now = &th->now;
	struct handle *h = now->handles[0];
	int command = (int)now->args[1];

	if (result >= 0 && command == F_SETFD) {
		set_cloexec(th, now->args[2] & FD_CLOEXEC);
	} else if (result >= 0 && command == F_SETFL) {
		h->append = now->args[2] & O_APPEND;
	} else if (result >= 0) {
		now->handles[0] = NULL;
		put(t, th, (uint64_t)result, h, command == F_DUPFD_CLOEXEC);
	}
	leat_ptrace_release_held(t, th);
}

bool leat_ptrace_enter_ioctl(struct tracer *t, struct thread *th)
{
	return leat_ptrace_enter_fcntl(t, th);
}

void leat_ptrace_leave_ioctl(struct tracer *t, struct thread *th, int64_t result)
{
	if (result >= 0)
		set_cloexec(th, (uint32_t)th->now.args[1] == FIOCLEX);
	leat_ptrace_release_held(t, th);
}

bool leat_ptrace_enter_ftruncate(struct tracer *t, struct thread *th)
{
	return leat_ptrace_enter_fcntl(t, th);
}

void leat_ptrace_leave_ftruncate(struct tracer *t, struct thread *th, int64_t result)
{
	const struct handle *h = th->now.handles[0];
	struct leat_trace_call call;

	if (!leat_ptrace_is_restart(result)) {
		call = leat_ptrace_record(th, LEAT_TRACE_TRUNCATE, result);
		call.inode = h->inode->id;
		call.handle = h->id;
		call.size = th->now.args[1];
		call.flags = h->flags;
		leat_trace_sink_call(&t->sink, &call);
	}
	leat_ptrace_release_held(t, th);
}
