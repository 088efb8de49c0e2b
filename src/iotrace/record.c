/* One record, whoever writes or reads it. */
#include "iotrace/writer.h"

#include <errno.h>
#include <string.h>

static const char *const loss_names[LEAT_TRACE_LOSSES] = {
	[LEAT_TRACE_LOST_BUFFER] = "buffer", [LEAT_TRACE_LOST_MEMORY] = "memory",
	[LEAT_TRACE_LOST_PATH] = "path",     [LEAT_TRACE_LOST_WRITE] = "write",
	[LEAT_TRACE_LOST_UNSEEN] = "unseen",
};

_Static_assert(LEAT_TRACE_LOSSES == 5, "each has a name");

const char *leat_trace_loss_name(enum leat_trace_loss loss)
{
	return (unsigned)loss < LEAT_TRACE_LOSSES ? loss_names[loss] : "unknown";
}

long leat_trace_texts_size(const struct leat_trace_record *record)
{
	const char *texts[4] = {0};
	size_t sum = 0;

	switch (record->kind) {
	case LEAT_TRACE_CALL:
		texts[0] = record->call.path;
		texts[1] = record->call.to;
		texts[2] = record->call.outside;
		texts[3] = record->call.to_outside;
		break;
	case LEAT_TRACE_PROCESS:
		texts[0] = record->process.program;
		texts[1] = record->process.dir;
		texts[2] = record->process.labels;
		break;
	case LEAT_TRACE_CGROUP:
		texts[0] = record->cgroup.path;
		break;
	case LEAT_TRACE_MOUNT:
		texts[0] = record->mount.at;
		texts[1] = record->mount.from;
		texts[2] = record->mount.type;
		break;
	case LEAT_TRACE_UNSEEN:
		texts[0] = record->unseen.program;
		texts[1] = record->unseen.why;
		break;
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		sum += texts[i] ? strlen(texts[i]) : 0;
	return sum > LEAT_TRACE_TEXT_MAX ? -EMSGSIZE : (long)sum;
}
