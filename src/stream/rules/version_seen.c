/* Which name a call is about: what step sees which version of a file. */
#include "stream/flow/links.h"
#include "stream/flow/sequence.h"
#include "stream/flow/versions.h"
#include "stream/rules/launch.h"
#include "stream/state/lifecycle.h"
#include "stream/state/names.h"
#include "stream/state/ports.h"
#include "stream/state/steps.h"

#include "model/version.h"
#include "model/view.h"

#include <stdio.h>
#include <string.h>

static struct leat_flow_link *link_of(const struct leat_stream *s, int step,
				      const struct leat_inport *in, size_t source)
{
	struct leat_flow_link *link;

	LL_FOREACH(s->links, link)
	{
		if (link->step == step && link->in == in && link->source == source)
			return link;
	}
	return NULL;
}

/* What a step is given as the next of a name, and what it is to wait for if there is none. */
struct choice {
	const struct leat_flow_link *link;
	bool ready;   /* it is due, complete or growing */
	bool over;    /* nothing more will come */
	bool skipped; /* this name is there, but not for the step */
	char name[PATH_MAX];
};

static const struct leat_delivery *due_as(const struct leat_flow_link *link, const char *base)
{
	const struct leat_delivery *d, *best = NULL;
	uint64_t number;

	DL_FOREACH(link->due, d)
	{
		if (strcmp(leat_version_base(d->name->text, &number), base))
			continue;
		/* Under `latest` what is older is never given after it. */
		if (d->given)
			best = NULL;
		else if (link->in->flow != LEAT_FLOW_LATEST)
			return d;
		else if (leat_state_is_final(d->name->state))
			best = d;
	}
	return best;
}

/* The number of the version to wait for, after `latest`. */
static uint64_t next_number(const struct leat_stream *s, const struct leat_flow_link *link,
			    const char *base, uint64_t latest)
{
	const struct leat_name_state *n;
	char name[PATH_MAX];

	if (link->in->flow == LEAT_FLOW_SOME && !leat_pattern_is_wild(leat_link_source(link)->made))
		return (link->begun / link->in->every + 1) * link->in->every;
	if (link->in->flow != LEAT_FLOW_LATEST || !latest)
		return latest + 1;
	n = leat_version_put(name, base, latest) ? leat_name_find(s, name) : NULL;
	return n && !leat_state_is_final(n->state) ? latest : latest + 1;
}

/* What source `source` gives next under the name `seen`. False: it never gives that name. */
static bool choose_from(const struct leat_stream *s, int step, const struct leat_inport *in,
			size_t source, const char *seen, const struct leat_sequence *q,
			struct choice *out)
{
	const struct leat_flow_link *link = link_of(s, step, in, source);
	const struct leat_step_state *maker = &s->steps[in->sources[source].step];
	const struct leat_delivery *d;
	const struct leat_series *series;
	char base[PATH_MAX];
	bool had;

	*out = (struct choice){.link = link};
	if (!link || !leat_view_made(s->wf, &s->wf->steps[step], in, source, seen, base))
		return false;
	d = due_as(link, base);
	if (d) {
		out->ready = true;
		return snprintf(out->name, PATH_MAX, "%s", d->name->text) < PATH_MAX;
	}
	series = leat_series_find(s, base);
	had = q && q->given;
	out->skipped = series && !had && leat_pattern_is_wild(in->sources[source].made);
	out->over = leat_step_is_over(maker) && !maker->failures;
	return leat_version_put(out->name, base,
				next_number(s, link, base, series ? series->latest : 0));
}

static bool is_better(const struct choice *a, const struct choice *b)
{
	if (a->ready != b->ready)
		return a->ready;
	return !a->over && b->over;
}

/* From the source whose turn it is, or the next that still gives something; under `latest` from
 * the first that has something. */
