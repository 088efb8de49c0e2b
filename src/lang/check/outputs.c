/* All outputs of a workflow in one sorted list, so that checks of thousands of
 * names stay quick. */
#include "lang/check/internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct output {
	const char *text; /* borrowed */
	int step;
};

struct leat_check_outputs {
	struct output *plain; /* sorted by text */
	size_t n_plain;
	struct output *wild;
	size_t n_wild;
	uint64_t *set; /* the answer of leat_check_producers */
	size_t words;
};

static int by_text(const void *pa, const void *pb)
{
	const struct output *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

struct leat_check_outputs *leat_check_outputs_new(const struct leat_workflow *wf)
{
	struct leat_check_outputs *o = calloc(1, sizeof(*o));
	size_t capacity = 1;

	if (!o)
		return NULL;
	for (size_t s = 0; s < wf->n_steps; s++)
		capacity += wf->steps[s].outputs.n;
	o->words = (wf->n_steps + 63) / 64;
	o->plain = calloc(capacity, sizeof(*o->plain));
	o->wild = calloc(capacity, sizeof(*o->wild));
	o->set = calloc(o->words + 1, sizeof(*o->set));
	if (!o->plain || !o->wild || !o->set) {
		leat_check_outputs_free(o);
		return NULL;
	}
	for (size_t s = 0; s < wf->n_steps; s++) {
		const struct leat_names *names = &wf->steps[s].outputs;

		for (size_t i = 0; i < names->n; i++) {
			struct output output = {names->v[i].text, (int)s};

			if (leat_pattern_is_wild(output.text))
				o->wild[o->n_wild++] = output;
			else
				o->plain[o->n_plain++] = output;
		}
	}
	qsort(o->plain, o->n_plain, sizeof(*o->plain), by_text);
	return o;
}

void leat_check_outputs_free(struct leat_check_outputs *o)
{
	if (!o)
		return;
	free(o->plain);
	free(o->wild);
	free(o->set);
	free(o);
}

/* Index of the first plain output that is not less than the first `length`
 * bytes of `text` followed by `last` (NUL for none). */
static size_t lower_bound(const struct leat_check_outputs *o, const char *text, size_t length,
			  char last)
{
	size_t low = 0, high = o->n_plain;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *have = o->plain[middle].text;
		int order = strncmp(have, text, length);

		if (!order)
			order = (unsigned char)have[length] - (unsigned char)last;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool begins(const char *have, const char *text, size_t length, char last)
{
	return !strncmp(have, text, length) && have[length] == last;
}

/* Add the steps of the plain outputs that begin so. */
static void add_range(struct leat_check_outputs *o, const char *text, size_t length, char last)
{
	for (size_t i = lower_bound(o, text, length, last);
	     i < o->n_plain && begins(o->plain[i].text, text, length, last); i++)
		o->set[o->plain[i].step / 64] |= (uint64_t)1 << (o->plain[i].step % 64);
}

const uint64_t *leat_check_producers(const struct leat_check_context *ctx, const char *text)
{
	struct leat_check_outputs *o = ctx->outputs;
	bool wild = leat_pattern_is_wild(text);
	size_t length = strlen(text);

	memset(o->set, 0, o->words * sizeof(*o->set));
	for (size_t i = 0; i < o->n_wild; i++)
		if (leat_check_meets(o->wild[i].text, text))
			o->set[o->wild[i].step / 64] |= (uint64_t)1 << (o->wild[i].step % 64);
	for (size_t i = 0; wild && i < o->n_plain; i++)
		if (leat_check_meets(o->plain[i].text, text))
			o->set[o->plain[i].step / 64] |= (uint64_t)1 << (o->plain[i].step % 64);
	if (wild)
		return o->set;
	/* The name itself, what is below it, and the directories above. */
	add_range(o, text, length, '/');
	for (size_t n = length; n > 0; n--)
		if (n == length || text[n] == '/')
			add_range(o, text, n, '\0');
	return o->set;
}

bool leat_check_is_produced(const struct leat_check_context *ctx, const char *text)
{
	return leat_check_count_steps(ctx, leat_check_producers(ctx, text)) > 0;
}

bool leat_check_is_used(const struct leat_check_context *ctx, size_t s, const char *text)
{
	return leat_steps_has(leat_check_producers(ctx, text), (int)s) ||
	       leat_check_any_meets(&ctx->wf->steps[s].inputs, text);
}

unsigned leat_check_files_in(const struct leat_check_context *ctx, const char *dir)
{
	const struct leat_check_outputs *o = ctx->outputs;
	size_t length = strlen(dir);
	const char *before = "";
	unsigned n = 0;

	if (leat_pattern_is_wild(dir))
		return UINT_MAX;
	for (size_t i = 0; i < o->n_wild; i++)
		if (leat_check_meets(o->wild[i].text, dir) ||
		    leat_pattern_covers(dir, o->wild[i].text) ||
		    leat_pattern_reaches_below(o->wild[i].text, dir))
			return UINT_MAX;
	for (size_t k = length; k > 0; k--) {
		size_t at =
			k == length || dir[k] == '/' ? lower_bound(o, dir, k, '\0') : o->n_plain;

		if (at < o->n_plain && begins(o->plain[at].text, dir, k, '\0'))
			return UINT_MAX;
	}
	for (size_t i = lower_bound(o, dir, length, '/');
	     i < o->n_plain && begins(o->plain[i].text, dir, length, '/'); i++) {
		n += strcmp(o->plain[i].text, before) != 0;
		before = o->plain[i].text;
	}
	return n;
}
