/* Where patched calls and wrappers come in. */
#ifndef LEAT_PRELOAD_ENTRY_ENTRY_H
#define LEAT_PRELOAD_ENTRY_ENTRY_H

/* Where stubs lead in this process, traced or not; NULL on architectures without a patcher. Once
 * leat_trace_find was called. Lives as long as the process. */
struct leat_stub_table;
const struct leat_stub_table *leat_entry_table(void);

/* Before a fork, with the number of its call; in the parent also after one that failed, with
 * -errno. Async-signal-safe. */
void leat_engine_forking(long nr);

/* The parent of a vfork, whose child has left its memory: that one's number, or -errno.
 * Async-signal-safe. */
void leat_engine_vforked(long child);

/* The child of a fork, before it returns to libc. Async-signal-safe. */
void leat_engine_forked(void);

#endif
