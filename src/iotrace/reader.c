/* Reading traces: the files of each node, all merged by time. */
#include "iotrace/stream.h"

#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file, and the record of it that is next. */
struct source {
	struct leat_trace_stream *stream; /* owned */
	unsigned node;
	int64_t skew_ns;
	uint64_t first_id; /* added to inodes and handles: see id_base */
	/* its place among the sources: what is next has the least time, then rank, then order */
	int64_t time_ns;
	unsigned rank, order;
	struct leat_trace_record record;
};

struct node {
	struct leat_trace_head head; /* texts borrowed from its first file */
	struct leat_trace_tail tail;
	unsigned traces; /* files with calls */
	unsigned first, n;
	/* of our own layout, how many files have each part */
	unsigned n_calls, n_processes;
};

struct leat_trace_reader {
	struct source *sources; /* owned */
	size_t n_sources;
	struct node *nodes; /* owned */
	unsigned n_nodes;
	struct source **heap; /* owned; those that have a record */
	size_t n_heap;
	size_t primed;          /* sources that were asked for their first record */
	struct source *current; /* whose record was given out last: it is asked for another */
	char **notices;         /* owned: files that were passed over */
	size_t n_notices, notices_reported;
	int rc; /* a final error */
	char why[LEAT_TRACE_WHY_BYTES];
};

/* ---- opening ---- */

/* Several traces in one directory are of one node, but each counts its files and handles itself. */
static uint64_t id_base(unsigned trace)
{
	return (uint64_t)trace << 48;
}

static int add_source(struct leat_trace_reader *r, unsigned node, struct leat_trace_stream *stream)
{
	struct source *s = reallocarray(r->sources, r->n_sources + 1, sizeof(*s));
	struct node *n = &r->nodes[node];

	if (!s) {
		leat_trace_stream_free(stream);
		return -ENOMEM;
	}
	r->sources = s;
	s[r->n_sources] = (struct source){
		.stream = stream,
		.node = node,
		.first_id = stream->part == LEAT_TRACE_CALLS ? id_base(n->traces) : 0,
		.order = (unsigned)r->n_sources};
	r->n_sources++;
	n->n++;
	n->traces += stream->part == LEAT_TRACE_CALLS;
	if (!stream->head.foreign) {
		n->n_calls += stream->part == LEAT_TRACE_CALLS;
		n->n_processes += stream->part == LEAT_TRACE_PROCESSES;
	}
	return 0;
}

