#include "cli/trace_filter.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/command.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TYPES "OCRWUXMNT"

static int parse_types(struct leat_cli_filter *f, const char *types)
{
	size_t good = types ? strspn(types, TYPES) : 0;

	if (types && (!*types || types[good])) {
		leat_error("--types %s: \"%s\" is no type; they are O open, C create, R read, W "
			   "write, U unlink, X close, M map, N rename, T truncate",
			   types, types + good);
		return LEAT_EXIT_USAGE;
	}
	f->filter.types = types;
	return 0;
}

/* A number that is all of the text. */
static bool is_number(const char *text, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(text, &end, 10);
	return end != text && !*end && !errno && *number >= 0 && *number <= INT32_MAX;
}

static int parse_pids(struct leat_cli_filter *f, const struct leat_args *args)
{
	const char *texts[LEAT_MAX_REPEATED];
	size_t n = leat_args_list(args, "pid", texts);

	for (size_t i = 0; i < n; i++) {
		long pid;

		if (!is_number(texts[i], &pid) || pid == 0) {
			leat_error("--pid %s: that is not the number of a process", texts[i]);
			return LEAT_EXIT_USAGE;
		}
		if (kill((pid_t)pid, 0) < 0 && errno == ESRCH) {
			leat_error("--pid %s: there is no such process", texts[i]);
			return LEAT_EXIT_SELF;
		}
		f->pids[i] = (pid_t)pid;
	}
	f->filter.pids = f->pids;
	f->filter.n_pids = n;
	return 0;
}

static int parse_user(struct leat_cli_filter *f, const char *text)
{
	const struct passwd *user = text ? getpwnam(text) : NULL;
	long number;

	if (!text)
		return 0;
	if (!user && !is_number(text, &number)) {
		leat_error("--user %s: there is no such user; give a name or a number", text);
		return LEAT_EXIT_USAGE;
	}
	f->filter.by_uid = true;
	f->filter.uid = user ? user->pw_uid : (uid_t)number;
	return 0;
}

static int parse_group(struct leat_cli_filter *f, const char *text)
{
	const struct group *group = text ? getgrnam(text) : NULL;
	long number;

	if (!text)
		return 0;
	if (!group && !is_number(text, &number)) {
		leat_error("--group %s: there is no such group; give a name or a number", text);
		return LEAT_EXIT_USAGE;
	}
	f->filter.by_gid = true;
	f->filter.gid = group ? group->gr_gid : (gid_t)number;
	return 0;
}

/* Records have real paths; so must the directories, which may be yet to be made. */
static char *real_directory(const char *text)
{
	char *path = realpath(text, NULL), *here, *full;

	if (path || errno != ENOENT)
		return path;
	here = *text == '/' ? NULL : getcwd(NULL, 0);
	full = leat_path_join(here, text);
	free(here);
	while (full && strlen(full) > 1 && full[strlen(full) - 1] == '/')
		full[strlen(full) - 1] = 0;
	return full;
}

static int parse_dirs(struct leat_cli_filter *f, const struct leat_args *args)
{
	const char *texts[LEAT_MAX_REPEATED];
	size_t n = leat_args_list(args, "dir", texts);

	for (size_t i = 0; i < n; i++) {
		f->dirs[i] = real_directory(texts[i]);
		if (!f->dirs[i]) {
			leat_error("--dir %s: %s", texts[i], strerror(errno));
			return LEAT_EXIT_SELF;
		}
		f->filter.n_dirs = i + 1;
	}
	f->filter.dirs = (const char *const *)f->dirs;
	return 0;
}

/* Is a type among those of /proc/filesystems, whose lines end in them? */
static bool is_filesystem(const char *known, const char *type)
{
	size_t length = strlen(type);

	for (const char *at = known; length && (at = strstr(at, type)) != NULL; at += length)
		if (at > known && at[-1] == '\t' && at[length] == '\n')
			return true;
	return false;
}

/* One that is not there may come with a module: it is no mistake for certain. */
static void parse_filesystems(struct leat_cli_filter *f, const struct leat_args *args)
{
	char *known = NULL;

	f->filter.n_filesystems = leat_args_list(args, "filesystem", f->filesystems);
	f->filter.filesystems = f->filesystems;
	if (!f->filter.n_filesystems || leat_read_file("/proc/filesystems", 1 << 20, &known, NULL))
		return;
	for (size_t i = 0; i < f->filter.n_filesystems; i++)
		if (!is_filesystem(known, f->filesystems[i]))
			leat_warn("--filesystem %s: /proc/filesystems has no such type now, so "
				  "there is nothing of it to record",
				  f->filesystems[i]);
	free(known);
}

int leat_cli_filter_init(struct leat_cli_filter *f, const struct leat_args *args)
{
	int status;

	*f = (struct leat_cli_filter){0};
	parse_filesystems(f, args);
	status = parse_types(f, leat_args_text(args, "types"));
	if (!status)
		status = parse_pids(f, args);
	if (!status)
		status = parse_user(f, leat_args_text(args, "user"));
	if (!status)
		status = parse_group(f, leat_args_text(args, "group"));
	if (!status)
		status = parse_dirs(f, args);
	if (status)
		leat_cli_filter_release(f);
	return status;
}

void leat_cli_filter_release(struct leat_cli_filter *f)
{
	for (size_t i = 0; i < LEAT_MAX_REPEATED; i++)
		free(f->dirs[i]);
	*f = (struct leat_cli_filter){0};
}
