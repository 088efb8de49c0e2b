#include "daemon/run/dying.h"

#include "base/pidstat.h"
#include "base/procstatus.h"
#include "daemon/core/processes.h"
#include "daemon/core/steps.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/run/peek.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_DEPTH = 64, PATH_SIZE = 64, TID_SIZE = 24 };

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

/* ---- who opened them behind a mount ---- */

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

/* ---- who was given them by another ---- */

static bool any_listed_is_dying(const struct leat_daemon *d, const char *list, bool orphans,
				int depth);

static bool any_below_is_dying(const struct leat_daemon *d, pid_t pid, int depth)
{
	char path[PATH_SIZE], *text = NULL;
	struct dirent *e;
	bool found = false;
	DIR *dir;

	if (depth == MAX_DEPTH)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !found && (e = readdir(dir))) {
		if (e->d_name[0] == '.' ||
		    leat_peek_task(pid, e->d_name, "children", 1 << 20, &text) < 0)
			continue;
		found = any_listed_is_dying(d, text, false, depth + 1);
		free(text);
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool is_looked_after(const struct leat_daemon *d, pid_t pid)
{
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->steps[i].running && d->steps[i].pid == pid)
			return true;
	return pid == getpid();
}

/* A list as in "children"; of `orphans` some are no such. */
static bool any_listed_is_dying(const struct leat_daemon *d, const char *list, bool orphans,
				int depth)
{
	bool found = false;
	char *end;

	for (; !found; list = end) {
		pid_t pid = (pid_t)strtol(list, &end, 10);

		if (end == list)
			break;
		if (!orphans || !is_looked_after(d, pid))
			found = leat_process_is_dying(pid) || any_below_is_dying(d, pid, depth);
	}
	return found;
}

/* Orphans come to the driver. Whose they are nobody knows. */
static bool any_orphan_is_dying(const struct leat_daemon *d)
{
	char tid[TID_SIZE], *text = NULL;
	bool found;

	snprintf(tid, sizeof(tid), "%d", (int)d->driver);
	if (d->driver <= 0 || leat_peek_task(d->driver, tid, "children", 1 << 20, &text) < 0)
		return false;
	found = any_listed_is_dying(d, text, true, 0);
	free(text);
	return found;
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
