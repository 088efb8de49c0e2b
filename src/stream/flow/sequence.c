/* What the ranks of a step are given of a name: all the same versions, each at its own pace. */
#include "stream/flow/sequence.h"
#include "stream/flow/links.h"
#include "stream/flow/rank_end.h"
#include "stream/state/names.h"
#include "stream/state/ports.h"
#include "stream/state/steps.h"

#include "model/view.h"

#include <errno.h>

/* ---- sequences ---- */

struct leat_sequence *leat_sequence_find(const struct leat_stream *s, int step, const char *seen)
{
	struct leat_sequence_key key = {leat_name_find(s, seen), step};
	struct leat_sequence *q = NULL;

	if (key.seen)
		HASH_FIND(hh, s->sequences, &key, sizeof(key), q);
	return q;
}

static struct leat_flow_port *port_of(const struct leat_stream *s, int step, const char *seen)
{
	const struct leat_inport *in = leat_view_find(&s->wf->steps[step], seen);
	struct leat_flow_port *port;

	LL_FOREACH(s->ports, port)
	{
		if (port->step == step && port->in == in)
			return port;
	}
	return NULL;
}

struct leat_sequence *leat_sequence_get(struct leat_stream *s, int step, const char *seen)
{
	struct leat_sequence *q = leat_sequence_find(s, step, seen);
	struct leat_flow_port *port = q ? NULL : port_of(s, step, seen);
	struct leat_name_state *n;

	if (q)
		return q;
	n = port ? leat_name_get(s, seen) : NULL;
	if (!n)
		return NULL;
	q = leat_heap_alloc(1, sizeof(*q));
	if (!q)
		goto fail;
	q->key.seen = n;
	q->key.step = step;
	q->port = port;
	q->first = 1;
	HASH_ADD(hh, s->sequences, key, sizeof(q->key), q);
	if (q->hh.tbl)
		return q;
fail:
	leat_heap_free(q);
	s->error = -ENOMEM;
	return NULL;
}

void leat_sequences_free(struct leat_stream *s)
{
	struct leat_sequence *q, *next;
	struct leat_entry *e, *next_entry;
	struct leat_cursor *p, *next_cursor;

	HASH_ITER(hh, s->sequences, q, next)
	{
		DL_FOREACH_SAFE(q->entries, e, next_entry)
		{
			leat_heap_free(e);
		}
		LL_FOREACH_SAFE(q->cursors, p, next_cursor)
		{
			leat_heap_free(p);
		}
		HASH_DEL(s->sequences, q);
		leat_heap_free(q);
	}
}

/* ---- entries ---- */

static struct leat_entry *entry_at(const struct leat_sequence *q, uint64_t number)
{
	struct leat_entry *e;

	DL_SEARCH_SCALAR(q->entries, e, number, number);
	return e;
}

bool leat_sequence_next(const struct leat_sequence *q, const struct leat_cursor *p,
			struct leat_entry **e)
{
	uint64_t number = p ? p->number + 1 : q->first;

	*e = entry_at(q, number);
	return *e || number > q->given;
}

struct leat_entry *leat_sequence_entry(const struct leat_sequence *q,
				       const struct leat_name_state *n)
{
	struct leat_entry *e;

	DL_SEARCH_SCALAR(q->entries, e, name, n);
	return e;
}

struct leat_entry *leat_sequence_append(struct leat_stream *s, struct leat_sequence *q,
					struct leat_name_state *n, struct leat_flow_link *link)
{
	struct leat_entry *e = leat_heap_alloc(1, sizeof(*e));
	struct leat_delivery *d;

	if (!e) {
		s->error = -ENOMEM;
		return NULL;
	}
	e->name = n;
	e->link = link;
	e->sequence = q;
	e->number = ++q->given;
	e->order = ++q->port->given;
	n->wanted++;
	DL_APPEND(q->entries, e);
	DL_SEARCH_SCALAR(link->due, d, name, n);
	if (d)
		d->given = true;
	q->turn = (link->source + 1) % link->in->n_sources;
	return e;
}

