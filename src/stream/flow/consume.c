/* What consumers do with versions: take them, read them, go on to the next. */
#include "stream/flow/consume.h"
#include "stream/flow/links.h"
#include "stream/flow/rank_end.h"
#include "stream/flow/sequence.h"
#include "stream/state/names.h"
#include "stream/state/ports.h"

#include "model/version.h"

#include <errno.h>

/* Is the step launched once for each version? Then it has the same all the time. */
static bool is_pinned(const struct leat_stream *s, int step)
{
	enum leat_relaunch relaunch = s->wf->steps[step].relaunch;

	return relaunch == LEAT_RELAUNCH_ALWAYS ||
	       (relaunch == LEAT_RELAUNCH_FOUND_OUT && s->steps[step].launches);
}

void leat_cursor_settle(struct leat_stream *s, struct leat_cursor *p, bool launch_over)
{
	/* When a launch is over, a close by the server of its mount may be still to come. */
	if (p->at && !p->taken && p->read &&
	    (launch_over || (!p->opens && !is_pinned(s, (int)p->sequence->key.step))))
		leat_cursor_taken(s, p);
}

static struct leat_take *take_find(const struct leat_stream *s, uint64_t id)
{
	struct leat_take *t;

	HASH_FIND(hh, s->takes, &id, sizeof(id), t);
	return t;
}

static struct leat_take *take_new(struct leat_stream *s, uint64_t id)
{
	struct leat_take *t = leat_heap_alloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->id = id;
	HASH_ADD(hh, s->takes, id, sizeof(t->id), t);
	if (t->hh.tbl)
		return t;
	leat_heap_free(t);
	return NULL;
}

/* By which link version `n` comes; NULL: by none. */
static struct leat_flow_link *link_to(const struct leat_stream *s,
				      const struct leat_flow_port *port,
				      const struct leat_name_state *n)
{
	struct leat_flow_link *link;
	uint64_t number;

	LL_FOREACH(s->links, link)
	{
		if (link->port == port && leat_link_carries(link, leat_link_source(link)->step,
							    leat_version_base(n->text, &number)))
			return link;
	}
	return NULL;
}

/* Rank `rank` has version `n` now. */
static struct leat_cursor *go_to(struct leat_stream *s, struct leat_sequence *q, unsigned rank,
				 struct leat_name_state *n, struct leat_flow_link *link)
{
	struct leat_cursor *p = leat_cursor_find(q, rank);
	struct leat_entry *e;

	if (p && p->at == n)
		return p;
	e = leat_sequence_entry(q, n);
	if (!e)
		e = leat_sequence_append(s, q, n, link);
	else if (p && e->number < p->number)
		s->error = -EINVAL;
	if (!s->error)
		p = leat_cursor_get(s, q, rank);
	if (s->error || !p)
		return NULL;
	leat_cursor_move(s, p, n, e->number);
	/* What it has gone past is taken. */
	leat_sequence_settle(s, q);
	return p;
}

int leat_fact_take(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_name_state *n = leat_name_get(s, ev->name);
	struct leat_flow_link *link;
	struct leat_sequence *q;
	struct leat_take *t;

	if (!ev->ofd || !ev->to || take_find(s, ev->ofd))
		return -EINVAL;
	q = n ? leat_sequence_get(s, ev->step, ev->to) : NULL;
	if (!q)
		return s->error ? s->error : -EINVAL;
	link = link_to(s, q->port, n);
	if (!link)
		return -EINVAL;
	t = take_new(s, ev->ofd);
	if (!t)
		return -ENOMEM;
	leat_rank_end_remove(s, ev->step, ev->code);
	leat_version_found(s, n);
	t->cursor = go_to(s, q, leat_cursor_rank(s, ev->step, ev->code), n, link);
	if (!t->cursor) {
		HASH_DEL(s->takes, t);
		leat_heap_free(t);
		return s->error;
	}
	if (!t->cursor->opens++)
		t->cursor->shared = t->cursor->looked = false;
	return 0;
}

/* Of a file that several ranks have open together some may read for all (MPI-IO). */
static void share(const struct leat_cursor *reader)
{
	struct leat_cursor *p;

	LL_FOREACH(reader->sequence->cursors, p)
	{
		p->shared = p->shared || (p->at == reader->at && p->opens);
	}
}

/* It had all there was of a version that grew: if that was all, it has read it. */
static void note_complete(struct leat_cursor *p)
{
	p->read = p->read || (p->read_end && p->at->state == LEAT_FILE_COMMITTED &&
			      p->at->content && p->read_end >= p->at->content->size_bytes);
}

int leat_fact_read(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_take *t = take_find(s, ev->ofd);

	if (!t || ev->code >= LEAT_READ_KINDS)
		return -EINVAL;
	if (!t->cursor)
		return 0;
	if (ev->code == LEAT_READ_ALL) {
		t->read = t->cursor->read = true;
		share(t->cursor);
	} else {
		t->cursor->looked = ev->code == LEAT_READ_LOOK;
		t->cursor->glanced = t->cursor->glanced || ev->offset;
		if (ev->length > t->cursor->read_end)
			t->cursor->read_end = ev->length;
		note_complete(t->cursor);
	}
	return 0;
}

void leat_takes_complete(struct leat_stream *s, const struct leat_name_state *n)
{
	struct leat_sequence *q, *next;
	struct leat_cursor *p;

	HASH_ITER(hh, s->sequences, q, next)
	{
		LL_FOREACH(q->cursors, p)
		{
			if (p->at != n || !p->read_end)
				continue;
			note_complete(p);
			leat_cursor_settle(s, p, false);
		}
	}
}

bool leat_takes_doubt(const struct leat_stream *s, const struct leat_name_state *n, int step)
{
	const struct leat_sequence *q;
	const struct leat_cursor *p;

	for (q = s->sequences; q; q = q->hh.next)
		if (q->key.step == step)
			LL_FOREACH(q->cursors, p)
			{
				if (p->at == n && p->read_end && !p->opens && !p->taken)
					return true;
			}
	return false;
}

/* Has a rank that reads version `n` still got it open? */
static bool is_being_read(const struct leat_stream *s, const struct leat_sequence *q,
			  const struct leat_name_state *n)
{
	const struct leat_take *t;

	for (t = s->takes; t; t = t->hh.next)
		if (t->read && t->cursor && t->cursor->sequence == q && t->cursor->at == n)
			return true;
	return false;
}

/* Who only looked what it was, or opens it again before the others have closed it, is still to
 * read it. */
static void settle_shared(struct leat_stream *s, const struct leat_sequence *q,
			  const struct leat_name_state *n)
{
	struct leat_cursor *p;

	if (is_being_read(s, q, n))
		return;
	LL_FOREACH(q->cursors, p)
	{
		if (p->at != n || p->taken || p->opens || !p->shared || p->looked)
			continue;
		p->read = true;
		leat_cursor_settle(s, p, false);
	}
}

int leat_fact_return(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_take *t = take_find(s, ev->ofd);
	struct leat_cursor *p;

	if (!t)
		return -EINVAL;
	p = t->cursor;
	HASH_DEL(s->takes, t);
	leat_heap_free(t);
	if (!p)
		return 0;
	p->opens--;
	leat_cursor_settle(s, p, false);
	settle_shared(s, p->sequence, p->at);
	return 0;
}

void leat_takes_free(struct leat_stream *s)
{
	struct leat_take *t, *next;

	HASH_ITER(hh, s->takes, t, next)
	{
		HASH_DEL(s->takes, t);
		leat_heap_free(t);
	}
}
