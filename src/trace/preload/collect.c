/* Taking records from the trace buffer, in the order of their end.
 *
 * In each chunk they lie in that order. Of a chunk in which nobody is recording, all that ended
 * before the look at it has been seen; so everything up to the oldest such look can be passed on.
 */
#include "trace/preload/internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "shm/tracebuf.h"

#include <stdlib.h>
#include <string.h>

#define HEAD sizeof(struct leat_tracebuf_chunk)
enum { MOST_TEXTS = 256, FULL = 512, BEAT_AFTER = 1024 };

/* Who was stopped while recording, or was cut off by a signal handler that jumped out, is not
 * waited for any longer. */
#define LONGEST_RECORDING_NS LEAT_SECOND_NS

struct chunk {
	uint64_t taken;   /* bytes; 0: it was free */
	int64_t clear_ns; /* all that ended before has been seen */
};

/* A chunk with records that are not taken yet. */
struct source {
	uint32_t chunk, process;
	const char *at, *end;
	int64_t next_ns; /* end of the first of them */
};

struct leat_trace_collector {
	struct leat_tracebuf *tracebuf;         /* borrowed */
	struct leat_trace_emitter *emitter;     /* borrowed */
	struct leat_trace_processes *processes; /* borrowed */
	struct chunk *chunks;                   /* owned, n_chunks */
	struct source *sources;                 /* owned, a heap: the earliest first */
	uint32_t n_sources;
	int64_t round_ns, before_ns; /* when this round and the one before began */
	uint64_t taken;              /* records, in this round */
	bool broken;                 /* somebody wrote over the trace buffer; it was said */
};

struct leat_trace_collector *leat_trace_collector_new(struct leat_tracebuf *tracebuf,
						      struct leat_trace_emitter *emitter,
						      struct leat_trace_processes *processes)
{
	struct leat_trace_collector *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct leat_trace_collector){
		.tracebuf = tracebuf, .emitter = emitter, .processes = processes};
	c->chunks = calloc(tracebuf->n_chunks, sizeof(*c->chunks));
	c->sources = calloc(tracebuf->n_chunks, sizeof(*c->sources));
	if (c->chunks && c->sources)
		return c;
	leat_trace_collector_free(c);
	return NULL;
}

void leat_trace_collector_free(struct leat_trace_collector *c)
{
	if (!c)
		return;
	free(c->chunks);
	free(c->sources);
	free(c);
}

/* --- the heap --- */

static void sift_down(struct leat_trace_collector *c, uint32_t i)
{
	struct source s = c->sources[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < c->n_sources &&
		    c->sources[child + 1].next_ns < c->sources[child].next_ns)
			child++;
		if (child >= c->n_sources || c->sources[child].next_ns >= s.next_ns)
			break;
		c->sources[i] = c->sources[child];
		i = child;
	}
	c->sources[i] = s;
}

static void make_heap(struct leat_trace_collector *c)
{
	for (uint32_t i = c->n_sources / 2; i-- > 0;)
		sift_down(c, i);
}

/* --- records --- */

static void report_overwritten(struct leat_trace_collector *c)
{
	leat_trace_sink_lost(&c->emitter->sink, LEAT_TRACE_LOST_BUFFER, 1);
	if (!c->broken)
		leat_warn("a traced program has written over records of the trace, of which some "
			  "are missing");
	c->broken = true;
}

/* The next record of the source, or NULL: there is none, or it makes no sense. */
static const struct leat_tracebuf_record *peek(struct leat_trace_collector *c,
					       const struct source *s)
{
	const struct leat_tracebuf_record *r =
		(const struct leat_tracebuf_record *)(const void *)s->at;
	size_t left = (size_t)(s->end - s->at);

	if (!left)
		return NULL;
	if (left >= sizeof(*r) && r->size >= sizeof(*r) && r->size <= left && r->size % 8 == 0)
		return r;
	report_overwritten(c);
	return NULL;
}

/* Sets `texts` to those of the record. False: they make no sense. */
static bool find_texts(const struct leat_tracebuf_record *r, const char **texts)
{
	const char *at = r->text, *end = (const char *)r + r->size;

	for (unsigned i = 0; i < r->texts; i++) {
		const char *stop = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;

		if (!stop)
			return false;
		texts[i] = at;
		at = stop + 1;
	}
	texts[r->texts] = NULL;
	return true;
}

static void take(struct leat_trace_collector *c, uint32_t process,
		 const struct leat_tracebuf_record *r)
{
	const char *texts[MOST_TEXTS];

	c->taken++;
	if (!find_texts(r, texts)) {
		report_overwritten(c);
		return;
	}
	if (r->by != LEAT_TRACEBUF_BY_ITSELF)
		process = leat_tracebuf_process_of(c->tracebuf, r->pid);
	if (strchr("fesnx", r->type))
		leat_trace_processes_note(c->processes, process, r, texts);
	else if (leat_trace_processes_kept(c->processes, process))
		leat_trace_emit_call(c->emitter, r, texts);
	else if (r->type == LEAT_TRACE_CLOSE) /* another process may have opened it */
		leat_trace_emit_call(c->emitter, r, texts);
}