static void release(struct leat_stream *s, struct leat_entry *e)
{
	struct leat_sequence *q = e->sequence;
	struct leat_name_state *n = e->name;

	if (q->port->kept == e)
		q->port->kept = NULL;
	q->gone = n;
	DL_DELETE(q->entries, e);
	leat_heap_free(e);
	leat_version_unwant(s, n);
}

/* May there be ranks that have not opened it yet? */
static bool may_grow(const struct leat_stream *s, const struct leat_sequence *q)
{
	const struct leat_step *model = &s->wf->steps[q->key.step];

	return q->n_cursors < model->nprocs && !model->nwriters &&
	       !leat_step_is_over(&s->steps[q->key.step]);
}

void leat_entry_taken(struct leat_stream *s, struct leat_entry *e)
{
	struct leat_flow_port *port = e->sequence->port;

	e->taken = true;
	e->sequence->taken = e->number;
	if (e->order > port->furthest)
		port->furthest = e->order;
	e->link->taken++;
	e->link->taken_now++;
	leat_link_pass(s, e->link, e->name, true);
	leat_link_wake(s, e->link);
}

/* ---- cursors ---- */

unsigned leat_cursor_rank(const struct leat_stream *s, int step, unsigned rank)
{
	return s->wf->steps[step].nprocs > 1 ? rank : 0;
}

struct leat_cursor *leat_cursor_find(const struct leat_sequence *q, unsigned rank)
{
	struct leat_cursor *p;

	LL_SEARCH_SCALAR(q->cursors, p, rank, rank);
	return p;
}

struct leat_cursor *leat_cursor_get(struct leat_stream *s, struct leat_sequence *q, unsigned rank)
{
	struct leat_cursor *p = leat_cursor_find(q, rank);

	if (p)
		return p;
	p = leat_heap_alloc(1, sizeof(*p));
	if (!p) {
		s->error = -ENOMEM;
		return NULL;
	}
	p->rank = rank;
	p->sequence = q;
	p->number = q->first - 1;
	p->taken = true;
	LL_PREPEND(q->cursors, p);
	q->n_cursors++;
	return p;
}

void leat_cursor_move(struct leat_stream *s, struct leat_cursor *p, struct leat_name_state *at,
		      uint64_t number)
{
	struct leat_take *t, *next;

	HASH_ITER(hh, s->takes, t, next)
	{
		if (t->cursor == p)
			t->cursor = NULL;
	}
	p->at = at;
	p->number = number;
	p->opens = 0;
	p->read_end = 0;
	p->read = p->glanced = p->shared = p->looked = p->taken = false;
}

void leat_cursor_taken(struct leat_stream *s, struct leat_cursor *p)
{
	struct leat_flow_port *port = p->sequence->port;
	const struct leat_entry *e = entry_at(p->sequence, p->number);

	p->taken = true;
	if (e && e->order > port->furthest)
		port->furthest = e->order;
	if (port->kept && port->kept->order < port->furthest)
		leat_sequence_settle(s, port->kept->sequence);
	leat_sequence_settle(s, p->sequence);
}

static bool has_passed(const struct leat_cursor *p, const struct leat_entry *e)
{
	return p->number > e->number || (p->number == e->number && p->taken);
}

/* How many ranks must take each version, by what the workflow says; 0: those that come. */
static unsigned writers_of(const struct leat_stream *s, const struct leat_sequence *q)
{
	const struct leat_step *model = &s->wf->steps[q->key.step];

	return model->nprocs > 1 ? model->nwriters : 0;
}

static bool counts(const struct leat_stream *s, const struct leat_cursor *p)
{
	unsigned writers = writers_of(s, p->sequence);

	return !writers || p->rank < writers;
}

