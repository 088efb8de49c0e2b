/* This process on the tape: its beginning, its children, its end. */
#include "preload/trace/trace.h"
#include "preload/hooks/hooks.h"
#include "preload/core/intercept.h"
#include "preload/core/text.h"
#include "preload/trace/calls.h"
#include "iotrace/trace.h"

#include <linux/stat.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

static struct leat_trace_self self = {.process = LEAT_TAPE_NONE};

/* A vfork child of this thread, which has the thread's memory. */
static __thread struct leat_trace_self borrower
	__attribute__((tls_model("initial-exec"))) = {.process = LEAT_TAPE_NONE};

/* The place of a child that is to come, so that no handle it is going to have is closed by others
 * before it can say so. */
static __thread struct {
	uint32_t process; /* index + 1; 0: none */
	bool is_vfork;
} coming __attribute__((tls_model("initial-exec")));

/* --- children --- */

/* Whose parent is in another namespace of processes has numbers that nobody else knows it by. */
static bool is_first_of_namespace(void)
{
	return raw(SYS_getppid) == 0;
}

/* The same of any process: dear, and asked only of those whose parent was not seen. */
static bool is_foreign(void)
{
	struct stat st;

	return is_first_of_namespace() ||
	       (leat_trace_tape->pid_namespace &&
		raw(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &st, 0) == 0 &&
		st.st_ino != leat_trace_tape->pid_namespace);
}

/* This process is in another namespace: nothing of it is recorded, nor of its children. */
static bool foreign;

static void note_foreign(void)
{
	const char *program = (const char *)getauxval(AT_EXECFN);

	foreign = true;
	leat_tape_note_foreign(leat_trace_tape, program ? program : "", true);
}

static void nobody_comes(void)
{
	uint32_t process = coming.process - 1, flags;
	uint64_t id;
	int end;

	if (!coming.process)
		return;
	coming.process = 0;
	end = leat_tape_fd_end(leat_trace_tape, process);
	for (int fd = 0; fd < end; fd++) {
		uint32_t h = leat_tape_fd_set(leat_trace_tape, process, fd, 0);

		if (h && leat_tape_handle_drop(leat_trace_tape, h, &id, &flags))
			leat_tape_lose(leat_trace_tape, LEAT_TRACE_LOST_MEMORY, 1);
	}
	leat_tape_process_free(leat_trace_tape, process);
}

/* None if it is the first of a namespace of processes, whose parent is in another. */
static void take_place(struct leat_trace_self *me)
{
	const long parent = foreign ? 0 : raw(SYS_getppid);
	struct leat_tape_record *r;

	if (!parent) {
		me->process = LEAT_TAPE_NONE;
		nobody_comes();
		/* Who borrows its parent's memory must not mark that. */
		if (me == &self)
			foreign = true;
		return;
	}
	me->process =
		coming.process ? coming.process - 1 : leat_tape_process_new(leat_trace_tape, 0);
	coming.process = 0;
	if (me->process == LEAT_TAPE_NONE) {
		leat_tape_lose(leat_trace_tape, LEAT_TRACE_LOST_MEMORY, 1);
		return;
	}
	leat_tape_process_adopt(leat_trace_tape, me->process, me->pid);
	r = leat_trace_record(me, LEAT_TAPE_FORKED, NULL, 0);
	if (!r)
		return;
	r->handle = (uint64_t)parent;
	leat_trace_done(r, NULL);
}

const struct leat_trace_self *leat_trace_me(void)
{
	int32_t pid;

	/* A number in another namespace may be that of some other process here. */
	if (foreign || !leat_in_vfork())
		return &self;
	pid = (int32_t)raw(SYS_getpid);
	if (pid == self.pid)
		return &self;
	if (pid == borrower.pid)
		return &borrower;
	borrower.pid = pid;
	/* one whose own vfork child has borrowed the thread's memory meanwhile */
	borrower.process = leat_tape_process_of(leat_trace_tape, pid);
	if (borrower.process == LEAT_TAPE_NONE ||
	    leat_tape_process_state(leat_trace_tape, borrower.process) != LEAT_TAPE_LIVE)
		take_place(&borrower);
	return &borrower;
}

void leat_trace_child_comes(bool is_vfork)
{
	const struct leat_trace_self *me = leat_trace_me();
	uint32_t process;

	/* A vfork child that did nothing never took its place. */
	if (coming.is_vfork)
		nobody_comes();
	coming.process = 0;
	if (me->process == LEAT_TAPE_NONE)
		return;
	process = leat_tape_process_new(leat_trace_tape, me->pid);
	if (process == LEAT_TAPE_NONE)
		return;
	leat_tape_fd_inherit(leat_trace_tape, me->process, process);
	coming.process = process + 1;
	coming.is_vfork = is_vfork;
}

void leat_trace_forking(long nr)
{
	if (!leat_tracing)
		return;
	if (nr >= 0)
		leat_trace_child_comes(false);
	else /* it failed */
		nobody_comes();
}

void leat_trace_forked(void)
{
	if (!leat_tracing)
		return;
	self.pid = (int32_t)raw(SYS_getpid);
	borrower.pid = 0;
	take_place(&self);
}

/* --- programs --- */

/* Files of /proc/self cost as much as all the rest together: what they say the tracer finds out, or
 * asks for itself. Which mounts the process sees shows at its root. */
