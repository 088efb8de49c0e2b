#include "daemon/run/dying.h"

#include "base/pidstat.h"
#include "base/procstatus.h"
#include "daemon/core/processes.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/run/children.h"

#include <dirent.h>
#include <stdio.h>

enum { MAX_DEPTH = 64, PATH_SIZE = 64 };

/* What its processes have reported, which of them are gone, and what that has closed. */
static void hear(struct leat_daemon *d, int step)
{
	leat_procs_reap(d, step);
	leat_descriptions_after_step(d, step);
}

static bool is_open_output(const struct leat_description *l, int step)
{
	return l->step == step && l->counted && !l->reads;
}

static bool has_open_output(const struct leat_daemon *d, int step)
{
	const struct leat_description *l;

	for (l = d->files->descriptions; l; l = l->hh.next)
		if (is_open_output(l, step))
			return true;
	return false;
}

/* ---- openers behind a mount ---- */

/* The server of a mount in a container may have other numbers for processes. */
static bool has_our_numbers(pid_t server)
{
	return leat_pid_namespace_of(server) == leat_pid_namespace();
}

static bool any_opener_is_dying(const struct leat_daemon *d, int step)
{
	const struct leat_description *l;

	for (l = d->files->descriptions; l; l = l->hh.next)
		if (is_open_output(l, step) && l->behind && leat_process_is_dying(l->behind) &&
		    has_our_numbers(l->pid))
			return true;
	return false;
}

/* ---- processes that got them from another ---- */

/* True: neither the process nor one that descends from it. */
static bool none_is_dying(void *ctx, pid_t pid);

static bool any_below_is_dying(pid_t pid, int depth)
{
	char path[PATH_SIZE];
	struct dirent *e;
	bool found = false;
	DIR *dir;

	if (depth == MAX_DEPTH)
		return false;
	depth++;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !found && (e = readdir(dir)))
		found = e->d_name[0] != '.' &&
			leat_children_each(pid, e->d_name, none_is_dying, &depth) > 0;
	if (dir)
		closedir(dir);
	return found;
}

static bool none_is_dying(void *ctx, pid_t pid)
{
	const int *depth = ctx;

	return !leat_process_is_dying(pid) && !any_below_is_dying(pid, *depth);
}

static bool any_orphan_is_dying(const struct leat_daemon *d)
{
	return leat_orphans_each(d, none_is_dying, &(int){0}) > 0;
}

/* ---- all of them ---- */

bool leat_step_is_dying(struct leat_daemon *d, int step)
{
	bool dies;

	hear(d, step);
	if (!has_open_output(d, step))
		return false;
	dies = leat_procs_any_dying(d, step) || any_opener_is_dying(d, step) ||
	       any_orphan_is_dying(d);
	/* What was reported by those who have just gone. */
	hear(d, step);
	return has_open_output(d, step) && (dies || leat_descriptions_any_closing(d, step));
}
