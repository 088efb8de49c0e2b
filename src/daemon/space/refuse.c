#include "daemon/space/refuse.h"

#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/space/space.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>

/* Of a store that has less left there is none for who writes. */
#define FULL_BYTES UINT64_C(65536)

/* Why the file itself does not make way. */
static void report_why(const struct leat_daemon *d, int why, char *out, size_t size)
{
	const char *path = d->space->path;

	if (why == -ENOSPC)
		snprintf(out, size, "so is %s; give more with --memory, or another place with %s",
			 *path ? path : "the place for the rest", "--spill-dir");
	else
		snprintf(out, size, "it cannot go to disk while it is %s; give more with --memory",
			 why == -ENOTSUP
				 ? "mapped, or has several names or none"
				 : "open in a program that does not follow it, or a stopped one");
}

void leat_space_refuse(struct leat_daemon *d, int step, struct leat_file *f, int why)
{
	char reason[PATH_MAX + 100];

	leat_step_cramped(d, step, f->name);
	if (f->cramped)
		return;
	f->cramped = true;
	report_why(d, why, reason, sizeof(reason));
	leat_problem_add(d, 0,
			 "step %s: no space for %s: the memory for files (%llu MB) is full, and %s",
			 step >= 0 ? d->wf->steps[step].name : "?", f->name,
			 (unsigned long long)(d->space->budget_bytes >> 20), reason);
}

/* ---- writes that nobody sees ---- */

void leat_space_stays(struct leat_daemon *d, int step, struct leat_file *f, int why)
{
	if (step < 0)
		return;
	f->unseen_step = step;
	f->unseen_why = why;
	d->space->has_unseen = true;
}

/* One that has no name is nowhere else. */
static bool is_written_unseen(struct leat_daemon *d, const struct leat_file *f)
{
	return f->unseen_why && d->steps[f->unseen_step].running &&
	       (f->retired || leat_tree_has(d->tree, LEAT_ROOT_STORE, f->name, NULL));
}

static bool is_full(struct leat_daemon *d)
{
	uint64_t size, used;

	return leat_store_usage(d->store, &size, &used) == 0 && used + FULL_BYTES > size;
}

void leat_space_watch(struct leat_daemon *d)
{
	struct leat_file *f;

	if (!d->space->has_unseen || !is_full(d))
		return;
	for (f = d->files->by_name; f; f = f->hh.next)
		if (is_written_unseen(d, f))
			leat_space_refuse(d, f->unseen_step, f, f->unseen_why);
}

/* ---- files that have moved ---- */

void leat_space_blame_moves(struct leat_daemon *d, int step, int status)
{
	const struct leat_file *f, *moved = NULL;
	unsigned n = 0;

	if (!WIFEXITED(status))
		return;
	for (f = d->files->by_name; f; f = f->hh.next) {
		if (!f->moved_ns || f->moved_ns < d->steps[step].start_ns ||
		    !leat_steps_has(f->rule->consumers, step))
			continue;
		moved = f;
		n++;
	}
	if (moved)
		leat_problem_add(
			d, 0,
			"step %s read %s%s, which was moved between memory and disk "
			"meanwhile and has another inode number by that: a program that "
			"compares it (cp: \"replaced while being copied\") fails; give more "
			"with --memory",
			d->wf->steps[step].name, moved->name, n > 1 ? " and others" : "");
}
