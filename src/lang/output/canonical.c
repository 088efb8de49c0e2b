#include "lang/output/canonical.h"

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

/* --- leat's own keys ------------------------------------------------------------------- */

static void put_freq(struct leat_json *j, const struct leat_inport *inport)
{
	if (inport->flow == LEAT_FLOW_LATEST)
		leat_json_string(j, "io_freq", "latest");
	else if (inport->flow != LEAT_FLOW_BATCH)
		leat_json_number(j, "io_freq", inport->flow == LEAT_FLOW_SOME ? inport->every : 1);
}

static void put_inports(struct leat_json *j, const struct leat_workflow *wf,
			const struct leat_step *step)
{
	if (!step->n_inports)
		return;
	leat_json_list(j, "inports", false);
	for (size_t i = 0; i < step->n_inports; i++) {
		const struct leat_inport *inport = &step->inports[i];

		leat_json_object(j, NULL, true);
		leat_json_string(j, "seen", inport->seen.text);
		put_freq(j, inport);
		leat_json_list(j, "sources", true);
		for (size_t s = 0; s < inport->n_sources; s++) {
			leat_json_object(j, NULL, true);
			leat_json_string(j, "step", wf->steps[inport->sources[s].step].name);
			leat_json_string(j, "made", inport->sources[s].made);
			leat_json_close(j);
		}
		leat_json_close(j);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void put_dsets(struct leat_json *j, const struct leat_step *step)
{
	if (!step->n_dsets)
		return;
	leat_json_list(j, "dsets", false);
	for (size_t i = 0; i < step->n_dsets; i++) {
		const struct leat_dset *dset = &step->dsets[i];

		leat_json_object(j, NULL, true);
		leat_json_string(j, dset->in ? "inport" : "outport", dset->port.text);
		leat_json_string(j, "name", dset->name.text);
		leat_json_number(j, "file", dset->file);
		leat_json_number(j, "memory", dset->memory);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void put_launch(struct leat_json *j, const struct leat_step *step)
{
	if (strcmp(step->task, step->name) != 0)
		leat_json_string(j, "task", step->task);
	if (step->ensemble > 1) {
		leat_json_number(j, "instance", step->instance);
		leat_json_number(j, "ensemble", step->ensemble);
		leat_json_string(j, "dir", step->dir);
	}
	if (step->nprocs > 1)
		leat_json_number(j, "nprocs", step->nprocs);
	if (step->nwriters)
		leat_json_number(j, "nwriters", step->nwriters);
	if (step->action_file) {
		leat_json_list(j, "actions", true);
		leat_json_string(j, NULL, step->action_file);
		leat_json_string(j, NULL, step->action_function);
		leat_json_close(j);
	}
	if (step->container)
		leat_json_string(j, "container", step->container);
	if (step->engine)
		leat_json_string(j, "engine", leat_engine_name(step->engine));
	if (step->relaunch != LEAT_RELAUNCH_FOUND_OUT)
		leat_json_bool(j, "relaunch", step->relaunch == LEAT_RELAUNCH_ALWAYS);
}

static void put_needs(struct leat_json *j, const struct leat_needs *needs)
{
	char bandwidth[64];

	if (needs->computing_units)
		leat_json_number(j, "computing_units", needs->computing_units);
	if (needs->io)
		leat_json_bool(j, "io", true);
	leat_bandwidth_format(&needs->bandwidth, bandwidth, sizeof(bandwidth));
	if (*bandwidth)
		leat_json_string(j, "storage_bw", bandwidth);
	if (needs->device)
		leat_json_string(j, "device", needs->device);
	if (needs->limit_mbps)
		leat_json_number(j, "storage_bw_limit", needs->limit_mbps);
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
	if (step->concurrent)
		leat_json_string(j, "staged", "concurrent");
	else if (step->staged)
		leat_json_bool(j, "staged", true);
	put_launch(j, step);
	put_needs(j, &step->needs);
	rc = put_names(j, wf, "input_stream", &step->inputs);
	if (!rc)
		rc = put_names(j, wf, "output_stream", &step->outputs);
	if (!rc)
		rc = put_names(j, wf, "private", &step->private);
	if (!rc)
		rc = put_streaming(j, wf, step);
	put_inports(j, wf, step);
	put_dsets(j, step);
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

/* --- resources ----------------------------------------------------------------------------- */

static void put_devices(struct leat_json *j, const struct leat_device *devices, size_t n)
{
	if (!n)
		return;
	leat_json_list(j, "storage", false);
	for (size_t i = 0; i < n; i++) {
		leat_json_object(j, NULL, true);
		leat_json_string(j, "name", devices[i].name);
		if (devices[i].type)
			leat_json_string(j, "type", devices[i].type);
		leat_json_number(j, "bandwidth", devices[i].bandwidth_mbps);
		if (devices[i].size_bytes)
			leat_json_number(j, "size", devices[i].size_bytes / 1000000000);
		if (devices[i].n_paths)
			leat_json_list(j, "paths", true);
		for (size_t p = 0; p < devices[i].n_paths; p++)
			leat_json_string(j, NULL, devices[i].paths[p]);
		if (devices[i].n_paths)
			leat_json_close(j);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void put_resources(struct leat_json *j, const struct leat_resources *res)
{
	if (!res)
		return;
	leat_json_object(j, "resources", false);
	leat_json_bool(j, "shared_working_directory", res->shared_dir);
	leat_json_list(j, "nodes", false);
	for (size_t i = 0; i < res->n_hosts; i++) {
		leat_json_object(j, NULL, false);
		leat_json_string(j, "name", res->hosts[i].name);
		leat_json_number(j, "computing_units", res->hosts[i].computing_units);
		leat_json_number(j, "io_executors", res->hosts[i].io_executors);
		put_devices(j, res->hosts[i].devices, res->hosts[i].n_devices);
		leat_json_close(j);
	}
	leat_json_close(j);
	put_devices(j, res->shared, res->n_shared);
	leat_json_close(j);
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
	put_resources(&j, wf->resources);
	leat_json_close(&j);
	if (rc)
		return rc;
	return fflush(out) || ferror(out) ? -EIO : 0;
}
