/* Processes that run already are traced as they are: no filter can be put into them, so all their
 * calls stop. */
#include "base/fd.h"
#include "base/log.h"
#include "base/pidstat.h"
#include "trace/ptrace/internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |  \
	 PTRACE_O_TRACEEXEC)

/* It has begun after whoever made it was attached: its first stop is still to be told. */
static bool is_ours(pid_t tid)
{
	char path[64], *text = NULL, *line;
	bool ours;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (leat_read_file(path, 1 << 16, &text, NULL) < 0)
		return false;
	line = strstr(text, "\nTracerPid:");
	ours = line && atoi(line + strlen("\nTracerPid:")) == gettid();
	free(text);
	return ours;
}

/* -ESRCH: it has ended, or is attached without this. */
static int seize(pid_t tid)
{
	struct leat_pidstat stat;
	bool ended;

	if (ptrace(PTRACE_SEIZE, tid, 0, OPTIONS) == 0)
		return 0;
	if (errno != EPERM)
		return -errno;
	ended = !leat_pidstat_read(tid, &stat) || stat.state == 'Z' || stat.state == 'X';
	return ended || is_ours(tid) ? -ESRCH : -EPERM;
}

static int attach_thread(struct tracer *t, struct process *p, pid_t tid, struct fdtab *fds)
{
	struct thread *th;
	int rc = seize(tid);

	if (rc)
		return rc;
	th = leat_ptrace_thread_new(t, tid);
	if (!th)
		return -ENOMEM;
	th->filtered = false;
	leat_ptrace_thread_join(th, p, leat_fdtab_ref(fds));
	leat_ptrace_view_look(t, th);
	/* It then goes on with all its calls stopping. */
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	return 0;
}

/* All threads of it, also those made meanwhile by others: until none is new. */
static int attach_threads(struct tracer *t, struct process *p, struct fdtab *fds)
{
	char path[64];
	bool more = true;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->pid);
	while (more && !rc) {
		DIR *dir = opendir(path);
		struct dirent *e;

		more = false;
		if (!dir)
			return errno == ENOENT ? -ESRCH : -errno;
		while (!rc && (e = readdir(dir))) {
			pid_t tid = e->d_name[0] == '.' ? 0 : (pid_t)atoi(e->d_name);

			if (!tid || leat_ptrace_thread_find(t, tid))
				continue;
			rc = attach_thread(t, p, tid, fds);
			more = more || !rc;
			if (rc == -ESRCH)
				rc = 0;
		}
		closedir(dir);
	}
	return rc;
}

static int attach_process(struct tracer *t, pid_t pid);

static int attach_children(struct tracer *t, pid_t pid)
{
	char path[64], *text = NULL, *rest, *word;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	if (leat_read_file(path, 1 << 24, &text, NULL) < 0)
		return 0; /* it has ended, or the kernel does not tell */
	rest = text;
	while (!rc && (word = strsep(&rest, " \n")))
		if (*word)
			rc = attach_process(t, (pid_t)atoi(word));
	free(text);
	return rc == -ESRCH ? 0 : rc;
}

static int attach_process(struct tracer *t, pid_t pid)
{
	struct leat_pidstat stat = {0};
	struct process *p;
	struct fdtab *fds;
	int rc;

	if (leat_ptrace_process_find(t, pid))
		return 0;
	leat_pidstat_read(pid, &stat);
	p = leat_ptrace_process_new(t, pid, stat.parent);
	fds = p ? leat_fdtab_new() : NULL;
	if (!fds)
		return -ENOMEM;
	p->started = true;
	rc = attach_threads(t, p, fds);
	leat_ptrace_release_table(t, fds, pid);
	if (!rc && !p->threads)
		rc = -ESRCH;
	if (rc == 0) {
		p->cgroup = leat_trace_who_exec(t->who, p->ppid, pid, leat_ptrace_now());
		return attach_children(t, pid);
	}
	if (!p->threads) {
		HASH_DEL(t->processes, p);
		free(p);
	}
	return rc;
}

int leat_ptrace_attach(struct tracer *t)
{
	const struct leat_trace_filter *f = &t->request->filter;

	for (size_t i = 0; i < f->n_pids; i++) {
		int rc = attach_process(t, f->pids[i]);

		if (rc < 0) {
			leat_error("cannot trace process %d: %s%s", (int)f->pids[i], strerror(-rc),
				   rc == -EPERM ? " (it is another user's, is traced already, or "
						  "/proc/sys/kernel/yama/ptrace_scope forbids it)"
						: "");
			return rc;
		}
	}
	return 0;
}

void leat_ptrace_detach(struct tracer *t)
{
	t->detaching = true;
	for (struct thread *th = t->threads; th; th = th->hh.next)
		ptrace(PTRACE_INTERRUPT, th->tid, 0, 0);
}
