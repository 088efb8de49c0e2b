/* Which steps used a name, and whether that can have gone as in a batch: two of them use it one
 * after the other there, and here perhaps at the same time. Source: docs/semantics.md, "Conflicts".
 */
#include "stream/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was used, by all its names. Who changed it last comes, if nothing was told, after all that
 * used it before, and so does whoever comes after that: these are forgotten. */
struct leat_uses {
	unsigned names;
	enum leat_use last; /* how it was changed */
	bool told;          /* that there is a conflict */
	bool warned;        /* that lines may come in another order */
	uint64_t sets[];    /* one for each enum who */
};

/* Steps, by what they did to it; all but the writers since the last of those. */
enum who { WRITERS, APPENDERS, READERS, SEEKERS, N_SETS };

/* A name that was used. */
struct leat_used {
	char *text; /* owned */
	struct leat_uses *uses;
	bool moved; /* a directory was moved from or to here */
	UT_hash_handle hh;
};

/* How one step stands to another. */
enum order { SAME, BEFORE, AFTER, LOOP, NONE };

static const char *const words[LEAT_USE_KINDS] = {
	[LEAT_USE_READ] = "read",
	[LEAT_USE_SEEK] = "looked for",
	[LEAT_USE_MKDIR] = "made",
	[LEAT_USE_APPEND] = "appended to",
	[LEAT_USE_WRITE] = "opened for writing",
	[LEAT_USE_CREATE] = "created",
	[LEAT_USE_TRUNCATE] = "truncated",
	[LEAT_USE_REMOVE] = "removed",
	[LEAT_USE_MOVE] = "renamed",
	[LEAT_USE_REPLACE] = "made by a rename",
	[LEAT_USE_LINK] = "made as a link",
};

static bool is_change(enum leat_use use)
{
	return use >= LEAT_USE_APPEND;
}

static uint64_t *set_of(const struct leat_stream *s, struct leat_uses *u, enum who who)
{
	return u->sets + who * leat_steps_words(s->m);
}

static void set_add(uint64_t *set, int step)
{
	set[step / 64] |= UINT64_C(1) << (step % 64);
}

/* Is there nobody in it but `step`? */
static bool set_is_within(const struct leat_stream *s, const uint64_t *set, int step)
{
	int first = leat_steps_next(set, 0, s->n_steps);

	return first == s->n_steps ||
	       (first == step && leat_steps_next(set, step + 1, s->n_steps) == s->n_steps);
}

static enum order order_of(const struct leat_stream *s, int a, int b)
{
	bool before, after;

	if (a == b)
		return SAME;
	before = leat_is_upstream(s->m, a, b);
	after = leat_is_upstream(s->m, b, a);
	if (before && after)
		return LOOP;
	return before ? BEFORE : after ? AFTER : NONE;
}

/* The first step of `set` that used the name before `step` did and would not have in a batch, or
 * -1. */
