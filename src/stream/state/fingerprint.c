/* The state of a stream as a number: equal for two streams that will answer everything alike. */
#include "stream/state/shown.h"

/* Words mixed one after another, each by a multiplication to 128 bits (as in wyhash). */
struct digest {
	uint64_t hash;
};

static void put(struct digest *d, uint64_t word)
{
	__extension__ unsigned __int128 product =
		(unsigned __int128)(d->hash ^ UINT64_C(0xa0761d6478bd642f)) *
		(word ^ UINT64_C(0xe7037ed1a0b428db));

	d->hash = (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t finish(struct digest *d)
{
	put(d, UINT64_C(0x8ebc6af09c88c6e3));
	return d->hash;
}

static uint64_t hash_name(const struct leat_name_state *n)
{
	return n ? (uint64_t)n->hh.keylen << 32 | n->hh.hashv : 0;
}

/* Of things that are kept in no particular order the hashes are added up. */

static uint64_t hash_part(const struct leat_part *part)
{
	struct digest d = {.hash = 0};

	put(&d, (uint64_t)part->step);
	put(&d, part->writers);
	put(&d, part->pending);
	put(&d, part->closes);
	put(&d, part->data_closes);
	put(&d, part->published);
	return finish(&d);
}

static uint64_t hash_pending(const struct leat_pending *p)
{
	struct digest d = {.hash = 0};

	put(&d, (uint64_t)p->process->key.node);
	put(&d, (uint64_t)p->process->key.pid);
	put(&d, (uint64_t)p->step);
	return finish(&d);
}

static uint64_t hash_names(const struct leat_content *c)
{
	const struct leat_name_state *n;
	uint64_t sum = 0;

	DL_FOREACH2(c->names, n, same_next)
	{
		sum += hash_name(n);
	}
	return sum;
}

static uint64_t hash_content(const struct leat_content *c)
{
	struct digest d = {.hash = 0};
	const struct leat_pending *p;
	uint64_t sum = 0;

	put(&d, c->is_dir | c->old << 1 | c->broken << 2 | c->held << 3 | c->linked << 4 |
			c->left_over << 5);
	put(&d, (uint64_t)c->creator);
	put(&d, c->writers);
	put(&d, c->holds);
	put(&d, c->size_bytes);
	for (size_t i = 0; i < c->extents.n; i++) {
		put(&d, c->extents.v[i].begin);
		put(&d, c->extents.v[i].end);
	}
	for (size_t i = 0; i < c->n_parts; i++)
		sum += hash_part(&c->parts[i]);
	put(&d, sum);
	sum = 0;
	DL_FOREACH(c->pending, p)
	{
		sum += hash_pending(p);
	}
	put(&d, sum);
	put(&d, hash_names(c));
	return finish(&d);
}

static uint64_t hash_name_state(const struct leat_name_state *n)
{
	struct digest d = {.hash = 0};

	put(&d, hash_name(n));
	put(&d, n->state);
	put(&d, n->amender);
	put(&d, n->counted | n->busy << 1 | n->shown << 2 | n->looked << 3);
	put(&d, n->seen);
	put(&d, n->committed_below);
	put(&d, n->writers_below);
	put(&d, n->n_shown);
	put(&d, leat_shown_digest(n));
	if (n->content)
		put(&d, hash_content(n->content));
	return finish(&d);
}

static uint64_t hash_ofd(const struct leat_ofd *o)
{
	struct digest d = {.hash = 0};

	put(&d, o->id);
	put(&d, (uint64_t)o->step);
	put(&d, (uint64_t)o->node);
	put(&d, (uint64_t)o->pid);
	put(&d, o->late | o->exited << 1 | o->intact << 2 | o->undid << 3 | o->killed << 4);
	/* What has a name is told apart by it. */
	put(&d, o->content->names ? hash_names(o->content) : hash_content(o->content));
	return finish(&d);
}

static uint64_t hash_waiter(const struct leat_waiter *w)
{
	struct digest d = {.hash = 0};

	put(&d, w->id);
	put(&d, (uint64_t)w->question.step);
	put(&d, w->question.call);
	put(&d, w->question.offset);
	put(&d, w->question.length);
	put(&d, hash_name(w->on));
	put(&d, hash_name(w->blocker.name));
	put(&d, (uint64_t)w->blocker.step);
	put(&d, w->woken);
	return finish(&d);
}

static uint64_t hash_step(const struct leat_step_state *st)
{
	struct digest d = {.hash = 0};

	put(&d, st->expected);
	put(&d, st->started);
	put(&d, st->ended);
	put(&d, st->failures);
	put(&d, st->writers);
	put(&d, st->closed);
	put(&d, st->staged);
	return finish(&d);
}

uint64_t leat_stream_fingerprint(const struct leat_stream *s)
{
	struct digest d = {.hash = 0};
	const struct leat_name_state *n;
	const struct leat_waiter *w;
	const struct leat_ofd *o;
	uint64_t names = 0, waiters = 0, ofds = 0;

	for (n = s->names; n; n = n->hh.next)
		names += hash_name_state(n);
	for (w = s->waiters; w; w = w->hh.next)
		waiters += hash_waiter(w);
	for (o = s->ofds; o; o = o->hh.next)
		ofds += hash_ofd(o);
	put(&d, names);
	put(&d, waiters);
	put(&d, ofds);
	for (int step = 0; step < s->n_steps; step++)
		put(&d, hash_step(&s->steps[step]));
	return finish(&d);
}
