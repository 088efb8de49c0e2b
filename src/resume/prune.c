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
static bool is_name(const char *name)
{
	char prefix[16];
	size_t length = (size_t)snprintf(prefix, sizeof(prefix), "%u-", (unsigned)geteuid());

	return strncmp(name, prefix, length) == 0 &&
	       strspn(name + length, "0123456789abcdef-") == strlen(name + length) &&
	       strlen(name) < sizeof(((struct leat_prune *)0)->name);
}

/* Each run has its record renamed there when it begins. */
static bool look(int base_fd, const char *name, struct leat_prune *p)
{
	int fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	bool ours = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid();

	if (ours) {
		*p = (struct leat_prune){.used_s = st.st_mtim.tv_sec};
		strcpy(p->name, name);
	}
	leat_close(&fd);
	return ours;
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
	DIR *dir = open_list(base_fd, ".");
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (!is_name(e->d_name) || strcmp(e->d_name, keep) == 0)
			continue;
		if (n == capacity) {
			capacity = capacity ? 2 * capacity : 64;
			grown = reallocarray(all, capacity, sizeof(*all));
			if (!grown)
				break; /* the next run sees to the rest */
			all = grown;
		}
		n += look(base_fd, e->d_name, &all[n]);
	}
	if (dir)
		closedir(dir);
	leat_prune_decide(all, n, (int64_t)time(NULL));
	for (size_t i = 0; i < n; i++)
		if (all[i].goes)
			remove_one(base_fd, all[i].name);
	free(all);
}