/* --- rounds --- */

/* Notes chunk `i`, and until when its records are all there. */
static int64_t look(struct leat_trace_collector *c, uint32_t i)
{
	struct leat_tracebuf_view v = leat_tracebuf_look(c->tracebuf, i);
	struct chunk *k = &c->chunks[i];
	struct source s;
	const struct leat_tracebuf_record *r;

	if (!v.used)
		return INT64_MAX;
	if (!k->taken)
		*k = (struct chunk){.taken = HEAD, .clear_ns = c->before_ns};
	if (!v.busy)
		k->clear_ns = c->round_ns;
	s = (struct source){i, v.process, v.data + k->taken, v.data + v.used, 0};
	r = v.used > k->taken ? peek(c, &s) : NULL;
	if (r) {
		s.next_ns = r->end_ns;
		c->sources[c->n_sources++] = s;
	} else {
		k->taken = v.used;
	}
	return c->round_ns - k->clear_ns > LONGEST_RECORDING_NS ? INT64_MAX : k->clear_ns;
}

/* Who filled it may be waiting for space. */
static void free_full(struct leat_trace_collector *c, uint32_t chunk)
{
	struct chunk *k = &c->chunks[chunk];

	if (k->taken + FULL > LEAT_TRACEBUF_CHUNK &&
	    leat_tracebuf_reclaim(c->tracebuf, chunk, k->taken, false, true))
		*k = (struct chunk){0};
}

/* Takes the first record of the heap. */
static void advance(struct leat_trace_collector *c)
{
	struct source *s = &c->sources[0];
	const struct leat_tracebuf_record *r =
		(const struct leat_tracebuf_record *)(const void *)s->at;
	uint32_t size = r->size;

	take(c, s->process, r);
	s->at += size;
	c->chunks[s->chunk].taken += size;
	r = peek(c, s);
	if (r) {
		s->next_ns = r->end_ns;
	} else {
		c->chunks[s->chunk].taken += (uint64_t)(s->end - s->at);
		free_full(c, s->chunk);
		c->sources[0] = c->sources[--c->n_sources];
	}
	sift_down(c, 0);
}

/* Frees chunks that nobody needs any more; whoever is dead and has nothing left is buried. */
static void free_finished(struct leat_trace_collector *c, int64_t until)
{
	bool spare = leat_tracebuf_free_chunks(c->tracebuf) < c->tracebuf->n_chunks / 4;
	static bool waiting[LEAT_TRACEBUF_PROCESSES];

	memset(waiting, 0, sizeof(waiting));
	for (uint32_t i = leat_tracebuf_chunk_next(c->tracebuf, 0); i != LEAT_TRACEBUF_NONE;
	     i = leat_tracebuf_chunk_next(c->tracebuf, i + 1)) {
		struct leat_tracebuf_view v = leat_tracebuf_look(c->tracebuf, i);
		struct chunk *k = &c->chunks[i];
		bool known = v.process < LEAT_TRACEBUF_PROCESSES, gone;

		if (!v.used || !k->taken)
			continue;
		gone = known && leat_trace_processes_dead(c->processes, v.process, until);
		if (v.used == k->taken &&
		    leat_tracebuf_reclaim(c->tracebuf, i, k->taken, gone, spare))
			*k = (struct chunk){0};
		else if (known)
			waiting[v.process] = true;
	}
	for (uint32_t p = leat_tracebuf_process_next(c->tracebuf, 0); p != LEAT_TRACEBUF_NONE;
	     p = leat_tracebuf_process_next(c->tracebuf, p + 1))
		if (!waiting[p] && leat_trace_processes_dead(c->processes, p, until))
			leat_trace_processes_bury(c->processes, p);
}

static void pass_losses_on(struct leat_trace_collector *c)
{
	for (unsigned why = 0; why < LEAT_TRACE_LOSSES; why++) {
		uint64_t n = leat_tracebuf_lost(c->tracebuf, why);

		if (n)
			leat_trace_sink_lost(&c->emitter->sink, (enum leat_trace_loss)why, n);
	}
}

uint64_t leat_trace_collect(struct leat_trace_collector *c, bool all)
{
	int64_t until;

	c->before_ns = c->round_ns;
	c->round_ns = (int64_t)leat_clock_ns();
	until = all ? INT64_MAX : c->round_ns;
	c->n_sources = 0;
	c->taken = 0;
	leat_tracebuf_beat(c->tracebuf, (uint64_t)c->round_ns);
	for (uint32_t i = leat_tracebuf_chunk_next(c->tracebuf, 0); i != LEAT_TRACEBUF_NONE;
	     i = leat_tracebuf_chunk_next(c->tracebuf, i + 1)) {
		int64_t clear = look(c, i);

		if (!all && clear < until)
			until = clear;
	}
	make_heap(c);
	while (c->n_sources && c->sources[0].next_ns <= until) {
		advance(c);
		if (c->taken % BEAT_AFTER == 0)
			leat_tracebuf_beat(c->tracebuf, leat_clock_ns());
	}
	free_finished(c, until);
	pass_losses_on(c);
	return c->taken;
}
