#include "preload/path/paths.h"

#include "base/hash.h"
#include "preload/connection/client.h"
#include "preload/connection/handed.h"
#include "preload/connection/lost.h"
#include "preload/connection/session.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/first.h"
#include "preload/core/text.h"
#include "preload/path/cut.h"
#include "preload/path/names.h"
#include "preload/path/outside_cache.h"
#include "preload/path/walk.h"
#include "shm/word.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>

/* Parent directories known to lie outside, by hash of their spelling: a path
 * outside costs a hash and a look here. A word holds the hash with the lowest
 * bit replaced: set if the workflow's directory itself is in that directory. */
#define CACHE_SIZE 4096u
static struct leat_word cache[CACHE_SIZE];

/* Seed of the hashes; a change of it forgets everything. The cwd's own part
 * changes with each chdir. */
static struct leat_word generation LEAT_FIRST;
static struct leat_word cwd_generation LEAT_FIRST;

enum { CWD_OUTSIDE, CWD_INSIDE };
static struct leat_word cwd LEAT_FIRST;
/* 1 + the cwd's generation when it was found to be the workflow's directory itself */
static struct leat_word cwd_at_top LEAT_FIRST;

static __thread struct leat_outside_cache last_outside __attribute__((tls_model("initial-exec")));

static uint64_t seed_of(bool relative)
{
	uint64_t seed = leat_word_get(&generation);

	return relative ? seed + ((leat_word_get(&cwd_generation) + 1) << 32) : seed;
}

static uint64_t hash_of(const char *text, size_t length, uint64_t seed)
{
	return leat_hash(text, length, seed) | 2; /* never 0 or 1 */
}

/* -1 unknown, else the lowest bit. */
static int cached(uint64_t hash)
{
	uint64_t w = leat_word_get(&cache[(hash >> 8) % CACHE_SIZE]);

	return (w | 1) == (hash | 1) ? (int)(w & 1) : -1;
}

static void remember(uint64_t hash, bool holds_dir)
{
	leat_word_set(&cache[(hash >> 8) % CACHE_SIZE], (hash & ~UINT64_C(1)) | holds_dir);
}

void leat_path_forget(void)
{
	leat_word_add(&generation, 0x10001);
}

bool leat_path_cwd_inside(void)
{
	return leat_word_get(&cwd) == CWD_INSIDE;
}

void leat_path_moved(bool inside)
{
	leat_word_add(&cwd_generation, 1);
	leat_word_set(&cwd, inside ? CWD_INSIDE : CWD_OUTSIDE);
}

static const char *below_session(const char *path)
{
	const struct leat_preload_session *s = &leat_session;
	const char *rest = leat_text_below(path, s->given, s->given_length);

	if (rest || s->same_spelling)
		return rest;
	return leat_text_below(path, s->real, s->real_length);
}

/* Most paths differ from the directory's in the end of its name. */
static bool differs(const char *path, size_t length, const char *dir, size_t dir_length)
{
	uint64_t a, b;

	if (length < dir_length)
		return true;
	if (dir_length < 8)
		return false;
	__builtin_memcpy(&a, path + dir_length - 8, 8);
	__builtin_memcpy(&b, dir + dir_length - 8, 8);
	return a != b;
}

static bool is_outside_session(const char *path, size_t length)
{
	const struct leat_preload_session *s = &leat_session;

	if (!differs(path, length, s->given, s->given_length))
		return !below_session(path);
	return s->same_spelling || differs(path, length, s->real, s->real_length) ||
	       !below_session(path);
}

static bool is_base(const struct leat_cut *c)
{
	return strncmp(c->last, leat_session.base, c->last_length) == 0 &&
	       !leat_session.base[c->last_length];
}

/* Relative to a descriptor that is not one of our directories. */
static bool maybe_at(int dirfd, const char *path)
{
	struct leat_cut c;

	if (leat_fd_kind(dirfd))
		return leat_fd_kind(dirfd) == LEAT_KIND_DIR;
	leat_cut(path, &c);
	return c.parent || is_base(&c) || leat_fd_hidden(dirfd);
}

/* The name the user gave the workflow's directory may be a symlink in it. */
static bool holds_given(const char *path, size_t parent)
{
	return strncmp(path, leat_session.given, parent) == 0;
}

