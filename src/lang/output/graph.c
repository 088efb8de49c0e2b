#include "lang/output/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static struct leat_graph_file *find_file(const struct leat_graph *g, const char *text,
					 size_t length)
{
	struct leat_graph_file *file;

	HASH_FIND(hh, g->files, text, length, file);
	return file;
}

static void add_step(uint64_t *set, int step)
{
	set[step / 64] |= (uint64_t)1 << (step % 64);
}

bool leat_graph_any(const struct leat_graph *g, const uint64_t *set)
{
	for (size_t w = 0; w < leat_steps_words(g->m); w++)
		if (set[w])
			return true;
	return false;
}

static int fill_rule(struct leat_graph *g, struct leat_graph_file *file)
{
	char *sample = leat_pattern_sample(file->text);

	if (!sample)
		return -ENOMEM;
	file->rule = leat_match(g->m, sample);
	free(sample);
	return file->rule ? 0 : -ENOMEM;
}

/* The file of that name, made if it is new; NULL when out of memory. */
static struct leat_graph_file *get_file(struct leat_graph *g, const char *text)
{
	struct leat_graph_file *file = find_file(g, text, strlen(text));
	size_t words = leat_steps_words(g->m);

	if (file)
		return file;
	file = calloc(1, sizeof(*file) + 4 * words * sizeof(uint64_t));
	if (!file)
		return NULL;
	file->text = text;
	file->number = HASH_COUNT(g->files);
	file->wild = leat_pattern_is_wild(text);
	file->writers = (uint64_t *)(file + 1);
	file->readers = file->writers + words;
	file->producers = file->readers + words;
	file->consumers = file->producers + words;
	if (fill_rule(g, file)) {
		free(file);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, g->files, file->text, strlen(text), file);
	if (!file->hh.tbl) {
		free(file);
		return NULL;
	}
	return file;
}

static int add_streams(struct leat_graph *g, int s)
{
	const struct leat_step *step = &g->wf->steps[s];

	for (size_t i = 0; i < step->inputs.n; i++) {
		struct leat_graph_file *file = get_file(g, step->inputs.v[i].text);

		if (!file)
			return -ENOMEM;
		add_step(file->readers, s);
		add_step(file->consumers, s);
	}
	for (size_t i = 0; i < step->outputs.n; i++) {
		struct leat_graph_file *file = get_file(g, step->outputs.v[i].text);

		if (!file)
			return -ENOMEM;
		add_step(file->writers, s);
		add_step(file->producers, s);
	}
	return 0;
}

static int add_match(struct leat_graph *g, struct leat_graph_file *output,
		     struct leat_graph_file *input)
{
	if (output == input || !leat_graph_any(g, output->writers) ||
	    !leat_graph_any(g, input->readers))
		return 0;
	if ((g->n_matches & (g->n_matches - 1)) == 0) {
		size_t n = g->n_matches ? 2 * g->n_matches : 1;
		struct leat_graph_match *v = reallocarray(g->matches, n, sizeof(*v));

		if (!v)
			return -ENOMEM;
		g->matches = v;
	}
	g->matches[g->n_matches++] = (struct leat_graph_match){output, input};
	for (size_t w = 0; w < leat_steps_words(g->m); w++) {
		output->consumers[w] |= input->readers[w];
		input->producers[w] |= output->writers[w];
	}
	return 0;
}

static int add_both_ways(struct leat_graph *g, struct leat_graph_file *a, struct leat_graph_file *b)
{
	int rc = add_match(g, a, b);

	return rc ? rc : add_match(g, b, a);
}

/* Join a plain name with the directories above it that are named, too. */
static int match_directories(struct leat_graph *g, struct leat_graph_file *file)
{
	for (size_t n = strlen(file->text); n > 0; n--) {
		struct leat_graph_file *dir =
			file->text[n] == '/' ? find_file(g, file->text, n) : NULL;

		if (dir && add_both_ways(g, dir, file))
			return -ENOMEM;
	}
	return 0;
}

static bool meets(const struct leat_graph_file *a, const struct leat_graph_file *b)
{
	return leat_pattern_overlap(a->text, b->text) || leat_pattern_covers(a->text, b->text) ||
	       leat_pattern_covers(b->text, a->text);
}

/* Join a pattern with what it may match; two patterns are joined once. */
static int match_pattern(struct leat_graph *g, struct leat_graph_file *pattern)
{
	struct leat_graph_file *file, *next;

	HASH_ITER(hh, g->files, file, next)
	{
		if (file->wild && file->number <= pattern->number)
			continue;
		if (meets(pattern, file) && add_both_ways(g, pattern, file))
			return -ENOMEM;
	}
	return 0;
}

/* True if the inport, of no source, shows the file of that name in the workflow's directory. */
static bool shows_outside(const struct leat_step *step, const struct leat_inport *inport,
			  const char *text)
{
	size_t length = step->dir ? strlen(step->dir) : 0;

	return !inport->n_sources && step->dir && leat_str_begins(inport->seen.text, step->dir) &&
	       inport->seen.text[length] == '/' && !strcmp(inport->seen.text + length + 1, text);
}

const struct leat_inport *leat_graph_inport(const struct leat_step *step, const char *text)
{
	for (size_t i = 0; i < step->n_inports; i++) {
		const struct leat_inport *inport = &step->inports[i];

		if (shows_outside(step, inport, text))
			return inport;
		for (size_t s = 0; s < inport->n_sources; s++)
			if (!strcmp(inport->sources[s].made, text))
				return inport;
	}
	return NULL;
}

int leat_graph_init(struct leat_graph *g, const struct leat_workflow *wf)
{
	struct leat_graph_file *file, *next;
	int rc;

	*g = (struct leat_graph){.wf = wf, .m = leat_matcher_new(wf)};
	rc = g->m ? 0 : -ENOMEM;
	for (size_t s = 0; s < wf->n_steps && !rc; s++)
		rc = add_streams(g, (int)s);
	HASH_ITER(hh, g->files, file, next)
	{
		if (!rc)
			rc = file->wild ? match_pattern(g, file) : match_directories(g, file);
	}
	return rc;
}

void leat_graph_release(struct leat_graph *g)
{
	struct leat_graph_file *file, *next;

	HASH_ITER(hh, g->files, file, next)
	{
		HASH_DEL(g->files, file);
		free(file);
	}
	free(g->matches);
	leat_matcher_free(g->m);
	*g = (struct leat_graph){.wf = NULL};
}

struct leat_graph *leat_graph_new(const struct leat_workflow *wf)
{
	struct leat_graph *g = calloc(1, sizeof(*g));

	if (g && leat_graph_init(g, wf) < 0) {
		leat_graph_free(g);
		return NULL;
	}
	return g;
}

void leat_graph_free(struct leat_graph *g)
{
	if (!g)
		return;
	leat_graph_release(g);
	free(g);
}
