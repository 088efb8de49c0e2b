/* Processes and threads that begin, start programs, end. */
#include "base/log.h"
#include "base/memory_of.h"
#include "trace/ptrace/internal.h"

#include <linux/sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

/* A child with CLONE_UNTRACED would have the filter without a tracer, so that its calls would
 * fail. */
static void follow_untraced(struct thread *th, uint64_t *args)
{
	uint64_t flags = th->clone_flags & ~(uint64_t)CLONE_UNTRACED;

	if (th->now.call->nr == SYS_clone3) {
		struct iovec here = {&flags, sizeof(flags)};
		struct iovec there = {(void *)(uintptr_t)args[0], sizeof(flags)};

		if (process_vm_writev(th->tid, &here, 1, &there, 1, 0) == sizeof(flags))
			return;
	}
#ifdef __x86_64__
	else if (ptrace(PTRACE_POKEUSER, th->tid, offsetof(struct user_regs_struct, rdi), flags) ==
		 0)
		return;
#endif
	leat_warn("process %d makes one that must not be traced; its calls on files fail",
		  (int)th->process->pid);
}

bool leat_ptrace_enter_clone(struct tracer *t, struct thread *th)
{
	struct pending *now = &th->now;

	(void)t;
	th->clone_flags = 0;
	if (now->call->nr == SYS_clone)
		th->clone_flags = now->args[0];
	else if (now->call->nr == SYS_clone3)
		leat_memory_of(th->tid, now->args[0], &th->clone_flags, sizeof(uint64_t));
	if (th->clone_flags & CLONE_UNTRACED)
		follow_untraced(th, now->args);
	/* fork and vfork, and a clone3 without any, share nothing of what matters here */
	th->clone_flags |= CLONE_VM;
	return false;
}

bool leat_ptrace_enter_affinity(struct tracer *t, struct thread *th)
{
	(void)t;
	(void)th;
	return false;
}

bool leat_ptrace_enter_unshare(struct tracer *t, struct thread *th)
{
	(void)t;
	return th->fds->refs > 1 || th->now.args[0] & CLONE_NEWNS;
}

void leat_ptrace_leave_unshare(struct tracer *t, struct thread *th, int64_t result)
{
	if (result < 0)
		return;
	if (th->now.args[0] & CLONE_FILES)
		leat_ptrace_unshare(t, th);
	if (th->now.args[0] & CLONE_NEWNS)
		leat_ptrace_leave_view(t, th, result);
}

/* ---- what is not seen ---- */

bool leat_ptrace_enter_aio(struct tracer *t, struct thread *th)
{
	if (!t->reported_aio)
		leat_warn("process %d uses the kernel's AIO: ptrace does not see what it does to "
			  "files in that way; it is counted as lost",
			  (int)th->process->pid);
	t->reported_aio = true;
	return true;
}

void leat_ptrace_leave_unseen(struct tracer *t, struct thread *th, int64_t result)
{
	(void)th;
	if (result > 0)
		leat_trace_sink_lost(&t->sink, LEAT_TRACE_LOST_UNSEEN, (uint64_t)result);
}

void leat_ptrace_on_foreign(struct tracer *t, struct thread *th)
{
	/* It could ask for its processors without being seen. */
	leat_ptrace_together_end(t);
	th->process->unseen = true;
	leat_trace_sink_lost(&t->sink, LEAT_TRACE_LOST_UNSEEN, 1);
	if (!t->reported_foreign)
		leat_warn("process %d runs a 32-bit program: what such programs do to files is not "
			  "recorded; it is counted as lost",
			  (int)th->process->pid);
	t->reported_foreign = true;
}

/* ---- it begins ---- */

