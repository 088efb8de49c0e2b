/* Reading compressed traces: the blocks of one part, past those of the other. */
#include "iotrace/block.h"
#include "iotrace/pack.h"
#include "iotrace/stream.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

struct blocks {
	struct leat_trace_stream stream;
	int fd;                /* owned */
	uint64_t at;           /* in the file: what is read next */
	uint8_t *stored, *raw; /* owned */
	size_t stored_capacity, raw_capacity;
	ZSTD_DCtx *zstd; /* owned */
	struct leat_trace_unpacker unpacker;
	uint64_t block_at; /* in the file: the block in `raw` */
	uint32_t left;     /* records in it that are not yet read */
	uint64_t records;  /* read: calls, or processes */
	bool end_seen, bad, cut, counted;
	bool untold; /* what was wrong with the head is in stream.why */
	struct leat_trace_tail end;
};

/* Says what is wrong at a place of the file; -EBADMSG. */
static int complain(struct blocks *b, uint64_t at, const char *text)
{
	snprintf(b->stream.why, sizeof(b->stream.why), "%s: at byte %llu: %s", b->stream.path,
		 (unsigned long long)at, text);
	b->bad = true;
	return -EBADMSG;
}

/* Bytes of the file, without moving. How many there are, or -errno. */
static long look(struct blocks *b, uint64_t at, void *bytes, size_t n)
{
	size_t have = 0;

	while (have < n) {
		ssize_t got = pread(b->fd, (char *)bytes + have, n - have, (off_t)(at + have));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		have += (size_t)got;
	}
	return (long)have;
}

/* At least so many bytes. 0 or -ENOMEM. */
static int reserve(uint8_t **bytes, size_t *capacity, size_t n)
{
	uint8_t *bigger;

	if (n <= *capacity)
		return 0;
	bigger = realloc(*bytes, n);
	if (!bigger)
		return -ENOMEM;
	*bytes = bigger;
	*capacity = n;
	return 0;
}

/* Goes to the next byte at which a block begins, or to the end of the file. 0 or -errno. */
static int find_block(struct blocks *b)
{
	const size_t window = LEAT_TRACE_BLOCK_BYTES;
	struct leat_trace_frame f;
	int rc = reserve(&b->stored, &b->stored_capacity, window);

	if (rc)
		return rc;
	for (;;) {
		long n = look(b, b->at, b->stored, window);

		if (n < 0)
			return (int)n;
		for (long i = 0; i + LEAT_TRACE_FRAME_BYTES <= n; i++) {
			if (leat_trace_frame_get(&f, b->stored + i)) {
				b->at += (uint64_t)i;
				return 0;
			}
		}
		if ((size_t)n < window) {
			b->at += (uint64_t)n;
			return 0;
		}
		b->at += window - LEAT_TRACE_FRAME_BYTES + 1;
	}
}

/* The frame at b->at. 1, 0 at the end of the file, -EBADMSG (b->at is then further on), -errno. */
static int get_frame(struct blocks *b, struct leat_trace_frame *f)
{
	uint8_t bytes[LEAT_TRACE_FRAME_BYTES];
	long n = look(b, b->at, bytes, sizeof(bytes));
	uint64_t at = b->at;
	int rc;

	if (n < 0)
		return (int)n;
	if (n < LEAT_TRACE_FRAME_BYTES) {
		b->cut = b->cut || n > 0;
		return 0;
	}
	if (leat_trace_frame_get(f, bytes))
		return 1;
	b->at++;
	rc = find_block(b);
	return rc ? rc : complain(b, at, "the file is damaged: no block begins here");
}

/* The bytes of a block into b->stored. 1, 0: the file ends before, -EBADMSG or -errno. */
static int get_stored(struct blocks *b, const struct leat_trace_frame *f)
{
	uint64_t at = b->at;
	long n = reserve(&b->stored, &b->stored_capacity, f->stored);
	char text[96];

	if (!n)
		n = look(b, at + LEAT_TRACE_FRAME_BYTES, b->stored, f->stored);
	if (n < 0)
		return (int)n;
	if ((size_t)n < f->stored) {
		b->cut = true;
		b->at += LEAT_TRACE_FRAME_BYTES + (uint64_t)n;
		return 0;
	}
	b->at += LEAT_TRACE_FRAME_BYTES + f->stored;
	if (leat_trace_sum(b->stored, f->stored) == f->sum)
		return 1;
	snprintf(text, sizeof(text), "a block of %u records is damaged, and passed over",
		 f->records);
	return complain(b, at, text);
}

