#include "model/matcher.h"
#include "base/private.h"
#include "base/str.h"
#include "model/version.h"

#include <stdlib.h>
#include <string.h>

/* So many paths are remembered with their rules: a path is asked for several times in a row, and
 * there may be millions of them. */
#define MAX_CACHED 8192u

/* What the entries that concern one path say together. */
struct verdict {
	struct leat_matcher *m;
	uint64_t *producers, *consumers;
	bool excluded, permanent;
	struct leat_specificity storage_spec;
	bool has_storage;
	enum leat_storage storage;
};

size_t leat_steps_words(const struct leat_matcher *m)
{
	return m->words;
}

static struct leat_specificity hit_specificity(const struct leat_index_entry *e, bool below)
{
	return below ? leat_pattern_specificity_below(e->spec) : e->spec;
}

static void note_storage(struct verdict *v, const struct leat_index_entry *e, bool below)
{
	struct leat_specificity spec = hit_specificity(e, below);

	if (v->has_storage && leat_specificity_compare(&spec, &v->storage_spec) <= 0)
		return;
	v->has_storage = true;
	v->storage_spec = spec;
	v->storage = e->kind == LEAT_ENTRY_FS ? LEAT_STORAGE_FS : LEAT_STORAGE_MEMORY;
}

static int note_hit(void *ctx, const struct leat_index_entry *e, bool below)
{
	struct verdict *v = ctx;

	switch (e->kind) {
	case LEAT_ENTRY_INPUT:
		leat_steps_add(v->consumers, e->step);
		break;
	case LEAT_ENTRY_OUTPUT:
	case LEAT_ENTRY_RULE:
		v->m->hits[v->m->n_hits++] = (struct leat_hit){e, below};
		break;
	case LEAT_ENTRY_PERMANENT:
		v->permanent = true;
		break;
	case LEAT_ENTRY_EXCLUDE:
		v->excluded = true;
		break;
	case LEAT_ENTRY_MEMORY:
	case LEAT_ENTRY_FS:
		note_storage(v, e, below);
		break;
	}
	return 0;
}

static void add_producers(struct verdict *v, const struct leat_index_entry *e)
{
	if (e->produces)
		leat_steps_add(v->producers, e->step);
	for (size_t w = 0; e->makers && w < v->m->words; w++)
		v->producers[w] |= e->makers[w];
}

/* An output entry (or `dirname` rule) that matches the path makes a producer; one that only names a
 * directory above does so unless some output entry is more specific. */
static void find_producers(struct verdict *v)
{
	const struct leat_matcher *m = v->m;
	struct leat_specificity best = {false, 0, 0};

	for (size_t i = 0; i < m->n_hits; i++) {
		struct leat_specificity spec = hit_specificity(m->hits[i].entry, m->hits[i].below);

		if ((m->hits[i].entry->produces || m->hits[i].entry->makers) &&
		    leat_specificity_compare(&spec, &best) > 0)
			best = spec;
	}
	for (size_t i = 0; i < m->n_hits; i++) {
		const struct leat_hit *hit = &m->hits[i];
		struct leat_specificity spec = hit_specificity(hit->entry, hit->below);

		if (!hit->below || leat_specificity_compare(&spec, &best) >= 0)
			add_producers(v, hit->entry);
	}
}

/* True if rule `a` governs the path in hand rather than rule `b`. */
static bool rule_wins(const struct leat_hit *a, const struct leat_hit *b)
{
	struct leat_specificity sa, sb;
	int order;

	if (a->below != b->below)
		return b->below;
	sa = hit_specificity(a->entry, a->below);
	sb = hit_specificity(b->entry, b->below);
	order = leat_specificity_compare(&sa, &sb);
	if (order != 0)
		return order > 0;
	/* The same name as file and as directory: whoever says `dirname` knows. */
	return a->entry->rule->is_dir && !b->entry->rule->is_dir;
}

/* A rule speaks of what its step writes or reads. */
static bool is_concerned(const struct verdict *v, const struct leat_index_entry *e)
{
	return leat_steps_has(v->producers, e->step) || leat_steps_has(v->consumers, e->step) ||
	       e->consumes;
}

static const struct leat_hit *find_rule(const struct verdict *v)
{
	const struct leat_hit *best = NULL;

	for (size_t i = 0; i < v->m->n_hits; i++) {
		const struct leat_hit *hit = &v->m->hits[i];

		if (hit->entry->kind == LEAT_ENTRY_RULE && is_concerned(v, hit->entry) &&
		    (!best || rule_wins(hit, best)))
			best = hit;
	}
	return best;
}

/* A `dirname` rule speaks of the directory and of the files in it: by number of
 * files the directory is complete, while each file commits on close. */
