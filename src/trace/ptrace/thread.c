#include "trace/ptrace/internal.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct thread *leat_ptrace_thread_find(struct tracer *t, pid_t tid)
{
	struct thread *th;

	HASH_FIND_INT(t->threads, &tid, th);
	return th;
}

struct thread *leat_ptrace_thread_new(struct tracer *t, pid_t tid)
{
	struct thread *th = calloc(1, sizeof(*th));

	if (!th) {
		leat_trace_sink_lost(&t->sink, LEAT_TRACE_LOST_MEMORY, 1);
		return NULL;
	}
	th->tid = tid;
	th->schedstat = -1;
	th->filtered = true;
	HASH_ADD_INT(t->threads, tid, th);
	return th;
}

void leat_ptrace_thread_join(struct thread *th, struct process *p, struct fdtab *fds)
{
	th->process = p;
	th->fds = fds;
	p->threads++;
}

void leat_ptrace_pending_drop(struct tracer *t, struct thread *th)
{
	for (int i = 0; i < 2; i++) {
		if (th->now.handles[i])
			leat_ptrace_release(t, th->now.handles[i], NULL, th->process->pid);
		leat_ptrace_name_release(&th->now.names[i]);
	}
	th->now = (struct pending){0};
}

void leat_ptrace_thread_free(struct tracer *t, struct thread *th)
{
	leat_ptrace_together_gone(t, th);
	leat_ptrace_pending_drop(t, th);
	if (th->process) {
		leat_ptrace_release_table(t, th->fds, th->process->pid);
		th->process->threads--;
	}
	if (th->schedstat >= 0)
		close(th->schedstat);
	HASH_DEL(t->threads, th);
	free(th->root);
	free(th);
}

struct process *leat_ptrace_process_find(struct tracer *t, pid_t pid)
{
	struct process *p;

	HASH_FIND_INT(t->processes, &pid, p);
	return p;
}

struct process *leat_ptrace_process_new(struct tracer *t, pid_t pid, pid_t ppid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p) {
		leat_trace_sink_lost(&t->sink, LEAT_TRACE_LOST_MEMORY, 1);
		return NULL;
	}
	p->pid = pid;
	p->ppid = ppid;
	HASH_ADD_INT(t->processes, pid, p);
	return p;
}

bool leat_ptrace_unshare(struct tracer *t, struct thread *th)
{
	struct fdtab *copy;

	if (th->fds->refs == 1)
		return true;
	copy = leat_fdtab_copy(th->fds);
	if (!copy) {
		leat_trace_sink_lost(&t->sink, LEAT_TRACE_LOST_MEMORY, 1);
		return false;
	}
	leat_ptrace_release_table(t, th->fds, th->process->pid);
	th->fds = copy;
	return true;
}

/* ---- recording ---- */

bool leat_ptrace_is_restart(int64_t result)
{
	/* ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK of the kernel */
	return result == -512 || result == -513 || result == -514 || result == -516;
}

struct leat_trace_call leat_ptrace_record(struct thread *th, enum leat_trace_type type,
					  int64_t result)
{
	struct leat_trace_call call = {.start_ns = th->now.start_ns,
				       .end_ns = leat_ptrace_now(),
				       .pid = th->process->pid,
				       .type = type,
				       .utime_start_ns = th->now.utime_ns,
				       .stime_start_ns = th->now.stime_ns,
				       .result = result};

	leat_ptrace_cpu(th, true, &call.utime_end_ns, &call.stime_end_ns);
	return call;
}

/* Have descriptor `fd` of the thread and one of those of another process one description? */
static bool is_same(pid_t tid, uint64_t fd, struct tracer *t, const struct handle *h)
{
	for (struct thread *o = t->threads; o; o = o->hh.next)
		for (size_t i = 0; o->fds && i < o->fds->n; i++)
			if (o->fds->slots[i].handle == h)
				return syscall(SYS_kcmp, tid, o->tid, KCMP_FILE, fd, i) == 0;
	return false;
}

/* A descriptor that the thread's process was seen neither to open nor to inherit: it may have come
 * over a socket, or from a thread that opened it while another forked. */
static struct handle *adopt(struct tracer *t, struct thread *th, uint64_t fd)
{
	struct slot *slot = leat_fdtab_make(th->fds, fd);
	struct inode *inode = NULL;
	struct statx st;

	if (!slot)
		return NULL;
	slot->ignored = true;
	if (leat_ptrace_stat_fd(t, th, (int)fd, &st) && S_ISREG(st.stx_mode))
		inode = leat_inode_find(&t->inodes, &st);
	for (struct handle *h = inode ? inode->open : NULL; h; h = h->next)
		if (is_same(th->tid, fd, t, h)) {
			leat_handle_ref(h);
			*slot = (struct slot){.handle = h};
			return h;
		}
	return NULL;
}

struct handle *leat_ptrace_handle(struct tracer *t, struct thread *th, uint64_t fd)
{
	struct slot *slot = leat_fdtab_slot(th->fds, (uint32_t)fd);

	if (slot && (slot->handle || slot->ignored))
		return slot->handle;
	return t->inodes.last ? adopt(t, th, (uint32_t)fd) : NULL;
}

void leat_ptrace_release(struct tracer *t, struct handle *h, struct thread *th, pid_t pid)
{
	struct leat_trace_call call;

	if (!leat_handle_unref(h))
		return;
	if (th) {
		call = leat_ptrace_record(th, LEAT_TRACE_CLOSE, 0);
	} else {
		call = (struct leat_trace_call){.pid = pid, .type = LEAT_TRACE_CLOSE};
		call.start_ns = call.end_ns = leat_ptrace_now();
	}
	call.inode = h->inode->id;
	call.handle = h->id;
	call.flags = h->flags;
	leat_trace_sink_call(&t->sink, &call);
	leat_handle_free(h);
}

void leat_ptrace_release_held(struct tracer *t, struct thread *th)
{
	for (int i = 0; i < 2; i++)
		if (th->now.handles[i]) {
			leat_ptrace_release(t, th->now.handles[i], th, th->process->pid);
			th->now.handles[i] = NULL;
		}
}

void leat_ptrace_release_table(struct tracer *t, struct fdtab *fds, pid_t pid)
{
	if (--fds->refs)
		return;
	for (size_t i = 0; i < fds->n; i++) {
		struct handle *h = leat_fdtab_take(fds, i);

		if (h)
			leat_ptrace_release(t, h, NULL, pid);
	}
	leat_fdtab_free(fds);
}
