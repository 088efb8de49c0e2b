/* Steps of which nothing more is to come. */
#include "daemon/run/settled.h"

#include "daemon/core/steps.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/run/unmade.h"

static enum leat_settled file_settled(struct leat_daemon *d, const struct leat_file *f)
{
	enum leat_root root;
	struct stat st;

	switch (leat_stream_state(d->stream, f->name)) {
	case LEAT_FILE_ABSENT:
	case LEAT_FILE_PRODUCED:
		return LEAT_SETTLED_NOT_YET;
	case LEAT_FILE_FAILED:
		return LEAT_SETTLED_NEVER;
	case LEAT_FILE_GONE:
		return LEAT_SETTLED;
	case LEAT_FILE_COMMITTED:
		break;
	}
	if (!f->rule->permanent)
		return LEAT_SETTLED;
	if (f->save_error)
		return LEAT_SETTLED_NEVER;
	if (f->dirty || f->saving)
		return LEAT_SETTLED_NOT_YET;
	/* Only files and links are brought to disk; directories are made at the run's end. */
	if (f->saved || !leat_tree_has_ours(d->tree, f->name, &root, &st) ||
	    !(S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)))
		return LEAT_SETTLED;
	return LEAT_SETTLED_NOT_YET;
}

enum leat_settled leat_step_settled(struct leat_daemon *d, int step)
{
	const struct leat_step_run *s = &d->steps[step];
	const struct leat_file *f;
	enum leat_settled all = LEAT_SETTLED;

	if (s->status || s->spoiled || s->tainted)
		return LEAT_SETTLED_NEVER;
	if (s->state == LEAT_RUN_WAITING || s->running || leat_descriptions_of_step(d, step) ||
	    leat_unmade_any(d, step))
		return LEAT_SETTLED_NOT_YET;
	for (f = d->files->by_name; f; f = f->hh.next) {
		enum leat_settled one = leat_steps_has(f->rule->producers, step)
						? file_settled(d, f)
						: LEAT_SETTLED;

		if (one == LEAT_SETTLED_NEVER)
			return one;
		if (one != LEAT_SETTLED)
			all = one;
	}
	return all;
}