static void apply_rule(struct leat_file_rule *out, const struct leat_hit *hit)
{
	const struct leat_rule *rule = hit->entry->rule;
	bool by_number = rule->commit == LEAT_COMMIT_N_FILES;

	out->rule = rule;
	out->fire = rule->fire;
	out->commit = by_number ? LEAT_COMMIT_ON_CLOSE : rule->commit;
	out->count = by_number ? 0 : rule->count;
	out->deps = rule->commit == LEAT_COMMIT_ON_FILE ? &rule->deps : NULL;
	if (!rule->is_dir || hit->below)
		return;
	out->n_files = by_number ? rule->count : rule->n_files;
	if (out->n_files) {
		out->commit = LEAT_COMMIT_N_FILES;
		out->count = out->n_files;
	} else if (rule->commit == LEAT_COMMIT_ON_CLOSE && hit->entry->spec.exact) {
		out->commit = LEAT_COMMIT_ON_TERMINATION;
		out->count = 0;
	}
}

static bool any(const uint64_t *set, size_t words)
{
	for (size_t i = 0; i < words; i++)
		if (set[i])
			return true;
	return false;
}

/* True if some step reads the file that does not write it itself. */
static bool has_reader(const struct verdict *v)
{
	for (size_t i = 0; i < v->m->words; i++)
		if (v->consumers[i] & ~v->producers[i])
			return true;
	return false;
}

static bool has_one_reader(const struct verdict *v)
{
	int n = 0;

	for (size_t i = 0; i < v->m->words; i++)
		n += __builtin_popcountll(v->consumers[i]);
	return n == 1 && has_reader(v);
}

static void look_below(const struct leat_matcher *m, const char *path, struct leat_file_rule *out)
{
	const struct leat_index_node *node = leat_index_find(&m->index, path, strlen(path));

	out->holds_inputs = node && node->has_inputs_below;
	out->holds_outputs = node && node->has_outputs_below;
	for (size_t i = 0; i < m->index.n_entries && !*path; i++) {
		out->holds_inputs |= m->index.entries[i].kind == LEAT_ENTRY_INPUT;
		out->holds_outputs |= m->index.entries[i].kind == LEAT_ENTRY_OUTPUT;
	}
	for (size_t i = 0; i < m->index.n_wild; i++) {
		const struct leat_index_entry *e = m->index.wild[i];
		bool *flag = e->kind == LEAT_ENTRY_INPUT    ? &out->holds_inputs
			     : e->kind == LEAT_ENTRY_OUTPUT ? &out->holds_outputs
							    : NULL;

		if (flag && !*flag)
			*flag = leat_pattern_reaches_below(e->text, path);
	}
}

static bool names_directory(const struct verdict *v)
{
	for (size_t i = 0; i < v->m->n_hits; i++) {
		const struct leat_index_entry *e = v->m->hits[i].entry;

		if (e->kind == LEAT_ENTRY_RULE && e->rule->is_dir)
			return true;
	}
	return false;
}

static void decide(struct verdict *v, const char *path, struct leat_file_rule *out)
{
	struct leat_matcher *m = v->m;
	const struct leat_hit *hit;

	m->n_hits = 0;
	(void)leat_index_each_hit(&m->index, path, note_hit, v); /* note_hit never fails */
	/* Whatever a pattern says: it is one step's own. */
	v->excluded |= leat_str_begins(path, LEAT_PRIVATE_PREFIX);
	out->excluded = v->excluded;
	out->storage = v->storage;
	if (v->excluded) {
		memset(v->consumers, 0, m->words * sizeof(uint64_t));
		return;
	}
	find_producers(v);
	out->declared = any(v->producers, m->words) || any(v->consumers, m->words);
	out->permanent = v->permanent || (m->wf->permanent_unless_consumed &&
					  any(v->producers, m->words) && !has_reader(v));
	/* Of what nobody writes there is nothing to wait for. */
	hit = any(v->producers, m->words) ? find_rule(v) : NULL;
	if (hit)
		apply_rule(out, hit);
	out->drop = hit && hit->entry->rule->drop && out->fire == LEAT_FIRE_NO_UPDATE &&
		    !out->permanent && has_one_reader(v);
	out->dir_declared = out->declared || names_directory(v);
	look_below(m, path, out);
}

/* ---- rules, and paths asked for last ---- */

/* An empty one, to be filled. NULL when out of memory. */
static struct leat_kept_rule *take_next(struct leat_matcher *m)
{
	size_t size = sizeof(*m->next) + 2 * m->words * sizeof(uint64_t);

	if (!m->next)
		m->next = malloc(size);
	if (!m->next)
		return NULL;
	memset(m->next, 0, size);
	m->next->rule.producers = m->next->sets;
	m->next->rule.consumers = m->next->sets + m->words;
	return m->next;
}

/* The rule that says the same as m->next, which becomes one of them if there is none. NULL when out
 * of memory. */