static uint64_t root_mount(void)
{
	struct statx st;

	return raw(SYS_statx, AT_FDCWD, "/", 0, STATX_MNT_ID, &st) == 0 ? st.stx_mnt_id : 0;
}

static void record_moment(const struct leat_trace_self *me, uint8_t type, int64_t result)
{
	struct leat_tape_record *r = leat_trace_record(me, type, NULL, 0);

	if (!r)
		return;
	r->result = result;
	leat_trace_done(r, NULL);
}

/* Is it without a place because it is in another namespace? */
static bool is_first_or_below(const struct leat_trace_self *me)
{
	return foreign || (me != &self && raw(SYS_getppid) == 0);
}

/* What was noted of the exec that is under way in such a process. */
static bool asked;
static uint32_t asked_for;

void leat_trace_exec_begin(int dirfd, const char *path)
{
	const struct leat_trace_self *me = leat_trace_me();
	struct leat_tape_record *r;
	char *end;

	if (me->process == LEAT_TAPE_NONE) {
		asked = is_first_or_below(me);
		if (asked)
			asked_for = leat_tape_note_foreign(leat_trace_tape, path, false);
		return;
	}
	r = leat_trace_record(me, LEAT_TAPE_STARTS, NULL,
			      leat_trace_path_room(dirfd, path) + PATH_MAX);
	if (r) {
		r->texts = 2;
		r->inode = root_mount();
		end = leat_trace_put_path(r->text, dirfd, path);
		leat_trace_done(r, leat_trace_put_path(end, AT_FDCWD, ""));
	}
	leat_tape_process_set(leat_trace_tape, me->process, LEAT_TAPE_STARTING);
}

void leat_trace_exec_failed(void)
{
	const struct leat_trace_self *me = leat_trace_me();

	if (me->process == LEAT_TAPE_NONE) {
		if (asked)
			leat_tape_foreign_stays(leat_trace_tape, asked_for);
		asked = false;
		return;
	}
	leat_tape_process_set(leat_trace_tape, me->process, LEAT_TAPE_LIVE);
	record_moment(me, LEAT_TAPE_STAYED, 0);
}

void leat_trace_exiting(int status)
{
	const struct leat_trace_self *me = leat_trace_me();

	if (me->process == LEAT_TAPE_NONE)
		return;
	leat_trace_close_all(me, false);
	record_moment(me, LEAT_TAPE_EXITS, (status & 0xff) << 8);
	leat_tape_process_set(leat_trace_tape, me->process, LEAT_TAPE_GONE);
}

/* --- the beginning --- */

/* Out of the way of what goes to places of its own near the libraries: mapped texts' stubs. */
static void *far_away(void)
{
	return (void *)(((uintptr_t)&leat_tracing & ~UINT64_C(0xffff)) - (UINT64_C(8) << 30));
}

bool leat_trace_find(char **envp)
{
	const char *path = leat_environment_get(envp, LEAT_TRACE_VARIABLE);
	struct stat st;
	long fd, at;

	if (!path || !*path)
		return false;
	fd = raw(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false; /* the tracer sees that it is not seen */
	if (raw(SYS_fstat, fd, &st) < 0 || st.st_size < (long)sizeof(struct leat_tape)) {
		raw(SYS_close, fd);
		return false;
	}
	at = raw(SYS_mmap, far_away(), st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	raw(SYS_close, fd);
	if (at < 0 && at > -4096)
		return false;
	if (!leat_tape_is_good((struct leat_tape *)at, (uint64_t)st.st_size)) {
		raw(SYS_munmap, at, st.st_size);
		return false;
	}
	raw(SYS_madvise, at, st.st_size, MADV_DONTDUMP);
	leat_trace_tape = (struct leat_tape *)at;
	return true;
}

static void record_start(char **envp)
{
	const char *program = (const char *)getauxval(AT_EXECFN);
	struct leat_tape_record *r;
	char *end;

	if (!program)
		program = "";
	r = leat_trace_record(&self, LEAT_TAPE_STARTED, NULL,
			      leat_trace_path_room(AT_FDCWD, program) + PATH_MAX +
				      leat_tape_labels_room(envp));
	if (!r)
		return;
	r->flags = (uint32_t)raw(SYS_geteuid);
	r->offset = (uint32_t)raw(SYS_getegid);
	r->inode = root_mount();
	r->texts = 2;
	end = leat_trace_put_path(r->text, AT_FDCWD, program);
	end = leat_trace_put_path(end, AT_FDCWD, "");
	leat_trace_done(r, leat_tape_put_labels(r, end, envp));
}

void leat_trace_start(char **envp, bool is_patched)
{
	if (!leat_trace_tape)
		return;
	self.pid = (int32_t)raw(SYS_getpid);
	self.process = leat_tape_process_of(leat_trace_tape, self.pid);
	if (self.process == LEAT_TAPE_NONE ? is_foreign() : is_first_of_namespace()) {
		self.process = LEAT_TAPE_NONE;
		note_foreign();
		if (is_patched)
			leat_trace_calls_start();
		return;
	}
	if (!is_patched) { /* it will look as what could not load this library */
		self.process = LEAT_TAPE_NONE;
		return;
	}
	leat_trace_clock_init();
	if (self.process == LEAT_TAPE_NONE)
		take_place(&self);
	else
		leat_tape_process_restart(leat_trace_tape, self.process);
	record_start(envp);
	if (self.process != LEAT_TAPE_NONE)
		leat_trace_close_all(&self, true);
	leat_trace_calls_start();
}
