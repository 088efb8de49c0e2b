/* The programs that this process becomes, and its end. */
#include "iotrace/trace.h"
#include "preload/trace/trace.h"
#include "shm/tracebuf.h"

#include <limits.h>

static void record_moment(const struct leat_trace_self *me, uint8_t type, int64_t result)
{
	struct leat_tracebuf_record *r = leat_trace_record(me, type, NULL, 0);

	if (!r)
		return;
	r->result = result;
	leat_trace_done(r, NULL);
}

/* What was noted of the exec that is under way in such a process. */
static bool asked;
static uint32_t asked_for;

void leat_trace_exec_begin(int dirfd, const char *path)
{
	const struct leat_trace_self *me = leat_trace_me();
	struct leat_tracebuf_record *r;
	char *end;

	if (me->process == LEAT_TRACEBUF_NONE) {
		asked = leat_trace_is_foreign(me);
		if (asked)
			asked_for = leat_tracebuf_note_foreign(leat_trace_buffer, path, false);
		return;
	}
	r = leat_trace_record(me, LEAT_TRACEBUF_EXEC_BEGINS, NULL,
			      leat_trace_path_size(dirfd, path) + PATH_MAX);
	if (r) {
		r->texts = 2;
		r->inode = leat_trace_root_mount();
		end = leat_trace_put_path(r->text, dirfd, path);
		leat_trace_done(r, leat_trace_put_path(end, AT_FDCWD, ""));
	}
	leat_tracebuf_process_set(leat_trace_buffer, me->process, LEAT_TRACEBUF_STARTING);
}

void leat_trace_exec_failed(void)
{
	const struct leat_trace_self *me = leat_trace_me();

	if (me->process == LEAT_TRACEBUF_NONE) {
		if (asked)
			leat_tracebuf_foreign_undo(leat_trace_buffer, asked_for);
		asked = false;
		return;
	}
	leat_tracebuf_process_set(leat_trace_buffer, me->process, LEAT_TRACEBUF_LIVE);
	record_moment(me, LEAT_TRACEBUF_EXEC_FAILED, 0);
}

void leat_trace_exiting(int status)
{
	const struct leat_trace_self *me = leat_trace_me();

	if (me->process == LEAT_TRACEBUF_NONE)
		return;
	leat_trace_close_all(me, false);
	record_moment(me, LEAT_TRACEBUF_EXITS, (status & 0xff) << 8);
	leat_tracebuf_process_set(leat_trace_buffer, me->process, LEAT_TRACEBUF_GONE);
}
