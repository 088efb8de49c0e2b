/* Descriptors that go from process to process in messages. A sent one stands for its description
 * until it is received, also if the sender closes its own: it is noted in the trace buffer
 * meanwhile. */
#include "preload/core/call.h"
#include "preload/core/rights.h"
#include "preload/trace/calls.h"
#include "preload/trace/trace.h"
#include "shm/tracebuf.h"

#include <linux/kcmp.h>
#include <string.h>

/* --- sending --- */

static void send_off(int fd)
{
	uint32_t h = leat_trace_handle(fd), pushed_out;

	if (!h || !leat_tracebuf_handle_hold(leat_trace_buffer, h))
		return;
	pushed_out = leat_tracebuf_in_flight_add(leat_trace_buffer, h);
	leat_trace_drop(leat_trace_me(), pushed_out, NULL);
}

static const struct msghdr *message(const struct leat_traced *t, long i)
{
	long nr = t->call.nr;

	if (nr == SYS_sendmmsg || nr == SYS_recvmmsg)
		return &((const struct mmsghdr *)t->call.a[1])[i].msg_hdr;
	return (const struct msghdr *)t->call.a[1];
}

bool leat_trace_message_begin(struct leat_traced *t)
{
	return t->call.a[1] != 0;
}

/* Before: the receiver may be faster than who sent it. */
bool leat_trace_send_begin(struct leat_traced *t)
{
	long n = t->call.nr == SYS_sendmmsg ? (long)(uint32_t)t->call.a[2] : 1;

	for (long i = 0; t->call.a[1] && i < n; i++)
		leat_each_right(message(t, i), send_off);
	return false;
}

/* --- receiving --- */

static bool is_same(int32_t pid, int fd, int32_t other_pid, int other_fd)
{
	return raw(SYS_kcmp, pid, other_pid, KCMP_FILE, fd, other_fd) == 0;
}

/* The handle that some process has as the description of `fd`; 0: none does. */
static uint32_t find_held(const struct leat_trace_self *me, int fd,
			  const struct leat_trace_file *file)
{
	struct leat_tracebuf *tracebuf = leat_trace_buffer;

	for (uint32_t p = leat_tracebuf_process_next(tracebuf, 0); p != LEAT_TRACEBUF_NONE;
	     p = leat_tracebuf_process_next(tracebuf, p + 1)) {
		int end = leat_tracebuf_fd_end(tracebuf, p);

		for (int other = 0; other < end; other++) {
			uint32_t h = leat_tracebuf_fd(tracebuf, p, other);

			if (h && leat_tracebuf_handle_is(tracebuf, h, file->device, file->inode) &&
			    is_same(me->pid, fd, leat_tracebuf_process_pid(tracebuf, p), other))
				return leat_tracebuf_handle_hold(tracebuf, h) ? h : 0;
		}
	}
	return 0;
}

/* One that was sent, and is received by this. `handle` 0: of that file. Its reference is the
 * caller's. */
static uint32_t land(uint32_t handle, const struct leat_trace_file *file)
{
	struct leat_tracebuf *tracebuf = leat_trace_buffer;

	for (uint32_t i = 0; i < LEAT_TRACEBUF_IN_FLIGHT; i++) {
		uint32_t h = leat_tracebuf_in_flight(tracebuf, i);

		if (!h || (handle && h != handle) ||
		    (!handle && !leat_tracebuf_handle_is(tracebuf, h, file->device, file->inode)))
			continue;
		if (leat_tracebuf_in_flight_claim(tracebuf, i, h))
			return h;
	}
	return 0;
}

static void receive(int fd)
{
	const struct leat_trace_self *me = leat_trace_me();
	struct leat_trace_file file;
	uint32_t held, landed;

	if (fd < 0 || fd >= (int)LEAT_TRACEBUF_FDS)
		return;
	leat_trace_identify(&file, fd, "", AT_EMPTY_PATH);
	if (!file.inode || S_ISSOCK(file.mode))
		return;
	held = find_held(me, fd, &file);
	landed = land(held, &file);
	if (held && landed)
		leat_trace_drop(me, landed, NULL);
	held = held ? held : landed;
	if (held)
		leat_trace_drop(me, leat_tracebuf_fd_set(leat_trace_buffer, me->process, fd, held),
				NULL);
}

void leat_trace_message_end(struct leat_traced *t, long result)
{
	long n = t->call.nr == SYS_recvmmsg ? result : 1;

	for (long i = 0; result >= 0 && i < n; i++)
		leat_each_right(message(t, i), receive);
}

bool leat_trace_getfd_begin(struct leat_traced *t)
{
	(void)t;
	return true;
}

void leat_trace_getfd_end(struct leat_traced *t, long result)
{
	(void)t;
	if (result >= 0)
		receive((int)result);
}
