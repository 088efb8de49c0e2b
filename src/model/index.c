#include "model/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/matcher.h"

struct leat_index_node *leat_index_find(const struct leat_index *index, const char *path,
					size_t length)
{
	struct leat_index_node *node;

	HASH_FIND(hh, index->nodes, path, length, node);
	return node;
}

static struct leat_index_node *node_get(struct leat_index *index, const char *path, size_t length,
					size_t words)
{
	struct leat_index_node *node = leat_index_find(index, path, length);

	if (node)
		return node;
	node = calloc(1, sizeof(*node) + 2 * words * sizeof(uint64_t));
	if (!node)
		return NULL;
	node->text = strndup(path, length);
	if (!node->text) {
		free(node);
		return NULL;
	}
	node->inputs_below = (uint64_t *)(node + 1);
	node->outputs_below = node->inputs_below + words;
	node->tail = &node->entries;
	HASH_ADD_KEYPTR(hh, index->nodes, node->text, length, node);
	if (!node->hh.tbl) {
		free(node->text);
		free(node);
		return NULL;
	}
	return node;
}

/* Note on every directory above an exact stream entry what lies below it. */
static int mark_directories(struct leat_index *index, const struct leat_index_entry *e,
			    size_t words)
{
	for (size_t length = strlen(e->text); length > 0; length--) {
		struct leat_index_node *node;

		if (e->text[length] != '/')
			continue;
		node = node_get(index, e->text, length, words);
		if (!node)
			return -ENOMEM;
		leat_steps_add(e->kind == LEAT_ENTRY_INPUT ? node->inputs_below
							   : node->outputs_below,
			       e->step);
		node->has_inputs_below |= e->kind == LEAT_ENTRY_INPUT;
		node->has_outputs_below |= e->kind == LEAT_ENTRY_OUTPUT;
	}
	return 0;
}

static int index_entry(struct leat_index *index, struct leat_index_entry *e, size_t words)
{
	struct leat_index_node *node;

	if (!e->text)
		return -ENOMEM;
	e->spec = leat_pattern_specificity(e->text);
	if (!e->spec.exact) {
		index->wild[index->n_wild++] = e;
		return 0;
	}
	node = node_get(index, e->text, strlen(e->text), words);
	if (!node)
		return -ENOMEM;
	*node->tail = e;
	node->tail = &e->next;
	if (e->kind == LEAT_ENTRY_INPUT || e->kind == LEAT_ENTRY_OUTPUT)
		return mark_directories(index, e, words);
	return 0;
}

/* True if directory `dir` and one of the names lie in one another. */
static bool holds_one(const char *dir, const char *below, const struct leat_names *names)
{
	for (size_t i = 0; i < names->n; i++) {
		const char *name = names->v[i].text;

		if (leat_pattern_overlap(dir, name) || leat_pattern_overlap(below, name) ||
		    leat_pattern_covers(name, dir))
			return true;
	}
	return false;
}

/* Who writes in the directory that a step, which only reads there, has a rule for. */
static int find_makers(struct leat_index_entry *e, const char *below,
		       const struct leat_workflow *wf)
{
	e->makers = calloc((wf->n_steps + 63) / 64, sizeof(*e->makers));
	if (!e->makers)
		return -ENOMEM;
	for (size_t s = 0; s < wf->n_steps; s++)
		if (holds_one(e->text, below, &wf->steps[s].outputs))
			leat_steps_add(e->makers, (int)s);
	return 0;
}

/* Find the `dirname` rules that speak of what their step writes, or else reads. */
static int mark_directory_rules(struct leat_index *index, const struct leat_workflow *wf)
{
	int rc = 0;

	for (size_t i = 0; i < index->n_entries && !rc; i++) {
		struct leat_index_entry *e = &index->entries[i];
		char *below;

		if (!e->rule || !e->rule->is_dir)
			continue;
		below = leat_strf("%s/*", e->text);
		if (!below)
			return -ENOMEM;
		e->produces = holds_one(e->text, below, &wf->steps[e->step].outputs);
		e->consumes = !e->produces && holds_one(e->text, below, &wf->steps[e->step].inputs);
		if (e->consumes)
			rc = find_makers(e, below, wf);
		free(below);
	}
	return rc;
}

static struct leat_index_entry *collect_one(struct leat_index *index, const char *text,
					    enum leat_index_entry_kind kind, int step)
{
	struct leat_index_entry *e = &index->entries[index->n_entries++];

	*e = (struct leat_index_entry){.text = strdup(text),
				       .kind = kind,
				       .step = step,
				       .produces = kind == LEAT_ENTRY_OUTPUT};
	return e;
}

static void collect_names(struct leat_index *index, const struct leat_names *names,
			  enum leat_index_entry_kind kind, int step)
{
	for (size_t i = 0; i < names->n; i++)
		collect_one(index, names->v[i].text, kind, step);
}