/* Its records into b->raw. 0, -EBADMSG or -errno. */
static int get_raw(struct blocks *b, const struct leat_trace_frame *f)
{
	size_t n = f->stored;
	int rc = reserve(&b->raw, &b->raw_capacity, (size_t)f->raw + LEAT_TRACE_PACKED_BYTES);

	if (rc)
		return rc;
	if (f->compressed) {
		n = ZSTD_decompressDCtx(b->zstd, b->raw, f->raw, b->stored, f->stored);
		if (ZSTD_isError(n) || n != f->raw)
			return complain(b, b->block_at, "a block cannot be decompressed");
	} else if (n) {
		memcpy(b->raw, b->stored, n);
	}
	memset(b->raw + n, 0, LEAT_TRACE_PACKED_BYTES);
	leat_trace_unpacker_reset(&b->unpacker, b->raw, n);
	b->left = f->records;
	return 0;
}

/* ---- head and trailer ---- */

static const uint8_t *get_text(const uint8_t *at, const uint8_t *end, char **text)
{
	const uint8_t *nul;

	*text = NULL;
	if (at >= end || !*at)
		return at + 1;
	nul = memchr(at + 1, 0, (size_t)(end - at - 1));
	if (!nul)
		return end + 1;
	*text = strdup((const char *)at + 1);
	return nul + 1;
}

static int take_head(struct blocks *b)
{
	struct leat_trace_head *h = &b->stream.head;
	const uint8_t *at = b->raw, *end = b->unpacker.end;
	uint64_t began;

	at = leat_trace_get_number(at, &began);
	h->began_ns = (int64_t)leat_trace_unfold(began);
	at = get_text(at, end, &h->host);
	at = get_text(at, end, &h->tracer);
	at = get_text(at, end, &h->command);
	return at <= end ? 0 : complain(b, b->block_at, "the head of the trace is damaged");
}

static int take_end(struct blocks *b)
{
	const uint8_t *at = b->raw, *end = b->unpacker.end;
	uint64_t losses, lost;

	at = leat_trace_get_number(at, &b->end.calls);
	at = leat_trace_get_number(at, &b->end.processes);
	at = leat_trace_get_number(at, &losses);
	for (uint64_t i = 0; i < losses && at <= end; i++) {
		at = leat_trace_get_number(at, &lost);
		if (i < LEAT_TRACE_LOSSES)
			b->end.lost[i] = lost;
	}
	b->end_seen = at <= end;
	return b->end_seen ? 0 : complain(b, b->block_at, "the end of the trace is damaged");
}

static int finish(struct blocks *b)
{
	struct leat_trace_tail *t = &b->stream.tail;
	bool calls = b->stream.part == LEAT_TRACE_CALLS;
	uint64_t reported = calls ? b->end.calls : b->end.processes;
	char text[128];

	if (b->end_seen && !b->bad && reported != b->records && !b->counted) {
		b->counted = true;
		snprintf(text, sizeof(text), "%llu %s were read, but %llu were written",
			 (unsigned long long)b->records, calls ? "calls" : "processes",
			 (unsigned long long)reported);
		return complain(b, b->at, text);
	}
	*t = b->end;
	t->complete = b->end_seen && !b->bad && !b->cut;
	if (!b->end_seen) {
		t->calls = calls ? b->records : 0;
		t->processes = calls ? 0 : b->records;
	}
	b->stream.ended = true;
	return 0;
}

/* ---- records ---- */

static bool is_mine(const struct blocks *b, const struct leat_trace_frame *f)
{
	switch (f->type) {
	case LEAT_TRACE_BLOCK_CALLS:
		return b->stream.part == LEAT_TRACE_CALLS;
	case LEAT_TRACE_BLOCK_PROCESSES:
		return b->stream.part == LEAT_TRACE_PROCESSES;
	default:
		return true;
	}
}

/* Goes to the next block with records of this part. 1, 0 at the end, -EBADMSG or -errno. */
static int next_block(struct blocks *b)
{
	struct leat_trace_frame f;
	int rc;

	for (;;) {
		rc = get_frame(b, &f);
		/* Both parts come to it; one says so. */
		if (rc == -EBADMSG && b->stream.part == LEAT_TRACE_PROCESSES)
			continue;
		if (rc <= 0)
			return rc;
		if (!is_mine(b, &f)) {
			b->at += LEAT_TRACE_FRAME_BYTES + f.stored;
			continue;
		}
		b->block_at = b->at;
		rc = get_stored(b, &f);
		if (rc <= 0)
			return rc;
		rc = get_raw(b, &f);
		if (rc)
			return rc;
		if (f.type == LEAT_TRACE_BLOCK_CALLS || f.type == LEAT_TRACE_BLOCK_PROCESSES)
			return 1;
		b->left = 0;
		if (f.type == LEAT_TRACE_BLOCK_END)
			rc = take_end(b);
		if (rc)
			return rc;
	}
}

