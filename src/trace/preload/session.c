/* A trace buffer, and a trace made of it. */
#include "trace/preload/internal.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How long records lie in the trace buffer, unless they are many. */
#define ROUND_NS 5000000
enum { MANY = 20000 };

int leat_trace_session_init(struct leat_trace_session *s, const struct leat_trace_request *request)
{
	int rc;

	*s = (struct leat_trace_session){.tracebuf_fd = -1};
	rc = leat_tracebuf_create(request->buffer_bytes, &s->tracebuf_fd, &s->tracebuf);
	if (!rc)
		rc = leat_trace_emitter_init(&s->emitter, request);
	if (!rc) {
		leat_tracebuf_beat(s->tracebuf, leat_clock_ns());
		s->processes = leat_trace_processes_new(s->tracebuf, &s->emitter);
	}
	if (s->processes)
		s->collector = leat_trace_collector_new(s->tracebuf, &s->emitter, s->processes);
	if (!rc && !s->collector)
		rc = -ENOMEM;
	if (rc)
		leat_error("cannot make the buffer of the trace: %s", strerror(-rc));
	return rc;
}

void leat_trace_session_release(struct leat_trace_session *s)
{
	leat_trace_collector_free(s->collector);
	leat_trace_processes_free(s->processes);
	leat_trace_emitter_release(&s->emitter);
	leat_tracebuf_unmap(s->tracebuf);
	if (s->tracebuf_fd >= 0)
		close(s->tracebuf_fd);
}

uint64_t leat_trace_session_round(struct leat_trace_session *s)
{
	leat_trace_emitter_tick(&s->emitter);
	leat_trace_processes_watch(s->processes, (int64_t)leat_clock_ns());
	return leat_trace_collect(s->collector, false);
}

void leat_trace_session_sleep(uint64_t taken)
{
	const struct timespec pause = {.tv_nsec = ROUND_NS};

	if (taken < MANY)
		nanosleep(&pause, NULL);
}

void leat_trace_session_finish(struct leat_trace_session *s)
{
	leat_trace_processes_watch(s->processes, (int64_t)leat_clock_ns());
	leat_trace_collect(s->collector, true);
	leat_trace_processes_end(s->processes);
	leat_trace_processes_report(s->processes);
}