static enum leat_version_answer choose(const struct leat_stream *s, int step,
				       const struct leat_inport *in, const char *seen,
				       const struct leat_sequence *q, struct choice *best)
{
	size_t turn = q ? q->turn : 0;
	bool found = false;
	struct choice *one = leat_heap_alloc(1, sizeof(*one));

	if (!one)
		return LEAT_VERSION_NO_MEMORY;
	best->ready = best->over = best->skipped = false; /* gcc cannot see that one is found */
	for (size_t i = 0; i < in->n_sources; i++) {
		if (!choose_from(s, step, in, (turn + i) % in->n_sources, seen, q, one))
			continue;
		if (!found || is_better(one, best))
			*best = *one;
		found = true;
		if (in->flow != LEAT_FLOW_LATEST && (best->ready || !best->over))
			break;
	}
	leat_heap_free(one);
	return found ? LEAT_VERSION_NAMED : LEAT_VERSION_NONE;
}

/* Has it been dealt with, so that the next call on it is about the one after? What only other
 * ranks still need is not shown any longer than what nobody needs. */
static bool is_done(const struct leat_stream *s, const struct leat_cursor *p, enum leat_call call)
{
	const struct leat_series *series;
	uint64_t number;

	if (!p->at || !p->taken || call == LEAT_CALL_OPEN || p->at->dropped)
		return !p->at || p->taken;
	if (s->wf->steps[p->sequence->key.step].nprocs <= 1)
		return false;
	series = leat_series_find(s, leat_version_base(p->at->text, &number));
	return series && number < series->latest;
}

/* The version that a rank has, or that was given to others as the next. *n is NULL if there is
 * none. False: it has gone. */
static bool given(const struct leat_stream *s, const struct leat_sequence *q, unsigned rank,
		  enum leat_call call, const struct leat_name_state **n)
{
	const struct leat_cursor *p = q ? leat_cursor_find(q, rank) : NULL;
	struct leat_entry *e = NULL;
	bool kept = true;

	*n = NULL;
	if (p && !is_done(s, p, call)) {
		/* It was taken for ended, and nobody has waited for it. */
		kept = p->taken || leat_sequence_entry(q, p->at);
		*n = p->at;
		return kept || call != LEAT_CALL_OPEN;
	}
	if (q)
		kept = leat_sequence_next(q, p, &e);
	/* A look does no harm: to open it is what is refused. */
	if (!kept && call != LEAT_CALL_OPEN) {
		e = q->entries;
		kept = true;
	}
	if (e)
		*n = e->name;
	return kept;
}

static enum leat_version_answer named(const char *name, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX ? LEAT_VERSION_NAMED
							      : LEAT_VERSION_NAME_TOO_LONG;
}

static enum leat_version_answer numbered(const char *base, uint64_t number, char out[PATH_MAX])
{
	return leat_version_put(out, base, number) ? LEAT_VERSION_NAMED
						   : LEAT_VERSION_NAME_TOO_LONG;
}

static enum leat_version_answer of_sequence(struct leat_stream *s, int step, unsigned rank,
					    enum leat_call call, const struct leat_inport *in,
					    const char *seen, char out[PATH_MAX])
{
	const struct leat_sequence *q = leat_sequence_find(s, step, seen);
	const struct leat_name_state *n;
	enum leat_version_answer answer;
	struct choice choice;

	if (!given(s, q, leat_cursor_rank(s, step, rank), call, &n))
		return LEAT_VERSION_GONE;
	if (n)
		return named(n->text, out);
	answer = choose(s, step, in, seen, q, &choice);
	if (answer != LEAT_VERSION_NAMED)
		return answer;
	if (!choice.ready && choice.skipped)
		return LEAT_VERSION_NONE;
	memcpy(out, choice.name, PATH_MAX);
	return LEAT_VERSION_NAMED;
}

static bool is_prepared(const struct leat_stream *s, const char *base, uint64_t number)
{
	const struct leat_name_state *n;
	char name[PATH_MAX];

	n = leat_version_put(name, base, number) ? leat_name_find(s, name) : NULL;
	return n && leat_version_is_prepared(s, n);
}

/* Whoever is no consumer sees the newest; its producer, once that is complete, makes the next. */
static enum leat_version_answer of_series(const struct leat_stream *s, int step,
					  enum leat_call call, const char *path, char out[PATH_MAX])
{
	const struct leat_series *series = leat_series_find(s, path);
	uint64_t number = series ? series->latest : 1;
	const struct leat_name_state *n;

