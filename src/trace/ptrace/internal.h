/* The ptrace tracer inside. One thread does all: it waits for a traced thread to stop, acts on why
 * it did, and lets it go on. A seccomp filter (filter.c) has only calls on files stop, once when
 * they begin, and once more when they return if something is to be recorded then. */
#ifndef LEAT_TRACE_PTRACE_INTERNAL_H
#define LEAT_TRACE_PTRACE_INTERNAL_H

#include "trace/ptrace/files.h"
#include "trace/sink.h"
#include "trace/who.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <uthash.h>

struct tracer;
struct thread;

/* A call begins. True: it is to stop again when it returns. */
typedef bool enter_fn(struct tracer *t, struct thread *th);
/* It returned, bytes, a descriptor... or -errno. */
typedef void leave_fn(struct tracer *t, struct thread *th, int64_t result);

/* When a call stops: always, or if (args[arg] & mask) == value, or `differs` from it, of the low 32
 * bits, or those `above` them. */
struct call {
	long nr;
	enter_fn *enter;
	leave_fn *leave;
	int detail; /* tells those apart that share functions */
	bool apart; /* the thread and the tracer are on processors of their own meanwhile */
	bool conditional, differs, above;
	unsigned arg;
	uint32_t mask, value;
};

/* Calls that stop, in the order of the filter; a call may have several rows, of which all but the
 * condition is the same. */
extern const struct call leat_ptrace_calls[];
extern const size_t leat_ptrace_n_calls;

/* The row of that number, or NULL. */
const struct call *leat_ptrace_find_call(uint64_t nr);

#define LEAT_PTRACE_MAX_CALL 600 /* numbers of calls are below */

/* A name that a call is about. */
struct name {
	char *path;    /* owned; absolute; NULL: could not be found out */
	char *outside; /* owned; as in struct leat_trace_call */
	bool exists;
	bool unsure;     /* it may exist */
	struct statx st; /* if it exists */
};

/* A call that is under way. */
struct pending {
	const struct call *call; /* NULL: none that is to stop when it returns */
	uint64_t args[6];
	int64_t start_ns, utime_ns, stime_ns;
	/* What the call is on: the second of copies is the one written. Held. */
	struct handle *handles[2];
	bool explicit[2];    /* offset was given */
	uint64_t offsets[2]; /* then this is it */
	uint64_t size;       /* asked for */
	uint32_t flags;
	struct name names[2]; /* rename: from and to */
	bool existed;         /* what is to be opened */
};

struct process {
	UT_hash_handle hh;
	pid_t pid, ppid;
	unsigned threads;
	uint64_t cgroup;
	bool started;        /* it runs the traced program, not yet leat's own preparations */
	bool unseen;         /* it runs a program of another architecture */
	bool moves_by_rings; /* files, by io_uring */
	int status;          /* of its leader, as of wait(2), once that has ended */
};

struct thread {
	UT_hash_handle hh;
	pid_t tid;
	struct process *process; /* NULL: it has stopped, and who made it has not been heard yet */
	struct fdtab *fds;       /* a reference; mostly its process has one */
	uint64_t clone_flags;    /* of the clone that is under way; 0 unknown */
	bool filtered;           /* by seccomp; else all calls stop */
	bool stopped;            /* waiting for `process` */
	bool elsewhere;          /* its mounts or root are not those of the tracer */
	uint64_t space;          /* its mount namespace; 0 unknown */
	char *root;              /* owned; of it, in its namespace; "" if "/"; NULL unknown */
	int schedstat;           /* descriptor; -1: not open, -2: cannot be */
	int64_t utime_ns, stime_ns;
	int64_t waited_ns; /* for a processor, as of then */
	int64_t ticks_ns;  /* their sum when the kernel's samples were last looked at */
	struct pending now;
};

struct processors {
	cpu_set_t sets[8]; /* 8192, which is the most that Linux knows */
};

/* A thread that shares a processor with the tracer (together.c). */
struct together {
	struct thread *thread; /* borrowed; whose calls are counted */
	unsigned calls;        /* of it alone */
	unsigned wanted;       /* before it begins */
	bool on;
	struct processors one, thread_may, leat_may; /* that, and those they had before */
	uint64_t looked_ns;                          /* when it was last looked who waits */
	int64_t waited_ns;                           /* what the thread had waited then */
};