/* Does a rank that has come, counts, and has not ended still need it? */
static bool is_awaited(const struct leat_stream *s, const struct leat_entry *e)
{
	const struct leat_cursor *p;

	LL_FOREACH(e->sequence->cursors, p)
	{
		if (!has_passed(p, e) && counts(s, p) &&
		    !leat_rank_end_has(s, (int)e->sequence->key.step, p->rank))
			return true;
	}
	return false;
}

/* Is there one that must take it, has not come, and has not ended? */
static bool is_to_come(const struct leat_stream *s, const struct leat_sequence *q)
{
	unsigned writers = writers_of(s, q);

	for (unsigned rank = 0; rank < writers; rank++)
		if (!leat_cursor_find(q, rank) && !leat_rank_end_has(s, (int)q->key.step, rank))
			return true;
	return false;
}

/* Has somebody taken it, and everybody who must? */
static bool is_taken(const struct leat_stream *s, const struct leat_entry *e)
{
	const struct leat_cursor *p;
	bool any = false;

	LL_FOREACH(e->sequence->cursors, p)
	{
		any = any || (counts(s, p) && has_passed(p, e));
	}
	return any && !is_awaited(s, e) && !is_to_come(s, e->sequence);
}

/* It is kept no longer than a rank may ask for it. */
static void let_go(struct leat_stream *s, struct leat_entry *e)
{
	struct leat_flow_port *port = e->sequence->port;

	if (is_awaited(s, e))
		return;
	if (may_grow(s, e->sequence) && e->order >= port->furthest)
		port->kept = e;
	else
		release(s, e);
}

void leat_sequence_settle(struct leat_stream *s, struct leat_sequence *q)
{
	struct leat_entry *e, *next;

	DL_FOREACH_SAFE(q->entries, e, next)
	{
		if (!e->taken && !is_taken(s, e))
			return;
		if (!e->taken)
			leat_entry_taken(s, e);
		let_go(s, e);
	}
}

void leat_sequences_settle(struct leat_stream *s, int step)
{
	struct leat_sequence *q, *next;

	HASH_ITER(hh, s->sequences, q, next)
	{
		if (q->key.step == step)
			leat_sequence_settle(s, q);
	}
}

int leat_sequences_rank_end(struct leat_stream *s, int step, unsigned rank)
{
	int rc = leat_rank_end_add(s, step, rank);

	if (rc > 0)
		leat_sequences_settle(s, step);
	return rc < 0 ? rc : 0;
}

/* ---- launches and the end ---- */

static bool is_had(const struct leat_sequence *q, const struct leat_entry *e)
{
	const struct leat_cursor *p;

	LL_FOREACH(q->cursors, p)
	{
		if (p->at == e->name && !p->taken)
			return true;
	}
	return false;
}

void leat_sequences_step_over(struct leat_stream *s, int step)
{
	struct leat_sequence *q, *next;
	struct leat_entry *e, *next_entry;

	HASH_ITER(hh, s->sequences, q, next)
	{
		if (q->key.step != step)
			continue;
		DL_FOREACH_SAFE(q->entries, e, next_entry)
		{
			if (!is_had(q, e))
				release(s, e);
		}
	}
}

/* Nobody comes late to what the launches before were for. */
static void begin(struct leat_stream *s, struct leat_sequence *q)
{
	struct leat_name_state *last = q->gone;
	struct leat_entry *e, *next;
	struct leat_cursor *p;

	DL_FOREACH_SAFE(q->entries, e, next)
	{
		if (e->number > q->taken)
			break;
		last = e->name;
		release(s, e);
	}
	q->first = q->taken + 1;
	LL_FOREACH(q->cursors, p)
	{
		if (p->number > q->taken || (p->number == q->taken && p->taken))
			continue;
		leat_cursor_move(s, p, last, q->taken);
		p->taken = true;
	}
}

void leat_sequences_launch(struct leat_stream *s, int step)
{
	struct leat_sequence *q, *next;

	HASH_ITER(hh, s->sequences, q, next)
	{
		if (q->key.step == step)
			begin(s, q);
	}
}
