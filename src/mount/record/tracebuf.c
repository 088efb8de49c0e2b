/* Records of what the server answers, in the trace buffer of the trace. */
#include "mount/record/tracebuf.h"
#include "mount/record/recorder.h"

#include "iotrace/trace.h"

#include <string.h>
#include <time.h>

enum { FIRST_PAUSE_NS = 50000, LAST_PAUSE_NS = 1000000 };

static __thread uint32_t lane;

static struct leat_tracebuf_record *wait_for_space(struct leat_recorder *r, size_t size)
{
	int64_t since = (int64_t)leat_mount_now_ns(), now = since;
	struct timespec pause = {.tv_nsec = FIRST_PAUSE_NS};
	struct leat_tracebuf_record *record = NULL;

	while (!record && now - since < LEAT_TRACEBUF_LONGEST_WAIT_NS &&
	       now - (int64_t)leat_tracebuf_last_beat(r->tracebuf) <
		       LEAT_TRACEBUF_LONGEST_SILENCE_NS) {
		nanosleep(&pause, NULL);
		pause.tv_nsec = pause.tv_nsec < LAST_PAUSE_NS ? 2 * pause.tv_nsec : pause.tv_nsec;
		record = leat_tracebuf_begin(r->tracebuf, r->process, size, &lane);
		now = (int64_t)leat_mount_now_ns();
	}
	if (!record)
		leat_tracebuf_lose(r->tracebuf, LEAT_TRACE_LOST_BUFFER, 1);
	return record;
}

struct leat_tracebuf_record *leat_record_begin(struct leat_recorder *r, uint8_t type, pid_t pid,
					       const struct leat_mount_call *call, size_t text)
{
	size_t size = (sizeof(struct leat_tracebuf_record) + text + 7) / 8 * 8;
	struct leat_tracebuf_record *record =
		leat_tracebuf_begin(r->tracebuf, r->process, size, &lane);

	if (!record)
		record = wait_for_space(r, size);
	if (!record)
		return NULL;
	*record = (struct leat_tracebuf_record){.size = sizeof(*record),
						.type = type,
						.by = LEAT_TRACEBUF_BY_MOUNT,
						.pid = (int32_t)pid,
						.end_ns = (int64_t)leat_mount_now_ns()};
	record->start_ns = call ? call->began_ns : record->end_ns;
	if (call)
		record->utime_start_ns = record->utime_end_ns = call->cpu_ns;
	return record;
}

void leat_record_done(struct leat_recorder *r, struct leat_tracebuf_record *record, const char *end)
{
	if (end)
		record->size = (uint32_t)((size_t)(end - (const char *)record) + 7) / 8 * 8;
	leat_tracebuf_end(r->tracebuf, record);
}

char *leat_record_put(struct leat_tracebuf_record *record, char *at, const char *text)
{
	size_t n = strlen(text) + 1;

	memcpy(at, text, n);
	record->texts++;
	return at + n;
}
