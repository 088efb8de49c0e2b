/* This process in the trace buffer, and its children. */
#include "iotrace/trace.h"
#include "preload/core/call.h"
#include "preload/core/process.h"
#include "preload/trace/trace.h"
#include "shm/tracebuf.h"

#include <string.h>
#include <sys/auxv.h>

static struct leat_trace_self self = {.process = LEAT_TRACEBUF_NONE};

/* A vfork child of this thread, which has the thread's memory. */
static __thread struct leat_trace_self borrower
	__attribute__((tls_model("initial-exec"))) = {.process = LEAT_TRACEBUF_NONE};

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
	       (leat_trace_buffer->pid_namespace &&
		raw(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &st, 0) == 0 &&
		st.st_ino != leat_trace_buffer->pid_namespace);
}

/* This process is in another namespace: nothing of it is recorded, nor of its children. */
static bool foreign;

static void note_foreign(void)
{
	const char *program = (const char *)getauxval(AT_EXECFN);

	foreign = true;
	leat_tracebuf_note_foreign(leat_trace_buffer, program ? program : "", true);
}

static void nobody_comes(void)
{
	uint32_t process = coming.process - 1, flags;
	uint64_t id;
	int end;

	if (!coming.process)
		return;
	coming.process = 0;
	end = leat_tracebuf_fd_end(leat_trace_buffer, process);
	for (int fd = 0; fd < end; fd++) {
		uint32_t h = leat_tracebuf_fd_set(leat_trace_buffer, process, fd, 0);

		if (h && leat_tracebuf_handle_drop(leat_trace_buffer, h, &id, &flags))
			leat_tracebuf_lose(leat_trace_buffer, LEAT_TRACE_LOST_MEMORY, 1);
	}
	leat_tracebuf_process_free(leat_trace_buffer, process);
}

/* None if it is the first of a namespace of processes, whose parent is in another. */
static void take_entry(struct leat_trace_self *me)
{
	const long parent = foreign ? 0 : raw(SYS_getppid);
	struct leat_tracebuf_record *r;

	if (!parent) {
		me->process = LEAT_TRACEBUF_NONE;
		nobody_comes();
		/* Who borrows its parent's memory must not mark that. */
		if (me == &self)
			foreign = true;
		return;
	}
	me->process = coming.process ? coming.process - 1
				     : leat_tracebuf_process_new(leat_trace_buffer, 0);
	coming.process = 0;
	if (me->process == LEAT_TRACEBUF_NONE) {
		leat_tracebuf_lose(leat_trace_buffer, LEAT_TRACE_LOST_MEMORY, 1);
		return;
	}
	leat_tracebuf_process_adopt(leat_trace_buffer, me->process, me->pid);
	r = leat_trace_record(me, LEAT_TRACEBUF_FORKED, NULL, 0);
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
	borrower.process = leat_tracebuf_process_of(leat_trace_buffer, pid);
	if (borrower.process == LEAT_TRACEBUF_NONE ||
	    leat_tracebuf_process_state(leat_trace_buffer, borrower.process) != LEAT_TRACEBUF_LIVE)
		take_entry(&borrower);
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
	if (me->process == LEAT_TRACEBUF_NONE)
		return;
	process = leat_tracebuf_process_new(leat_trace_buffer, me->pid);
	if (process == LEAT_TRACEBUF_NONE)
		return;
	leat_tracebuf_fd_inherit(leat_trace_buffer, me->process, process);
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
	take_entry(&self);
}

/* --- the beginning --- */

bool leat_trace_self_find(void)
{
	self.pid = (int32_t)raw(SYS_getpid);
	self.process = leat_tracebuf_process_of(leat_trace_buffer, self.pid);
	if (!(self.process == LEAT_TRACEBUF_NONE ? is_foreign() : is_first_of_namespace()))
		return true;
	self.process = LEAT_TRACEBUF_NONE;
	note_foreign();
	return false;
}

const struct leat_trace_self *leat_trace_self_begin(void)
{
	if (self.process == LEAT_TRACEBUF_NONE)
		take_entry(&self);
	else
		leat_tracebuf_process_restart(leat_trace_buffer, self.process);
	return &self;
}

void leat_trace_self_leave(void)
{
	self.process = LEAT_TRACEBUF_NONE;
}

bool leat_trace_is_foreign(const struct leat_trace_self *me)
{
	return foreign || (me != &self && raw(SYS_getppid) == 0);
}
