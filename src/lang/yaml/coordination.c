#include "lang/yaml/coordination.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lang/capio/capio.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"
#include "lang/syntax/source.h"
#include "lang/yaml/merge.h"

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
		leat_lang_report(front->diags, L_COORDINATION, entry->value->pos,
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
	path = leat_workflow_beside(front->wf, name);
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
