/* The first of these that can be used: $LEAT_STATE_DIR, and then no other; leat's directory in
 * $XDG_STATE_HOME, or in ~/.local/state, as of the XDG Base Directory Specification; and in
 * /var/tmp, for users whose home is not there, cannot be written, or is the workflow's directory.
 * In it each directory of workflows has one of its own, which is its owner's alone. */
#include "resume/state_dir.h"

#include "base/fd.h"
#include "base/str.h"
#include "resume/prune.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* Says which directory it is, for people. */
#define NOTE "directory"

enum { MAX_BASES = 2, KEY_BYTES = 64 };

/* The directory by what stays as it is when it is renamed, and in another node's view of the same
 * file system: not its device. An inode's number is used again, its time of birth is not. */
static int name_key(const char *dir, char key[KEY_BYTES])
{
	struct statx st;
	uint64_t born;

	if (statx(AT_FDCWD, dir, 0, STATX_INO | STATX_BTIME, &st) < 0)
		return -errno;
	born = (uint64_t)st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec;
	if (!(st.stx_mask & STATX_BTIME) || !born)
		born = XXH3_64bits(dir, strlen(dir));
	snprintf(key, KEY_BYTES, "%u-%" PRIx64 "-%" PRIx64, (unsigned)geteuid(),
		 (uint64_t)st.stx_ino, born);
	return 0;
}

static char *below_home(void)
{
	const char *home = getenv("HOME");
	const struct passwd *user = home && *home == '/' ? NULL : getpwuid(geteuid());
	struct stat st;

	if (user)
		home = user->pw_dir;
	/* A home that is not there is nobody's to make. */
	if (!home || *home != '/' || stat(home, &st) < 0)
		return NULL;
	return leat_path_join(home, ".local/state/leat");
}

static size_t list_bases(char *bases[MAX_BASES])
{
	const char *own = getenv("LEAT_STATE_DIR"), *state = getenv("XDG_STATE_HOME");
	size_t n = 0;

	if (own && *own) {
		bases[n++] = strdup(own);
		return n;
	}
	bases[n] = state && *state == '/' ? leat_path_join(state, "leat") : below_home();
	n += bases[n] != NULL;
	bases[n++] = leat_strf("/var/tmp/leat-%u", (unsigned)geteuid());
	return n;
}

/* Would it be in `dir`? It need not be there yet: what is there of its path says so. */
static bool is_within(const char *base, const char *dir)
{
	char *path = strdup(base), *real = NULL, *slash = path;
	bool within;

	while (slash && !(real = realpath(path, NULL)) && (slash = strrchr(path, '/')))
		*slash = 0;
	if (!real)
		real = realpath(*base == '/' ? "/" : ".", NULL);
	within = real && leat_path_behind(real, dir);
	free(real);
	free(path);
	return within;
}

static int make_all(const char *base)
{
	char *path = strdup(base);
	int rc = path ? 0 : -ENOMEM;

	for (char *p = path; !rc && (p = strchr(p + 1, '/'));) {
		*p = 0;
		if (mkdir(path, 0700) < 0 && errno != EEXIST && access(path, F_OK) < 0)
			rc = -errno;
		*p = '/';
	}
	if (!rc && mkdir(path, 0700) < 0 && errno != EEXIST)
		rc = -errno;
	free(path);
	return rc;
}

/* Whoever made it there before would say what a run has done. */
static int check_owner(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return -EPERM;
	return faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

static int open_below(const char *base, const char *key, bool make)
{
	int base_fd = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -1, rc = base_fd < 0 ? -errno : 0;

	if (!rc && make && mkdirat(base_fd, key, 0700) == 0)
		leat_prune(base_fd, key); /* each that comes has others go */
	else if (!rc && make && errno != EEXIST)
		rc = -errno;
	if (!rc) {
		fd = openat(base_fd, key, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rc = fd < 0 ? -errno : check_owner(fd);
	}
	leat_close(&base_fd);
	if (!rc)
		return fd;
	leat_close(&fd);
	return rc;
}

static int open_state_dir(const char *base, const char *key, const char *dir, bool make)
{
	int rc;

	if (is_within(base, dir))
		return -EXDEV;
	rc = make ? make_all(base) : 0;
	return rc ? rc : open_below(base, key, make);
}

/* For who looks for it by hand. Nothing goes by it. */
static void put_note(int place, const char *dir)
{
	int fd = openat(place, NOTE, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0 && dprintf(fd, "%s\n", dir) < 0)
		unlinkat(place, NOTE, 0);
	leat_close(&fd);
}

/* Of several that cannot be had the first is reported. */
static void take_base(const char *base, const char *key, const char *dir, bool make, int *fd,
		      char **path)
{
	int got = base ? open_state_dir(base, key, dir, make) : -ENOMEM;

	if (*path && got < 0)
		return;
	free(*path);
	*path = base ? leat_path_join(base, key) : NULL;
	*fd = got;
}

int leat_state_dir_open(const char *dir, bool make, char **path)
{
	char *bases[MAX_BASES];
	char key[KEY_BYTES] = "";
	size_t n = list_bases(bases);
	int rc = name_key(dir, key), fd = -1;

	*path = NULL;
	for (size_t i = 0; i < n; i++) {
		if (fd < 0 && !rc)
			take_base(bases[i], key, dir, make, &fd, path);
		free(bases[i]);
	}
	if (rc)
		return rc;
	if (fd >= 0 && make)
		put_note(fd, dir);
	return fd < 0 && !make ? -ENOENT : fd;
}

const char *leat_state_dir_error(int error)
{
	return error == EXDEV ? "it would be in the workflow's directory" : strerror(error);
}
