#include "lang/canonical.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"

static void put_list(struct leat_json *j, const char *key, const struct leat_names *names)
{
	leat_json_list(j, key, true);
	for (size_t i = 0; i < names->n; i++)
		leat_json_string(j, NULL, names->v[i].text);
	leat_json_close(j);
}

/* The same for a section that may be left out. */
static void put_names(struct leat_json *j, const char *key, const struct leat_names *names)
{
	if (names->n)
		put_list(j, key, names);
}

/* One streaming entry for the `n` rules from `rules` on, which agree. */
static void put_rules(struct leat_json *j, const struct leat_rule *rules, size_t n)
{
	char commit[32];

	leat_json_object(j, NULL, true);
	leat_json_list(j, rules->is_dir ? "dirname" : "name", true);
	for (size_t i = 0; i < n; i++)
		leat_json_string(j, NULL, rules[i].name.text);
	leat_json_close(j);
	leat_json_string(j, "committed", leat_commit_text(rules->commit, rules->count, commit));
	put_names(j, "file_deps", &rules->deps);
	if (rules->n_files)
		leat_json_number(j, "n_files", rules->n_files);
	leat_json_string(j, "mode", leat_fire_text(rules->fire));
	leat_json_close(j);
}

/* Rules side by side that agree share an entry, as aliases were expanded from one. */
static void put_streaming(struct leat_json *j, const struct leat_step *step)
{
	size_t n;

	if (!step->n_rules)
		return;
	leat_json_list(j, "streaming", false);
	for (size_t i = 0; i < step->n_rules; i += n) {
		for (n = 1; i + n < step->n_rules; n++)
			if (step->rules[i].is_dir != step->rules[i + n].is_dir ||
			    !leat_rule_agrees(&step->rules[i], &step->rules[i + n]))
				break;
		put_rules(j, &step->rules[i], n);
	}
	leat_json_close(j);
}

static void put_step(struct leat_json *j, const struct leat_step *step)
{
	leat_json_object(j, NULL, false);
	leat_json_string(j, "name", step->name);
	if (step->argv) {
		leat_json_list(j, "exec", true);
		for (char **arg = step->argv; *arg; arg++)
			leat_json_string(j, NULL, *arg);
		leat_json_close(j);
	}
	if (step->staged)
		leat_json_bool(j, "staged", true);
	put_names(j, "input_stream", &step->inputs);
	put_names(j, "output_stream", &step->outputs);
	put_streaming(j, step);
	leat_json_close(j);
}

static void put_aliases(struct leat_json *j, const struct leat_workflow *wf)
{
	if (!wf->n_aliases)
		return;
	leat_json_list(j, "aliases", false);
	for (size_t i = 0; i < wf->n_aliases; i++) {
		leat_json_object(j, NULL, true);
		leat_json_string(j, "group_name", wf->aliases[i].name.text);
		put_list(j, "files", &wf->aliases[i].files);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void put_storage(struct leat_json *j, const struct leat_workflow *wf)
{
	if (!wf->store_memory.n && !wf->store_fs.n)
		return;
	leat_json_object(j, "storage", false);
	put_names(j, "memory", &wf->store_memory);
	put_names(j, "fs", &wf->store_fs);
	leat_json_close(j);
}

static int put_manual(struct leat_json *j, const struct leat_workflow *wf)
{
	if (!wf->n_home_manual)
		return 0;
	leat_json_list(j, "manual", false);
	for (size_t i = 0; i < wf->n_home_manual; i++) {
		const struct leat_home_manual *home = &wf->home_manual[i];
		char *node = leat_strf("%s:%u", wf->steps[home->step].name, home->process);

		if (!node)
			return -ENOMEM;
		leat_json_object(j, NULL, true);
		put_list(j, "name", &home->files);
		leat_json_string(j, "app_node", node);
		leat_json_close(j);
		free(node);
	}
	leat_json_close(j);
	return 0;
}

static int put_homes(struct leat_json *j, const struct leat_workflow *wf)
{
	int rc;

	if (!wf->home_create.n && !wf->home_hashing.n && !wf->n_home_manual)
		return 0;
	leat_json_object(j, "home_node_policy", false);
	put_names(j, "create", &wf->home_create);
	put_names(j, "hashing", &wf->home_hashing);
	rc = put_manual(j, wf);
	leat_json_close(j);
	return rc;
}

int leat_canonical_write(const struct leat_workflow *wf, FILE *out)
{
	struct leat_json j = {.out = out};
	int rc;

	leat_json_object(&j, NULL, false);
	if (wf->name)
		leat_json_string(&j, "name", wf->name);
	if (wf->dir)
		leat_json_string(&j, "dir", wf->dir);
	put_aliases(&j, wf);
	put_names(&j, "permanent", &wf->permanent);
	if (wf->permanent_unless_consumed)
		leat_json_bool(&j, "permanent_unless_consumed", true);
	put_names(&j, "exclude", &wf->exclude);
	leat_json_list(&j, "IO_Graph", false);
	for (size_t i = 0; i < wf->n_steps; i++)
		put_step(&j, &wf->steps[i]);
	leat_json_close(&j);
	put_storage(&j, wf);
	rc = put_homes(&j, wf);
	leat_json_close(&j);
	if (rc)
		return rc;
	return fflush(out) || ferror(out) ? -EIO : 0;
}
