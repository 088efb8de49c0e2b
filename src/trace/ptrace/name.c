/* Calls on names: they open, unlink, rename, truncate. */
#include "base/log.h"
#include "base/memory_of.h"
#include "trace/ptrace/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* Where the name and what it is relative to are among the arguments. */
static int dir_of(const struct pending *now)
{
	int how = now->call->detail;

	return how == OPENAT || how == OPENAT2 ? (int)now->args[0] : AT_FDCWD;
}

static uint64_t name_of(const struct pending *now)
{
	int how = now->call->detail;

	return how == OPENAT || how == OPENAT2 ? now->args[1] : now->args[0];
}

static uint32_t open_flags(struct thread *th)
{
	const struct pending *now = &th->now;
	struct open_how how = {0};

	switch (now->call->detail) {
	case OPEN:
		return (uint32_t)now->args[1];
	case CREAT:
		return O_CREAT | O_WRONLY | O_TRUNC;
	case OPENAT2:
		if (now->args[3] < sizeof(how.flags) ||
		    leat_memory_of(th->tid, now->args[2], &how.flags, sizeof(how.flags)) < 0)
			return 0;
		return (uint32_t)how.flags;
	default: /* openat, open_by_handle_at */
		return (uint32_t)now->args[2];
	}
}

/* Is the user of the process one whose files are recorded? */
static bool is_wanted_user(struct tracer *t, struct thread *th)
{
	const struct leat_trace_filter *f = &t->request->filter;
	char path[64];
	struct stat st;

	if (!f->by_uid && !f->by_gid)
		return true;
	snprintf(path, sizeof(path), "/proc/%d", (int)th->process->pid);
	return stat(path, &st) == 0 && leat_trace_sink_wants_user(&t->sink, st.st_uid, st.st_gid);
}

bool leat_ptrace_enter_open(struct tracer *t, struct thread *th)
{
	struct pending *now = &th->now;
	struct name there;

	now->flags = open_flags(th);
	/* Who makes the file is not said by the call. */
	if ((now->flags & O_CREAT) && now->call->detail != BY_HANDLE) {
		leat_ptrace_look(t, th, dir_of(now), name_of(now), true, &there);
		now->existed = there.exists || (there.unsure && !(now->flags & O_EXCL));
		leat_ptrace_name_release(&there);
	}
	return true;
}

static void report_hidden(struct tracer *t, struct thread *th)
{
	leat_trace_sink_lost(&t->sink, LEAT_TRACE_LOST_PATH, 1);
	if (!t->reported_hidden)
		leat_warn("process %d opens files under names that leat may not look at (its "
			  "program cannot be read, or it has more rights); they are counted "
			  "as lost",
			  (int)th->process->pid);
	t->reported_hidden = true;
}

static void record_failed_open(struct tracer *t, struct thread *th, int64_t result)
{
	const struct pending *now = &th->now;
	struct leat_trace_call call;
	char *path, *outside;

	if (leat_ptrace_is_restart(result) || now->call->detail == BY_HANDLE ||
	    !t->sink.types[LEAT_TRACE_OPEN] || !is_wanted_user(t, th))
		return;
	path = leat_ptrace_plain_path(t, th, dir_of(now), name_of(now), &outside);
	/* No name at all is a fault of the program. */
	if (!path && result != -EFAULT)
		report_hidden(t, th);
	if (!path)
		return;
	call = leat_ptrace_record(th, LEAT_TRACE_OPEN, result);
	call.flags = now->flags;
	call.path = path;
	call.outside = outside;
	if (leat_trace_sink_wants_file(&t->sink, leat_trace_name(path, outside), NULL) &&
	    !t->request->filter.n_filesystems)
		leat_trace_sink_call(&t->sink, &call);
	free(path);
	free(outside);
}

static bool is_wanted_file(struct tracer *t, struct thread *th, const struct name *name)
{
	const char *type = NULL;

	if (t->request->filter.n_filesystems) {
		type = leat_trace_who_filesystem(t->who, th->tid, name->st.stx_mnt_id);
		if (!type)
			return false;
	}
	return leat_trace_sink_wants_file(&t->sink, leat_trace_name(name->path, name->outside),
					  type) &&
	       is_wanted_user(t, th);
}

