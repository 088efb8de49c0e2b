/* Steps of which nothing more is to come. */
#include "daemon/run/settled.h"

#include "daemon/core/steps.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/run/unmade.h"

static enum leat_settled file_settled(struct leat_daemon *d, const struct leat_file *f,
				      enum leat_file_state state)
{
	enum leat_root root;
	struct stat st;

	switch (state) {
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

/* The outputs of one step together. */
struct outputs {
	struct leat_daemon *d;
	int step;
	enum leat_settled all;
};

static bool add_output(void *ctx, const char *name, enum leat_file_state state)
{
	struct outputs *o = ctx;
	const struct leat_file *f = leat_file_find(o->d, name);
	enum leat_settled one = f && leat_steps_has(f->rule->producers, o->step)
					? file_settled(o->d, f, state)
					: LEAT_SETTLED;

	if (one != LEAT_SETTLED)
		o->all = one;
	return o->all != LEAT_SETTLED_NEVER;
}

enum leat_settled leat_step_settled(struct leat_daemon *d, int step)
{
	const struct leat_step_run *s = &d->steps[step];
	struct outputs o = {.d = d, .step = step, .all = LEAT_SETTLED};

	if (s->status || s->spoiled || s->tainted)
		return LEAT_SETTLED_NEVER;
	if (s->state == LEAT_RUN_WAITING || s->running || leat_descriptions_of_step(d, step) ||
	    leat_unmade_any(d, step))
		return LEAT_SETTLED_NOT_YET;
	leat_stream_each_output(d->stream, step, add_output, &o);
	return o.all;
}
