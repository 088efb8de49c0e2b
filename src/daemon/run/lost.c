#include "daemon/run/lost.h"

#include "base/str.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/run/run.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void leat_lost_note(struct leat_daemon *d, int step, const char *why)
{
	struct leat_step_run *s = &d->steps[step];

	if (s->running && s->spoiled)
		return;
	if (s->running)
		s->spoiled = leat_problem_text(d, why);
	/* Who ended before was a process that it left behind: the run has failed. */
	if (!s->running || !s->spoiled)
		leat_problem_add(d, -EIO, "step %s: %s", d->wf->steps[step].name, why);
}

static void note_cause(struct leat_daemon *d, int step, const char *program, unsigned cause)
{
	char *why = leat_strf("%s %s: %s", program, leat_wire_lost_what((enum leat_lost)cause),
			      leat_wire_lost((enum leat_lost)cause));

	leat_lost_note(d, step, why ? why : "a process could not reach the daemon");
	free(why);
}

/* "<cause>\n<program>\n<step>" */
static void read_link(struct leat_daemon *d, int dir, const char *name)
{
	char text[PATH_MAX], *program, *step;
	ssize_t n = readlinkat(dir, name, text, sizeof(text) - 1);
	int i = -1;

	unlinkat(dir, name, 0);
	text[n > 0 ? n : 0] = 0;
	program = strchr(text, '\n');
	step = program ? strchr(program + 1, '\n') : NULL;
	if (!step)
		return;
	*program = *step = 0;
	i = leat_workflow_find_step(d->wf, step + 1);
	if (i >= 0)
		note_cause(d, i, program + 1, (unsigned)strtoul(text, NULL, 10));
}

static void collect_links(struct leat_daemon *d)
{
	char path[PATH_MAX + 16];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", d->session.dir, LEAT_LOST_LINKS);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			read_link(d, dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
}

void leat_lost_collect(struct leat_daemon *d)
{
	collect_links(d); /* they say more than the flags in the segment */
	for (uint32_t i = 0; i < d->wf->n_steps; i++) {
		uint32_t cause = leat_shm_take_lost(d->shm, i);

		if (cause && !(d->steps[i].running && d->steps[i].spoiled))
			note_cause(d, (int)i, "a process of it", cause);
	}
	leat_lost_directory(d);
}

void leat_lost_directory(struct leat_daemon *d)
{
	struct stat here, there;
	char why[PATH_MAX + 128];

	if (d->run->moved || fstat(d->disk_fd, &here) < 0 ||
	    (stat(d->dir, &there) == 0 && there.st_ino == here.st_ino &&
	     there.st_dev == here.st_dev))
		return;
	d->run->moved = true;
	snprintf(
		why, sizeof(why),
		"the workflow's directory %s was renamed, or another one is in its place: leave it "
		"where it is until the run has ended",
		d->dir);
	leat_problem_add(d, -ESTALE, "%s", why);
	leat_steps_spoil(d, why);
}
