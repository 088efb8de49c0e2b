/* The end of a run: what is permanent is whole on disk with its last metadata,
 * what leat put there for the run only is gone. */
#include "daemon/run/finish.h"

#include "base/beneath.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/timespec.h"
#include "daemon/core/problems.h"
#include "daemon/core/processes.h"
#include "daemon/core/replies.h"
#include "daemon/core/steps.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/persist.h"
#include "daemon/files/relink.h"
#include "daemon/files/remove.h"
#include "daemon/files/shut_dirs.h"
#include "daemon/files/times.h"
#include "daemon/files/versions.h"
#include "daemon/run/ending.h"
#include "daemon/run/report.h"
#include "daemon/run/run.h"
#include "daemon/run/steps.h"
#include "store/times.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* How long it may take the kernel to close what a process had open that is gone. */
#define CLOSING_NS 2000000000u

/* Put on disk for the run only. */
static bool is_passing(struct leat_daemon *d, const struct leat_file *f)
{
	if (f->rule->permanent || f->keep)
		return false;
	if (f->staged)
		return true;
	return f->adopted && f->made && leat_rule_produced(d, f->rule);
}

/* A directory that has no file in it, and is an output only by what may come to be in it. */
static bool is_kept_empty(struct leat_daemon *d, const struct leat_file *f)
{
	return !leat_rule_produced(d, f->rule) && !f->rule->excluded &&
	       (f->rule->permanent || leat_is_permanent_below(d->matcher, f->name));
}

static bool is_kept(struct leat_daemon *d, const struct leat_file *f)
{
	return is_kept_empty(d, f) ||
	       (f->rule->permanent && leat_stream_state(d->stream, f->name) == LEAT_FILE_COMMITTED);
}

static void make_directories(struct leat_daemon *d)
{
	struct leat_file *f;
	struct stat st;
	int rc;

	for (f = d->files->by_name; f; f = f->hh.next) {
		if (!f->made || !leat_stream_is_dir(d->stream, f->name) || !is_kept(d, f) ||
		    !leat_tree_has(d->tree, LEAT_ROOT_STORE, f->name, &st) || !S_ISDIR(st.st_mode))
			continue;
		rc = leat_tree_make_dir(d->tree, LEAT_ROOT_DISK, f->name);
		if (rc == -EACCES && leat_dirs_open(d, f->name))
			rc = leat_tree_make_dir(d->tree, LEAT_ROOT_DISK, f->name);
		if (rc)
			leat_problem_add(d, rc, "cannot make %s/%s: %s", d->dir, f->name,
					 strerror(-rc));
	}
	leat_dirs_shut(d);
}

/* A directory that may have been there only for what was removed. */
struct passing_dir {
	UT_hash_handle hh;
	char path[];
};

static void note_passing_dir(struct passing_dir **dirs, const char *path, size_t length)
{
	struct passing_dir *dir;

	HASH_FIND(hh, *dirs, path, length, dir);
	if (dir)
		return;
	dir = calloc(1, sizeof(*dir) + length + 1);
	if (!dir)
		return; /* it stays behind, empty */
	memcpy(dir->path, path, length);
	HASH_ADD(hh, *dirs, path, length, dir);
	if (!dir->hh.tbl)
		free(dir);
}

static void note_parents(struct passing_dir **dirs, const char *path)
{
	for (size_t at = strlen(path); at-- > 0;)
		if (path[at] == '/')
			note_passing_dir(dirs, path, at);
}

/* In doubt it is not ours to remove. */
static bool is_made_in_run(struct leat_daemon *d, const char *path)
{
	struct timespec birth;
	struct statx st;

	int fd = leat_beneath_open(d->disk_fd, path, O_PATH, 0);
	bool known = fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) == 0 &&
		     st.stx_mask & STATX_BTIME;

	leat_close(&fd);
	if (!known)
		return false;
	birth.tv_sec = st.stx_btime.tv_sec;
	birth.tv_nsec = st.stx_btime.tv_nsec;
	return leat_timespec_is_before(d->start_time, birth);
}

static int by_depth(const struct passing_dir *a, const struct passing_dir *b)
{
	return strcmp(b->path, a->path); /* "a/b" before "a" */
}

static void remove_passing_dirs(struct leat_daemon *d, struct passing_dir **dirs)
{
	struct passing_dir *dir, *next;
	const struct leat_file_rule *rule;

	HASH_SORT(*dirs, by_depth);
	HASH_ITER(hh, *dirs, dir, next)
	{
		rule = leat_match(d->matcher, dir->path);
		if (rule && !rule->permanent && !rule->excluded && is_made_in_run(d, dir->path))
			leat_beneath_unlink(d->disk_fd, dir->path, AT_REMOVEDIR); /* if empty */
		HASH_DEL(*dirs, dir);
		free(dir);
	}
}

static void remove_one(struct leat_daemon *d, const struct leat_file *f, struct passing_dir **dirs)
{
	int rc = leat_file_is_on_disk(d, f) ? leat_beneath_unlink(d->disk_fd, f->name, 0) : -ESTALE;

	if (!rc)
		note_parents(dirs, f->name);
	else if (rc != -ENOENT && rc != -EISDIR && rc != -ELOOP)
		leat_problem_add(d, rc, "cannot remove %s/%s: %s", d->dir, f->name, strerror(-rc));
}

