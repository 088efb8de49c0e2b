/* Writing traces, whatever their form. */
#include "iotrace/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct leat_trace_form *form_of(const char *path)
{
	size_t n = strlen(path);

	return n >= 6 && strcmp(path + n - 6, ".trace") == 0 ? &leat_trace_form_blocks
							     : &leat_trace_form_csv;
}

static void release(struct leat_trace_writer *w)
{
	w->form->release(w);
	free(w);
}

struct leat_trace_writer *leat_trace_writer_new(const char *path,
						const struct leat_trace_head *head)
{
	struct leat_trace_writer *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return NULL;
	w->form = form_of(path);
	w->calls.fd = w->processes.fd = -1;
	rc = w->form->begin(w, path, head);
	if (!rc)
		return w;
	leat_trace_out_close(&w->processes);
	leat_trace_out_close(&w->calls);
	release(w);
	errno = -rc;
	return NULL;
}

/* What is in a buffer that cannot be written is lost, too. */
static void count_unwritten(struct leat_trace_writer *w)
{
	uint64_t calls, processes;

	w->form->unwritten(w, &calls, &processes);
	w->tail.calls -= calls;
	w->tail.processes -= processes;
	w->tail.lost[LEAT_TRACE_LOST_WRITE] += calls + processes;
	w->calls.pending = w->calls.used = 0;
	w->processes.pending = w->processes.used = 0;
}

static int fail(struct leat_trace_writer *w, int rc)
{
	if (rc && !w->rc) {
		w->rc = rc;
		count_unwritten(w);
	}
	return rc;
}

int leat_trace_write(struct leat_trace_writer *w, const struct leat_trace_record *record)
{
	bool counted = record->kind == LEAT_TRACE_CALL || record->kind == LEAT_TRACE_PROCESS;
	int rc = w->rc ? w->rc : w->form->put(w, record);

	if (rc) {
		if (counted)
			w->tail.lost[rc == -EMSGSIZE && !w->rc ? LEAT_TRACE_LOST_PATH
							       : LEAT_TRACE_LOST_WRITE]++;
		return rc == -EMSGSIZE ? rc : fail(w, rc);
	}
	if (record->kind == LEAT_TRACE_CALL)
		w->tail.calls++;
	else if (record->kind == LEAT_TRACE_PROCESS)
		w->tail.processes++;
	return 0;
}

void leat_trace_writer_lost(struct leat_trace_writer *w, enum leat_trace_loss why, uint64_t count)
{
	if ((unsigned)why < LEAT_TRACE_LOSSES)
		w->tail.lost[why] += count;
}

int leat_trace_writer_flush(struct leat_trace_writer *w)
{
	return w->rc ? w->rc : fail(w, w->form->flush(w));
}

int leat_trace_writer_end(struct leat_trace_writer *w, struct leat_trace_tail *tail)
{
	int rc = leat_trace_writer_flush(w), end, close;

	/* After an error too: a few bytes may still fit, and then the trace says what it lacks. */
	end = w->form->end(w);
	close = leat_trace_out_close(&w->processes);
	end = end ? end : close;
	close = leat_trace_out_close(&w->calls);
	end = end ? end : close;
	w->tail.complete = !end;
	rc = rc ? rc : end;
	if (tail)
		*tail = w->tail;
	release(w);
	return rc;
}
