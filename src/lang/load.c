/* Reading files and choosing the front end. */
#include "lang/lang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/front.h"

/* CAPIO-CL and leat YAML are told apart by what they must have. */
static int read_kind(struct leat_front *front, const struct leat_value *root)
{
	bool graph = leat_value_get(root, "IO_Graph") != NULL;

	if (leat_value_get(root, "tasks"))
		return leat_yaml_read(front, root);
	if (front->json)
		return leat_capio_read(front, root);
	leat_say(front->diags, "L-FILE-KIND", root->pos,
		 graph ? "CAPIO-CL is written in JSON: the file must begin with \"{\""
		       : "no workflow: leat YAML has \"tasks\" at the top, CAPIO-CL is JSON with "
			 "\"IO_Graph\"");
	return 0;
}

static int read_text(struct leat_front *front, const char *text, size_t size)
{
	size_t blank = strspn(text, " \t\r\n");
	struct leat_value *root = NULL;
	int ret;

	if (!leat_source_check(front->diags, text, size, front->file))
		return 0;
	if (blank == size) {
		leat_say(front->diags, "L-FILE-EMPTY", (struct leat_pos){0, 0, front->file},
			 "the file holds nothing");
		return 0;
	}
	/* "/" begins a comment that JSON does not have, but people write. */
	front->json = strchr("{[/", text[blank]) != NULL;
	ret = leat_value_parse(text, size, front->file, front->json, front->diags, &root);
	if (!ret)
		ret = read_kind(front, root);
	leat_value_free(root);
	return ret == -EINVAL ? 0 : ret;
}

struct leat_workflow *leat_lang_parse(const char *text, size_t size, const char *path,
				      const char *dir, struct leat_diags **diags)
{
	char *copy = leat_source_copy(text, &size);
	struct leat_front front = {.given_dir = dir};
	int ret = -ENOMEM;

	*diags = copy ? leat_diags_new(path, copy) : NULL;
	if (!*diags || leat_diags_keep(*diags, copy)) {
		free(copy);
		goto out;
	}
	front.diags = *diags;
	front.wf = leat_workflow_new();
	if (!front.wf)
		goto out;
	front.wf->path = strdup(path);
	if (front.wf->path)
		ret = read_text(&front, copy, size);
out:
	leat_front_release(&front);
	if (ret || leat_diags_count(*diags, LEAT_ERROR)) {
		leat_workflow_free(front.wf);
		front.wf = NULL;
	}
	if (ret) {
		leat_diags_free(*diags);
		*diags = NULL;
	}
	return front.wf;
}

struct leat_workflow *leat_lang_load_in(const char *path, const char *dir,
					struct leat_diags **diags)
{
	struct leat_workflow *wf = NULL;
	char *text = NULL;
	size_t size = 0;
	int ret = leat_source_read(path, &text, &size);

	if (ret) {
		*diags = ret == -ENOMEM ? NULL : leat_diags_new(path, NULL);
		if (*diags)
			leat_source_unreadable(*diags, ret, (struct leat_pos){0, 0, 0}, "the file");
		return NULL;
	}
	wf = leat_lang_parse(text, size, path, dir, diags);
	free(text);
	return wf;
}

struct leat_workflow *leat_lang_load(const char *path, struct leat_diags **diags)
{
	return leat_lang_load_in(path, NULL, diags);
}

/* --- The coordination file of a YAML file ------------------------------------- */

/* `name` relative to the folder of `path`. NULL when out of memory. */
static char *beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	char *folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
	char *joined = folder ? leat_path_join(folder, name) : NULL;

	free(folder);
	return joined;
}

/* Parse the text of a coordination file, which the diagnostics own, and merge it. */
static int read_coordination(struct leat_front *front, const char *path, const char *text,
			     size_t size, const struct leat_pair *entry)
{
	struct leat_front inner = {.diags = front->diags, .json = true, .given_dir = front->dir};
	struct leat_value *root = NULL;
	int ret = -ENOMEM;

	inner.file = leat_diags_add_file(front->diags, path, text);
	inner.wf = leat_workflow_new();
	if (inner.file < 0 || !inner.wf)
		goto out;
	inner.wf->path = strdup(path);
	if (!inner.wf->path)
		goto out;
	ret = leat_source_check(front->diags, text, size, inner.file) ? 0 : -EINVAL;
	if (!ret)
		ret = leat_value_parse(text, size, inner.file, true, front->diags, &root);
	if (!ret && leat_value_get(root, "tasks"))
		leat_say(front->diags, "L-COORDINATION", entry->value->pos,
			 "%s is not a CAPIO-CL file", entry->value->text);
	else if (!ret)
		ret = leat_capio_read(&inner, root);
	if (!ret)
		ret = leat_merge(front, inner.wf);
out:
	leat_value_free(root);
	leat_front_release(&inner);
	leat_workflow_free(inner.wf);
	return ret == -EINVAL ? 0 : ret;
}

int leat_read_coordination(struct leat_front *front, const struct leat_pair *entry)
{
	const char *name = leat_read_text(front, entry);
	char *path, *text = NULL, *copy = NULL;
	size_t size = 0;
	int ret;

	if (!name)
		return 0;
	path = beside(front->wf->path, name);
	if (!path)
		return -ENOMEM;
	ret = leat_source_read(path, &text, &size);
	if (ret && ret != -ENOMEM) {
		leat_source_unreadable(front->diags, ret, entry->value->pos, path);
		ret = 0;
		goto out;
	}
	copy = ret ? NULL : leat_source_copy(text, &size);
	if (!copy || leat_diags_keep(front->diags, copy)) {
		free(copy);
		ret = -ENOMEM;
		goto out;
	}
	ret = read_coordination(front, path, copy, size, entry);
out:
	free(text);
	free(path);
	return ret;
}
