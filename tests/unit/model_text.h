/* Models for tests from a few lines of text, without any front end:
 *
 *   step NAME            in NAMES...        out NAMES...       run ARGUMENTS...
 *   rule NAME COMMIT[:N] MODE [DEPS...]     the same with `dir` for a directory
 *   permanent|exclude|memory|fs|create|hashing NAMES...
 *   manual STEP[:N] NAMES...                alias NAME FILES...
 *   staged               kept (permanent unless consumed)      name NAME
 *
 * The position of a word is its line and column here. */
#ifndef TESTS_MODEL_TEXT_H
#define TESTS_MODEL_TEXT_H

#include "model/workflow.h"

#include <stdlib.h>
#include <string.h>

struct model_words {
	char *v[64];
	struct leat_pos pos[64];
	size_t n;
};

static inline struct model_words model_split(char *line, int number)
{
	struct model_words words = {.n = 0};
	char *save = NULL;

	for (char *w = strtok_r(line, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		words.v[words.n] = w;
		words.pos[words.n++] =
			(struct leat_pos){.line = number, .column = (int)(w - line) + 1};
	}
	return words;
}

static inline void model_names(struct leat_names *names, const struct model_words *w, size_t from)
{
	for (size_t i = from; i < w->n; i++)
		if (leat_names_add(names, w->v[i], w->pos[i]))
			abort();
}

static inline void model_rule(struct leat_step *step, const struct model_words *w)
{
	static const char *const commits[] = {"on_termination", "on_close", "on_file", "n_files"};
	struct leat_rule *rule = leat_step_add_rule(step, w->v[1], w->pos[1]);
	char *colon = strchr(w->v[2], ':');

	rule->is_dir = !strcmp(w->v[0], "dir");
	if (colon) {
		*colon = '\0';
		rule->count = (unsigned)strtoul(colon + 1, NULL, 10);
	}
	for (int c = 0; c < 4; c++)
		if (!strcmp(w->v[2], commits[c]))
			rule->commit = (enum leat_commit)c;
	if (!strncmp(w->v[3], "no_update", 9))
		rule->fire = LEAT_FIRE_NO_UPDATE;
	colon = strchr(w->v[3], ':'); /* "no_update:5": and n_files 5 */
	if (colon)
		rule->n_files = (unsigned)strtoul(colon + 1, NULL, 10);
	model_names(&rule->deps, w, 4);
}

static inline void model_run(struct leat_step *step, const struct model_words *w)
{
	step->argv = calloc(w->n, sizeof(char *));
	for (size_t i = 1; i < w->n; i++)
		step->argv[i - 1] = strdup(w->v[i]);
}

static inline void model_manual(struct leat_workflow *wf, const struct model_words *w)
{
	char *colon = strchr(w->v[1], ':');
	struct leat_home_manual *home;

	if (colon)
		*colon = '\0';
	home = leat_workflow_add_home(wf, leat_workflow_find_step(wf, w->v[1]),
				      colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0,
				      w->pos[1]);
	model_names(&home->files, w, 2);
}

static inline bool model_step_line(struct leat_step *step, const struct model_words *w)
{
	if (!strcmp(w->v[0], "in"))
		model_names(&step->inputs, w, 1);
	else if (!strcmp(w->v[0], "out"))
		model_names(&step->outputs, w, 1);
	else if (!strcmp(w->v[0], "rule") || !strcmp(w->v[0], "dir"))
		model_rule(step, w);
	else if (!strcmp(w->v[0], "run"))
		model_run(step, w);
	else if (!strcmp(w->v[0], "staged"))
		step->staged = true;
	else
		return false;
	return true;
}

static inline bool model_list_line(struct leat_workflow *wf, const struct model_words *w)
{
	const struct {
		const char *word;
		struct leat_names *names;
	} lists[] = {
		{"permanent", &wf->permanent}, {"exclude", &wf->exclude},
		{"memory", &wf->store_memory}, {"fs", &wf->store_fs},
		{"create", &wf->home_create},  {"hashing", &wf->home_hashing},
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (strcmp(w->v[0], lists[i].word))
			continue;
		model_names(lists[i].names, w, 1);
		return true;
	}
	return false;
}

static inline void model_line(struct leat_workflow *wf, const struct model_words *w)
{
	if (!strcmp(w->v[0], "step"))
		leat_workflow_add_step(wf, w->v[1], w->pos[1]);
	else if (!strcmp(w->v[0], "manual"))
		model_manual(wf, w);
	else if (!strcmp(w->v[0], "alias"))
		model_names(&leat_workflow_add_alias(wf, w->v[1], w->pos[1])->files, w, 2);
	else if (!strcmp(w->v[0], "kept"))
		wf->permanent_unless_consumed = true;
	else if (!strcmp(w->v[0], "name"))
		wf->name = strdup(w->v[1]);
	else if (!model_list_line(wf, w) && !model_step_line(&wf->steps[wf->n_steps - 1], w))
		abort();
}

static inline struct leat_workflow *model_from_text(const char *text)
{
	struct leat_workflow *wf = leat_workflow_new();
	char *copy = strdup(text), *save = NULL;
	int number = 0;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct model_words words = model_split(line, ++number);

		if (words.n)
			model_line(wf, &words);
	}
	free(copy);
	return wf;
}

#endif
