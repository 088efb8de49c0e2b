/* Steps that run without interception, on files on disk. */
#include "daemon/run/staged.h"

#include "base/beneath.h"
#include "base/fault.h"
#include "base/str.h"
#include "daemon/core/events.h"
#include "daemon/core/steps.h"
#include "daemon/files/files.h"
#include "daemon/files/persist.h"
#include "daemon/files/relink.h"
#include "daemon/files/remove.h"
#include "daemon/files/states.h"
#include "daemon/files/times.h"
#include "daemon/run/blame.h"
#include "daemon/run/glimpses.h"
#include "daemon/run/prepared.h"
#include "store/times.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ids of waiters beyond those of connections. */
#define LAUNCH_WAITER ((uint64_t)1 << 62)

/* LEAT_GO: it is on disk; LEAT_WAIT: on its way; LEAT_FAILED with *error. */
static enum leat_answer bring_to_disk(struct leat_daemon *d, struct leat_file *f, int *error)
{
	enum leat_root root;
	struct stat st;

	*error = 0;
	if (!leat_tree_has_ours(d->tree, f->name, &root, &st))
		return LEAT_GO;
	if (S_ISDIR(st.st_mode)) {
		*error = leat_tree_make_dir(d->tree, LEAT_ROOT_DISK, f->name);
	} else if (f->save_error) {
		*error = -f->save_error;
	} else {
		f->staged = true;
		leat_file_persist(d, f);
		if (f->dirty || f->saving)
			return LEAT_WAIT;
		*error = -f->save_error;
	}
	return *error ? LEAT_FAILED : LEAT_GO;
}

static bool is_input(const struct leat_file *f, int step)
{
	return !f->rule->excluded && leat_steps_has(f->rule->consumers, step);
}

/* Directories an output may go to must be there, as in a batch. */
static bool is_way(struct leat_daemon *d, const struct leat_file *f, int step)
{
	struct stat st;

	return f->rule->holds_outputs && leat_step_writes_below(d->matcher, step, f->name) &&
	       leat_tree_has(d->tree, LEAT_ROOT_STORE, f->name, &st) && S_ISDIR(st.st_mode);
}

/* An output of it that a step before it has made, and which it finds in a batch, too. */
static bool is_found(struct leat_daemon *d, const struct leat_file *f, int step)
{
	int maker = leat_stream_creator(d->stream, f->name);

	return leat_rule_produced(d, f->rule) && leat_steps_has(f->rule->producers, step) &&
	       maker >= 0 && maker != step && !d->steps[maker].running && !f->descriptions &&
	       leat_runs_before(d->matcher, maker, step);
}

/* Names and rights of what was saved are as they are now, too. */
static void refresh(struct leat_daemon *d, int step)
{
	struct leat_file *f, *next;

	if (leat_stream_has_links(d->stream))
		leat_files_relink(d);
	HASH_ITER(hh, d->files->by_name, f, next)
	if (f->staged && (is_input(f, step) || is_found(d, f, step)))
		leat_times_refresh(d, f);
}

/* Nobody hears of what it reads: it is taken to read all its inputs, as they are now. */
static void report_seen(struct leat_daemon *d, int step)
{
	struct leat_file *f, *next;

	HASH_ITER(hh, d->files->by_name, f, next)
	if (is_input(f, step) && (leat_stream_state(d->stream, f->name) == LEAT_FILE_COMMITTED ||
				  leat_steps_has(f->rule->producers, step)))
		leat_events_ask(d, step, 0, LEAT_CALL_LOOK, f->name, 0, 0);
}

enum leat_answer leat_staged_launch(struct leat_daemon *d, int step, struct leat_file **on,
				    int *error)
{
	enum leat_answer all = LEAT_GO;
	struct leat_file *f, *next;

	*on = leat_file_get(d, "");
	switch (leat_events_ask(d, step, LAUNCH_WAITER + (uint64_t)step, LEAT_CALL_LAUNCH, "", 0,
				0)) {
	case LEAT_WAIT:
		return LEAT_WAIT;
	case LEAT_FAILED:
		*error = -EIO;
		return LEAT_FAILED;
	case LEAT_NOENT:
		*error = -ENOENT;
		return LEAT_FAILED;
	case LEAT_GO:
	case LEAT_GO_STREAM:
		break;
	}
	HASH_ITER(hh, d->files->by_name, f, next)
	{
		enum leat_answer one = LEAT_GO;

		if (is_input(f, step) || is_way(d, f, step) || is_found(d, f, step))
			one = bring_to_disk(d, f, error);
		if (one == LEAT_FAILED)
			return one;
		if (one == LEAT_WAIT)
			all = one;
	}
	if (all == LEAT_GO) {
		refresh(d, step);
		report_seen(d, step);
		*error = leat_prepared_note(d, step);
		all = *error ? LEAT_FAILED : all;
	}
	d->steps[step].unseen = all == LEAT_GO;
	return all;
}

