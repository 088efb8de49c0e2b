/* Which step is upstream of which. */
#include "model/matcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t *row(const struct leat_matcher *m, int s)
{
	return m->upstream + (size_t)s * m->words;
}

/* Every producer of the name precedes every consumer of it. Two steps that both
 * read and write it do not order each other. */
static int link_exact(struct leat_matcher *m, const struct leat_index_entry *e)
{
	const struct leat_file_rule *rule = leat_match(m, e->text);
	int n = (int)m->wf->n_steps;

	if (!rule)
		return -ENOMEM;
	for (int up = leat_steps_next(rule->producers, 0, n); up < n;
	     up = leat_steps_next(rule->producers, up + 1, n))
		for (int down = leat_steps_next(rule->consumers, 0, n); down < n;
		     down = leat_steps_next(rule->consumers, down + 1, n)) {
			bool both = leat_steps_has(rule->consumers, up) &&
				    leat_steps_has(rule->producers, down);

			if (up != down && !both)
				leat_steps_add(row(m, up), down);
		}
	return 0;
}

static bool is_known_directory(const struct leat_matcher *m, const struct leat_index_entry *e)
{
	const struct leat_index_node *node = leat_index_find(&m->index, e->text, strlen(e->text));

	if (node && (node->has_inputs_below || node->has_outputs_below))
		return true;
	for (const struct leat_index_entry *i = node ? node->entries : NULL; i; i = i->next)
		if (i->rule && i->rule->is_dir)
			return true;
	return false;
}

/* True if the pattern's literal beginning goes into directory `dir`. */
static bool goes_into(const struct leat_index_entry *pattern, const char *dir)
{
	size_t length = strlen(dir);

	return pattern->spec.prefix > length && !strncmp(pattern->text, dir, length) &&
	       pattern->text[length] == '/';
}

/* True if some path may be concerned by both, of which at least one is a
 * pattern; pairs where one matches the other are link_exact's. Every pattern
 * that begins with "*" reaches below every name: that counts only for names
 * known to be directories. */
static bool may_share(const struct leat_matcher *m, const struct leat_index_entry *a,
		      const struct leat_index_entry *b)
{
	if (!a->spec.exact && !b->spec.exact)
		return leat_pattern_overlap(a->text, b->text);
	if (a->spec.exact) {
		const struct leat_index_entry *swap = a;

		a = b;
		b = swap;
	}
	return goes_into(a, b->text) ||
	       (is_known_directory(m, b) && leat_pattern_reaches_below(a->text, b->text));
}

static void link_wild(struct leat_matcher *m, const struct leat_index_entry *out,
		      const struct leat_index_entry *in)
{
	const struct leat_step *steps = m->wf->steps;

	if (out->step == in->step || leat_steps_has(row(m, out->step), in->step))
		return;
	if (leat_names_has(&steps[out->step].inputs, out->text) &&
	    leat_names_has(&steps[in->step].outputs, in->text) && !strcmp(out->text, in->text))
		return;
	if (may_share(m, out, in))
		leat_steps_add(row(m, out->step), in->step);
}

static void link_patterns(struct leat_matcher *m)
{
	const struct leat_index *index = &m->index;

	for (size_t w = 0; w < index->n_wild; w++) {
		const struct leat_index_entry *a = index->wild[w];

		for (size_t i = 0; i < index->n_entries; i++) {
			const struct leat_index_entry *b = &index->entries[i];

			if (a->kind == LEAT_ENTRY_OUTPUT && b->kind == LEAT_ENTRY_INPUT)
				link_wild(m, a, b);
			if (a->kind == LEAT_ENTRY_INPUT && b->kind == LEAT_ENTRY_OUTPUT &&
			    b->spec.exact)
				link_wild(m, b, a);
		}
	}
}

static bool is_last(const struct leat_matcher *m, int s)
{
	size_t w = 0;

	while (w < m->words && !row(m, s)[w])
		w++;
	return w == m->words;
}

static void close_transitively(struct leat_matcher *m)
{
	int n = (int)m->wf->n_steps;

	for (int k = 0; k < n; k++) {
		if (is_last(m, k))
			continue;
		for (int s = 0; s < n; s++)
			if (leat_steps_has(row(m, s), k))
				for (size_t w = 0; w < m->words; w++)
					row(m, s)[w] |= row(m, k)[w];
	}
}

int leat_matcher_order(struct leat_matcher *m)
{
	const struct leat_index *index = &m->index;

	m->upstream = calloc(m->wf->n_steps * m->words + 1, sizeof(*m->upstream));
	if (!m->upstream)
		return -ENOMEM;
	for (size_t i = 0; i < index->n_entries; i++) {
		const struct leat_index_entry *e = &index->entries[i];
		bool stream = e->kind == LEAT_ENTRY_INPUT || e->kind == LEAT_ENTRY_OUTPUT;

		if (stream && e->spec.exact && link_exact(m, e))
			return -ENOMEM;
	}
	link_patterns(m);
	close_transitively(m);
	return 0;
}

bool leat_is_upstream(const struct leat_matcher *m, int up, int down)
{
	return leat_steps_has(row(m, up), down);
}

bool leat_is_strictly_upstream(const struct leat_matcher *m, int up, int down)
{
	return leat_is_upstream(m, up, down) && !leat_is_upstream(m, down, up);
}

bool leat_are_on_cycle(const struct leat_matcher *m, int a, int b)
{
	return a != b && leat_is_upstream(m, a, b) && leat_is_upstream(m, b, a);
}

/* Being upstream is transitive, so a step always has more steps upstream than each of those. */
size_t leat_upstream_count(const struct leat_matcher *m, int s)
{
	size_t n = 0;

	for (int i = 0; i < (int)m->wf->n_steps; i++)
		n += leat_is_strictly_upstream(m, i, s);
	return n;
}

bool leat_runs_before(const struct leat_matcher *m, int a, int b)
{
	size_t before_a = leat_upstream_count(m, a), before_b = leat_upstream_count(m, b);

	return before_a == before_b ? a < b : before_a < before_b;
}