/* May it be one that the cache of the last one does not hold? */
static bool maybe(const char *path, bool relative, uint64_t seed)
{
	struct leat_cut c;
	uint64_t hash;
	int known;

	leat_cut(path, &c);
	if (relative ? leat_word_get(&cwd) == CWD_INSIDE : !is_outside_session(path, c.length))
		return true;
	hash = hash_of(path, c.parent, seed);
	known = cached(hash);
	if (known == 0 && leat_outside_cache_again(&last_outside, hash) &&
	    !holds_given(path, c.parent))
		leat_outside_cache_fill(&last_outside, path, c.parent, seed);
	return known < 0 || (known == 1 && is_base(&c));
}

bool leat_path_maybe(int dirfd, const char *path)
{
	uint64_t seed;
	bool relative;

	if (!path || !*path)
		return false;
	relative = path[0] != '/';
	if (relative && dirfd != AT_FDCWD)
		return maybe_at(dirfd, path);
	seed = seed_of(relative);
	return !leat_outside_cache_has(&last_outside, path, seed) && maybe(path, relative, seed);
}

static bool join(char *out, const char *head, const char *tail, size_t tail_length)
{
	struct leat_text t = leat_text_in(out, PATH_MAX);

	leat_text_add(&t, head);
	if (*head && tail_length)
		leat_text_add(&t, "/");
	leat_text_add_n(&t, tail, tail_length);
	return !t.full;
}

static bool goes_up(const char *path)
{
	for (const char *p = path; *p; p++)
		if (p[0] == '.' && p[1] == '.' && (p == path || p[-1] == '/') &&
		    (!p[2] || p[2] == '/'))
			return true;
	return false;
}

/* In a directory that was removed nothing is, nor can be made: the kernel may say so itself. */
static bool is_removed(int dirfd, const char *name)
{
	struct stat st;

	if (!leat_text_is_deleted(name, strlen(name)))
		return false;
	return raw(SYS_newfstatat, dirfd, "", &st, AT_EMPTY_PATH) == 0 && !st.st_nlink;
}

/* From a directory that was removed the kernel still goes up to where it was. Makes its `name` that
 * of the directory reached by the dots that `path` begins with, and returns the rest; NULL: it is
 * not left, and nothing is in it. */
static const char *leave_removed(char *name, const char *path)
{
	bool left = false;
	char *slash;
	size_t dots;

	*strrchr(name, ' ') = 0; /* "/t (deleted)" */
	for (;; path += dots) {
		while (*path == '/')
			path++;
		for (dots = 0; path[dots] == '.'; dots++)
			;
		if (!dots || dots > 2 || (path[dots] && path[dots] != '/'))
			break;
		slash = dots == 2 ? strrchr(name, '/') : NULL;
		if (slash)
			*slash = 0;
		left = left || dots == 2;
	}
	return !left ? NULL : *path ? path : ".";
}

/* A path that starts in a directory inside. */
static int find_from(struct leat_thread *t, int dirfd, const char *path, char *below)
{
	const struct leat_server_info *w;
	const char *head;
	int rc;

	if (leat_fd_last_name(dirfd, t->name, sizeof(t->name)) < 0)
		return 0;
	if (is_removed(dirfd, t->name)) {
		path = goes_up(path) ? leave_removed(t->name, path) : NULL;
		if (!path)
			return 0;
	}
	head = leat_path_of_name(t->name);
	/* Only the daemon knows the name of the store's directories, which may be below ours. */
	if (!head || (!leat_handed_store() && leat_path_may_be_store(t->name))) {
		rc = leat_client_server(t, &w);
		if (rc)
			return rc;
		head = leat_path_of_name(t->name);
	}
	/* It is one of ours, but the kernel has another name for it now. */
	if (!head && !leat_session_is_there())
		return leat_lost(LEAT_LOST_RENAMED);
	return head && join(below, head, path, strlen(path));
}

