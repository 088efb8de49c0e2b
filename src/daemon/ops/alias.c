/* Other names of the workflow's directory: where its file system is mounted elsewhere, too, files
 * can be used past leat. See proc_pid_mountinfo(5). */
#include "daemon/ops/alias.h"

#include "base/log.h"
#include "base/str.h"
#include "daemon/core/problems.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mount {
	char device[32];
	char root[PATH_MAX]; /* the directory of the file system that is seen */
	char point[PATH_MAX];
};

static bool read_mount(FILE *in, struct mount *m)
{
	char *line = NULL;
	size_t capacity = 0;
	bool found = false;

	while (!found && getline(&line, &capacity, in) > 0)
		found = sscanf(line, "%*d %*d %31s %4095s %4095s", m->device, m->root, m->point) ==
			3;
	free(line);
	if (found) {
		leat_str_unescape(m->root);
		leat_str_unescape(m->point);
	}
	return found;
}

/* The mount through which `dir` is seen: of those above it the deepest, of several there the last.
 */
static bool find_own(FILE *in, const char *dir, struct mount *own)
{
	struct mount m;
	bool found = false;

	while (read_mount(in, &m))
		if (leat_path_behind(dir, m.point) &&
		    (!found || strlen(m.point) >= strlen(own->point))) {
			*own = m;
			found = true;
		}
	return found;
}

/* The name by which `m` shows the directory `inside` of its file system, or a part of it. */
static bool name_in(const struct mount *m, const char *inside, char out[PATH_MAX])
{
	const char *rest = leat_path_behind(inside, m->root);

	if (!rest && !leat_path_behind(m->root, inside))
		return false;
	return snprintf(out, PATH_MAX, "%s%s", rest && strcmp(m->point, "/") == 0 ? "" : m->point,
			rest ? rest : "") < PATH_MAX;
}

/* Does the name lead to the directory, and not to what was mounted over it? */
static bool leads_there(const struct leat_daemon *d, const char *name, bool whole)
{
	struct stat there, here;

	if (leat_path_behind(name, d->dir) || stat(name, &there) < 0 ||
	    fstat(d->disk_fd, &here) < 0)
		return false;
	return there.st_dev == here.st_dev && (!whole || there.st_ino == here.st_ino);
}

static void warn(struct leat_daemon *d, const char *name)
{
	leat_problem_add(d, 0, "%s is mounted a second time, at %s: %s", d->dir, name,
			 d->options.enforce
				 ? "what goes there by that name is not held to what it declares"
				 : "what goes there by that name is not seen, and does not find "
				   "what is in memory; use the first name");
}

void leat_alias_warn(struct leat_daemon *d)
{
	struct mount own, m;
	char inside[2 * PATH_MAX], name[PATH_MAX];
	FILE *in = fopen("/proc/self/mountinfo", "re");

	if (!in) {
		leat_warn("cannot look for other names of %s: %s", d->dir, strerror(errno));
		return;
	}
	if (find_own(in, d->dir, &own)) {
		snprintf(inside, sizeof(inside), "%s%s", strcmp(own.root, "/") ? own.root : "",
			 leat_path_behind(d->dir, own.point));
		rewind(in);
		while (read_mount(in, &m))
			if (strcmp(m.device, own.device) == 0 && name_in(&m, inside, name) &&
			    leads_there(d, name, leat_path_behind(inside, m.root) != NULL))
				warn(d, name);
	}
	fclose(in);
}