/* The descriptor has this handle, or none. */
static void set_slot(struct tracer *t, struct thread *th, uint64_t fd, struct handle *h,
		     bool cloexec, bool names_cpus)
{
	struct slot *slot = leat_fdtab_make(th->fds, fd);
	struct handle *old = slot ? slot->handle : NULL;

	if (slot)
		*slot = (struct slot){
			.handle = h, .cloexec = cloexec, .ignored = !h, .names_cpus = names_cpus};
	else if (h)
		leat_ptrace_release(t, h, th, 0);
	/* Another thread closes it, and that has not been heard yet. */
	if (old)
		leat_ptrace_release(t, old, th, 0);
}

/* Will be read from it which processors a thread may use? */
static bool is_status(const char *path)
{
	return path && fnmatch("/proc/*/status", path, 0) == 0;
}

static void record_open(struct tracer *t, struct thread *th, struct handle *h, bool created,
			const struct name *name)
{
	struct leat_trace_call call =
		leat_ptrace_record(th, created ? LEAT_TRACE_CREATE : LEAT_TRACE_OPEN, 0);

	call.inode = h->inode->id;
	call.handle = h->id;
	call.flags = h->flags;
	call.path = name->path;
	call.outside = name->outside;
	leat_trace_sink_call(&t->sink, &call);
}

/* The file that is open as `fd` now. */
static void find_opened(struct tracer *t, struct thread *th, int fd, struct name *name)
{
	char *seen = NULL;

	*name = (struct name){0};
	name->exists = leat_ptrace_stat_fd(t, th, fd, &name->st);
	if (name->exists)
		seen = leat_ptrace_path_of_fd(th->tid, fd, name->st.stx_nlink == 0);
	if (seen)
		leat_ptrace_view_name(t, th, seen, name->st.stx_mnt_id, &name->path,
				      &name->outside);
}

void leat_ptrace_leave_open(struct tracer *t, struct thread *th, int64_t result)
{
	const struct pending *now = &th->now;
	struct handle *h = NULL;
	struct inode *inode;
	struct name name;
	bool known;

	if (result < 0) {
		record_failed_open(t, th, result);
		return;
	}
	find_opened(t, th, (int)result, &name);
	if (!name.path) {
		report_hidden(t, th);
	} else if (is_wanted_file(t, th, &name)) {
		inode = leat_inode_get(&t->inodes, &name.st, &known);
		h = inode ? leat_handle_new(inode, t->last_handle + 1, now->flags) : NULL;
		if (!h)
			leat_trace_sink_lost(&t->sink, LEAT_TRACE_LOST_MEMORY, 1);
	}
	if (h) {
		t->last_handle++;
		h->append = now->flags & O_APPEND;
		h->seekable = S_ISREG(name.st.stx_mode) || S_ISBLK(name.st.stx_mode);
		record_open(t, th, h, (now->flags & O_CREAT) && !now->existed && !known, &name);
	}
	set_slot(t, th, (uint64_t)result, h, now->flags & O_CLOEXEC, is_status(name.path));
	leat_ptrace_name_release(&name);
}

/* ---- names that go ---- */

/* The id of what had a name; `last`: it has it no more, and may have no other. */
static uint64_t id_of(struct tracer *t, const struct name *name, bool last)
{
	struct inode *inode;
	uint64_t id;
	bool known;

	inode = name->exists ? leat_inode_get(&t->inodes, &name->st, &known) : NULL;
	id = inode ? inode->id : 0;
	if (inode && last && name->st.stx_nlink <= 1)
		leat_inode_gone(&t->inodes, inode);
	return id;
}

static bool is_wanted_name(struct tracer *t, struct thread *th, const struct name *name)
{
	return name->path &&
	       (name->exists
			? is_wanted_file(t, th, name)
			: leat_trace_sink_wants_file(
				  &t->sink, leat_trace_name(name->path, name->outside), NULL) &&
				  !t->request->filter.n_filesystems && is_wanted_user(t, th));
}