/* A path whose parent is not known to be outside. */
static bool find_by_walk(struct leat_thread *t, int dirfd, const char *path, char *below)
{
	bool relative = path[0] != '/', holds_dir;
	char *real = t->walk[0];
	enum leat_walk where;
	struct leat_cut c;

	leat_cut(path, &c);
	where = leat_walk(t, dirfd, path, c.parent, t->name);
	if (where == LEAT_WALK_INSIDE)
		return join(below, t->name, c.last, c.last_length);
	if (where == LEAT_WALK_NOWHERE)
		return false;
	/* Is it the workflow's directory itself? */
	holds_dir = strlen(real) + 1 == (size_t)(leat_session.base - leat_session.real) &&
		    strncmp(real, leat_session.real, strlen(real)) == 0;
	if (!relative || dirfd == AT_FDCWD)
		remember(hash_of(path, c.parent, seed_of(relative)), holds_dir);
	below[0] = 0;
	return holds_dir && c.last_length && is_base(&c);
}

/* 0 if names are looked up from it, else what the kernel says. */
static int check_directory(int dirfd)
{
	struct stat st;
	long rc = raw(SYS_fstat, dirfd, &st);

	if (rc)
		return (int)rc;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

const char *leat_path_below(int dirfd, const char *path)
{
	if (path[0] == '/')
		return below_session(path);
	if (dirfd != AT_FDCWD || leat_word_get(&cwd) != CWD_INSIDE ||
	    leat_word_get(&cwd_at_top) != leat_word_get(&cwd_generation) + 1)
		return NULL;
	return path;
}

/* From the working directory; see whether it is the top. */
static int find_from_cwd(struct leat_thread *t, const char *path, char *below)
{
	uint64_t now = leat_word_get(&cwd_generation);
	int rc = find_from(t, AT_FDCWD, path, below);

	if (rc > 0 && strcmp(below, path) == 0)
		leat_word_set(&cwd_at_top, now + 1);
	return rc;
}

int leat_path_find(struct leat_thread *t, int dirfd, const char *path, char *below)
{
	bool relative = path[0] != '/';
	const char *rest = relative ? NULL : below_session(path);

	if (rest)
		return leat_user_is_shut_out() ? -EACCES : join(below, rest, "", 0);
	if (relative && dirfd == AT_FDCWD && leat_word_get(&cwd) == CWD_INSIDE)
		return find_from_cwd(t, path, below);
	if (relative && dirfd != AT_FDCWD && leat_fd_kind(dirfd) == LEAT_KIND_DIR)
		return find_from(t, dirfd, path, below);
	if (relative && dirfd != AT_FDCWD) {
		/* To the program ours are not there. */
		int rc = leat_fd_hidden(dirfd) ? -EBADF : check_directory(dirfd);

		if (rc)
			return rc;
	}
	return find_by_walk(t, dirfd, path, below);
}

#define FOLLOWED 0x5157 /* salt: whole paths, not parents */

bool leat_path_leads_out(int dirfd, const char *path)
{
	bool relative = path[0] != '/';

	if (relative && dirfd != AT_FDCWD)
		return false;
	return cached(hash_of(path, strlen(path), seed_of(relative) + FOLLOWED)) >= 0;
}

bool leat_path_dangles(int dirfd, const char *path)
{
	char some[1];

	return path && *path && raw(SYS_readlinkat, dirfd, path, some, sizeof(some)) > 0 &&
	       !leat_path_leads_out(dirfd, path);
}

bool leat_path_follow(struct leat_thread *t, int dirfd, const char *path, char *below)
{
	bool relative = path[0] != '/';
	enum leat_walk where = leat_walk(t, dirfd, path, strlen(path), below);

	/* Magic links lead elsewhere each time. */
	if (where == LEAT_WALK_OUTSIDE && (!relative || dirfd == AT_FDCWD) &&
	    strncmp(t->walk[0], "/proc/", 6) != 0)
		remember(hash_of(path, strlen(path), seed_of(relative) + FOLLOWED), false);
	return where == LEAT_WALK_INSIDE;
}

int leat_path_absolute(struct leat_thread *t, int dirfd, const char *path, char *out)
{
	long n;

	if (path[0] == '/')
		return join(out, path, "", 0) ? 0 : -ENAMETOOLONG;
	n = leat_fd_name(dirfd, t->name, sizeof(t->name));
	if (n < 0)
		return (int)n;
	return join(out, t->name, path, strlen(path)) ? 0 : -ENAMETOOLONG;
}

void leat_path_init(void)
{
	char name[PATH_MAX];

	if (leat_fd_last_name(AT_FDCWD, name, sizeof(name)) < 0)
		return;
	leat_path_moved(leat_path_of_name(name) || leat_path_may_be_store(name));
}
