#include "stream/verify/model.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of on_close:N more closes by one producer are not made. */
enum { MAX_ROUNDS = 4 };

int leat_verify_model_find(const struct verify_model *model, const char *name)
{
	for (int i = 0; i < model->n_files; i++)
		if (!strcmp(model->files[i].name, name))
			return i;
	return -1;
}

/* Index of the file, new or not; -E2BIG, -ENOMEM. */
static int add_file(struct verify_model *model, const char *name, bool is_dir)
{
	int i = leat_verify_model_find(model, name);
	struct verify_file *f;

	if (i >= 0) {
		model->files[i].is_dir = model->files[i].is_dir || is_dir;
		return i;
	}
	if (model->n_files == VERIFY_FILES)
		return -E2BIG;
	f = &model->files[model->n_files];
	*f = (struct verify_file){.is_dir = is_dir, .twin = -1};
	f->name = strdup(name);
	f->rule = leat_match(model->m, name);
	if (!f->name || !f->rule) {
		free(f->name);
		return -ENOMEM;
	}
	for (int step = 0; step < model->n_steps; step++)
		if (leat_steps_has(f->rule->producers, step))
			f->producers |= UINT32_C(1) << step;
	f->governed = f->rule->declared && !f->rule->excluded && f->producers;
	return model->n_files++;
}

/* Index of the task; -E2BIG. */
static int add_task(struct verify_model *model, enum verify_task_kind kind, int step, int file)
{
	if (model->n_tasks == VERIFY_TASKS)
		return -E2BIG;
	model->tasks[model->n_tasks] =
		(struct verify_task){.kind = kind, .step = step, .file = file, .after = -1};
	return model->n_tasks++;
}

/* ---- outputs ---- */

static bool is_directory(const struct leat_workflow *wf, const char *name)
{
	for (size_t s = 0; s < wf->n_steps; s++)
		for (size_t i = 0; i < wf->steps[s].n_rules; i++)
			if (wf->steps[s].rules[i].is_dir &&
			    !strcmp(wf->steps[s].rules[i].name.text, name))
				return true;
	return false;
}

static int add_output(struct verify_model *model, int step, const char *name, bool sampled)
{
	int known = model->n_files, file = add_file(model, name, false);
	int task;

	if (file < 0 || !model->files[file].governed)
		return file < 0 ? file : 0;
	model->files[file].sampled = sampled && (file == known || model->files[file].sampled);
	for (task = 0; task < model->n_tasks; task++)
		if (model->tasks[task].step == step && model->tasks[task].file == file)
			return 0;
	task = add_task(model, VERIFY_WRITE, step, file);
	return task < 0 ? task : 0;
}

/* The `number`th name a pattern matches; the caller frees it. */
static char *name_for(const char *pattern, unsigned number)
{
	char *sample = leat_pattern_sample(pattern);
	size_t n = sample ? strcspn(sample, "*?") : 0;
	char *name;

	if (!sample || !sample[n])
		return sample;
	name = leat_strf("%.*s%u%s", (int)n, sample, number, sample + n + 1);
	free(sample);
	while (name && (n = strcspn(name, "*?"), name[n]))
		name[n] = '0';
	return name;
}

/* Files in directory `dir`: of each producer its own. */
static int add_directory(struct verify_model *model, int step, const char *dir)
{
	int file = add_file(model, dir, true), rc = file < 0 ? file : 0;
	unsigned producers, n = model->bounds.files;

	if (rc)
		return rc;
	producers = (unsigned)__builtin_popcount(model->files[file].producers);
	if (producers && model->files[file].rule->n_files) {
		unsigned share = (model->files[file].rule->n_files + producers - 1) / producers;

		n = share < n ? share : n;
	}
	for (unsigned i = 0; i < n && !rc; i++) {
		char *name = leat_strf("%s/%s.%u", dir, model->wf->steps[step].name, i + 1);

		rc = name ? add_output(model, step, name, true) : -ENOMEM;
		free(name);
	}
	return rc;
}

static int add_outputs(struct verify_model *model, int step)
{
	const struct leat_names *outputs = &model->wf->steps[step].outputs;
	int rc = 0;

	for (size_t i = 0; i < outputs->n && !rc; i++) {
		const char *text = outputs->v[i].text;

		if (is_directory(model->wf, text)) {
			rc = add_directory(model, step, text);
		} else if (!leat_pattern_is_wild(text)) {
			rc = add_output(model, step, text, false);
		} else {
			for (unsigned k = 1; k <= model->bounds.files && !rc; k++) {
				char *name = name_for(text, k);

				rc = name ? add_output(model, step, name, true) : -ENOMEM;
				free(name);
			}
		}
	}
	return rc;
}