static int add_notice(struct leat_trace_reader *r, const char *why)
{
	char **v = reallocarray(r->notices, r->n_notices + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	r->notices = v;
	v[r->n_notices] = leat_strf("%s; the file is passed over", why);
	return v[r->n_notices++] ? 0 : -ENOMEM;
}

static int open_file(struct leat_trace_reader *r, unsigned node, const char *path, char *why)
{
	size_t n = strlen(path);
	struct leat_trace_stream *s;
	int rc;

	if (n < 6 || strcmp(path + n - 6, ".trace") != 0) {
		rc = leat_trace_open_csv(path, &s, why);
		return rc ? rc : add_source(r, node, s);
	}
	for (int part = LEAT_TRACE_CALLS; part <= LEAT_TRACE_PROCESSES; part++) {
		rc = leat_trace_open_blocks(path, (enum leat_trace_part)part, &s, why);
		if (!rc)
			rc = add_source(r, node, s);
		if (rc)
			return rc;
	}
	return 0;
}

/* A damaged trace may have any time. */
static void shift(int64_t *time_ns, int64_t by_ns)
{
	*time_ns = (int64_t)((uint64_t)*time_ns + (uint64_t)by_ns);
}

static void sum_up_heads(struct leat_trace_reader *r, struct node *n, int64_t skew_ns)
{
	for (unsigned i = 0; i < n->n; i++) {
		struct source *s = &r->sources[n->first + i];
		const struct leat_trace_head *h = &s->stream->head;

		s->skew_ns = skew_ns;
		if (!i)
			n->head = *h;
		else if (h->began_ns && (!n->head.began_ns || h->began_ns < n->head.began_ns))
			n->head.began_ns = h->began_ns;
		n->head.foreign |= h->foreign;
	}
	if (n->head.began_ns)
		shift(&n->head.began_ns, skew_ns);
}

/* In a directory there may be other files with such names: passed over, and said so. */
static int open_node(struct leat_trace_reader *r, unsigned node, const char *path, int64_t skew_ns,
		     char *why)
{
	struct node *n = &r->nodes[node];
	size_t n_files, passed_over = 0;
	char **files;
	int rc = leat_trace_find(path, &files, &n_files, why);

	if (rc)
		return rc;
	n->first = (unsigned)r->n_sources;
	for (size_t i = 0; i < n_files && !rc; i++) {
		rc = open_file(r, node, files[i], why);
		if (rc == -EBADMSG && strcmp(files[i], path) != 0) {
			passed_over++;
			rc = add_notice(r, why);
		}
	}
	if (!rc && passed_over == n_files)
		rc = -EBADMSG; /* `why` is of the last */
	leat_trace_find_free(files, n_files);
	if (!rc)
		sum_up_heads(r, n, skew_ns);
	return rc;
}

struct leat_trace_reader *leat_trace_reader_new_all(const char *const *paths, size_t n,
						    const int64_t *skew_ns, char *why, size_t size)
{
	struct leat_trace_reader *r = calloc(1, sizeof(*r));
	char text[LEAT_TRACE_WHY_BYTES] = "out of memory";
	int rc = -ENOMEM;

	if (r)
		r->nodes = calloc(n ? n : 1, sizeof(*r->nodes));
	if (r && r->nodes)
		rc = 0;
	for (size_t i = 0; i < n && !rc; i++) {
		r->n_nodes++;
		rc = open_node(r, (unsigned)i, paths[i], skew_ns ? skew_ns[i] : 0, text);
	}
	if (!rc) {
		r->heap = calloc(r->n_sources ? r->n_sources : 1, sizeof(*r->heap));
		rc = r->heap ? 0 : -ENOMEM;
	}
	if (!rc)
		return r;
	if (why && size)
		snprintf(why, size, "%s", text);
	leat_trace_reader_free(r);
	errno = -rc;
	return NULL;
}

struct leat_trace_reader *leat_trace_reader_new(const char *path, char *why, size_t size)
{
	return leat_trace_reader_new_all(&path, 1, NULL, why, size);
}

void leat_trace_reader_free(struct leat_trace_reader *r)
{
	int saved = errno;

	if (!r)
		return;
	for (size_t i = 0; i < r->n_sources; i++)
		leat_trace_stream_free(r->sources[i].stream);
	for (size_t i = 0; i < r->n_notices; i++)
		free(r->notices[i]);
	free(r->notices);
	free(r->sources);
	free(r->nodes);
	free(r->heap);
	free(r);
	errno = saved;
}

/* ---- the heap of sources ---- */

static bool before(const struct source *a, const struct source *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->rank != b->rank ? a->rank < b->rank : a->order < b->order;
}

/* What is at the top has become greater. */
static void sink(struct leat_trace_reader *r)
{
	struct source *s = r->heap[0];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < r->n_heap) {
		if (child + 1 < r->n_heap && before(r->heap[child + 1], r->heap[child]))
			child++;
		if (!before(r->heap[child], s))
			break;
		r->heap[at] = r->heap[child];
		at = child;
	}
	r->heap[at] = s;
}

static void rise(struct leat_trace_reader *r, struct source *s)
{
	size_t at = r->n_heap++;

	for (; at && before(s, r->heap[(at - 1) / 2]); at = (at - 1) / 2)
		r->heap[at] = r->heap[(at - 1) / 2];
	r->heap[at] = s;
}

/* ---- reading ---- */

/* Of the same time: who is there before who does something, and who is gone after it. What has no
 * time is said at once. */
static void place(struct source *s)
{
	struct leat_trace_record *record = &s->record;

	record->node = s->node;
	switch (record->kind) {
	case LEAT_TRACE_CALL:
		shift(&record->call.start_ns, s->skew_ns);
		shift(&record->call.end_ns, s->skew_ns);
		if (s->first_id) {
			record->call.inode += record->call.inode ? s->first_id : 0;
			record->call.handle += record->call.handle ? s->first_id : 0;
		}
		s->time_ns = record->call.end_ns;
		s->rank = 1;
		break;
	case LEAT_TRACE_PROCESS:
		shift(&record->process.time_ns, s->skew_ns);
		s->time_ns = record->process.time_ns;
		s->rank = record->process.change == LEAT_TRACE_EXIT ? 2 : 0;
		break;
	default:
		s->time_ns = INT64_MIN;
		s->rank = 0;
		break;
	}
}