/* Nobody need have spoken of an input that its producer did not come to make. */
static char *name_failed(struct leat_daemon *d, const char *name)
{
	const struct leat_file *f = leat_file_find(d, name);
	char *why = NULL, *text = NULL;
	int step;

	if (f && f->why && leat_stream_state(d->stream, name) == LEAT_FILE_FAILED)
		return leat_strf("its input %s failed: %s", name, f->why);
	step = leat_step_never_made(d, name);
	if (step >= 0)
		why = leat_step_blame(d, step);
	if (why)
		text = leat_strf("its input %s failed: %s", name, why);
	free(why);
	return text;
}

static char *input_failed(struct leat_daemon *d, int step)
{
	const struct leat_names *inputs = &d->wf->steps[step].inputs;
	const struct leat_file *f;
	char *text = NULL;

	for (f = d->files->by_name; f && !text; f = f->hh.next)
		if (is_input(f, step))
			text = name_failed(d, f->name);
	for (size_t i = 0; i < inputs->n && !text; i++)
		text = name_failed(d, inputs->v[i].text);
	return text;
}

char *leat_staged_obstacle(struct leat_daemon *d, int step, int error)
{
	const struct leat_file *f;
	char *text = input_failed(d, step);

	if (text)
		return text;
	for (f = d->files->by_name; f; f = f->hh.next)
		if (is_input(f, step) && f->save_error == -error)
			return leat_strf("its input %s cannot be brought to disk: %s", f->name,
					 strerror(-error));
	return leat_strf("an input of it will never be complete: %s", strerror(-error));
}

/* ---- adoption ---- */

static bool is_newer(const struct stat *st, struct timespec since)
{
	/* file systems count time in ticks of up to 10 ms */
	return st->st_ctim.tv_sec > since.tv_sec ||
	       (st->st_ctim.tv_sec == since.tv_sec &&
		st->st_ctim.tv_nsec + 20000000 > since.tv_nsec);
}

/* Is it what another step has made there meanwhile, and does only a pattern of this one cover it?
 * What is in none of leat's own places is made on disk, or was put there. */
static bool is_anothers(const struct leat_daemon *d, const struct leat_file *f, int step,
			const struct stat *st)
{
	enum leat_root root;
	struct stat ours;

	return leat_stream_made(d->stream, f->name) && !is_input(f, step) &&
	       !leat_prepared_has(d, step, f->name) &&
	       !leat_names_has(&d->wf->steps[step].outputs, f->name) &&
	       (leat_inode_is(&f->on_disk, st) ||
		!leat_tree_has_ours(d->tree, f->name, &root, &ours));
}

static void adopt(struct leat_daemon *d, int step, const char *name, const struct stat *st)
{
	struct leat_file *f = leat_file_get(d, name);

	if (!f || (S_ISREG(st->st_mode) && is_anothers(d, f, step, st)))
		return;
	if (!is_newer(st, d->start_time)) {
		leat_file_report_present(d, f);
		return;
	}
	if (!is_input(f, step) && leat_prepared_is_untouched(d, step, name, st))
		return;
	LEAT_FAULT("staged.adopt");
	leat_unlink_ours(d, NULL, name);
	f->on_disk = (struct leat_inode){st->st_dev, st->st_ino};
	f->reported = f->made = true;
	f->adopted = leat_rule_root(d, f->rule) == LEAT_ROOT_STORE;
	leat_events_apply(d, (struct leat_event){.kind = LEAT_EV_CREATE,
						 .step = step,
						 .name = name,
						 .length = (uint64_t)st->st_size,
						 .flags = S_ISDIR(st->st_mode) ? LEAT_EVF_DIR : 0});
}

static void adopt_below(struct leat_daemon *d, int step, const char *dir);

static void adopt_entry(struct leat_daemon *d, int step, const char *dir, const char *name)
{
	char path[PATH_MAX];
	const struct leat_file_rule *rule;
	struct stat st;

	if (leat_is_dots(name) || !leat_path_put(path, dir, name))
		return;
	rule = leat_match(d->matcher, path);
	if (!rule || !leat_tree_has(d->tree, LEAT_ROOT_DISK, path, &st))
		return;
	if (!rule->excluded && leat_steps_has(rule->producers, step))
		adopt(d, step, path, &st);
	if (S_ISDIR(st.st_mode) && leat_step_writes_below(d->matcher, step, path))
		adopt_below(d, step, path);
}

static void adopt_below(struct leat_daemon *d, int step, const char *dir)
{
	int fd = leat_beneath_open(d->disk_fd, dir, O_RDONLY | O_DIRECTORY, 0);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!stream) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(stream)))
		adopt_entry(d, step, dir, e->d_name);
	closedir(stream);
}

void leat_staged_adopt(struct leat_daemon *d, int step)
{
	leat_tree_forget(d->tree);
	leat_prepared_judge(d, step);
	leat_tree_times_from_disk(d->tree);
	leat_glimpses_report(d, step);
	adopt_below(d, step, "");
	leat_prepared_finish(d, step);
}