/* ---- inputs ---- */

/* The directory in which a pattern's matches, or a directory's files, are looked for. */
static int add_listing(struct verify_model *model, int step, const char *input)
{
	bool wild = leat_pattern_is_wild(input);
	int file = leat_verify_model_find(model, input);
	char *dir;

	if (!wild && (file < 0 || !model->files[file].is_dir))
		return 0;
	if (wild) {
		dir = strndup(input, leat_pattern_directory(input));
		if (!dir)
			return -ENOMEM;
		file = add_file(model, dir, true);
		free(dir);
	}
	file = file < 0 ? file : add_task(model, VERIFY_LIST, step, file);
	return file < 0 ? file : 0;
}

static int add_reads(struct verify_model *model, int step)
{
	int writes = model->n_tasks;

	for (int i = 0; i < model->n_files; i++) {
		struct verify_file *f = &model->files[i];
		int task;

		if (!f->governed || f->is_dir || !leat_steps_has(f->rule->consumers, step))
			continue;
		task = add_task(model, VERIFY_READ, step, i);
		if (task < 0)
			return task;
		f->consumers |= UINT32_C(1) << step;
		/* Who reads and writes a file reads it first. */
		for (int k = 0; k < writes; k++)
			if (model->tasks[k].kind == VERIFY_WRITE && model->tasks[k].step == step &&
			    model->tasks[k].file == i)
				model->tasks[k].after = task;
	}
	return 0;
}

/* A staged step reads no file before all of them are final. */
static int add_launch(struct verify_model *model, int step)
{
	const struct leat_names *inputs = &model->wf->steps[step].inputs;
	int task = add_task(model, VERIFY_LAUNCH, step, -1);

	if (task < 0)
		return task;
	for (size_t i = 0; i < inputs->n; i++)
		model->tasks[task].many = model->tasks[task].many ||
					  leat_pattern_is_wild(inputs->v[i].text) ||
					  is_directory(model->wf, inputs->v[i].text);
	for (int i = 0; i < model->n_files; i++)
		if (leat_steps_has(model->files[i].rule->consumers, step))
			model->files[i].consumers |= UINT32_C(1) << step;
	return 0;
}

static int add_inputs(struct verify_model *model, int step)
{
	const struct leat_step *s = &model->wf->steps[step];
	int rc = 0;

	if (s->staged)
		return add_launch(model, step);
	for (size_t i = 0; i < s->inputs.n && !rc; i++)
		rc = add_listing(model, step, s->inputs.v[i].text);
	return rc ? rc : add_reads(model, step);
}

/* ---- what follows from it ---- */

static unsigned rounds_of(const struct verify_model *model, const struct verify_task *task)
{
	const struct verify_file *f = &model->files[task->file];
	unsigned before = 0, producers = (unsigned)__builtin_popcount(f->producers), share;

	if (f->rule->commit != LEAT_COMMIT_ON_CLOSE || !f->rule->count)
		return model->bounds.closes;
	/* The closes its rule speaks of, shared out. */
	for (int step = 0; step < task->step; step++)
		before += f->producers >> step & 1;
	share = f->rule->count / producers + (before < f->rule->count % producers);
	return share < MAX_ROUNDS ? share : MAX_ROUNDS;
}

static void relate(struct verify_model *model, struct verify_file *f)
{
	const struct leat_names *deps = f->rule->deps;

	for (int i = 0; i < model->n_files && f->is_dir; i++)
		if (!model->files[i].is_dir && leat_path_is_below(model->files[i].name, f->name))
			f->below |= UINT64_C(1) << i;
	for (size_t i = 0; deps && i < deps->n; i++) {
		const char *text = deps->v[i].text;
		int dep = leat_pattern_is_wild(text) ? -1 : leat_verify_model_find(model, text);
		uint32_t makers = 0;

		if (dep >= 0 && model->files[dep].governed) {
			f->deps |= UINT64_C(1) << dep;
			continue;
		}
		for (int k = 0; k < model->n_files; k++)
			if (leat_pattern_match(text, model->files[k].name) ||
			    leat_pattern_covers(text, model->files[k].name))
				makers |= model->files[k].producers;
		f->dep_makers |= makers;
		f->dep_nobody = f->dep_nobody || !makers;
	}
}

