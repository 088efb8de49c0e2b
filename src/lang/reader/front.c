/* One run of a front end: its tables, the workflow's directory and names. */
#include "lang/reader/front.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/reader/directory.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"

int leat_front_find_dir(struct leat_front *front)
{
	front->dir = leat_lang_dir(front->wf, front->given_dir);
	if (!front->dir)
		return errno == ENOMEM ? -ENOMEM : 0;
	front->real_dir = realpath(front->dir, NULL);
	return 0;
}

void leat_front_release(struct leat_front *front)
{
	leat_lookup_free(front->groups);
	leat_lookup_free(front->steps);
	free(front->dir);
	free(front->real_dir);
}

int leat_read_workflow_name(struct leat_front *front, const struct leat_pair *entry)
{
	const char *slash = strrchr(front->wf->path, '/');
	const char *text = slash ? slash + 1 : front->wf->path;
	size_t n = strcspn(text, ".");

	if (entry->value) {
		text = leat_read_text(front, entry);
		n = text ? strlen(text) : 0;
	}
	front->wf->name = n ? strndup(text, n) : strdup("workflow");
	return front->wf->name ? 0 : -ENOMEM;
}

int leat_read_step_name(struct leat_front *front, const struct leat_pair *entry, int *step)
{
	const char *name = leat_read_text(front, entry);
	const struct leat_lookup *known = name ? leat_lookup_find(front->steps, name) : NULL;
	const struct leat_step *added;

	*step = -1;
	if (known)
		leat_lang_report(front->diags, L_STEP_TWICE, entry->value->pos,
				 "a step \"%s\" already exists (line %d)", name,
				 front->wf->steps[known->index].pos.line);
	if (!name || known)
		return 0;
	added = leat_workflow_add_step(front->wf, name, entry->value->pos);
	if (!added)
		return -ENOMEM;
	*step = (int)front->wf->n_steps - 1;
	return leat_lookup_add(&front->steps, added->name, (size_t)*step);
}

void leat_step_unknown(struct leat_front *front, const char *name, struct leat_pos pos)
{
	const char *meant = NULL;
	unsigned best = 4;

	for (size_t i = 0; i < front->wf->n_steps; i++) {
		unsigned distance = leat_str_distance(front->wf->steps[i].name, name);

		if (distance < best && distance < strlen(name)) {
			best = distance;
			meant = front->wf->steps[i].name;
		}
	}
	if (meant)
		leat_lang_report(front->diags, L_STEP_UNKNOWN, pos,
				 "no step is called \"%s\"; did you mean \"%s\"?", name, meant);
	else
		leat_lang_report(front->diags, L_STEP_UNKNOWN, pos, "no step is called \"%s\"",
				 name);
}
