#include "resume/prune.h"

#include "base/fd.h"
#include "base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- which ---- */

static int by_use(const void *a, const void *b)
{
	const struct leat_prune *p = a, *q = b;

	return (p->used_s < q->used_s) - (p->used_s > q->used_s); /* the last used first */
}

void leat_prune_decide(struct leat_prune *all, size_t n, int64_t now_s)
{
	if (n)
		qsort(all, n, sizeof(*all), by_use);
	for (size_t i = 0; i < n; i++) {
		int64_t unused_s = now_s - all[i].used_s;

		all[i].goes = unused_s > LEAT_PRUNE_UNUSED_S ||
			      (i >= LEAT_PRUNE_MOST && unused_s > LEAT_PRUNE_LEAST_S);
	}
}

/* ---- looking ---- */

/* As state_dir.c makes them: the user's number, and two more. */
static bool is_name(const char *name, uid_t user)
{
	char prefix[16];
	size_t length = (size_t)snprintf(prefix, sizeof(prefix), "%u-", (unsigned)user);

	return strncmp(name, prefix, length) == 0 &&
	       strspn(name + length, "0123456789abcdef-") == strlen(name + length) &&
	       strlen(name) < sizeof(((struct leat_prune *)0)->name);
}

/* Each run has its record renamed there when it begins. */
static bool look(int base_fd, const char *name, uid_t user, struct leat_prune *p)
{
	struct stat st;

	if (fstatat(base_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != user)
		return false;
	*p = (struct leat_prune){.used_s = st.st_mtim.tv_sec};
	strcpy(p->name, name);
	return true;
}

/* ---- how often ---- */

/* Not by each of many short runs: looking at a thousand takes as long as such a run. */
static bool is_due(int base_fd, uid_t user)
{
	char stamp[32];
	struct stat st;
	int64_t since_s = -1;
	int fd;

	snprintf(stamp, sizeof(stamp), ".pruned-%u", (unsigned)user);
	if (fstatat(base_fd, stamp, &st, AT_SYMLINK_NOFOLLOW) == 0)
		since_s = (int64_t)time(NULL) - st.st_mtim.tv_sec;
	if (since_s >= 0 && since_s < LEAT_PRUNE_EVERY_S)
		return false;
	fd = openat(base_fd, stamp, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		futimens(fd, NULL); /* where that fails, the next run looks, too */
	leat_close(&fd);
	return true;
}

static DIR *open_list(int fd, const char *name)
{
	int list = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = list < 0 ? NULL : fdopendir(list);

	if (!dir)
		leat_close(&list);
	return dir;
}

/* ---- removing ---- */

/* The record, what was to take its place, and what failed steps have printed. */
static bool is_leats(const char *name)
{
	return strcmp(name, "directory") == 0 || leat_str_ends(name, ".record") ||
	       leat_str_ends(name, ".record.new") || leat_str_ends(name, ".log");
}

static void remove_one(int base_fd, const char *name)
{
	DIR *dir = open_list(base_fd, name);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (is_leats(e->d_name))
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	unlinkat(base_fd, name, AT_REMOVEDIR); /* if it is empty */
}

void leat_prune(int base_fd, const char *keep)
{
	size_t n = 0, capacity = 0;
	struct leat_prune *all = NULL, *grown;
	const uid_t user = geteuid();
	DIR *dir = is_due(base_fd, user) ? open_list(base_fd, ".") : NULL;
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (!is_name(e->d_name, user) || strcmp(e->d_name, keep) == 0)
			continue;
		if (n == capacity) {
			capacity = capacity ? 2 * capacity : 64;
			grown = reallocarray(all, capacity, sizeof(*all));
			if (!grown)
				break; /* the next run sees to the rest */
			all = grown;
		}
		n += look(base_fd, e->d_name, user, &all[n]);
	}
	if (dir)
		closedir(dir);
	leat_prune_decide(all, n, (int64_t)time(NULL));
	for (size_t i = 0; i < n; i++)
		if (all[i].goes)
			remove_one(base_fd, all[i].name);
	free(all);
}