	if (!series)
		return named(path, out);
	if (!leat_version_put(out, path, number))
		return LEAT_VERSION_NAME_TOO_LONG;
	n = leat_name_find(s, out);
	if (n && leat_name_produced_by(n, step) &&
	    (series->removed || is_prepared(s, path, number + 1) ||
	     (call == LEAT_CALL_WRITE && n->state == LEAT_FILE_COMMITTED)))
		return numbered(path, number + 1, out);
	return LEAT_VERSION_NAMED;
}

enum leat_version_answer leat_stream_version(struct leat_stream *s, int step, unsigned rank,
					     enum leat_call call, const char *path,
					     char out[PATH_MAX])
{
	const struct leat_step *model = step >= 0 && step < s->n_steps ? &s->wf->steps[step] : NULL;
	const struct leat_inport *in = model ? leat_view_find(model, path) : NULL;

	if (in && leat_inport_has_versions(in))
		return of_sequence(s, step, rank, call, in, path, out);
	if (in && leat_view_made(s->wf, model, in, 0, path, out))
		return LEAT_VERSION_NAMED;
	return of_series(s, step, call, path, out);
}

/* ---- listings ---- */

/* What others than its consumers see by its own name. */
static int each_newest(struct leat_stream *s, int step,
		       int (*fn)(void *ctx, const char *seen, const char *made), void *ctx)
{
	const struct leat_step *model = step >= 0 ? &s->wf->steps[step] : NULL;
	struct leat_series *series, *next;
	char name[PATH_MAX];
	int rc = 0;

	HASH_ITER(hh, s->series, series, next)
	{
		if (rc || series->removed || series->latest < 2 ||
		    (model && leat_view_find(model, series->base)))
			continue;
		if (leat_version_put(name, series->base, series->latest))
			rc = fn(ctx, series->base, name);
	}
	return rc;
}

/* What a rank may open now, of what the step was given. */
static const struct leat_name_state *shown(const struct leat_stream *s,
					   const struct leat_sequence *q, unsigned rank)
{
	const struct leat_name_state *n;

	return given(s, q, rank, LEAT_CALL_OPEN, &n) ? n : NULL;
}

/* What has not been given to any rank yet, and is the next for this one. */
static int each_due(struct leat_stream *s, const struct leat_flow_link *link, unsigned rank,
		    int (*fn)(void *ctx, const char *seen, const char *made), void *ctx)
{
	const struct leat_step *model = &s->wf->steps[link->step];
	struct leat_delivery *d;
	char seen[PATH_MAX];
	uint64_t number;
	int rc = 0;

	DL_FOREACH(link->due, d)
	{
		if (!rc && !d->given && d->name->content && leat_link_is_open(s, link, d) &&
		    leat_view_seen(s->wf, model, link->in, link->source,
				   leat_version_base(d->name->text, &number), seen) &&
		    !shown(s, leat_sequence_find(s, link->step, seen), rank))
			rc = fn(ctx, seen, d->name->text);
	}
	return rc;
}

int leat_stream_each_version(struct leat_stream *s, int step, unsigned rank,
			     int (*fn)(void *ctx, const char *seen, const char *made), void *ctx)
{
	unsigned rank_index = step >= 0 ? leat_cursor_rank(s, step, rank) : 0;
	const struct leat_name_state *n;
	struct leat_flow_link *link;
	struct leat_sequence *q, *next;
	int rc = each_newest(s, step, fn, ctx);

	LL_FOREACH(s->links, link)
	{
		if (!rc && link->step == step)
			rc = each_due(s, link, rank_index, fn, ctx);
	}
	HASH_ITER(hh, s->sequences, q, next)
	{
		n = !rc && q->key.step == step ? shown(s, q, rank_index) : NULL;
		if (n)
			rc = fn(ctx, q->key.seen->text, n->text);
	}
	return rc;
}

const char *leat_stream_missed(const struct leat_stream *s, int step, const char *path)
{
	const struct leat_sequence *q = leat_sequence_find(s, step, path);

	return q && q->gone ? q->gone->text : NULL;
}