static void remove_passing(struct leat_daemon *d)
{
	struct passing_dir *dirs = NULL;
	const struct leat_file *f;
	struct stat st;

	for (f = d->files->by_name; f; f = f->hh.next) {
		if (is_passing(d, f))
			remove_one(d, f, &dirs);
		/* On disk for the sake of some file that is no longer there. */
		if (f->made && leat_rule_root(d, f->rule) == LEAT_ROOT_STORE &&
		    leat_stream_is_dir(d->stream, f->name) &&
		    leat_tree_has(d->tree, LEAT_ROOT_DISK, f->name, &st) && S_ISDIR(st.st_mode))
			note_passing_dir(&dirs, f->name, strlen(f->name));
	}
	remove_passing_dirs(d, &dirs);
}

static void reply(struct leat_daemon *d)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool ok = out && leat_report_summary(d, out);

	if (out && fclose(out) != 0)
		ok = false;
	if (d->finishing)
		leat_reply_text(d->finishing, ok ? 0 : -ECANCELED, text ? text : "{}");
	free(text);
}

/* False: it comes too late to change anything. */
static bool advance(struct leat_daemon *d, enum leat_daemon_phase_event event)
{
	const enum leat_daemon_phase next = leat_daemon_phase_next(d->phase, event);

	if (next == LEAT_DAEMON_PHASES)
		leat_problem_add(d, 0, "this is a bug of leat: the run %s while it is %s",
				 leat_daemon_phase_event_name(event),
				 leat_daemon_phase_name(d->phase));
	if (next == LEAT_DAEMON_PHASES || next == d->phase)
		return false;
	d->phase = next;
	return true;
}

static void complete(struct leat_daemon *d)
{
	const bool saves = leat_daemon_phase_saves(d->phase);

	LEAT_FAULT("finish.kept");
	if (saves) {
		make_directories(d);
		leat_files_relink(d);
		leat_times_finish(d);
	}
	LEAT_FAULT("finish.meta");
	remove_passing(d);
	leat_tree_times_to_disk(d->tree); /* after the last name was made or removed */
	leat_files_sync_dirs(d);
	LEAT_FAULT("finish.removed");
	advance(d, LEAT_DAEMON_EVENT_DONE); /* the connection of the reply may break */
	if (saves)
		reply(d);
	uv_stop(&d->loop);
}

void leat_finish_continue(struct leat_daemon *d)
{
	if (leat_daemon_phase_is_ending(d->phase) && leat_files_persist_idle(d))
		complete(d);
}

/* What came to the store by a rename, though its name belongs on disk, and what
 * was changed after its commit. */
static void keep_late(struct leat_daemon *d)
{
	struct leat_file *f, *next;

	HASH_ITER(hh, d->files->by_name, f, next)
	if (f->keep ||
	    (f->rule->permanent && leat_stream_state(d->stream, f->name) == LEAT_FILE_COMMITTED))
		leat_file_persist(d, f);
}

/* What those did who are gone now comes before the end, though the loop has not heard of it. */
static void hear_all(struct leat_daemon *d)
{
	for (int step = 0; step < (int)d->wf->n_steps; step++) {
		leat_procs_reap(d, step);
		leat_descriptions_after_step(d, step);
	}
}

static bool is_unclosed_output(const struct leat_description *l)
{
	return l->step >= 0 && !l->reads && l->counted && !l->file->retired &&
	       (l->file->keep || l->file->rule->permanent);
}

/* A process is gone before the kernel has closed all that it had open. */
static bool is_closing(const struct leat_daemon *d)
{
	const struct leat_description *l;

	for (l = d->files->descriptions; l; l = l->hh.next)
		if (is_unclosed_output(l))
			return leat_clock_ns() - d->finish_ns < CLOSING_NS;
	return false;
}

static void report_unclosed(struct leat_daemon *d)
{
	const struct leat_description *l;

	for (l = d->files->descriptions; l; l = l->hh.next)
		if (is_unclosed_output(l))
			leat_problem_add(d, -EBUSY,
					 "%s is still open for writing at the end of the run, by a "
					 "process that step %s has left: it may not be complete",
					 l->file->name, d->wf->steps[l->step].name);
}

void leat_finish_begin(struct leat_daemon *d)
{
	d->finish_ns = leat_clock_ns();
	leat_finish_retry(d);
}

void leat_finish_retry(struct leat_daemon *d)
{
	if (!d->finishing || d->run->endings ||
	    leat_daemon_phase_next(d->phase, LEAT_DAEMON_EVENT_FINISH) == d->phase)
		return;
	hear_all(d);
	if (is_closing(d))
		return;
	LEAT_FAULT("finish");
	report_unclosed(d);
	advance(d, LEAT_DAEMON_EVENT_FINISH);
	leat_steps_settle(d);
	leat_files_remove_hidden(d);
	leat_versions_finish(d);
	keep_late(d);
	leat_finish_continue(d);
}

void leat_finish_abort(struct leat_daemon *d, const char *why)
{
	if (!advance(d, LEAT_DAEMON_EVENT_ABORT))
		return;
	leat_endings_apply(d);
	for (int i = 0; i < (int)d->wf->n_steps; i++)
		while (d->steps[i].running)
			leat_step_ended(d, i, 1 << 8, why);
	leat_finish_continue(d);
}