static int find_early(const struct leat_stream *s, const uint64_t *set, int step)
{
	for (int o = leat_steps_next(set, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(set, o + 1, s->n_steps)) {
		enum order order = order_of(s, o, step);

		if (order == AFTER || order == NONE)
			return o;
	}
	return -1;
}

/* ---- names ---- */

static struct leat_used *find(const struct leat_stream *s, const char *text, size_t length)
{
	struct leat_used *n;

	HASH_FIND(hh, s->used, text, length, n);
	return n;
}

static struct leat_uses *uses_new(struct leat_stream *s)
{
	return leat_heap_alloc(1, sizeof(struct leat_uses) +
					  N_SETS * leat_steps_words(s->m) * sizeof(uint64_t));
}

static void uses_unref(struct leat_uses *u)
{
	if (!--u->names)
		leat_heap_free(u);
}

/* `uses` NULL: new ones. NULL when out of memory. */
static struct leat_used *get(struct leat_stream *s, const char *text, struct leat_uses *uses)
{
	struct leat_used *n = find(s, text, strlen(text));

	if (n) {
		if (uses && uses != n->uses) {
			uses->names++;
			uses_unref(n->uses);
			n->uses = uses;
		}
		return n;
	}
	n = leat_heap_alloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->text = leat_heap_copy(text);
	n->uses = uses ? uses : uses_new(s);
	if (n->text && n->uses) {
		HASH_ADD_KEYPTR(hh, s->used, n->text, strlen(n->text), n);
		n->uses->names++;
		if (n->hh.tbl)
			return n;
		uses_unref(n->uses);
	} else if (!uses) {
		leat_heap_free(n->uses);
	}
	leat_heap_free(n->text);
	leat_heap_free(n);
	return NULL;
}

void leat_uses_free(struct leat_stream *s)
{
	struct leat_used *n, *next;

	HASH_ITER(hh, s->used, n, next)
	{
		HASH_DEL(s->used, n);
		uses_unref(n->uses);
		leat_heap_free(n->text);
		leat_heap_free(n);
	}
}

/* Python's compiled modules are replaced whole, and judged by their sources: whoever makes them,
 * they are the same. */
static bool is_cache(const char *name)
{
	const char *at = strstr(name, "__pycache__");

	return at && (at == name || at[-1] == '/');
}

/* ---- telling ---- */

struct clash {
	const char *name;
	int step, other;
	enum leat_use use, before;
};

static void put_conflict(const struct leat_stream *s, const struct clash *k, FILE *out)
{
	const char *step = s->wf->steps[k->step].name, *other = s->wf->steps[k->other].name;
	bool inverted = order_of(s, k->other, k->step) == AFTER;

	fprintf(out, "%s was %s by step %s and then %s by step %s, ", k->name, words[k->before],
		other, words[k->use], step);
	if (inverted)
		fprintf(out, "which in a batch ends before step %s begins", other);
	else
		fputs("which has no order with it: in a batch they run one after the other", out);
	fprintf(out,
		"; give each a file of its own (another name, or a directory for each step), or "
		"declare it as an output of %s and an input of %s",
		inverted ? step : other, inverted ? other : step);
}

static void put_appended(const struct leat_stream *s, const struct clash *k, FILE *out)
{
	fprintf(out,
		"%s is appended to by steps %s and %s, which run at the same time: its lines may "
		"come in another order than in a batch",
		k->name, s->wf->steps[k->other].name, s->wf->steps[k->step].name);
}

static void tell(struct leat_stream *s, const struct clash *k, bool harmless)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = s->ops.conflict ? open_memstream(&text, &size) : NULL;

	if (!s->ops.conflict)
		return;
	if (out) {
		(harmless ? put_appended : put_conflict)(s, k, out);
		if (fclose(out) != 0) {
			free(text);
			text = NULL;
		}
	}
	s->ops.conflict(s->ctx, k->name, k->step, k->other, harmless,
			text ? text : "it is used by two steps without an order");
	free(text);
}

/* ---- names that no step declares as its output ---- */

/* Did a step of that set use it too early? Then it is told. */
static bool clashes(struct leat_stream *s, struct leat_uses *u, enum who who, struct clash *k)
{
	const enum leat_use did[N_SETS] = {u->last, LEAT_USE_APPEND, LEAT_USE_READ, LEAT_USE_SEEK};

	k->other = find_early(s, set_of(s, u, who), k->step);
	if (k->other < 0)
		return false;
	k->before = did[who];
	u->told = true;
	tell(s, k, false);
	return true;
}

/* Bytes of both are there, in some order. */
static void note_appender(struct leat_stream *s, struct leat_uses *u, struct clash *k)
{
	k->other = find_early(s, set_of(s, u, APPENDERS), k->step);
	if (k->other >= 0 && !u->warned) {
		u->warned = true;
		tell(s, k, true);
	}
	set_add(set_of(s, u, APPENDERS), k->step);
}

static void note_writer(struct leat_stream *s, struct leat_uses *u, struct clash *k)
{
	memset(u->sets, 0, N_SETS * leat_steps_words(s->m) * sizeof(*u->sets));
	set_add(set_of(s, u, WRITERS), k->step);
	u->last = k->use;
}

