/* What the server answers goes into the trace of the run (`leat run --trace`, shm/tracebuf.h), as
 * of the processes that ask. Where nothing is recorded all of this does nothing. Any thread. */
#ifndef LEAT_MOUNT_RECORD_RECORD_H
#define LEAT_MOUNT_RECORD_RECORD_H

#include "iotrace/trace.h"
#include "mount/daemon/call.h"
#include "mount/names/handle.h"

/* An open of `ino`, or of `name` in it, ended with `rc`: `h`, NULL if it failed, is then known to
 * the trace. */
void leat_record_opened(struct leat_mount_call *call, struct leat_handle *h, fuse_ino_t ino,
			const char *name, int flags, int rc);
/* READ, WRITE or MAP: of `size` bytes asked for `n` were moved, or -errno. `flags`: a MAP's. */
void leat_record_moved(struct leat_mount_call *call, const struct leat_handle *h,
		       enum leat_trace_type type, ssize_t n, uint64_t offset, uint64_t size,
		       uint32_t flags);
/* The file has `length` bytes from now on: that of `h`, or else (NULL) of `ino`; `fd` is open on
 * it, or -1. */
void leat_record_cut(struct leat_mount_call *call, const struct leat_handle *h, fuse_ino_t ino,
		     int fd, uint64_t length, int rc);
/* UNLINK or RENAME, of paths below the workflow's directory; `to` may be NULL. Of "", which was not
 * found out, nothing. */
void leat_record_named(struct leat_mount_call *call, enum leat_trace_type type, const char *path,
		       const char *to, int rc);
/* Thread `tid` closes a descriptor of `h` (NULL: of none that is recorded), perhaps because it
 * ends. Before it is answered. */
void leat_record_flushed(struct leat_mount *m, struct leat_handle *h, pid_t tid);
/* The last close. */
void leat_record_closed(struct leat_mount_call *call, const struct leat_handle *h);

#endif
