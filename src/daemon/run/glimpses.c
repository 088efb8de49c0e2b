#include "daemon/run/glimpses.h"

#include "base/timespec.h"
#include "daemon/core/events.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/files/states.h"
#include "daemon/run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leat_glimpse {
	char *name;     /* owned */
	struct stat st; /* st_ino 0: it was not there */
	struct leat_glimpse *next;
	UT_hash_handle hh;
};

static struct stat glance(struct leat_daemon *d, const char *name)
{
	struct stat st;

	if (!leat_tree_has(d->tree, LEAT_ROOT_DISK, name, &st))
		return (struct stat){0};
	return st;
}

/* How it was changed in between; 0: it was not. What is in a directory has names of its own; new
 * rights, names and owners are no change. */
static enum leat_use change_of(const struct stat *a, const struct stat *b)
{
	if (!a->st_ino || !b->st_ino)
		return a->st_ino ? LEAT_USE_REMOVE : b->st_ino ? LEAT_USE_CREATE : 0;
	if (a->st_dev != b->st_dev || a->st_ino != b->st_ino)
		return LEAT_USE_REPLACE;
	if (S_ISDIR(a->st_mode))
		return 0;
	return a->st_size != b->st_size || (!leat_timespec_is_same(a->st_ctim, b->st_ctim) &&
					    !leat_timespec_is_same(a->st_mtim, b->st_mtim))
		       ? LEAT_USE_WRITE
		       : 0;
}

/* Is it a declared output that its producers, or who comes before them, have made or taken away, or
 * may have: one that is not seen, either, runs? */
static bool is_its_producers(struct leat_daemon *d, const struct leat_glimpse *g)
{
	const struct leat_file_rule *rule = leat_match(d->matcher, g->name);

	if (!rule || !leat_rule_produced(d, rule))
		return !rule;
	for (int i = 0; i < (int)d->wf->n_steps; i++)
		if (leat_steps_has(rule->producers, i) && d->wf->steps[i].staged &&
		    d->steps[i].running)
			return true;
	return leat_stream_made(d->stream, g->name) ||
	       leat_stream_creator(d->stream, g->name) >= 0 ||
	       leat_stream_remover(d->stream, g->name) >= 0;
}

/* A directory that a streamed step has made is made on disk for what is saved in it. */
static bool is_saved_directory(struct leat_daemon *d, const struct leat_glimpse *g,
			       const struct stat *now)
{
	return !g->st.st_ino && S_ISDIR(now->st_mode) &&
	       leat_stream_creator(d->stream, g->name) >= 0;
}

/* In the name of the staged step: the rules know who used it before. -1: none runs, and so none
 * has changed it. */
static void report_change(struct leat_daemon *d, int step, struct leat_glimpse *g)
{
	struct stat now = glance(d, g->name);
	enum leat_use use = change_of(&g->st, &now);

	if (use && step >= 0 && !is_saved_directory(d, g, &now) && !is_its_producers(d, g))
		leat_events_apply(
			d, (struct leat_event){.kind = LEAT_EV_USE,
					       .step = step,
					       .name = g->name,
					       .code = use,
					       .flags = leat_event_use_flags(use, now.st_mode)});
	g->st = now;
}

static int find_running(const struct leat_daemon *d)
{
	for (int i = 0; i < (int)d->wf->n_steps; i++)
		if (d->wf->steps[i].staged && !d->wf->steps[i].concurrent && d->steps[i].running)
			return i;
	return -1;
}

int leat_glimpses_note(struct leat_daemon *d, int step, const char *name)
{
	int unseen = leat_stream_unseen(d->stream, step, name);
	const struct leat_file_rule *rule = unseen < 0 ? NULL : leat_match(d->matcher, name);
	struct leat_glimpse *g;

	/* What that step declares, too, is adopted. */
	if (!rule || rule->excluded ||
	    (leat_rule_produced(d, rule) && leat_steps_has(rule->producers, unseen)))
		return 0;
	HASH_FIND_STR(d->run->glimpses, name, g);
	if (g) {
		report_change(d, find_running(d), g);
		return 0;
	}
	g = calloc(1, sizeof(*g));
	if (g)
		g->name = strdup(name);
	if (!g || !g->name) {
		free(g);
		return -ENOMEM;
	}
	g->st = glance(d, name);
	HASH_ADD_KEYPTR(hh, d->run->glimpses, g->name, strlen(g->name), g);
	return 0;
}

void leat_glimpses_free(struct leat_daemon *d)
{
	struct leat_glimpse *g, *next;

	HASH_ITER(hh, d->run->glimpses, g, next)
	{
		HASH_DEL(d->run->glimpses, g);
		free(g->name);
		free(g);
	}
}

void leat_glimpses_report(struct leat_daemon *d, int step)
{
	struct leat_glimpse *g, *next;

	HASH_ITER(hh, d->run->glimpses, g, next)
	report_change(d, step, g);
}