static bool is_thread_of(pid_t tid, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

static struct process *new_child(struct tracer *t, pid_t pid, const struct process *parent)
{
	struct process *p = leat_ptrace_process_new(t, pid, parent->pid);

	if (!p)
		return NULL;
	p->cgroup = parent->cgroup;
	p->started = parent->started;
	p->unseen = parent->unseen;
	leat_trace_sink_process(&t->sink, &(struct leat_trace_process){.time_ns = leat_ptrace_now(),
								       .change = LEAT_TRACE_FORK,
								       .ppid = parent->pid,
								       .pid = pid,
								       .cgroup = p->cgroup});
	return p;
}

void leat_ptrace_on_child(struct tracer *t, struct thread *parent, bool forked)
{
	uint64_t flags = parent->clone_flags;
	unsigned long message = 0;
	struct thread *child;
	struct process *p;
	struct fdtab *fds;
	pid_t tid;

	parent->clone_flags = 0;
	if (ptrace(PTRACE_GETEVENTMSG, parent->tid, 0, &message) < 0)
		return; /* killed meanwhile, as the child will be */
	tid = (pid_t)message;
	if (!flags && !forked && is_thread_of(tid, parent->process->pid))
		flags = CLONE_THREAD | CLONE_FILES;
	child = leat_ptrace_thread_find(t, tid);
	if (!child)
		child = leat_ptrace_thread_new(t, tid);
	p = flags & CLONE_THREAD ? parent->process : new_child(t, tid, parent->process);
	fds = flags & CLONE_FILES ? leat_fdtab_ref(parent->fds) : leat_fdtab_copy(parent->fds);
	if (!child || !p || !fds) {
		/* It goes on untraced: its stops are let pass. */
		leat_trace_sink_lost(&t->sink, LEAT_TRACE_LOST_MEMORY, 1);
		if (fds)
			leat_ptrace_release_table(t, fds, tid);
		return;
	}
	child->filtered = parent->filtered;
	leat_ptrace_thread_join(child, p, fds);
	leat_ptrace_view_inherit(t, child, parent, flags);
	if (child->stopped)
		leat_ptrace_resume(child, 0);
	child->stopped = false;
}

/* ---- it starts a program ---- */

/* Only one thread is left, and it has the number of the process. */
static struct thread *leave_alone(struct tracer *t, struct thread *th, pid_t former)
{
	struct process *p = th->process;
	struct thread *caller = leat_ptrace_thread_find(t, former), *o, *next;

	if (caller && caller != th) {
		/* The descriptors are those of who called. */
		struct fdtab *fds = th->fds;

		th->fds = caller->fds;
		caller->fds = fds;
	}
	HASH_ITER(hh, t->threads, o, next)
	if (o->process == p && o != th)
		leat_ptrace_thread_free(t, o);
	return th;
}

static void close_on_exec(struct tracer *t, struct thread *th)
{
	if (!leat_ptrace_unshare(t, th))
		return;
	for (size_t i = 0; i < th->fds->n; i++) {
		struct handle *h;

		th->fds->slots[i].ignored = false;
		/* What a program of another architecture did to its descriptors is not known. */
		if (!th->fds->slots[i].cloexec && !th->process->unseen)
			continue;
		h = leat_fdtab_take(th->fds, i);
		if (h)
			leat_ptrace_release(t, h, NULL, th->process->pid);
	}
}

static void look_for_rights(struct tracer *t, pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (t->reported_setuid || geteuid() == 0 || stat(path, &st) < 0 ||
	    !(st.st_mode & S_ISUID) || st.st_uid == geteuid())
		return;
	t->reported_setuid = true;
	leat_warn("process %d runs a setuid program, which has no more rights than you while it is "
		  "traced",
		  (int)pid);
}

void leat_ptrace_on_exec(struct tracer *t, struct thread *th)
{
	struct process *p = th->process;
	int64_t now = leat_ptrace_now();
	unsigned long former = 0;

	leat_ptrace_pending_drop(t, th);
	if (ptrace(PTRACE_GETEVENTMSG, th->tid, 0, &former) == 0)
		leave_alone(t, th, (pid_t)former);
	if (!p->started) {
		p->started = true;
		p->cgroup = leat_trace_who_cgroup(t->who, p->pid);
		leat_trace_sink_process(&t->sink,
					&(struct leat_trace_process){.time_ns = now,
								     .change = LEAT_TRACE_FORK,
								     .ppid = p->ppid,
								     .pid = p->pid,
								     .cgroup = p->cgroup});
	}
	p->cgroup = leat_trace_who_exec(t->who, p->ppid, p->pid, now);
	leat_ptrace_view_look(t, th);
	close_on_exec(t, th);
	p->unseen = false;
	p->moves_by_rings = false;
	look_for_rights(t, p->pid);
}

/* ---- it ends ---- */

void leat_ptrace_on_end(struct tracer *t, pid_t tid, int status)
{
	struct thread *th = leat_ptrace_thread_find(t, tid);
	struct process *p = th ? th->process : leat_ptrace_process_find(t, tid);

	if (tid == t->command)
		t->status = status;
	if (p && p->pid == tid)
		p->status = status;
	if (th)
		leat_ptrace_thread_free(t, th);
	if (!p || p->threads)
		return;
	if (p->started)
		leat_trace_sink_process(&t->sink,
					&(struct leat_trace_process){.time_ns = leat_ptrace_now(),
								     .change = LEAT_TRACE_EXIT,
								     .ppid = p->ppid,
								     .pid = p->pid,
								     .cgroup = p->cgroup,
								     .status = p->status});
	HASH_DEL(t->processes, p);
	free(p);
}