static void end_node(struct node *n)
{
	/* Of a trace in two files, one may have been left behind. */
	if (n->n_calls != n->n_processes)
		n->tail.complete = false;
}

/* Both files of a trace say of all that was lost. Where one was cut off, the other may know. */
static void sum_up_tails(struct leat_trace_reader *r, unsigned node)
{
	struct node *n = &r->nodes[node];
	struct leat_trace_tail sums[2] = {{.complete = true}, {.complete = true}};

	for (unsigned i = 0; i < n->n; i++) {
		const struct leat_trace_stream *s = r->sources[n->first + i].stream;
		struct leat_trace_tail *sum = &sums[s->part];

		if (!s->ended)
			return;
		sum->calls += s->tail.calls;
		sum->processes += s->tail.processes;
		sum->complete &= s->tail.complete;
		for (int k = 0; k < LEAT_TRACE_LOSSES; k++)
			sum->lost[k] += s->tail.lost[k];
	}
	n->tail = sums[LEAT_TRACE_CALLS];
	n->tail.processes = sums[LEAT_TRACE_PROCESSES].processes;
	for (int k = 0; k < LEAT_TRACE_LOSSES; k++)
		if (sums[LEAT_TRACE_PROCESSES].lost[k] > n->tail.lost[k])
			n->tail.lost[k] = sums[LEAT_TRACE_PROCESSES].lost[k];
	n->tail.complete &= sums[LEAT_TRACE_PROCESSES].complete;
	end_node(n);
}

/* Asks a source for its next record. 1: it has one; 0: it has ended; -errno. */
static int advance(struct leat_trace_reader *r, struct source *s)
{
	int rc = s->stream->read(s->stream, &s->record);

	if (rc == 1) {
		place(s);
	} else if (rc == 0) {
		sum_up_tails(r, s->node);
	} else if (rc == -EBADMSG) {
		snprintf(r->why, sizeof(r->why), "%s", s->stream->why);
	} else {
		snprintf(r->why, sizeof(r->why), "%s: %s", s->stream->path, strerror(-rc));
		r->rc = rc;
	}
	return rc;
}

static int prime(struct leat_trace_reader *r)
{
	while (r->primed < r->n_sources) {
		struct source *s = &r->sources[r->primed];
		int rc = advance(r, s);

		if (rc < 0)
			return rc;
		if (rc)
			rise(r, s);
		r->primed++;
	}
	return 0;
}

/* The source at the top gets its next record, or goes. */
static int replace_top(struct leat_trace_reader *r)
{
	int rc = advance(r, r->current);

	if (rc < 0)
		return rc;
	r->current = NULL;
	if (!rc)
		r->heap[0] = r->heap[--r->n_heap];
	if (r->n_heap > 1)
		sink(r);
	return 0;
}

int leat_trace_read(struct leat_trace_reader *r, struct leat_trace_record *record)
{
	int rc = r->rc;

	if (!rc && r->notices_reported < r->n_notices) {
		snprintf(r->why, sizeof(r->why), "%s", r->notices[r->notices_reported++]);
		return -EBADMSG;
	}
	if (!rc && r->primed < r->n_sources)
		rc = prime(r);
	if (!rc && r->current)
		rc = replace_top(r);
	if (rc)
		return rc;
	if (!r->n_heap)
		return 0;
	r->current = r->heap[0];
	*record = r->current->record;
	return 1;
}

const char *leat_trace_reader_why(const struct leat_trace_reader *r)
{
	return r->why;
}

unsigned leat_trace_reader_nodes(const struct leat_trace_reader *r)
{
	return r->n_nodes;
}

const struct leat_trace_head *leat_trace_reader_head(const struct leat_trace_reader *r,
						     unsigned node)
{
	return node < r->n_nodes ? &r->nodes[node].head : NULL;
}

const struct leat_trace_tail *leat_trace_reader_tail(const struct leat_trace_reader *r,
						     unsigned node)
{
	return node < r->n_nodes ? &r->nodes[node].tail : NULL;
}