static bool has_to_do_with(const struct verify_model *model, int file)
{
	for (int i = 0; i < model->n_files; i++)
		if ((model->files[i].below | model->files[i].deps) >> file & 1)
			return true;
	return false;
}

static bool same_but_for_name(const struct verify_file *a, const struct verify_file *b)
{
	const struct leat_file_rule *x = a->rule, *y = b->rule;

	return a->producers == b->producers && a->consumers == b->consumers &&
	       x->commit == y->commit && x->count == y->count && x->fire == y->fire &&
	       a->deps == b->deps && a->dep_makers == b->dep_makers && !a->is_dir && !b->is_dir;
}

/* Two files are twins if exchanging them everywhere changes nothing. */
static bool are_twins(const struct verify_model *model, int a, int b)
{
	for (int i = 0; i < model->n_files; i++) {
		const struct verify_file *f = &model->files[i];

		if ((f->below >> a & 1) != (f->below >> b & 1) || (f->deps >> a & 1) ||
		    (f->deps >> b & 1))
			return false;
	}
	return model->files[a].governed && same_but_for_name(&model->files[a], &model->files[b]);
}

/* Where every close counts an empty one is among those the rule speaks of. */
static void add_empty_round(const struct verify_model *model, struct verify_task *task)
{
	const struct leat_file_rule *rule = model->files[task->file].rule;
	bool every = rule->commit == LEAT_COMMIT_ON_CLOSE && rule->count > 1;

	task->rounds += task->rounds && !every;
	task->empty_first = task->rounds > 1;
}

static int finish(struct verify_model *model)
{
	model->by_name = true;
	model->eager = !model->bounds.full;
	for (int i = 0; i < model->n_files; i++)
		relate(model, &model->files[i]);
	for (int i = 0; i < model->n_files; i++) {
		struct verify_file *f = &model->files[i];

		f->private = !f->consumers && __builtin_popcount(f->producers) == 1 &&
			     f->rule->commit != LEAT_COMMIT_ON_FILE && !f->is_dir &&
			     !has_to_do_with(model, i);
		for (int k = 0; k < i && f->twin < 0; k++)
			f->twin = are_twins(model, k, i) ? k : -1;
		if (model->bounds.style == LEAT_VERIFY_TEMPORARY && !f->is_dir &&
		    __builtin_popcount(f->producers) == 1) {
			f->temporary = leat_strf("leat-temporary.%d", i);
			if (!f->temporary)
				return -ENOMEM;
		}
	}
	for (int i = 0; i < model->n_tasks; i++) {
		struct verify_task *task = &model->tasks[i];

		if (task->kind == VERIFY_WRITE)
			task->rounds = rounds_of(model, task);
		if (task->kind == VERIFY_WRITE && model->bounds.style == LEAT_VERIFY_TWICE)
			add_empty_round(model, task);
		if (task->kind == VERIFY_LAUNCH || task->kind == VERIFY_LIST)
			model->by_name = false;
	}
	return 0;
}

int leat_verify_model_init(struct verify_model *model, struct leat_matcher *m,
			   const struct leat_workflow *wf, const struct leat_verify_bounds *bounds)
{
	int rc = 0;

	*model = (struct verify_model){.m = m, .wf = wf, .bounds = *bounds};
	if (!model->bounds.closes)
		model->bounds.closes = 1;
	if (!model->bounds.files)
		model->bounds.files = 2;
	if (!model->bounds.open)
		model->bounds.open = 2;
	if (!model->bounds.states)
		model->bounds.states = 1000000;
	if (wf->n_steps > VERIFY_STEPS)
		return -E2BIG;
	model->n_steps = (int)wf->n_steps;
	for (int step = 0; step < model->n_steps && !rc; step++)
		rc = add_outputs(model, step);
	for (int step = 0; step < model->n_steps && !rc; step++)
		rc = add_inputs(model, step);
	return rc ? rc : finish(model);
}

void leat_verify_model_release(struct verify_model *model)
{
	for (int i = 0; i < model->n_files; i++) {
		free(model->files[i].name);
		free(model->files[i].temporary);
	}
	model->n_files = 0;
}