static void note(struct leat_stream *s, struct leat_uses *u, struct clash *k)
{
	bool changes = is_change(k->use), appends = k->use == LEAT_USE_APPEND;

	if (u->told || clashes(s, u, WRITERS, k) || (!appends && clashes(s, u, APPENDERS, k)) ||
	    (changes && (clashes(s, u, READERS, k) || clashes(s, u, SEEKERS, k))))
		return;
	if (appends)
		note_appender(s, u, k);
	else if (changes)
		note_writer(s, u, k);
	else
		set_add(set_of(s, u, k->use == LEAT_USE_SEEK ? SEEKERS : READERS), k->step);
}

/* The nearest directory above that was moved, or NULL. */
static struct leat_used *find_moved(const struct leat_stream *s, const char *name)
{
	size_t length = strlen(name);

	while (s->moved && length) {
		struct leat_used *n;

		while (--length && name[length] != '/')
			;
		n = length ? find(s, name, length) : NULL;
		if (n && n->moved)
			return n;
	}
	return NULL;
}

static bool is_below(const char *name, const char *dir)
{
	size_t length = strlen(dir);

	return strncmp(name, dir, length) == 0 && name[length] == '/';
}

/* What is below a directory that moves, or was looked for where it comes to, is changed. */
static int note_moved(struct leat_stream *s, const struct leat_event *ev)
{
	struct leat_used *n, *next;

	HASH_ITER(hh, s->used, n, next)
	{
		if (is_below(n->text, ev->name)) {
			struct clash k = {n->text, ev->step, -1, (enum leat_use)ev->code, 0};

			note(s, n->uses, &k);
		}
	}
	n = find(s, ev->name, strlen(ev->name));
	n->moved = s->moved = true;
	return 0;
}

static int use_undeclared(struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_used *source = ev->to ? find(s, ev->to, strlen(ev->to)) : NULL;
	struct clash k = {ev->name, ev->step, -1, (enum leat_use)ev->code, 0};
	struct leat_used *n = get(s, ev->name, NULL), *above;

	if (!n)
		return -ENOMEM;
	above = find_moved(s, ev->name);
	if (above && !above->uses->told)
		clashes(s, above->uses, WRITERS, &k);
	note(s, n->uses, &k);
	if (ev->flags & LEAT_EVF_DIR && (k.use == LEAT_USE_MOVE || k.use == LEAT_USE_REPLACE))
		return note_moved(s, ev);
	/* From now on it is the same file by both names. */
	if (source && !get(s, ev->name, source->uses))
		return -ENOMEM;
	return 0;
}

/* ---- names that are declared outputs ---- */

static bool has_others(const struct leat_stream *s, const uint64_t *set, int step)
{
	return !set_is_within(s, set, step);
}

static bool destroys(enum leat_use use)
{
	return use == LEAT_USE_TRUNCATE || use >= LEAT_USE_REMOVE;
}

static bool is_made_by(const struct leat_name_state *n, int step)
{
	return n && n->content &&
	       (n->content->creator == step || leat_content_find_part(n->content, step));
}

/* Several steps may make one file together, but not each its own by the same name. */
static void check_co_producer(struct leat_stream *s, const struct leat_name_state *n,
			      const struct leat_file_rule *rule, struct clash *k)
{
	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps)) {
		enum order order = order_of(s, o, k->step);

		if ((order != NONE && order != AFTER) || !is_made_by(n, o))
			continue;
		k->other = o;
		k->before = LEAT_USE_WRITE;
		tell(s, k, false);
		return;
	}
}

/* Who did not say that it reads the file waits for it, as if it came after its producer. So it is
 * in the batch, unless it runs before that there. Who is upstream of it sees it as it is. */