/* A call on a name returned; the record is the caller's to complete. False: it is not recorded. */
static bool begin_record(struct tracer *t, struct thread *th, enum leat_trace_type type,
			 int64_t result, struct leat_trace_call *call)
{
	const struct name *name = &th->now.names[0];

	if (leat_ptrace_is_restart(result))
		return false;
	if (!name->path && result != -EFAULT)
		report_hidden(t, th);
	if (!is_wanted_name(t, th, name))
		return false;
	*call = leat_ptrace_record(th, type, result);
	return true;
}

bool leat_ptrace_enter_unlink(struct tracer *t, struct thread *th)
{
	struct pending *now = &th->now;
	bool at = now->call->detail == UNLINKAT;

	/* A directory is none of the files that are traced. */
	if (at && (now->args[2] & AT_REMOVEDIR))
		return false;
	leat_ptrace_look(t, th, at ? (int)now->args[0] : AT_FDCWD, now->args[at ? 1 : 0], false,
			 &now->names[0]);
	return true;
}

void leat_ptrace_leave_unlink(struct tracer *t, struct thread *th, int64_t result)
{
	struct leat_trace_call call;
	bool wanted = begin_record(t, th, LEAT_TRACE_UNLINK, result, &call);
	uint64_t id = id_of(t, &th->now.names[0], result == 0);

	if (wanted) {
		call.inode = result == 0 ? id : 0;
		call.path = th->now.names[0].path;
		call.outside = th->now.names[0].outside;
		leat_trace_sink_call(&t->sink, &call);
	}
}

bool leat_ptrace_enter_rename(struct tracer *t, struct thread *th)
{
	struct pending *now = &th->now;
	bool at = now->call->detail == RENAMEAT;

	leat_ptrace_look(t, th, at ? (int)now->args[0] : AT_FDCWD, now->args[at ? 1 : 0], false,
			 &now->names[0]);
	leat_ptrace_look(t, th, at ? (int)now->args[2] : AT_FDCWD, now->args[at ? 3 : 1], false,
			 &now->names[1]);
	return true;
}

/* Is what had the new name gone? Not if the names change places, or are one file's. */
static bool is_replaced(struct thread *th)
{
	const struct pending *now = &th->now;
	const struct statx *from = &now->names[0].st, *to = &now->names[1].st;
	bool exchanges = now->call->nr == SYS_renameat2 && (now->args[4] & RENAME_EXCHANGE);

	return now->names[0].exists && now->names[1].exists && !exchanges &&
	       !(from->stx_ino == to->stx_ino && from->stx_dev_major == to->stx_dev_major &&
		 from->stx_dev_minor == to->stx_dev_minor);
}

void leat_ptrace_leave_rename(struct tracer *t, struct thread *th, int64_t result)
{
	const struct name *from = &th->now.names[0], *to = &th->now.names[1];
	struct leat_trace_call call;
	bool wanted = begin_record(t, th, LEAT_TRACE_RENAME, result, &call);
	uint64_t id = id_of(t, from, false);

	if (result == 0 && is_replaced(th))
		id_of(t, to, true);
	if (wanted && to->path) {
		call.inode = result == 0 ? id : 0;
		call.path = from->path;
		call.to = to->path;
		call.outside = from->outside;
		call.to_outside = to->outside;
		leat_trace_sink_call(&t->sink, &call);
	}
}

bool leat_ptrace_enter_truncate(struct tracer *t, struct thread *th)
{
	leat_ptrace_look(t, th, AT_FDCWD, th->now.args[0], true, &th->now.names[0]);
	return true;
}

void leat_ptrace_leave_truncate(struct tracer *t, struct thread *th, int64_t result)
{
	struct leat_trace_call call;

	if (!begin_record(t, th, LEAT_TRACE_TRUNCATE, result, &call))
		return;
	call.inode = id_of(t, &th->now.names[0], false);
	call.size = th->now.args[1];
	leat_trace_sink_call(&t->sink, &call);
}
