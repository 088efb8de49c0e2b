/* What a ring of io_uring is asked to do: requests lie in memory that the program shares with the
 * kernel. Tracers look there for those that concern files: event loops (libuv) have rings that only
 * change what epoll waits for. No allocation, no call of the kernel: any thread, async-signal-safe.
 */
#ifndef LEAT_BASE_URING_H
#define LEAT_BASE_URING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is that line of /proc/PID/maps the requests of a ring? *first and *end are where they lie. */
bool leat_uring_find(const char *line, uintptr_t *first, uintptr_t *end);

/* Can one of the requests in these `size` bytes concern a file? Of those that were made before,
 * too: the kernel leaves them as they are. */
bool leat_uring_moves(const void *requests, size_t size);

/* Do these flags of io_uring_params leave requests where they cannot be found, or to a thread of
 * the kernel, that takes them at any time? */
bool leat_uring_hides(uint32_t flags);

#endif