struct tracer {
	const struct leat_trace_request *request; /* borrowed */
	struct leat_trace_sink sink;
	struct leat_trace_who *who;
	struct process *processes; /* by pid */
	struct thread *threads;    /* by tid */
	struct inodes inodes;
	uint64_t last_handle;
	pid_t command;                                  /* 0: none */
	int status;                                     /* of the command */
	const struct call *calls[LEAT_PTRACE_MAX_CALL]; /* by number */
	struct together together;
	bool asked_to_end, detaching;
	bool reported_uring, reported_aio, reported_setuid, reported_foreign, reported_hidden;
};

/* ---- look.c: what a stopped thread has in its memory and /proc ---- */

int64_t leat_ptrace_now(void); /* CLOCK_REALTIME */

/* Sum of the lengths of an iovec array; 0 if it cannot be read. */
uint64_t leat_ptrace_iov_bytes(pid_t tid, uint64_t address, uint64_t n);

/* CPU times of the thread; while a call is under way (`inside`), all that is new is the kernel's.
 */
void leat_ptrace_cpu(struct thread *th, bool inside, int64_t *utime_ns, int64_t *stime_ns);

/* What the descriptor leads to. False: cannot be found out. */
bool leat_ptrace_stat_fd(struct tracer *t, struct thread *th, int fd, struct statx *st);

/* Path of what the descriptor leads to, of a file that has no name any more the one that it had;
 * the caller frees it. NULL: not known. */
char *leat_ptrace_path_of_fd(pid_t tid, int fd, bool unlinked);

/* Offset of a descriptor, or -1. */
int64_t leat_ptrace_offset_of_fd(pid_t tid, int fd);

/* The path that a thread means by a name at `address`, relative to descriptor `dir`; and what is
 * there, links at its end being followed if `follow`. *name is the caller's, and holds what could
 * be found out. */
void leat_ptrace_look(struct tracer *t, struct thread *th, int dir, uint64_t address, bool follow,
		      struct name *name);

/* The path alone, without following anything. The caller frees both; NULL: not known. */
char *leat_ptrace_plain_path(struct tracer *t, struct thread *th, int dir, uint64_t address,
			     char **outside);

void leat_ptrace_name_release(struct name *name);

/* ---- view.c: where a thread is ---- */

/* It may be elsewhere now. */
void leat_ptrace_view_look(struct tracer *t, struct thread *th);

/* It begins where the one is that made it, by a clone with those flags. */
void leat_ptrace_view_inherit(struct tracer *t, struct thread *th, const struct thread *parent,
			      uint64_t clone_flags);

/* The path in its namespace of what it calls `inside`. The caller frees it; NULL: no memory. */
char *leat_ptrace_view_seen(const struct thread *th, const char *inside);

/* What the thread calls the file that the tracer sees as `seen` in its namespace, which is the
 * caller's and becomes *inside, and what that is outside. `mount`: the id of its mount, or 0. */
void leat_ptrace_view_name(struct tracer *t, struct thread *th, char *seen, uint64_t mount,
			   char **inside, char **outside);

/* May some of the files there be served by a process that is traced, as leat's mounts are? It would
 * wait for the tracer, and the tracer for it: only what the kernel knows by itself may be asked. */
bool leat_ptrace_view_is_served(struct tracer *t, const struct thread *th);

/* A descriptor (O_PATH) of what the thread calls `path`, which is below its root; -1 and errno,
 * EAGAIN: only who serves it knows. */
int leat_ptrace_view_open(struct tracer *t, const struct thread *th, const char *path, bool follow);

enter_fn leat_ptrace_enter_view;
leave_fn leat_ptrace_leave_view, leat_ptrace_leave_mount;

/* ---- thread.c ---- */

struct thread *leat_ptrace_thread_find(struct tracer *t, pid_t tid);
struct thread *leat_ptrace_thread_new(struct tracer *t, pid_t tid);
void leat_ptrace_thread_free(struct tracer *t, struct thread *th);

/* A new process, without threads. NULL: no memory. */
struct process *leat_ptrace_process_new(struct tracer *t, pid_t pid, pid_t ppid);
struct process *leat_ptrace_process_find(struct tracer *t, pid_t pid);

/* The thread is one of that process, and has those descriptors (whose reference it takes). */
void leat_ptrace_thread_join(struct thread *th, struct process *p, struct fdtab *fds);

/* The descriptors of the thread are no longer those of others. False: no memory. */
bool leat_ptrace_unshare(struct tracer *t, struct thread *th);

/* Forget what a call that will not return to us was about. */
void leat_ptrace_pending_drop(struct tracer *t, struct thread *th);

/* ---- recording ---- */

/* A record of the call that returns: its thread's, with times; the rest is to be filled in. */
struct leat_trace_call leat_ptrace_record(struct thread *th, enum leat_trace_type type,
					  int64_t result);

