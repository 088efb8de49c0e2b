/* Finding the processes of steps in /proc: members of the steps' process
 * groups, and orphans that came to us because we are their subreaper. */
#include "driver/actor.h"

#include "base/fd.h"
#include "base/pidstat.h"
#include "base/str.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reading what /proc says of a process costs a hundred times as much, and there may be many that
 * are none of ours. */
static bool may_be_leftover(const struct leat_driver *d, pid_t pid)
{
	const pid_t group = getpgid(pid);
	siginfo_t unused;

	for (size_t i = 0; group > 0 && i < d->wf->n_steps; i++)
		if (d->steps[i].process.pid == group)
			return true;
	/* a child, which this leaves as it is */
	return waitid(P_PID, (id_t)pid, &unused, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

static bool is_leftover(const struct leat_driver *d, pid_t pid, const struct leat_pidstat *info)
{
	if (pid == d->config->daemon_pid || leat_actors_has(d, pid) || info->state == 'Z' ||
	    info->state == 'X')
		return false;
	if (info->parent == getpid())
		return true;
	for (size_t i = 0; i < d->wf->n_steps; i++)
		if (d->steps[i].process.pid > 0 && d->steps[i].process.pid == info->group)
			return true;
	return false;
}

/* Is this descriptor a writable one on a file of the run? */
static bool writes_here(const struct leat_driver *d, pid_t pid, const char *fd)
{
	char path[64], target[4096], *text = NULL;
	unsigned long flags = 0;
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.12s", (int)pid, fd);
	if (leat_read_file(path, 4096, &text, NULL) < 0)
		return false;
	if (strstr(text, "flags:"))
		flags = strtoul(strstr(text, "flags:") + 6, NULL, 8);
	free(text);
	if ((flags & O_ACCMODE) == O_RDONLY)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%.12s", (int)pid, fd);
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (d->config->control && st.st_dev == leat_control_store_dev(d->config->control))
		return true;
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	return leat_str_begins(target, d->config->dir);
}

static bool is_writing(const struct leat_driver *d, pid_t pid)
{
	char path[64];
	struct dirent *e;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && !found && (e = readdir(dir)))
		found = isdigit((unsigned char)e->d_name[0]) && writes_here(d, pid, e->d_name);
	if (dir)
		closedir(dir);
	return found;
}

static void add_leftover(const struct leat_driver *d, pid_t pid, const struct leat_pidstat *info,
			 struct leat_leftover *out)
{
	size_t used = strlen(out->names);

	snprintf(out->names + used, sizeof(out->names) - used, "%s%s (pid %d)", out->n ? ", " : "",
		 info->name, (int)pid);
	out->n++;
	out->writing = out->writing || is_writing(d, pid);
}

void leat_leftover_find(const struct leat_driver *d, int signo, struct leat_leftover *out)
{
	struct leat_pidstat info;
	struct dirent *e;
	DIR *dir = opendir("/proc");

	*out = (struct leat_leftover){0};
	while (dir && (e = readdir(dir))) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid <= 0 || !may_be_leftover(d, pid) || !leat_pidstat_read(pid, &info) ||
		    !is_leftover(d, pid, &info))
			continue;
		if (signo) {
			kill(pid, signo);
			kill(pid, SIGCONT);
		}
		add_leftover(d, pid, &info, out);
	}
	if (dir)
		closedir(dir);
}