/* The records of a block do not end where they should. */
static int bad_block(struct blocks *b)
{
	char text[96];

	snprintf(text, sizeof(text), "a block is damaged: its last %u records are passed over",
		 b->left);
	b->left = 0;
	return complain(b, b->block_at, text);
}

static int read_blocks(struct leat_trace_stream *s, struct leat_trace_record *record)
{
	struct blocks *b = (struct blocks *)s;
	int rc;

	if (b->untold) {
		b->untold = false;
		return -EBADMSG;
	}
	while (!b->left) {
		rc = next_block(b);
		if (rc < 0)
			return rc;
		if (!rc)
			return finish(b);
	}
	rc = leat_trace_unpack(&b->unpacker, record);
	if (rc == -EBADMSG || rc == 0 ||
	    (rc == 1 && (record->kind == LEAT_TRACE_CALL) != (s->part == LEAT_TRACE_CALLS)))
		return bad_block(b);
	if (rc < 0)
		return rc;
	b->left--;
	b->records += record->kind == LEAT_TRACE_CALL || record->kind == LEAT_TRACE_PROCESS;
	return 1;
}

static void release_blocks(struct leat_trace_stream *s)
{
	struct blocks *b = (struct blocks *)s;

	leat_close(&b->fd);
	ZSTD_freeDCtx(b->zstd);
	free(b->stored);
	free(b->raw);
	free(b->unpacker.texts);
}

/* 0, also where the file ends before, -EBADMSG or -errno. */
static int get_head(struct blocks *b)
{
	struct leat_trace_frame f;
	int rc = get_frame(b, &f);

	if (rc <= 0)
		return rc;
	if (f.type != LEAT_TRACE_BLOCK_HEAD)
		return 0;
	b->block_at = b->at;
	rc = get_stored(b, &f);
	if (rc <= 0)
		return rc;
	rc = get_raw(b, &f);
	b->left = 0;
	return rc ? rc : take_head(b);
}

/* The magic and the head. */
static int begin(struct blocks *b)
{
	char magic[LEAT_TRACE_MAGIC_BYTES] = "";
	long n = look(b, 0, magic, sizeof(magic));
	int rc;

	if (n < 0)
		return (int)n;
	if (n < LEAT_TRACE_MAGIC_BYTES || (memcmp(magic, LEAT_TRACE_MAGIC, sizeof(magic)) != 0 &&
					   memcmp(magic, LEAT_TRACE_MAGIC_1, sizeof(magic)) != 0))
		return complain(b, 0,
				n && strncmp(magic, "leat trace ", 11) == 0
					? "this is a trace that this version of leat cannot read"
					: "this is no trace of leat's");
	b->at = LEAT_TRACE_MAGIC_BYTES;
	rc = get_head(b);
	/* It can do without. */
	b->untold = rc == -EBADMSG && b->stream.part == LEAT_TRACE_CALLS;
	return rc == -EBADMSG ? 0 : rc;
}

static int allocate(struct blocks *b, const char *path)
{
	b->stream.path = strdup(path);
	b->zstd = ZSTD_createDCtx();
	return b->stream.path && b->zstd ? 0 : -ENOMEM;
}

int leat_trace_open_blocks(const char *path, enum leat_trace_part part,
			   struct leat_trace_stream **s, char *why)
{
	struct blocks *b = calloc(1, sizeof(*b));
	int rc;

	if (!b)
		return -ENOMEM;
	b->stream.read = read_blocks;
	b->stream.release = release_blocks;
	b->stream.part = part;
	b->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	rc = b->fd < 0 ? -errno : allocate(b, path);
	if (!rc)
		rc = begin(b);
	if (!rc) {
		*s = &b->stream;
		return 0;
	}
	if (rc == -EBADMSG)
		snprintf(why, LEAT_TRACE_WHY_BYTES, "%s", b->stream.why);
	else
		snprintf(why, LEAT_TRACE_WHY_BYTES, "%s: %s", path, strerror(-rc));
	leat_trace_stream_free(&b->stream);
	return rc;
}
