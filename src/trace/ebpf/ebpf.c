/* The tracer: programs in the kernel record, and this reads what they did every few milliseconds.
 * Nobody wakes it: that would cost the traced more than all the rest. */
#include "base/fd.h"
#include "base/log.h"
#include "base/pidstat.h"
#include "trace/ebpf/decode.h"
#include "trace/ebpf/programs.h"
#include "trace/ebpf/start.h"
#include "trace/tracer.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS INT64_C(1000000)
enum {
	TICK_MS = 5,
	HOLD_MS = 20,    /* records are put in order for so long */
	UNSURE_MS = 100, /* after a hint that files were closed they are looked through */
	LOOK_MS = 1000,  /* and without one, so often */
	FLUSH_MS = 1000, /* the trace is handed to the kernel so often: it may be looked at */
	SHARE = 20,      /* looking takes at most one part in so many of the time */
};

struct tracer {
	const struct leat_trace_request *request; /* borrowed */
	struct leat_trace_sink sink;
	struct leat_ebpf_decoder decoder;
	struct leat_ebpf_programs *programs; /* owned */
	struct leat_ebpf_counts seen;        /* what was told of losses */
	uint64_t roots;                      /* processes that were named */
	int64_t look_until_ns, look_next_ns, flush_next_ns;
	pid_t command; /* 0: none, or it has ended */
	int pidfd;     /* of it; -1 */
	int status;
	bool emitted_to_end;
};

static int check_usable(const struct leat_trace_request *request, char *why, size_t size)
{
	(void)request;
	return leat_ebpf_programs_usable(why, size);
}

/* ---- while it runs ---- */

static void emit_losses(struct tracer *t, const struct leat_ebpf_counts *now)
{
	static const enum leat_trace_loss names[LEAT_EBPF_LOSSES] = {
		[LEAT_EBPF_LOST_BUFFER] = LEAT_TRACE_LOST_BUFFER,
		[LEAT_EBPF_LOST_MEMORY] = LEAT_TRACE_LOST_MEMORY,
		[LEAT_EBPF_LOST_UNSEEN] = LEAT_TRACE_LOST_UNSEEN,
	};

	for (int i = 0; i < LEAT_EBPF_LOSSES; i++)
		if (now->lost[i] != t->seen.lost[i])
			leat_trace_sink_lost(&t->sink, names[i], now->lost[i] - t->seen.lost[i]);
}

/* Look through the open files when some may have been closed in a way that no call shows. */
static void look(struct tracer *t, bool hinted, int64_t now_ns)
{
	int64_t took_ns;

	if (hinted)
		t->look_until_ns = now_ns + UNSURE_MS * MS;
	if (now_ns < t->look_next_ns)
		return;
	leat_ebpf_programs_sweep(t->programs);
	took_ns = leat_ebpf_decoder_clock(&t->decoder) - now_ns;
	t->look_next_ns = now_ns + (now_ns < t->look_until_ns ? SHARE * took_ns : LOOK_MS * MS);
}

/* How many of the traced processes live. */
static uint64_t collect_records(struct tracer *t)
{
	int64_t now_ns = leat_ebpf_decoder_clock(&t->decoder);
	struct leat_ebpf_counts counts;

	leat_ebpf_programs_count(t->programs, &counts);
	/* Sooner than was meant when there was no hint. */
	if (counts.hints != t->seen.hints && now_ns > t->look_until_ns)
		t->look_next_ns = now_ns;
	look(t, counts.hints != t->seen.hints, now_ns);
	leat_ebpf_programs_drain(t->programs);
	leat_ebpf_order_pass(&t->decoder.order, now_ns - HOLD_MS * MS);
	if (now_ns >= t->flush_next_ns) {
		/* What goes wrong the next write reports. */
		leat_trace_writer_flush(t->request->out);
		t->flush_next_ns = now_ns + FLUSH_MS * MS;
	}
	emit_losses(t, &counts);
	t->seen = counts;
	return counts.exits < t->roots + counts.forks ? t->roots + counts.forks - counts.exits : 0;
}

/* A tick's time, or until the command ends. */
static void wait_tick(struct tracer *t)
{
	struct pollfd p = {.fd = t->command ? t->pidfd : -1, .events = POLLIN};

	poll(&p, 1, TICK_MS);
	if (t->command && waitpid(t->command, &t->status, WNOHANG) == t->command)
		t->command = 0;
}

static void on_stop(struct tracer *t)
{
	if (t->command && !t->emitted_to_end)
		kill(t->command, SIGTERM);
	t->emitted_to_end = true;
}

static void run_loop(struct tracer *t)
{
	for (;;) {
		uint64_t live;

		wait_tick(t);
		live = collect_records(t);
		if (t->request->stop && *t->request->stop)
			on_stop(t);
		if (t->emitted_to_end && !t->request->argv)
			return;
		if (!t->command && live == 0 && (t->request->argv || t->roots))
			return;
	}
}

