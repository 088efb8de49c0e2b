#include "iotrace/stream.h"

#include <errno.h>
#include <stdlib.h>

void leat_trace_stream_free(struct leat_trace_stream *s)
{
	int saved = errno;

	if (!s)
		return;
	s->release(s);
	free(s->path);
	free(s->head.host);
	free(s->head.tracer);
	free(s->head.command);
	free(s);
	errno = saved;
}