static void collect_rule(struct leat_index *index, const struct leat_rule *rule, int step)
{
	struct leat_index_entry *e = collect_one(index, rule->name.text, LEAT_ENTRY_RULE, step);
	size_t length = e->text ? strlen(e->text) : 0;

	e->rule = rule;
	if (rule->is_dir && length > 2 && !strcmp(e->text + length - 2, "/*"))
		e->text[length - 2] = '\0';
}

static void collect(struct leat_index *index, const struct leat_workflow *wf)
{
	for (size_t i = 0; i < wf->n_steps; i++) {
		const struct leat_step *step = &wf->steps[i];

		collect_names(index, &step->outputs, LEAT_ENTRY_OUTPUT, (int)i);
		collect_names(index, &step->inputs, LEAT_ENTRY_INPUT, (int)i);
		for (size_t r = 0; r < step->n_rules; r++)
			collect_rule(index, &step->rules[r], (int)i);
	}
	collect_names(index, &wf->permanent, LEAT_ENTRY_PERMANENT, -1);
	collect_names(index, &wf->exclude, LEAT_ENTRY_EXCLUDE, -1);
	collect_names(index, &wf->store_memory, LEAT_ENTRY_MEMORY, -1);
	collect_names(index, &wf->store_fs, LEAT_ENTRY_FS, -1);
}

static size_t count_entries(const struct leat_workflow *wf)
{
	size_t n = wf->permanent.n + wf->exclude.n + wf->store_memory.n + wf->store_fs.n;

	for (size_t i = 0; i < wf->n_steps; i++)
		n += wf->steps[i].outputs.n + wf->steps[i].inputs.n + wf->steps[i].n_rules;
	return n;
}

int leat_index_init(struct leat_index *index, const struct leat_workflow *wf)
{
	size_t n = count_entries(wf);
	int rc = 0;

	*index = (struct leat_index){.entries = calloc(n + 1, sizeof(struct leat_index_entry)),
				     .wild = calloc(n + 1, sizeof(struct leat_index_entry *))};
	if (!index->entries || !index->wild)
		return -ENOMEM;
	collect(index, wf);
	for (size_t i = 0; i < index->n_entries && !rc; i++)
		rc = index_entry(index, &index->entries[i], (wf->n_steps + 63) / 64);
	return rc ? rc : mark_directory_rules(index, wf);
}

void leat_index_release(struct leat_index *index)
{
	struct leat_index_node *node, *next;

	HASH_ITER(hh, index->nodes, node, next)
	{
		HASH_DEL(index->nodes, node);
		free(node->text);
		free(node);
	}
	for (size_t i = 0; i < index->n_entries; i++) {
		free(index->entries[i].text);
		free(index->entries[i].makers);
	}
	free(index->entries);
	free(index->wild);
	*index = (struct leat_index){0};
}

/* Length of the directory part of the first `length` bytes of `path`; 0 if none. */
static size_t parent_length(const char *path, size_t length)
{
	while (length > 0 && path[length - 1] != '/')
		length--;
	return length > 0 ? length - 1 : 0;
}

static bool entry_covers(const struct leat_index_entry *e, const char *path)
{
	return !strncmp(e->text, path, e->spec.prefix) && leat_pattern_covers(e->text, path);
}

/* Rules written as `name` are for files; everything else may name a directory. */
static bool may_cover(const struct leat_index_entry *e)
{
	return !e->rule || e->rule->is_dir;
}

static int hit_exact(const struct leat_index *index, const char *path, leat_index_hit_fn *fn,
		     void *ctx)
{
	size_t full = strlen(path);
	int rc = 0;

	for (size_t length = full; length > 0; length = parent_length(path, length)) {
		const struct leat_index_node *node = leat_index_find(index, path, length);

		for (const struct leat_index_entry *e = node ? node->entries : NULL; e;
		     e = e->next) {
			if (length < full && !may_cover(e))
				continue;
			rc = fn(ctx, e, length < full);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int hit_wild(const struct leat_index_entry *e, const char *path, leat_index_hit_fn *fn,
		    void *ctx)
{
	bool self;

	if (strncmp(e->text, path, e->spec.prefix))
		return 0;
	self = leat_pattern_match(e->text, path);
	/* "out*" as a directory is the topmost one: what is below is its content. */
	if (e->rule && e->rule->is_dir && self)
		self = !entry_covers(e, path);
	else if (!self && !(may_cover(e) && entry_covers(e, path)))
		return 0;
	return fn(ctx, e, !self);
}

int leat_index_each_hit(const struct leat_index *index, const char *path, leat_index_hit_fn *fn,
			void *ctx)
{
	int rc = hit_exact(index, path, fn, ctx);

	/* The workflow's directory itself is declared by no pattern. */
	for (size_t i = 0; *path && i < index->n_wild && !rc; i++)
		rc = hit_wild(index->wild[i], path, fn, ctx);
	return rc;
}