static void check_stranger(struct leat_stream *s, const struct leat_file_rule *rule,
			   struct clash *k)
{
	for (int o = leat_steps_next(rule->producers, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(rule->producers, o + 1, s->n_steps)) {
		if (order_of(s, o, k->step) != NONE || leat_runs_before(s->m, o, k->step))
			continue;
		k->other = o;
		k->before = LEAT_USE_CREATE;
		tell(s, k, false);
		return;
	}
}

/* Nothing is to be told of what its declaration allows. */
static bool is_allowed(const struct leat_stream *s, const struct leat_file_rule *rule, int step,
		       enum leat_use use)
{
	if (leat_steps_has(rule->producers, step))
		return !destroys(use) || !has_others(s, rule->producers, step);
	return leat_steps_has(rule->consumers, step);
}

static int use_declared(struct leat_stream *s, const struct leat_event *ev,
			const struct leat_file_rule *rule)
{
	const struct leat_name_state *n = leat_name_find(s, ev->name);
	struct clash k = {ev->name, ev->step, -1, (enum leat_use)ev->code, 0};

	if (is_allowed(s, rule, ev->step, k.use) || ev->flags & LEAT_EVF_DIR ||
	    (n && n->versioned) || leat_stream_has_versions(s, ev->name))
		return 0;
	if (leat_steps_has(rule->producers, ev->step))
		check_co_producer(s, n, rule, &k);
	else
		check_stranger(s, rule, &k);
	return 0;
}

/* ---- for others ---- */

int leat_fact_use(struct leat_stream *s, const struct leat_event *ev)
{
	const struct leat_file_rule *rule = leat_match(s->m, ev->name);

	if (!rule)
		return -ENOMEM;
	if (!ev->code || ev->code >= LEAT_USE_KINDS)
		return -EINVAL;
	if (rule->excluded || is_cache(ev->name))
		return 0;
	return leat_rule_governs(s, rule) ? use_declared(s, ev, rule) : use_undeclared(s, ev);
}

static bool is_news(const struct leat_stream *s, struct leat_uses *u, int step, enum leat_use use)
{
	bool had[N_SETS], alone[N_SETS];

	for (enum who who = 0; who < N_SETS; who++) {
		had[who] = leat_steps_has(set_of(s, u, who), step);
		alone[who] = set_is_within(s, set_of(s, u, who), step);
	}
	if (u->told)
		return false;
	if (use == LEAT_USE_APPEND)
		return !had[APPENDERS] || !(u->warned || alone[APPENDERS]) || !alone[READERS] ||
		       !alone[SEEKERS];
	if (is_change(use))
		return !had[WRITERS] || !alone[WRITERS] || !alone[APPENDERS] || !alone[READERS] ||
		       !alone[SEEKERS];
	return !alone[APPENDERS] ||
	       !(had[use == LEAT_USE_SEEK ? SEEKERS : READERS] || (had[WRITERS] && alone[WRITERS]));
}

bool leat_stream_use_is_news(struct leat_stream *s, int step, const char *name, enum leat_use use)
{
	const struct leat_file_rule *rule = leat_match(s->m, name);
	const struct leat_used *n;

	if (step < 0 || !rule || rule->excluded)
		return false;
	if (rule->declared && leat_rule_governs(s, rule))
		return !is_allowed(s, rule, step, use);
	n = find(s, name, strlen(name));
	return !n || s->moved || is_news(s, n->uses, step, use);
}

/* The first of `set` that runs before `step` and has not ended, or, if it `made` what is there, has
 * failed; -1: none. */
static int find_holder(const struct leat_stream *s, const uint64_t *set, int step, bool made)
{
	for (int o = leat_steps_next(set, 0, s->n_steps); o < s->n_steps;
	     o = leat_steps_next(set, o + 1, s->n_steps)) {
		const struct leat_step_state *st = &s->steps[o];

		if (order_of(s, o, step) == BEFORE &&
		    (!leat_step_is_over(st) || (made && st->failures)))
			return o;
	}
	return -1;
}

int leat_stream_holder(const struct leat_stream *s, int step, const char *name, bool writes)
{
	const struct leat_used *n = step < 0 ? NULL : find(s, name, strlen(name));
	int holder = n ? find_holder(s, set_of(s, n->uses, WRITERS), step, true) : -1;

	if (n && holder < 0)
		holder = find_holder(s, set_of(s, n->uses, APPENDERS), step, true);
	if (n && writes && holder < 0)
		holder = find_holder(s, set_of(s, n->uses, READERS), step, false);
	return holder;
}
