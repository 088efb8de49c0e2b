/* A stop is waited for, acted upon, and left. */
#include "base/log.h"
#include "trace/ptrace/internal.h"

#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

void leat_ptrace_resume(struct thread *th, int signal)
{
	/* One that was killed meanwhile is heard of by waiting. */
	ptrace(th->now.call || !th->filtered ? PTRACE_SYSCALL : PTRACE_CONT, th->tid, 0, signal);
}

static bool get_info(struct thread *th, struct __ptrace_syscall_info *info)
{
	return ptrace(PTRACE_GET_SYSCALL_INFO, th->tid, sizeof(*info), info) > 0;
}

static void begin_call(struct tracer *t, struct thread *th, uint64_t nr, const uint64_t args[6])
{
	const struct call *call = nr < LEAT_PTRACE_MAX_CALL ? t->calls[nr] : NULL;
	struct pending *now = &th->now;

	if (!call || !th->process->started)
		return;
	if (call->apart)
		leat_ptrace_together_end(t);
	else
		leat_ptrace_together_call(t, th);
	now->call = call;
	memcpy(now->args, args, sizeof(now->args));
	now->start_ns = leat_ptrace_now();
	if (call->enter(t, th))
		leat_ptrace_cpu(th, false, &now->utime_ns, &now->stime_ns);
	else
		leat_ptrace_pending_drop(t, th);
}

static void end_call(struct tracer *t, struct thread *th, const struct __ptrace_syscall_info *info)
{
	if (!th->now.call)
		return;
	th->now.call->leave(t, th, info->exit.rval);
	leat_ptrace_pending_drop(t, th);
}

static void on_call(struct tracer *t, struct thread *th)
{
	struct __ptrace_syscall_info info;

	if (!get_info(th, &info))
		return;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		end_call(t, th, &info);
	else if (info.arch != NATIVE)
		leat_ptrace_on_foreign(t, th);
	else if (info.op == PTRACE_SYSCALL_INFO_SECCOMP)
		begin_call(t, th, info.seccomp.nr, (const uint64_t *)info.seccomp.args);
	else if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		begin_call(t, th, info.entry.nr, (const uint64_t *)info.entry.args);
}

static bool stops_all(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* A thread that is to be let go of has stopped. */
static void detach_thread(struct tracer *t, struct thread *th, int signal)
{
	pid_t tid = th->tid;
	struct process *p = th->process;

	ptrace(PTRACE_DETACH, tid, 0, signal);
	leat_ptrace_thread_free(t, th);
	if (p && !p->threads) {
		HASH_DEL(t->processes, p);
		free(p);
	}
}

static void on_stop(struct tracer *t, struct thread *th, int signal, int event)
{
	int deliver = event || signal == (SIGTRAP | 0x80) ? 0 : signal;

	if (th != t->together.thread || (event && event != PTRACE_EVENT_SECCOMP))
		leat_ptrace_together_end(t);
	/* Its maker is in a stop that has not been heard of yet. */
	if (!th->process) {
		th->stopped = true;
		return;
	}
	if (event == PTRACE_EVENT_SECCOMP || signal == (SIGTRAP | 0x80))
		on_call(t, th);
	else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
		 event == PTRACE_EVENT_CLONE)
		leat_ptrace_on_child(t, th, event != PTRACE_EVENT_CLONE);
	else if (event == PTRACE_EVENT_EXEC)
		leat_ptrace_on_exec(t, th);
	if (t->detaching)
		detach_thread(t, th, deliver);
	else if (event == PTRACE_EVENT_STOP && stops_all(signal))
		ptrace(PTRACE_LISTEN, th->tid, 0, 0); /* until SIGCONT, as it would untraced */
	else
		leat_ptrace_resume(th, deliver);
}

static void act(struct tracer *t, pid_t tid, int status)
{
	struct thread *th;

	if (!WIFSTOPPED(status)) {
		leat_ptrace_on_end(t, tid, status);
		return;
	}
	th = leat_ptrace_thread_find(t, tid);
	if (!th)
		th = leat_ptrace_thread_new(t, tid);
	if (th)
		on_stop(t, th, WSTOPSIG(status), status >> 16);
	else
		ptrace(PTRACE_CONT, tid, 0, 0);
}

/* The command is asked to end, as by whoever asked leat; what ran before is let go of. */
static void begin_end(struct tracer *t)
{
	if (t->asked_to_end)
		return;
	t->asked_to_end = true;
	if (t->command)
		kill(t->command, SIGTERM);
	else
		leat_ptrace_detach(t);
}

int leat_ptrace_loop(struct tracer *t)
{
	while (t->threads) {
		int status;
		pid_t tid;

		if (t->request->stop && *t->request->stop)
			begin_end(t);
		tid = waitpid(-1, &status, __WALL);
		if (tid > 0) {
			act(t, tid, status);
		} else if (errno != EINTR) {
			int rc = -errno;

			leat_error("lost the traced processes: %s", strerror(-rc));
			return rc;
		}
	}
	return 0;
}
