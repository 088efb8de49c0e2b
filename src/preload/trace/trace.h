/* Recording the calls of this process for `leat trace` and `leat run --trace`.
 *
 * Recording lies between the engine and the hooks: in a traced process the stubs lead to
 * leat_trace_begin in place of leat_hook_begin, and all descriptors count as having a kind. In
 * others nothing of this runs. Where there is no workflow the kernel makes all calls, as they are.
 *
 * A call is noted on the stack of who makes it, and is recorded in the trace buffer
 * (shm/tracebuf.h) when it has ended: a longjmp out of a call, a cancelled thread or a kill leave
 * nothing behind. */
#ifndef LEAT_PRELOAD_TRACE_TRACE_H
#define LEAT_PRELOAD_TRACE_TRACE_H

#include "preload/core/call.h"
#include "shm/tracebuf.h"

#include <stdbool.h>
#include <stdint.h>

/* Which file: device, inode and time of birth. */
struct leat_trace_file {
	uint64_t device, inode;
	int64_t birth_ns;
	uint16_t mode;
	bool has_names; /* more than this one, or than none if it is open */
};

/* A call under way. enter_x86_64.S makes space for it. */
struct leat_traced {
	int64_t start_ns, utime_ns, stime_ns;
	int64_t reported;            /* by the hooks: who makes the call */
	uint32_t handle, other;      /* of its first and second descriptor; 0: not ours */
	struct leat_trace_file file; /* as it was before */
	bool recorded;               /* anything is to be done at its end */
	bool absent;                 /* the file to be opened was not there */
	struct leat_syscall call;
};
_Static_assert(offsetof(struct leat_traced, call) == 80, "as enter_x86_64.S knows it");

/* A process as the trace buffer knows it. */
struct leat_trace_self {
	uint32_t process; /* LEAT_TRACEBUF_NONE: it is not recorded */
	int32_t pid;
};

extern struct leat_tracebuf *leat_trace_buffer;

/* --- calls.c --- */

/* In place of leat_hook_begin and leat_hook_end, around what these do. */
long leat_trace_begin(struct leat_traced *t);
long leat_trace_end(struct leat_traced *t, long result);

/* --- self.c --- */

/* The calling process: a vfork child is another one than its parent. */
const struct leat_trace_self *leat_trace_me(void);
/* Before a fork or vfork. */
void leat_trace_child_comes(bool is_vfork);
/* Before a fork, with its number; and in the parent after one that failed, with -errno. */
void leat_trace_forking(long nr);
/* In a fork child. */
void leat_trace_forked(void);
/* Is it without a place in the trace buffer because it is in another namespace of processes? */
bool leat_trace_is_foreign(const struct leat_trace_self *me);
/* Init only. Look for this process in the trace buffer. False: it is in another namespace, which is
 * noted.
 */
bool leat_trace_self_find(void);
/* It goes on as what was found, or takes a place; or gives its place up. */
const struct leat_trace_self *leat_trace_self_begin(void);
void leat_trace_self_leave(void);

/* --- program.c --- */

/* The program is about to be replaced, or was not. */
void leat_trace_exec_begin(int dirfd, const char *path);
void leat_trace_exec_failed(void);
void leat_trace_exiting(int status);

/* --- rings.c --- */

/* io_uring or kernel AIO is about to be used: the process is noted if that can go unseen. */
void leat_trace_ring(const struct leat_syscall *c);

/* --- record.c --- */

int64_t leat_trace_now(void);
/* Find the clock. Before anything is recorded. */
void leat_trace_clock_init(void);
/* The beginning of a call. */
void leat_trace_stamp(struct leat_traced *t);
/* A record of the calling process with space for `text` bytes, stamped as the end of call `t`, or,
 * where that is NULL, as a moment. NULL: it is lost, and counted. */
struct leat_tracebuf_record *leat_trace_record(const struct leat_trace_self *me, uint8_t type,
					       const struct leat_traced *t, size_t text);
/* It goes into the trace buffer; texts that were added end at `end`, NULL: there are none. */
void leat_trace_done(struct leat_tracebuf_record *r, const char *end);

/* --- names.c --- */

/* Space that leat_trace_put_path needs. */
size_t leat_trace_path_size(int dirfd, const char *path);
/* The absolute name, as the program spells it, with its NUL: where that ends. */
char *leat_trace_put_path(char *at, int dirfd, const char *path);
/* Which mounts the process sees: the number of the one at its root, 0: not known. */
uint64_t leat_trace_root_mount(void);
/* Relative names mean something else from now on. */
void leat_trace_moved(void);
/* The name that the kernel has for a descriptor, with its NUL, or, if it has none, `path` as above.
 */
char *leat_trace_put_name(char *at, int fd, bool is_unlinked, int dirfd, const char *path);
/* Which file is behind the descriptor, or the name? All 0: unknown. */
void leat_trace_identify(struct leat_trace_file *file, int dirfd, const char *path, int flags);

/* --- files.c: descriptors and handles --- */

/* Handle of one of this process' descriptors; 0: not ours. */
uint32_t leat_trace_handle(int fd);
void leat_trace_drop(const struct leat_trace_self *me, uint32_t handle,
		     const struct leat_traced *t);
/* The process ends, or was replaced: what it has no more is closed. */
void leat_trace_close_all(const struct leat_trace_self *me, bool replaced);

#endif
