/* Reading files and choosing the front end. */
#include "lang/lang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	struct leat_value *root = NULL;
	int ret;

	/* "/" begins a comment that JSON does not have, but people write. */
	front->json = strchr("{[/", text[strspn(text, " \t\r\n")]) != NULL;
	ret = leat_value_parse(text, size, front->file, front->json, front->diags, &root);
	if (!ret)
		ret = read_kind(front, root);
	leat_value_free(root);
	return ret;
}

struct leat_workflow *leat_lang_parse(const char *text, size_t size, const char *path,
				      const char *dir, struct leat_diags **diags)
{
	struct leat_front front = {.given_dir = dir};
	const char *copy;
	int ret = leat_source_take(path, text, &size, diags, &copy);

	front.diags = *diags;
	if (!ret) {
		front.wf = leat_workflow_new();
		if (front.wf)
			front.wf->path = strdup(path);
		ret = front.wf && front.wf->path ? read_text(&front, copy, size) : -ENOMEM;
	}
	leat_front_release(&front);
	if (leat_source_finish(ret, diags))
		return front.wf;
	leat_workflow_free(front.wf);
	return NULL;
}

struct leat_workflow *leat_lang_load_in(const char *path, const char *dir,
					struct leat_diags **diags)
{
	size_t size = 0;
	char *text = leat_source_load(path, &size, diags);
	struct leat_workflow *wf = text ? leat_lang_parse(text, size, path, dir, diags) : NULL;

	free(text);
	return wf;
}

struct leat_workflow *leat_lang_load(const char *path, struct leat_diags **diags)
{
	return leat_lang_load_in(path, NULL, diags);
}