static const struct leat_file_rule *keep(struct leat_matcher *m)
{
	const size_t pointers = offsetof(struct leat_file_rule, declared);
	const char *key = (const char *)&m->next->rule + pointers;
	size_t length = sizeof(m->next->rule) - pointers + 2 * m->words * sizeof(uint64_t);
	struct leat_kept_rule *k;

	_Static_assert(sizeof(struct leat_kept_rule) == offsetof(struct leat_kept_rule, sets),
		       "the sets follow the rule");
	HASH_FIND(hh, m->rules, key, length, k);
	if (k)
		return &k->rule;
	k = m->next;
	HASH_ADD_KEYPTR(hh, m->rules, key, length, k);
	if (!k->hh.tbl)
		return NULL;
	m->next = NULL;
	return &k->rule;
}

/* Of a path that is not there the next question decides anew. */
static void remember(struct leat_matcher *m, const char *path, size_t length,
		     const struct leat_file_rule *rule)
{
	struct leat_cached *c = HASH_COUNT(m->cache) < MAX_CACHED ? NULL : m->cache;

	if (c) {
		leat_recent_forget(&m->recent, c);
		HASH_DEL(m->cache, c);
		free(c);
	}
	c = malloc(sizeof(*c) + length + 1);
	if (!c)
		return;
	c->rule = rule;
	memcpy(c->path, path, length + 1);
	HASH_ADD_KEYPTR(hh, m->cache, c->path, length, c);
	if (!c->hh.tbl)
		free(c);
}

static struct leat_cached *find_cached(struct leat_matcher *m, const char *path, size_t length)
{
	void **recent = leat_recent_place(&m->recent, path);
	struct leat_cached *c = *recent;

	if (c && strcmp(c->path, path) == 0)
		return c;
	HASH_FIND(hh, m->cache, path, length, c);
	if (c)
		*recent = c;
	return c;
}

const struct leat_file_rule *leat_match(struct leat_matcher *m, const char *path)
{
	const struct leat_file_rule *rule;
	struct verdict v = {.m = m};
	struct leat_kept_rule *next;
	struct leat_cached *c;
	uint64_t version;
	size_t length;

	/* One entry for all versions: there is no end of them. */
	path = leat_version_base(path, &version);
	length = strlen(path);
	c = find_cached(m, path, length);
	if (c)
		return c->rule;
	next = take_next(m);
	if (!next)
		return NULL;
	v.producers = next->sets;
	v.consumers = next->sets + m->words;
	decide(&v, path, &next->rule);
	rule = keep(m);
	if (rule)
		remember(m, path, length, rule);
	return rule;
}

/* True if step `s` declares, as `kind`, something that lies below `dir`, or a
 * directory that contains `dir`. */
static bool step_touches_below(const struct leat_matcher *m, int s, const char *dir,
			       enum leat_index_entry_kind kind)
{
	const struct leat_index_node *node = leat_index_find(&m->index, dir, strlen(dir));

	if (node &&
	    leat_steps_has(kind == LEAT_ENTRY_INPUT ? node->inputs_below : node->outputs_below, s))
		return true;
	for (size_t i = 0; i < m->index.n_entries; i++) {
		const struct leat_index_entry *e = &m->index.entries[i];

		if (e->step != s || e->kind != kind)
			continue;
		if (!*dir || leat_pattern_covers(e->text, dir) ||
		    leat_pattern_match(e->text, dir) ||
		    (!e->spec.exact && leat_pattern_reaches_below(e->text, dir)))
			return true;
	}
	return false;
}

/* Is a name that the entry matches permanent? An output is, too, if nobody reads it. */
static bool is_permanent(struct leat_matcher *m, const struct leat_index_entry *e)
{
	const struct leat_file_rule *rule;
	char *name;
	bool permanent;

	if (e->kind != LEAT_ENTRY_OUTPUT || !m->wf->permanent_unless_consumed)
		return e->kind == LEAT_ENTRY_PERMANENT;
	name = leat_pattern_sample(e->text);
	rule = name ? leat_match(m, name) : NULL;
	permanent = rule && rule->permanent;
	free(name);
	return permanent;
}

bool leat_is_permanent_below(struct leat_matcher *m, const char *dir)
{
	for (size_t i = 0; i < m->index.n_entries; i++) {
		const struct leat_index_entry *e = &m->index.entries[i];

		if ((leat_path_is_below(e->text, dir) ||
		     (!e->spec.exact && leat_pattern_reaches_below(e->text, dir))) &&
		    is_permanent(m, e))
			return true;
	}
	return false;
}

bool leat_step_reads_below(const struct leat_matcher *m, int s, const char *dir)
{
	return step_touches_below(m, s, dir, LEAT_ENTRY_INPUT);
}

bool leat_step_writes_below(const struct leat_matcher *m, int s, const char *dir)
{
	return step_touches_below(m, s, dir, LEAT_ENTRY_OUTPUT);
}
