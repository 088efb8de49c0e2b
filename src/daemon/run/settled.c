/* Steps of which nothing more is to come. */
#include "daemon/run/settled.h"

#include "daemon/core/steps.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/run/unmade.h"

#include <errno.h>

static int file_settled(struct leat_daemon *d, const struct leat_file *f)
{
	enum leat_root root;
	struct stat st;

	switch (leat_stream_state(d->stream, f->name)) {
	case LEAT_FILE_ABSENT:
	case LEAT_FILE_PRODUCED:
		return -EAGAIN;
	case LEAT_FILE_FAILED:
		return -EIO;
	case LEAT_FILE_GONE:
		return 0;
	case LEAT_FILE_COMMITTED:
		break;
	}
	if (!f->rule->permanent)
		return 0;
	if (f->save_error)
		return -EIO;
	if (f->dirty || f->saving)
		return -EAGAIN;
	/* Only files and links are brought to disk; directories are made at the run's end. */
	if (f->saved || !leat_tree_has_ours(d->tree, f->name, &root, &st) ||
	    !(S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)))
		return 0;
	return -EAGAIN;
}

int leat_step_settled(struct leat_daemon *d, int step)
{
	const struct leat_step_run *s = &d->steps[step];
	const struct leat_file *f;
	int rc = 0;

	if (s->status || s->spoiled || s->tainted)
		return -EIO;
	if (!s->started || s->running || leat_descriptions_of_step(d, step) ||
	    leat_unmade_any(d, step))
		return -EAGAIN;
	for (f = d->files->by_name; f; f = f->hh.next) {
		int one = leat_steps_has(f->rule->producers, step) ? file_settled(d, f) : 0;

		if (one == -EIO)
			return one;
		rc = one ? one : rc;
	}
	return rc;
}
