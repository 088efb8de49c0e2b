#include "preload/path/walk.h"

#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/text.h"
#include "preload/path/names.h"

#include <errno.h>
#include <string.h>

#define MAX_LINKS 40 /* as the kernel */

struct walk {
	struct leat_text at; /* real path so far, "" for the root */
	char *rest;          /* still to go, at the end of a buffer of PATH_MAX */
	char *buffer;        /* that buffer */
	char *link;          /* PATH_MAX bytes */
	unsigned links;
	bool missing; /* a component was not there */
};

static bool start_at(struct walk *w, int dirfd, bool absolute)
{
	long n;

	if (absolute)
		return true;
	n = leat_fd_name(dirfd, w->at.at, w->at.size);
	if (n < 0 || w->at.at[0] != '/')
		return false;
	w->at.used = n == 1 ? 0 : (size_t)n;
	w->at.at[w->at.used] = 0;
	return true;
}

/* Put `text` before the rest. */
static bool push(struct walk *w, const char *text, size_t length)
{
	if ((size_t)(w->rest - w->buffer) < length + 1)
		return false;
	if (*w->rest)
		*--w->rest = '/';
	w->rest -= length;
	memcpy(w->rest, text, length);
	return true;
}

static void go_up(struct walk *w)
{
	while (w->at.used && w->at.at[--w->at.used] != '/')
		;
	w->at.at[w->at.used] = 0;
}

/* Take the next component off the rest: its length, 0 at the end. */
static size_t next(struct walk *w, const char **name)
{
	size_t length = 0;

	while (*w->rest == '/')
		w->rest++;
	*name = w->rest;
	while (w->rest[length] && w->rest[length] != '/')
		length++;
	w->rest += length;
	return length;
}

/* 1 went on, -1 gave up. */
static int follow(struct walk *w)
{
	long n = raw(SYS_readlinkat, AT_FDCWD, w->at.at, w->link, PATH_MAX - 1);
	const char *below;

	if (n == -EINVAL)
		return 1;
	if (n < 0) {
		w->missing = true;
		return 1;
	}
	w->link[n] = 0;
	if (++w->links > MAX_LINKS)
		return -1;
	/* A descriptor's magic link shows the store's own name for its files. */
	below = leat_path_of_name(w->link);
	/* A file that has lost its name can be reached by the magic link only. */
	if (below && leat_text_is_deleted(w->link, (size_t)n))
		return 1;
	if (below) {
		if (!push(w, below, strlen(below)))
			return -1;
		memcpy(w->at.at, leat_session.real, leat_session.real_length + 1);
		w->at.used = leat_session.real_length;
		return 1;
	}
	if (w->link[0] == '/') {
		w->at.used = 0;
		w->at.at[0] = 0;
	} else {
		go_up(w);
	}
	return push(w, w->link, (size_t)n) ? 1 : -1;
}

static bool step(struct walk *w, const char *name, size_t length)
{
	if (length == 1 && name[0] == '.')
		return true;
	if (length == 2 && name[0] == '.' && name[1] == '.') {
		go_up(w);
		return true;
	}
	leat_text_add(&w->at, "/");
	leat_text_add_n(&w->at, name, length);
	return !w->at.full && follow(w) > 0;
}

static bool arrived(const struct walk *w, char *below)
{
	const char *in = leat_path_of_name(w->at.used ? w->at.at : "/");
	struct leat_text out = leat_text_in(below, PATH_MAX);
	const char *rest = w->rest;

	if (!in)
		return false;
	while (*rest == '/')
		rest++;
	leat_text_add(&out, in);
	if (*in && *rest)
		leat_text_add(&out, "/");
	leat_text_add(&out, rest);
	return !out.full;
}

enum leat_walk leat_walk(struct leat_thread *t, int dirfd, const char *path, size_t length,
			 char *below)
{
	struct walk w = {.at = leat_text_in(t->walk[0], PATH_MAX),
			 .buffer = t->walk[1],
			 .rest = t->walk[1] + PATH_MAX - 1,
			 .link = t->walk[2]};
	const char *name;
	size_t n;

	*w.rest = 0;
	if (!start_at(&w, dirfd, path[0] == '/') || !push(&w, path, length))
		return LEAT_WALK_NOWHERE;
	for (;;) {
		if (arrived(&w, below))
			return LEAT_WALK_INSIDE;
		n = next(&w, &name);
		if (!n)
			return w.missing ? LEAT_WALK_NOWHERE : LEAT_WALK_OUTSIDE;
		if (w.missing || !step(&w, name, n))
			return LEAT_WALK_NOWHERE;
	}
}
