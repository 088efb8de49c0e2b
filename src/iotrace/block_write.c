/* Compressed traces: blocks of calls and blocks of processes in one file. */
#include "iotrace/block.h"
#include "iotrace/pack.h"
#include "iotrace/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* A traced program waits for whoever compresses: higher levels save a tenth, and take thrice as
 * long. */
enum { LEVEL = 1 };

struct leat_trace_blocks {
	struct leat_trace_packer calls, processes;
	ZSTD_CCtx *zstd; /* owned */
};

_Static_assert(LEAT_TRACE_BLOCK_BYTES + LEAT_TRACE_TEXT_MAX + 2 * LEAT_TRACE_PACKED_BYTES <
		       LEAT_TRACE_BLOCK_MAX,
	       "the last record fits");

/* Frame and bytes go to the file together. */
static int put_block(struct leat_trace_writer *w, enum leat_trace_block type, const void *bytes,
		     size_t n, uint32_t records)
{
	struct leat_trace_frame f = {.type = type, .raw = (uint32_t)n, .records = records};
	size_t capacity = LEAT_TRACE_FRAME_BYTES + ZSTD_compressBound(n), stored = n;
	char *at;
	int rc = leat_trace_out_reserve(&w->calls, capacity, &at);

	if (rc)
		return rc;
	f.compressed = records > 0;
	if (f.compressed) {
		stored = ZSTD_compressCCtx(w->blocks->zstd, at + LEAT_TRACE_FRAME_BYTES,
					   capacity - LEAT_TRACE_FRAME_BYTES, bytes, n, LEVEL);
		if (ZSTD_isError(stored))
			return -ENOMEM; /* of an output that is large enough nothing else is left */
	} else {
		memcpy(at + LEAT_TRACE_FRAME_BYTES, bytes, n);
	}
	f.stored = (uint32_t)stored;
	f.sum = leat_trace_sum(at + LEAT_TRACE_FRAME_BYTES, stored);
	leat_trace_frame_put(&f, (uint8_t *)at);
	w->calls.used += LEAT_TRACE_FRAME_BYTES + stored;
	return leat_trace_out_flush(&w->calls);
}

static int end_block(struct leat_trace_writer *w, struct leat_trace_packer *p,
		     enum leat_trace_block type)
{
	int rc;

	if (!p->records)
		return 0;
	rc = put_block(w, type, p->bytes, p->used, p->records);
	if (!rc)
		leat_trace_packer_reset(p);
	return rc;
}

/* First the processes: calls whose process is unknown are worth less than the reverse. */
static int flush(struct leat_trace_writer *w)
{
	int rc = end_block(w, &w->blocks->processes, LEAT_TRACE_BLOCK_PROCESSES);

	return rc ? rc : end_block(w, &w->blocks->calls, LEAT_TRACE_BLOCK_CALLS);
}

static int put(struct leat_trace_writer *w, const struct leat_trace_record *record)
{
	struct leat_trace_packer *p =
		record->kind == LEAT_TRACE_CALL ? &w->blocks->calls : &w->blocks->processes;
	long texts = leat_trace_texts_size(record);
	int rc;

	if (texts < 0)
		return (int)texts;
	if (p->used >= LEAT_TRACE_BLOCK_BYTES) {
		rc = flush(w);
		if (rc)
			return rc;
	}
	return leat_trace_pack(p, record);
}

static uint8_t *put_text(uint8_t *at, const char *text)
{
	*at++ = text != NULL;
	return text ? (uint8_t *)stpcpy((char *)at, text) + 1 : at;
}

static int put_head(struct leat_trace_writer *w, const struct leat_trace_head *head)
{
	const char *const texts[] = {head->host, head->tracer, head->command};
	size_t n = 64;
	uint8_t *bytes, *at;
	int rc;

	for (size_t i = 0; i < 3; i++)
		n += texts[i] ? strlen(texts[i]) : 0;
	if (n > LEAT_TRACE_TEXT_MAX)
		return -EMSGSIZE;
	bytes = malloc(n);
	if (!bytes)
		return -ENOMEM;
	at = leat_trace_put_number(bytes, leat_trace_fold((uint64_t)head->began_ns));
	for (size_t i = 0; i < 3; i++)
		at = put_text(at, texts[i]);
	rc = put_block(w, LEAT_TRACE_BLOCK_HEAD, bytes, (size_t)(at - bytes), 0);
	free(bytes);
	return rc;
}

static int begin(struct leat_trace_writer *w, const char *path, const struct leat_trace_head *head)
{
	struct leat_trace_blocks *b = calloc(1, sizeof(*b));
	char *at;
	int rc;

	if (!b)
		return -ENOMEM;
	w->blocks = b;
	b->zstd = ZSTD_createCCtx();
	b->calls.bytes = malloc(LEAT_TRACE_BLOCK_MAX);
	b->processes.bytes = malloc(LEAT_TRACE_BLOCK_MAX);
	if (!b->zstd || !b->calls.bytes || !b->processes.bytes)
		return -ENOMEM;
	rc = leat_trace_out_open(&w->calls, path);
	if (!rc)
		rc = leat_trace_out_reserve(&w->calls, LEAT_TRACE_MAGIC_BYTES, &at);
	if (rc)
		return rc;
	memcpy(at, LEAT_TRACE_MAGIC, LEAT_TRACE_MAGIC_BYTES);
	w->calls.used += LEAT_TRACE_MAGIC_BYTES;
	return put_head(w, head);
}

static int end(struct leat_trace_writer *w)
{
	uint8_t bytes[128], *at = bytes;

	at = leat_trace_put_number(at, w->tail.calls);
	at = leat_trace_put_number(at, w->tail.processes);
	at = leat_trace_put_number(at, LEAT_TRACE_LOSSES);
	for (int i = 0; i < LEAT_TRACE_LOSSES; i++)
		at = leat_trace_put_number(at, w->tail.lost[i]);
	return put_block(w, LEAT_TRACE_BLOCK_END, bytes, (size_t)(at - bytes), 0);
}

static void unwritten(struct leat_trace_writer *w, uint64_t *calls, uint64_t *processes)
{
	*calls = w->blocks->calls.counted;
	*processes = w->blocks->processes.counted;
}

static void release(struct leat_trace_writer *w)
{
	struct leat_trace_blocks *b = w->blocks;

	if (!b)
		return;
	ZSTD_freeCCtx(b->zstd);
	free(b->calls.bytes);
	free(b->processes.bytes);
	free(b);
}

const struct leat_trace_form leat_trace_form_blocks = {begin, put, flush, end, unwritten, release};
