#include "daemon/files/shown.h"

#include "daemon/core/problems.h"
#include "daemon/core/steps.h"

void leat_shown_note(struct leat_daemon *d, const char *name, const char *remedy)
{
	for (size_t i = 0; i < d->wf->n_steps; i++) {
		struct leat_step_run *s = &d->steps[i];

		if (!s->unseen || !s->running || s->shown)
			continue;
		s->shown = true;
		leat_problem_add(d, 0,
				 "step %s, which is staged, finds %s if it lists the workflow's "
				 "directory: leat has that there for steps that are streamed at "
				 "the same time; leave .leat-* out of the listing%s",
				 d->wf->steps[i].name, name, remedy);
	}
}
