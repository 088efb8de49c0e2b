/* Bubblewrap's root: an image directory is read-only, and may have no place for what is mounted in
 * it. Directories in which places are missing are made anew in memory, with all that they have. */
#include "driver/engine.h"

#include "base/fd.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first `n` bytes of an absolute path, in the image; NULL when out of memory. */
static char *make_path_inside(const char *image, const char *path, size_t n)
{
	return leat_strf("%s%.*s", image, (int)n, path);
}

/* So many bytes of `path` are a directory of the image, without symbolic links. 0: its root only.
 * -ENOMEM. */
static ssize_t find_depth(const char *image, const char *path)
{
	size_t depth = 0;

	for (size_t at = 1; path[depth]; at++) {
		struct stat st;
		char *there;
		bool is;

		at += strcspn(path + at, "/");
		there = make_path_inside(image, path, at);
		if (!there)
			return -ENOMEM;
		is = lstat(there, &st) == 0 && S_ISDIR(st.st_mode);
		free(there);
		if (!is)
			break;
		depth = at;
	}
	return (ssize_t)depth;
}

bool leat_engine_has_mount_point(const char *image, const char *path)
{
	return find_depth(image, path) == (ssize_t)strlen(path);
}

static int put_entry(const char *dir, int fd, const char *at, const char *name,
		     struct leat_argv *argv)
{
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		char target[4096];
		ssize_t n = readlinkat(fd, name, target, sizeof(target) - 1);

		if (n < 0)
			return -errno;
		leat_argv_add(argv, "--symlink");
		leat_argv_addf(argv, "%.*s", (int)n, target);
	} else {
		leat_argv_add(argv, "--ro-bind");
		leat_argv_addf(argv, "%s/%s", dir, name);
	}
	leat_argv_addf(argv, "%s/%s", at, name);
	return 0;
}

/* A place that the image lacks, of which it has the first `depth` bytes. */
struct missing {
	const char *place;
	size_t depth;
};

/* Is it where a directory for one of the `n` places has to be made, in that which they are in? */
static bool is_in_the_way(const char *name, const struct missing *in, const struct missing *all,
			  size_t n)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < n; i++) {
		const char *rest = all[i].place + all[i].depth + 1;

		if (all[i].depth == in->depth && strncmp(all[i].place, in->place, in->depth) == 0 &&
		    strncmp(rest, name, length) == 0 && (rest[length] == '/' || !rest[length]))
			return true;
	}
	return false;
}

static int is_entry(const struct dirent *e)
{
	return !leat_is_dots(e->d_name);
}

/* Make the directory anew that `in` is missing in. */
static int put_anew(const char *image, const struct missing *in, const struct missing *all,
		    size_t n, struct leat_argv *argv)
{
	char *dir = make_path_inside(image, in->place, in->depth);
	char *name = leat_strf("%.*s", (int)in->depth, in->place);
	struct dirent **list = NULL;
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int count = fd < 0 ? -1 : scandirat(fd, ".", &list, is_entry, alphasort);
	int rc = !dir || !name ? -ENOMEM : count < 0 ? -errno : 0;

	if (!rc && in->depth) {
		leat_argv_add(argv, "--tmpfs");
		leat_argv_add(argv, name);
	}
	for (int i = 0; i < count; i++) {
		if (!rc && !is_in_the_way(list[i]->d_name, in, all, n))
			rc = put_entry(dir, fd, name, list[i]->d_name, argv);
		free(list[i]);
	}
	free(list);
	leat_close(&fd);
	free(name);
	free(dir);
	return rc;
}

/* The places that are missing, the least deep first, into *missing, which the caller frees. Their
 * number or -ENOMEM. */
static int find_missing(const char *image, const char *const *places, struct missing **into)
{
	struct missing *missing;
	size_t most = 0;
	int n = 0;

	while (places[most])
		most++;
	*into = missing = calloc(most + 1, sizeof(*missing));
	if (!missing)
		return -ENOMEM;
	for (; *places; places++) {
		ssize_t depth = find_depth(image, *places);
		int to = n;

		if (depth < 0)
			return (int)depth;
		if ((size_t)depth == strlen(*places))
			continue;
		for (; to > 0 && missing[to - 1].depth > (size_t)depth; to--)
			missing[to] = missing[to - 1];
		missing[to] = (struct missing){*places, (size_t)depth};
		n++;
	}
	return n;
}

/* Has the directory been made anew for another place before? */
static bool is_done(const struct missing *missing, int i)
{
	for (int k = 0; k < i; k++)
		if (missing[k].depth == missing[i].depth &&
		    strncmp(missing[k].place, missing[i].place, missing[i].depth) == 0)
			return true;
	return false;
}

int leat_engine_root(const char *image, const char *const *places, struct leat_argv *argv,
		     struct leat_argv *after)
{
	struct missing *missing;
	int n = find_missing(image, places, &missing);
	int rc = n < 0 ? n : 0;

	if (!rc && (!n || missing[0].depth > 0)) {
		leat_argv_add(argv, "--ro-bind");
		leat_argv_add(argv, image);
		leat_argv_add(argv, "/");
	}
	for (int i = 0; !rc && i < n; i++) {
		if (is_done(missing, i))
			continue;
		rc = put_anew(image, &missing[i], missing, (size_t)n, argv);
		leat_argv_add(after, "--remount-ro");
		leat_argv_addf(after, "%.*s", missing[i].depth ? (int)missing[i].depth : 1,
			       missing[i].place);
	}
	free(missing);
	return rc;
}
