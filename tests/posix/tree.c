/* The tree under test as a whole. */
#include "world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Before that, times were set on purpose; all others are "now". */
enum { LONG_AGO = 1000000000 };

void say_stat(struct world *w, const struct stat *st)
{
	say(w, " %06o %u:%u", st->st_mode, st->st_uid, st->st_gid);
	if (!S_ISDIR(st->st_mode))
		say(w, " nlink %lu", (unsigned long)st->st_nlink);
	if (S_ISREG(st->st_mode))
		say(w, " size %lld", (long long)st->st_size);
	if (st->st_mtim.tv_sec < LONG_AGO)
		say(w, " mtime %lld.%09ld", (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

static void say_content(struct world *w, const char *path)
{
	uint64_t h = 0;
	off_t size = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0) {
		say(w, " -%s", strerrorname_np(errno));
		return;
	}
	while ((n = read(fd, w->bytes, MAX_BYTES)) > 0) {
		h = h * 31 + digest(w->bytes, (size_t)n);
		size += n;
	}
	if (n < 0)
		say(w, " read -%s", strerrorname_np(errno));
	else
		say(w, " bytes %lld %08llx", (long long)size, (unsigned long long)h);
	close(fd);
}

static void say_xattrs(struct world *w, const char *path)
{
	char value[256];
	ssize_t n = lgetxattr(path, "user.x", value, sizeof(value));

	if (n >= 0)
		say(w, " user.x %.*s", (int)n, value);
}

static void log_file(struct world *w, const char *path);

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void log_directory(struct world *w, const char *path)
{
	struct dirent **entries;
	char child[2048];
	int n = scandir(path, &entries, NULL, by_name);

	if (n < 0) {
		say(w, "tree ");
		say_path(w, path);
		result(w, n);
		done(w);
		return;
	}
	for (int i = 0; i < n; i++) {
		snprintf(child, sizeof(child), "%s/%s", path, entries[i]->d_name);
		if (strcmp(entries[i]->d_name, ".") && strcmp(entries[i]->d_name, ".."))
			log_file(w, child);
		free(entries[i]);
	}
	free(entries);
}

static void log_file(struct world *w, const char *path)
{
	struct stat st;
	char target[1100];

	say(w, "tree ");
	say_path(w, path);
	if (lstat(path, &st) < 0) {
		result(w, -1);
		done(w);
		return;
	}
	say_stat(w, &st);
	say_xattrs(w, path);
	if (S_ISREG(st.st_mode))
		say_content(w, path);
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlink(path, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = 0;
		say(w, " -> ");
		say_path(w, target);
	}
	done(w);
	if (S_ISDIR(st.st_mode))
		log_directory(w, path);
}

void log_tree(struct world *w)
{
	log_directory(w, w->root);
}

void remove_tree(const char *path)
{
	struct dirent **entries;
	char child[2048];
	int n;

	if (unlink(path) == 0 || errno == ENOENT)
		return;
	chmod(path, 0700);
	n = scandir(path, &entries, NULL, NULL);
	for (int i = 0; i < n; i++) {
		snprintf(child, sizeof(child), "%s/%s", path, entries[i]->d_name);
		if (strcmp(entries[i]->d_name, ".") && strcmp(entries[i]->d_name, ".."))
			remove_tree(child);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	rmdir(path);
}
