/* The session of a FUSE mount: libfuse speaks the protocol, and what the kernel offers beyond the
 * library's version is asked for in its messages on their way. Results are 0 or -errno unless said
 * otherwise; but for the first three functions any thread may call them. */
#ifndef LEAT_FUSE_SESSION_H
#define LEAT_FUSE_SESSION_H

#define FUSE_USE_VERSION 314

#include <fuse3/fuse_lowlevel.h>
#include <stdbool.h>
#include <stdint.h>

/* Of FUSE_INIT's flags, both words of them, as linux/fuse.h has them. */
#define LEAT_FUSE_DONT_MASK (UINT64_C(1) << 6)    /* leaves the callers' umasks to us */
#define LEAT_FUSE_KILLPRIV (UINT64_C(1) << 28)    /* asks for no capabilities before each write */
#define LEAT_FUSE_DIRECT_MMAP (UINT64_C(1) << 36) /* maps files of direct I/O; Linux 6.6 */
#define LEAT_FUSE_PASSTHROUGH (UINT64_C(1) << 37) /* reads opened files itself; 6.9, root's */

struct leat_fuse;

/* A session on the connection `fd`, which it takes over also on failure. `wanted` are flags, and
 * granted if the kernel has them; `ops` are copied, and have no init; `context` is borrowed. */
int leat_fuse_new(int fd, const struct fuse_lowlevel_ops *ops, uint64_t wanted, void *context,
		  struct leat_fuse **session);
/* NULL is allowed. */
void leat_fuse_free(struct leat_fuse *f);

/* Answer until the mount is gone, with a thread for each request that waits; so many are kept when
 * they have nothing to do. */
int leat_fuse_loop(struct leat_fuse *f, unsigned idle_threads);

void *leat_fuse_context(fuse_req_t req);

/* May a file that the kernel has released be still to be dealt with? The kernel sends a release
 * before the close that causes it returns, but threads overtake each other. */
bool leat_fuse_releases(struct leat_fuse *f);

/* Has the kernel granted that flag? It says so before the first request is answered. */
bool leat_fuse_has(struct leat_fuse *f, uint64_t flag);

/* Have the kernel read the file `fd` itself. Its id there; 0: it does not. */
int32_t leat_fuse_back(struct leat_fuse *f, int fd);
void leat_fuse_unback(struct leat_fuse *f, int32_t backing);
/* Reply to an open, or with `e` to a create, with that backing file or 0. */
void leat_fuse_opened(fuse_req_t req, int32_t backing, struct fuse_file_info *fi,
		      const struct fuse_entry_param *e);

/* Let the kernel know of at least this length of a file, whose bytes `fd` has. */
void leat_fuse_extend(struct leat_fuse *f, fuse_ino_t ino, int fd, uint64_t size);
/* Have it ask anew who looks at the attributes of a file. */
void leat_fuse_invalidate(struct leat_fuse *f, fuse_ino_t ino);

#endif