static void finish(struct tracer *t)
{
	struct leat_ebpf_counts counts;

	leat_ebpf_programs_drain(t->programs);
	leat_ebpf_programs_sweep(t->programs);
	leat_ebpf_programs_drain(t->programs);
	leat_ebpf_programs_count(t->programs, &counts);
	emit_losses(t, &counts);
	leat_ebpf_order_pass(&t->decoder.order, INT64_MAX);
}

/* ---- the beginning ---- */

static void emit_root(struct tracer *t, pid_t ppid, pid_t pid)
{
	struct leat_ebpf_held held = {.record.kind = LEAT_TRACE_PROCESS};
	struct leat_trace_process *p = &held.record.process;

	p->time_ns = held.time_ns = leat_ebpf_decoder_clock(&t->decoder);
	p->change = LEAT_TRACE_FORK;
	p->ppid = ppid;
	p->pid = pid;
	p->cgroup = leat_trace_who_cgroup(t->decoder.who, pid);
	leat_ebpf_cgroups_note_written(t->decoder.cgroups, p->cgroup);
	leat_ebpf_order_put(&t->decoder.order, &held);
}

static int follow(struct tracer *t, pid_t ppid, pid_t pid)
{
	int rc = leat_ebpf_programs_follow(t->programs, pid);

	if (rc)
		return rc;
	t->roots++;
	emit_root(t, ppid, pid);
	return 0;
}

/* 0, or -errno of the tracing. A command that cannot be executed has its status. */
static int start(struct tracer *t)
{
	struct leat_ebpf_start s;
	int rc = leat_ebpf_start(&s, t->request->argv);

	if (rc)
		return rc;
	t->command = s.pid;
	t->pidfd = pidfd_open(s.pid, 0);
	rc = follow(t, getpid(), s.pid);
	if (rc) {
		leat_error("the command cannot be traced: %s", strerror(-rc));
		leat_close(&s.go);
		leat_close(&s.failed);
		waitpid(s.pid, &t->status, 0);
		return rc;
	}
	rc = leat_ebpf_start_go(&s);
	if (rc)
		leat_error("cannot execute %s: %s", t->request->argv[0], strerror(-rc));
	return 0;
}

static bool is_among(const pid_t *v, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == pid)
			return true;
	return false;
}

/* Add the children of those in v. Those made from now on are followed by the kernel. */
static size_t add_children(struct tracer *t, pid_t **v, size_t n)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	struct leat_pidstat stat;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)*entry->d_name) ? atoi(entry->d_name) : 0, *more;

		if (pid <= 0 || is_among(*v, n, pid) || !leat_pidstat_read(pid, &stat) ||
		    !is_among(*v, n, stat.parent))
			continue;
		more = reallocarray(*v, n + 1, sizeof(**v));
		if (!more || follow(t, stat.parent, pid))
			break;
		*v = more;
		(*v)[n++] = pid;
	}
	if (proc)
		closedir(proc);
	return n;
}

static int follow_all(struct tracer *t)
{
	const struct leat_trace_filter *f = &t->request->filter;
	pid_t *v = calloc(f->n_pids + 1, sizeof(*v));
	size_t n = 0, before;
	struct leat_pidstat stat;
	int rc = v ? 0 : -ENOMEM;

	for (size_t i = 0; i < f->n_pids && !rc; i++) {
		if (!leat_pidstat_read(f->pids[i], &stat)) {
			leat_error("there is no process %d", (int)f->pids[i]);
			rc = -ESRCH;
		} else {
			rc = follow(t, stat.parent, f->pids[i]);
			v[n++] = f->pids[i];
		}
	}
	do {
		before = n;
		n = rc ? n : add_children(t, &v, n);
	} while (n > before);
	free(v);
	return rc;
}

static int run(const struct leat_trace_request *request, int *status)
{
	struct tracer t = {.request = request, .pidfd = -1};
	int rc;

	leat_trace_sink_init(&t.sink, request);
	rc = leat_ebpf_decoder_init(&t.decoder, &t.sink);
	if (rc) {
		leat_error("no memory to trace with");
	} else {
		t.programs = leat_ebpf_programs_new(request, leat_ebpf_decode, &t.decoder);
		rc = t.programs ? 0 : -EIO;
	}
	if (!rc)
		rc = request->argv ? start(&t) : follow_all(&t);
	if (!rc) {
		run_loop(&t);
		finish(&t);
		*status = t.status;
	}
	leat_close(&t.pidfd);
	leat_ebpf_programs_free(t.programs);
	leat_ebpf_decoder_release(&t.decoder);
	return rc ? rc : t.sink.error;
}

const struct leat_tracer leat_tracer_ebpf = {
	.name = "ebpf",
	.summary = "programs in the kernel: any program, little overhead; needs root",
	.usable = check_usable,
	.run = run,
};
