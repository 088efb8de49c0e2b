#include "lang/canonical.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

/* A file with the name of an alias is written so that it is not taken for it. */
static int put_file(struct leat_json *j, const struct leat_workflow *wf, const char *text)
{
	for (size_t i = 0; i < wf->n_aliases; i++) {
		char *path;

		if (strcmp(wf->aliases[i].name.text, text))
			continue;
		path = leat_strf("./%s", text);
		if (!path)
			return -ENOMEM;
		leat_json_string(j, NULL, path);
		free(path);
		return 0;
	}
	leat_json_string(j, NULL, text);
	return 0;
}

static int put_list(struct leat_json *j, const struct leat_workflow *wf, const char *key,
		    const struct leat_names *names)
{
	int rc = 0;

	leat_json_list(j, key, true);
	for (size_t i = 0; !rc && i < names->n; i++)
		rc = put_file(j, wf, names->v[i].text);
	leat_json_close(j);
	return rc;
}

/* The same for a section that may be left out. */
static int put_names(struct leat_json *j, const struct leat_workflow *wf, const char *key,
		     const struct leat_names *names)
{
	return names->n ? put_list(j, wf, key, names) : 0;
}

/* One streaming entry for the `n` rules from `rules` on, which agree. */
static int put_rules(struct leat_json *j, const struct leat_workflow *wf,
		     const struct leat_rule *rules, size_t n)
{
	char commit[32];
	int rc = 0;

	leat_json_object(j, NULL, true);
	leat_json_list(j, rules->is_dir ? "dirname" : "name", true);
	for (size_t i = 0; !rc && i < n; i++)
		rc = put_file(j, wf, rules[i].name.text);
	leat_json_close(j);
	leat_json_string(j, "committed", leat_commit_text(rules->commit, rules->count, commit));
	if (!rc)
		rc = put_names(j, wf, "file_deps", &rules->deps);
	if (rules->n_files)
		leat_json_number(j, "n_files", rules->n_files);
	leat_json_string(j, "mode", leat_fire_text(rules->fire));
	if (rules->drop)
		leat_json_bool(j, "retain", false);
	leat_json_close(j);
	return rc;
}

/* Rules side by side that agree share an entry, as aliases were expanded from one. */
static int put_streaming(struct leat_json *j, const struct leat_workflow *wf,
			 const struct leat_step *step)
{
	int rc = 0;
	size_t n;

	if (!step->n_rules)
		return 0;
	leat_json_list(j, "streaming", false);
	for (size_t i = 0; !rc && i < step->n_rules; i += n) {
		for (n = 1; i + n < step->n_rules; n++)
			if (step->rules[i].is_dir != step->rules[i + n].is_dir ||
			    !leat_rule_agrees(&step->rules[i], &step->rules[i + n]))
				break;
		rc = put_rules(j, wf, &step->rules[i], n);
	}
	leat_json_close(j);
	return rc;
}

static int put_step(struct leat_json *j, const struct leat_workflow *wf,
		    const struct leat_step *step)
{
	int rc;

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
	rc = put_names(j, wf, "input_stream", &step->inputs);
	if (!rc)
		rc = put_names(j, wf, "output_stream", &step->outputs);
	if (!rc)
		rc = put_streaming(j, wf, step);
	leat_json_close(j);
	return rc;
}

static int put_aliases(struct leat_json *j, const struct leat_workflow *wf)
{
	int rc = 0;

	if (!wf->n_aliases)
		return 0;
	leat_json_list(j, "aliases", false);
	for (size_t i = 0; !rc && i < wf->n_aliases; i++) {
		leat_json_object(j, NULL, true);
		leat_json_string(j, "group_name", wf->aliases[i].name.text);
		rc = put_list(j, wf, "files", &wf->aliases[i].files);
		leat_json_close(j);
	}
	leat_json_close(j);
	return rc;
}

static int put_storage(struct leat_json *j, const struct leat_workflow *wf)
{
	int rc;

	if (!wf->store_memory.n && !wf->store_fs.n)
		return 0;
	leat_json_object(j, "storage", false);
	rc = put_names(j, wf, "memory", &wf->store_memory);
	if (!rc)
		rc = put_names(j, wf, "fs", &wf->store_fs);
	leat_json_close(j);
	return rc;
}

static int put_manual(struct leat_json *j, const struct leat_workflow *wf)
{
	int rc = 0;

	if (!wf->n_home_manual)
		return 0;
	leat_json_list(j, "manual", false);
	for (size_t i = 0; !rc && i < wf->n_home_manual; i++) {
		const struct leat_home_manual *home = &wf->home_manual[i];
		char *node = leat_strf("%s:%u", wf->steps[home->step].name, home->process);

		if (!node)
			return -ENOMEM;
		leat_json_object(j, NULL, true);
		rc = put_list(j, wf, "name", &home->files);
		leat_json_string(j, "app_node", node);
		leat_json_close(j);
		free(node);
	}
	leat_json_close(j);
	return rc;
}

static int put_homes(struct leat_json *j, const struct leat_workflow *wf)
{
	int rc;

	if (!wf->home_create.n && !wf->home_hashing.n && !wf->n_home_manual)
		return 0;
	leat_json_object(j, "home_node_policy", false);
	rc = put_names(j, wf, "create", &wf->home_create);
	if (!rc)
		rc = put_names(j, wf, "hashing", &wf->home_hashing);
	if (!rc)
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
	rc = put_aliases(&j, wf);
	if (!rc)
		rc = put_names(&j, wf, "permanent", &wf->permanent);
	if (wf->permanent_unless_consumed)
		leat_json_bool(&j, "permanent_unless_consumed", true);
	if (!rc)
		rc = put_names(&j, wf, "exclude", &wf->exclude);
	leat_json_list(&j, "IO_Graph", false);
	for (size_t i = 0; !rc && i < wf->n_steps; i++)
		rc = put_step(&j, wf, &wf->steps[i]);
	leat_json_close(&j);
	if (!rc)
		rc = put_storage(&j, wf);
	if (!rc)
		rc = put_homes(&j, wf);
	leat_json_close(&j);
	if (rc)
		return rc;
	return fflush(out) || ferror(out) ? -EIO : 0;
}