/* Is it one that the kernel begins anew, or ends with EINTR? */
bool leat_ptrace_is_restart(int64_t result);

/* A call ended: the handles that it held are released by the thread. */
void leat_ptrace_release_held(struct tracer *t, struct thread *th);

/* The handle of a descriptor of the thread's process, or NULL: none that is traced. */
struct handle *leat_ptrace_handle(struct tracer *t, struct thread *th, uint64_t fd);

/* One descriptor or call less has the handle; the last closes it. `th` is who, with times, unless
 * NULL: then `pid` is. */
void leat_ptrace_release(struct tracer *t, struct handle *h, struct thread *th, pid_t pid);
void leat_ptrace_release_table(struct tracer *t, struct fdtab *fds, pid_t pid);

/* ---- process.c: a process or thread begins, starts a program, ends ---- */

void leat_ptrace_on_child(struct tracer *t, struct thread *parent, bool forked);
void leat_ptrace_on_exec(struct tracer *t, struct thread *th);
void leat_ptrace_on_end(struct tracer *t, pid_t tid, int status);

/* A program of another architecture makes a call. */
void leat_ptrace_on_foreign(struct tracer *t, struct thread *th);

enter_fn leat_ptrace_enter_clone, leat_ptrace_enter_affinity, leat_ptrace_enter_unshare,
	leat_ptrace_enter_uring, leat_ptrace_enter_aio;
leave_fn leat_ptrace_leave_unshare, leat_ptrace_leave_unseen;

/* ---- together.c: one processor for a thread that makes many calls, and for the tracer ---- */

/* Before anything else. */
void leat_ptrace_together_init(struct tracer *t);

/* A call of the thread begins, through which they may stay, or come, together. */
void leat_ptrace_together_call(struct tracer *t, struct thread *th);

/* Something else happens: each is where it was allowed to be before. */
void leat_ptrace_together_end(struct tracer *t);

/* The thread has ended. */
void leat_ptrace_together_gone(struct tracer *t, const struct thread *th);

/* ---- data.c, name.c, descriptor.c: the calls ---- */

enum { IMPLICIT, AT_OFFSET, VECTOR, VECTOR_AT_OFFSET, VECTOR_WITH_FLAGS, WRITES = 8 };
enter_fn leat_ptrace_enter_io, leat_ptrace_enter_seek, leat_ptrace_enter_map,
	leat_ptrace_enter_copy;
leave_fn leat_ptrace_leave_io, leat_ptrace_leave_seek, leat_ptrace_leave_map,
	leat_ptrace_leave_copy;
enum { SENDFILE, COPY_RANGE, SPLICE };

enum { OPEN, OPENAT, OPENAT2, CREAT, BY_HANDLE };
enum { UNLINK, UNLINKAT };
enum { RENAME, RENAMEAT };
enter_fn leat_ptrace_enter_open, leat_ptrace_enter_unlink, leat_ptrace_enter_rename,
	leat_ptrace_enter_truncate;
leave_fn leat_ptrace_leave_open, leat_ptrace_leave_unlink, leat_ptrace_leave_rename,
	leat_ptrace_leave_truncate;

enum { DUP, DUP2, DUP3 };
enter_fn leat_ptrace_enter_close, leat_ptrace_enter_close_range, leat_ptrace_enter_dup,
	leat_ptrace_enter_fcntl, leat_ptrace_enter_ioctl, leat_ptrace_enter_ftruncate;
leave_fn leat_ptrace_leave_close, leat_ptrace_leave_close_range, leat_ptrace_leave_dup,
	leat_ptrace_leave_fcntl, leat_ptrace_leave_ioctl, leat_ptrace_leave_ftruncate;

/* ---- filter.c, start.c, attach.c, loop.c ---- */

/* Have the calls of the table stop in this process and those it makes. 0 or -errno. */
int leat_ptrace_filter_install(void);

/* Start the command of the request, traced. 0 or -errno, after a message. *error_fd, to be closed
 * by the caller, then tells why it could not be executed: an errno, if there is anything. */
int leat_ptrace_start(struct tracer *t, int *error_fd);

/* Trace processes that run already, with their threads. 0 or -errno, after a message. */
int leat_ptrace_attach(struct tracer *t);

/* Have all stop, to be let go of then. */
void leat_ptrace_detach(struct tracer *t);

/* Go on until all traced have ended, or been let go. 0 or -errno, after a message. */
int leat_ptrace_loop(struct tracer *t);

/* Let a stopped thread go on, with a signal (0: none). */
void leat_ptrace_resume(struct thread *th, int signal);

#endif
