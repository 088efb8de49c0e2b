#include "daemon/files/times.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "base/timespec.h"
#include "daemon/core/problems.h"
#include "daemon/files/files.h"
#include "store/attributes.h"
#include "store/persist.h"
#include "store/times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is newer is so by that: less is lost where programs take times for floating-point numbers
 * (Python's getmtime), or count milliseconds. */
#define NEWER_NS 1000000
#define SECOND_NS 1000000000

static struct timespec plus(struct timespec t, long ns)
{
	t.tv_nsec += ns;
	t.tv_sec += t.tv_nsec / SECOND_NS;
	t.tv_nsec %= SECOND_NS;
	return t;
}

/* The next time that is newer, but not in the future if that can be. */
static struct timespec newer_than(struct timespec t)
{
	struct timespec now, next = plus(t, NEWER_NS);

	clock_gettime(CLOCK_REALTIME, &now);
	return leat_timespec_is_before(now, next) ? plus(t, 1) : next;
}

/* By a program, which may have its reasons: a write after that would have set both times. One that
 * has come by a rename from elsewhere is known by being older than the run. */
static bool is_set(struct leat_daemon *d, const struct leat_file *f, const struct stat *st)
{
	bool differ = !leat_timespec_is_same(st->st_mtim, leat_shown_ctime(d->shm, st));

	/* File systems count in ticks: what was written first may seem older than the run. */
	return st->st_mtim.tv_sec < d->start_time.tv_sec - 1 ||
	       (differ && leat_shm_flags(leat_file_shm(d, f)) & LEAT_SHM_TIMED);
}

/* What a step writes itself, it may have read long before. */
static bool is_input(const struct leat_daemon *d, const struct leat_file *f, int step)
{
	return leat_steps_has(f->rule->consumers, step) &&
	       !(leat_steps_has(f->rule->producers, step) &&
		 leat_stream_has_made(d->stream, step, f->name));
}

static void note_newest(const struct leat_daemon *d, const struct leat_file *f,
			struct timespec mtime, struct timespec *newest)
{
	for (int s = 0; s < (int)d->wf->n_steps; s++)
		if (is_input(d, f, s) && leat_timespec_is_before(newest[s], mtime))
			newest[s] = mtime;
}

/* The newest input of those steps that make the file and do not read it. False: it is newer. */
static bool is_behind(const struct leat_daemon *d, const struct leat_file *f, struct timespec mtime,
		      const struct timespec *newest, struct timespec *than)
{
	*than = (struct timespec){0};
	for (int s = 0; s < (int)d->wf->n_steps; s++)
		if (leat_steps_has(f->rule->producers, s) &&
		    !leat_steps_has(f->rule->consumers, s) &&
		    leat_timespec_is_before(*than, newest[s]))
			*than = newest[s];
	return (than->tv_sec || than->tv_nsec) && !leat_timespec_is_before(*than, mtime);
}

/* ---- what comes from outside ---- */

static bool has_input_of(struct leat_daemon *d, int step, struct timespec mtime)
{
	const struct leat_file *f;
	enum leat_root root;
	struct stat st;

	for (f = d->files->by_name; f; f = f->hh.next)
		if (leat_steps_has(f->rule->consumers, step) &&
		    leat_tree_look(d->tree, f->name, &root, &st) == 0 &&
		    leat_timespec_is_same(st.st_mtim, mtime))
			return true;
	return false;
}

void leat_times_arrived(struct leat_daemon *d, struct leat_file *f, int step, const struct stat *st)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};

	/* Who writes sets both. */
	if (!S_ISREG(st->st_mode) || leat_timespec_is_same(st->st_mtim, st->st_ctim))
		return;
	if (step >= 0 && has_input_of(d, step, st->st_mtim))
		leat_shm_note_times(leat_file_shm(d, f), times);
	else
		f->dated = true;
}

/* Whether it was written then, or given that time, is not to be seen. */
static void warn_dated(struct leat_daemon *d, struct leat_file *f)
{
	if (f->dated)
		leat_problem_add(d, 0,
				 "%s, which was moved here from outside of the workflow's "
				 "directory, is made newer than the inputs of its step; if a "
				 "program had set its time, have it do so here",
				 f->name);
	f->dated = false;
}

/* ---- when a file is complete ---- */

static struct timespec *newest_of(struct leat_daemon *d)
{
	if (!d->files->newest)
		d->files->newest = calloc(d->wf->n_steps + 1, sizeof(*d->files->newest));
	return d->files->newest;
}

void leat_times_commit(struct leat_daemon *d, struct leat_file *f, enum leat_root root,
		       struct stat *st)
{
	struct timespec *newest = newest_of(d), than;

