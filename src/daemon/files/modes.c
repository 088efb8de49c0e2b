#include "daemon/files/modes.h"

#include "daemon/core/problems.h"
#include "daemon/files/files.h"
#include "daemon/files/publish_name.h"

/* A later step that has examined it has seen another mode than in a batch. */
void leat_mode_changes(struct leat_daemon *d, struct leat_file *f, int step, const char *seen,
		       mode_t was, mode_t is)
{
	if ((was & 07777) == (is & 07777) || f->mode_reported)
		return;
	leat_file_withdraw_name(d, f);
	if (!leat_stream_is_examined(d->stream, step, f->name))
		return;
	f->mode_reported = true;
	leat_problem_add(d, 0,
			 "step %s gives %s, which is complete, mode %o: others have seen it with "
			 "mode %o; %s",
			 d->wf->steps[step].name, seen, is & 07777, was & 07777,
			 leat_stream_role(d->stream, step, f->name) == LEAT_ROLE_PRODUCER
				 ? "set it before the file is closed, or by the umask"
				 : "let the step that makes the file set it");
}
