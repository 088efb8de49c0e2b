/* Reading files and choosing the front end. */
#include "lang/lang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/capio/capio.h"
#include "lang/syntax/diagnostics.h"
#include "lang/syntax/source.h"
#include "lang/yaml/yaml.h"

/* CAPIO-CL and leat YAML are told apart by what they must have. */
static int read_kind(struct leat_front *front, const struct leat_value *root)
{
	bool graph = leat_value_get(root, "IO_Graph") != NULL;

	if (leat_value_get(root, "tasks"))
		return leat_yaml_read(front, root);
	if (front->json)
		return leat_capio_read(front, root);
	leat_lang_report(
		front->diags, L_FILE_KIND, root->pos,
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
		leat_lang_report(front->diags, L_FILE_EMPTY, (struct leat_pos){0, 0, front->file},
				 "the file is empty");
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