	if (!newest || !S_ISREG(st->st_mode) || !f->made || is_set(d, f, st))
		return; /* at the end it is seen to, or said */
	if (is_behind(d, f, st->st_mtim, newest, &than)) {
		struct timespec mtime = newer_than(than);

		if (leat_beneath_times(leat_tree_fd(d->tree, root), f->name,
				       (struct timespec[]){{.tv_nsec = UTIME_OMIT}, mtime}) == 0)
			st->st_mtim = mtime;
		warn_dated(d, f);
	}
	note_newest(d, f, st->st_mtim, newest);
}

void leat_times_free(struct leat_daemon *d)
{
	free(d->files->newest);
	d->files->newest = NULL;
}

/* ---- at the end ---- */

/* A file and the time it is to have. */
struct stamp {
	struct leat_file *f;
	enum leat_root root;
	struct stat st;
	bool is_set;
	bool lifted;
};

static size_t collect(struct leat_daemon *d, struct stamp *v)
{
	struct leat_file *f;
	size_t n = 0;

	for (f = d->files->by_name; f; f = f->hh.next) {
		if (!f->rule->declared || f->rule->excluded ||
		    leat_tree_look(d->tree, f->name, &v[n].root, &v[n].st) < 0 ||
		    !S_ISREG(v[n].st.st_mode))
			continue;
		v[n].f = f;
		v[n].is_set = is_set(d, f, &v[n].st);
		v[n].lifted = false;
		n++;
	}
	return n;
}

/* The newest input of each step, by the times known so far. One that a program has dated may be
 * newer than what was made of it in a batch, too. */
static void find_newest(struct leat_daemon *d, const struct stamp *v, size_t n,
			struct timespec *newest)
{
	memset(newest, 0, d->wf->n_steps * sizeof(*newest));
	for (size_t i = 0; i < n; i++)
		if (!v[i].is_set)
			note_newest(d, v[i].f, v[i].st.st_mtim, newest);
}

static bool lift(struct leat_daemon *d, struct stamp *v, size_t n, const struct timespec *newest)
{
	struct timespec than;
	bool changed = false;

	for (size_t i = 0; i < n; i++) {
		if (v[i].is_set || !v[i].f->made ||
		    !is_behind(d, v[i].f, v[i].st.st_mtim, newest, &than))
			continue;
		v[i].st.st_mtim = newer_than(than);
		v[i].lifted = changed = true;
		warn_dated(d, v[i].f);
	}
	return changed;
}

/* What was saved may have been given other rights and attributes since: the file that has them; -1:
 * it is the saved one itself. -errno. The time of change does not tell surely: it counts in ticks.
 */
static int open_like(struct leat_daemon *d, const struct stamp *s)
{
	if (!s->f->saved || s->root == LEAT_ROOT_DISK)
		return -1;
	return leat_beneath_open(leat_tree_fd(d->tree, s->root), s->f->name, O_PATH, 0);
}

static bool is_untouched(const struct leat_daemon *d, const struct stamp *s)
{
	return leat_timespec_is_same(leat_shown_ctime(d->shm, &s->st), s->f->saved_ctime);
}

static void apply(struct leat_daemon *d, const struct stamp *s)
{
	const struct leat_inode seen = {s->st.st_dev, s->st.st_ino};
	bool on_disk = s->root == LEAT_ROOT_DISK, strict = leat_tree_is_distrusted(d->tree);
	int like = open_like(d, s), rc = like < -1 ? like : 0;

	if (!rc && (s->f->saved || (on_disk && s->lifted)))
		rc = leat_persist_meta(d->disk_fd, s->f->name, &s->st,
				       !strict   ? NULL
				       : on_disk ? &seen
						 : &s->f->on_disk,
				       like,
				       leat_list_of(leat_tree_fd(d->tree, s->root), s->f->name),
				       is_untouched(d, s) ? "" : s->f->name);
	if (like >= 0)
		leat_close(&like);
	if (rc && rc != -ENOENT)
		leat_problem_add(d, rc, "cannot set mode and times of %s/%s: %s", d->dir,
				 s->f->name, strerror(-rc));
}

void leat_times_refresh(struct leat_daemon *d, struct leat_file *f)
{
	struct stamp s = {.f = f};

	if (f->saved && leat_tree_has_ours(d->tree, f->name, &s.root, &s.st) &&
	    S_ISREG(s.st.st_mode))
		apply(d, &s);
}

void leat_times_finish(struct leat_daemon *d)
{
	struct stamp *v = calloc(HASH_COUNT(d->files->by_name) + 1, sizeof(*v));
	struct timespec *newest = calloc(d->wf->n_steps + 1, sizeof(*newest));
	size_t n = v ? collect(d, v) : 0;

	for (size_t round = 0; newest && round <= d->wf->n_steps; round++) {
		find_newest(d, v, n, newest);
		if (!lift(d, v, n, newest))
			break;
	}
	for (size_t i = 0; i < n; i++)
		apply(d, &v[i]);
	if (!v || !newest)
		leat_problem_add(d, -ENOMEM, "out of memory: modes and times are not set");
	free(v);
	free(newest);
}
