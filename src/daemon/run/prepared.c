#include "daemon/run/prepared.h"

#include "base/beneath.h"
#include "base/fd.h"
#include "base/timespec.h"
#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/core/steps.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/modes.h"
#include "daemon/files/moving.h"
#include "daemon/files/publish_name.h"
#include "daemon/files/remove.h"
#include "daemon/files/states.h"
#include "store/attributes.h"
#include "store/compare.h"
#include "store/persist.h"
#include "store/times.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct leat_prepared {
	char *name;     /* owned */
	uint32_t slot;  /* of its record; 0: it has none */
	struct stat st; /* on disk, when the step started */
	UT_hash_handle hh;
};

/* ---- at the start ---- */

static void forget(struct leat_prepared *p)
{
	free(p->name);
	free(p);
}

/* Directories on the way are, for each of what lies in them. */
static int add(struct leat_daemon *d, int step, const char *name, size_t length)
{
	struct leat_prepared **all = &d->steps[step].prepared, *p;

	HASH_FIND(hh, *all, name, length, p);
	if (p)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->name = strndup(name, length);
	if (p->name && !leat_tree_has(d->tree, LEAT_ROOT_DISK, p->name, &p->st)) {
		forget(p);
		return 0;
	}
	if (p->name) {
		p->slot = leat_file_slot(leat_file_find(d, p->name));
		HASH_ADD_KEYPTR(hh, *all, p->name, length, p);
	}
	if (p->hh.tbl)
		return 0;
	forget(p);
	return -ENOMEM;
}

/* Its inputs are there for it, and outputs that others have begun. Other complete files may be,
 * since they are saved: a step that has not declared them may use them all the same. */
static bool is_there_for(struct leat_daemon *d, const struct leat_file *f, int step)
{
	if (f->rule->holds_outputs)
		return true;
	return leat_rule_produced(d, f->rule) &&
	       (leat_steps_has(f->rule->consumers, step) ||
		leat_steps_has(f->rule->producers, step) ||
		leat_stream_state(d->stream, f->name) == LEAT_FILE_COMMITTED);
}

int leat_prepared_note(struct leat_daemon *d, int step)
{
	const struct leat_file *f;
	int rc = 0;

	leat_prepared_free(d, step);
	for (f = d->files->by_name; f && !rc; f = f->hh.next) {
		if (!is_there_for(d, f, step))
			continue;
		rc = add(d, step, f->name, strlen(f->name));
		for (size_t at = strlen(f->name); at-- > 0 && !rc;)
			if (f->name[at] == '/')
				rc = add(d, step, f->name, at);
	}
	return rc;
}

/* ---- what was removed ---- */

static void report(struct leat_daemon *d, int step, enum leat_event_kind kind, const char *name,
		   unsigned code)
{
	leat_events_apply(d, (struct leat_event){.kind = kind,
						 .step = step,
						 .pid = d->steps[step].pid,
						 .name = name,
						 .code = code});
}

static void remove_failed(struct leat_daemon *d, int step, const char *name, int rc)
{
	leat_problem_add(d, rc,
			 "step %s has removed %s, and it cannot be removed from the store: %s",
			 d->wf->steps[step].name, name, strerror(-rc));
}

/* As if a streamed step had done it (ops/change.c). */
static void remove_file(struct leat_daemon *d, int step, struct leat_file *f, const char *name)
{
	enum leat_root root;
	struct stat st;
	int rc;

	if (leat_stream_use_is_news(d->stream, step, name, LEAT_USE_REMOVE, false))
		report(d, step, LEAT_EV_USE, name, LEAT_USE_REMOVE);
	if (leat_tree_has_ours(d->tree, name, &root, &st) &&
	    leat_stream_role(d->stream, step, name) == LEAT_ROLE_CONSUMER &&
	    leat_file_is_wanted(d, f, step)) {
		rc = leat_file_hide_from(d, f, NULL, step);
	} else {
		leat_descriptions_hold(d, f);
		rc = leat_unlink_everywhere(d, NULL, name);
		rc = rc == -ENOENT || rc == -ENOTDIR ? 0 : rc;
		if (!rc)
			leat_file_removed(d, f, name, step, d->steps[step].pid, 0);
	}
	if (rc)
		remove_failed(d, step, name, rc);
}

/* What others have in it stays, and it with that. */
static void remove_directory(struct leat_daemon *d, int step, struct leat_file *f, const char *name)
{
	int rc = 0;

	for (enum leat_root root = LEAT_ROOT_STORE; root <= LEAT_ROOT_SPILL && !rc; root++) {
		int fd = leat_tree_fd(d->tree, root);

		rc = fd < 0 ? 0 : leat_beneath_unlink(fd, name, AT_REMOVEDIR);
		rc = rc == -ENOENT || rc == -ENOTDIR ? 0 : rc;
	}
	leat_tree_forget(d->tree);
	if (rc && rc != -ENOTEMPTY && rc != -EEXIST)
		remove_failed(d, step, name, rc);
	if (!rc && f)
		leat_file_removed(d, f, name, step, d->steps[step].pid, LEAT_EVF_DIR);
}

/* ---- what was changed ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       leat_timespec_is_same(a->st_mtim, b->st_mtim) &&
	       leat_timespec_is_same(a->st_ctim, b->st_ctim);
}

/* There is nothing to compare it with. A time that is none of those of the step was set. */
static bool is_dated_in_step(const struct leat_prepared *p, const struct stat *now)
{
	struct timespec clock;

	clock_gettime(CLOCK_REALTIME, &clock);
	return !leat_timespec_is_same(p->st.st_mtim, now->st_mtim) &&
	       !leat_timespec_is_before(now->st_mtim, p->st.st_ctim) &&
	       !leat_timespec_is_before(clock, now->st_mtim);
}

/* 1: the file of the store and that on disk have the same bytes; 0 or -errno. */
static int compare(struct leat_daemon *d, const struct leat_prepared *p, enum leat_root root)
{
	int top = leat_tree_fd(d->tree, root), a, b, rc;

	if (S_ISLNK(p->st.st_mode))
		return leat_compare_symlinks(top, d->disk_fd, p->name);
	a = leat_beneath_open_regular(top, p->name, O_RDONLY);
	b = leat_beneath_open_regular(d->disk_fd, p->name, O_RDONLY);
	rc = a < 0 ? a : b < 0 ? b : leat_compare_bytes(a, b);
	if (a >= 0)
		leat_close(&a);
	if (b >= 0)
		leat_close(&b);
	return rc;
}

/* Times may be set, and files replaced by the same: it is the bytes that count. What cannot be
 * read counts as changed, unless only its rights were. */
static bool is_rewritten(struct leat_daemon *d, const struct leat_prepared *p,
			 const struct stat *now)
{
	const bool replaced = p->st.st_ino != now->st_ino || p->st.st_dev != now->st_dev;
	enum leat_root root;
	struct stat ours;
	int rc;

	if ((p->st.st_mode & S_IFMT) != (now->st_mode & S_IFMT) || p->st.st_size != now->st_size)
		return true;
	if (!leat_tree_has_ours(d->tree, p->name, &root, &ours))
		return replaced || is_dated_in_step(p, now);
	rc = compare(d, p, root);
	return rc < 0 ? replaced || !leat_timespec_is_same(p->st.st_mtim, now->st_mtim) : !rc;
}

/* What is on disk takes the place of what is in the store. */
static void take(struct leat_daemon *d, int step, struct leat_file *f, const char *name)
{
	leat_file_withdraw_name(d, f);
	leat_descriptions_hold(d, f);
	leat_unlink_ours(d, NULL, name);
	leat_file_retire(d, f);
	f = leat_file_get(d, name);
	if (f) {
		f->reported = f->made = true;
		leat_file_note_root(d, f, LEAT_ROOT_DISK);
		leat_file_refresh(d, f, leat_stream_state(d->stream, name));
	}
	report(d, step, LEAT_EV_VIOLATION, name, LEAT_VIOLATION_UNDECLARED);
}

static void cannot_give(struct leat_daemon *d, int step, const char *name, int rc)
{
	leat_problem_add(d, rc,
			 "step %s has given %s another mode, owner or time, which it cannot be "
			 "given in the store: %s",
			 d->wf->steps[step].name, name, strerror(-rc));
}

/* Mode, owner, times and attributes, where the bytes are the same. */
static void take_meta(struct leat_daemon *d, int step, struct leat_file *f, const struct stat *was,
		      const struct stat *now)
{
	enum leat_root root;
	struct stat ours;
	int like, rc;

	if (!leat_tree_has_ours(d->tree, f->name, &root, &ours))
		return;
	if (!leat_move_is_live(f))
		leat_move_forget(f);
	leat_file_withdraw_name(d, f);
	leat_mode_changes(d, f, step, f->name, was->st_mode, now->st_mode);
	like = leat_beneath_open(d->disk_fd, f->name, O_PATH, 0);
	rc = like < 0 ? like
		      : leat_persist_meta(leat_tree_fd(d->tree, root), f->name, now,
					  &(struct leat_inode){ours.st_dev, ours.st_ino}, like,
					  leat_list_of(d->disk_fd, f->name), f->name);
	if (like >= 0)
		leat_close(&like);
	if (rc) {
		cannot_give(d, step, f->name, rc);
		return;
	}
	if (!leat_timespec_is_same(was->st_mtim, now->st_mtim))
		leat_shm_note_times(leat_file_shm(d, f),
				    (struct timespec[]){now->st_atim, now->st_mtim});
	if (f->saved && leat_tree_has(d->tree, root, f->name, &ours)) {
		f->saved_mtime = ours.st_mtim;
		f->saved_ctime = leat_shown_ctime(d->shm, &ours);
	}
}

static void judge(struct leat_daemon *d, int step, const struct leat_prepared *p)
{
	struct leat_file *f = leat_file_find(d, p->name);
	const bool was_dir = S_ISDIR(p->st.st_mode);
	struct stat now;

	/* Others may have removed or renamed it since. */
	if (p->slot && p->slot != leat_file_slot(f))
		return;
	if (!leat_tree_has(d->tree, LEAT_ROOT_DISK, p->name, &now)) {
		if (was_dir)
			remove_directory(d, step, f, p->name);
		else if (f)
			remove_file(d, step, f, p->name);
		return;
	}
	/* What it may make is adopted. */
	if (!f || (was_dir && S_ISDIR(now.st_mode)) || leat_steps_has(f->rule->producers, step) ||
	    is_same(&p->st, &now))
		return;
	/* Saved anew meanwhile. */
	if (now.st_ino != p->st.st_ino && f->saved && leat_inode_is(&f->on_disk, &now))
		return;
	if (is_rewritten(d, p, &now))
		take(d, step, f, p->name);
	else
		take_meta(d, step, f, &p->st, &now);
}

bool leat_prepared_has(const struct leat_daemon *d, int step, const char *name)
{
	const struct leat_prepared *p;

	HASH_FIND_STR(d->steps[step].prepared, name, p);
	return p != NULL;
}

bool leat_prepared_is_untouched(const struct leat_daemon *d, int step, const char *name,
				const struct stat *st)
{
	const struct leat_prepared *p;

	HASH_FIND_STR(d->steps[step].prepared, name, p);
	return p && is_same(&p->st, st);
}

static int by_depth(const struct leat_prepared *a, const struct leat_prepared *b)
{
	return strcmp(b->name, a->name); /* "a/b" before "a" */
}

/* It came to be there while the step ran. */
static void judge_saved(struct leat_daemon *d, int step, struct leat_file *f)
{
	struct leat_prepared p = {.name = f->name, .slot = f->slot}, *noted;
	enum leat_root root;
	struct stat now;

	HASH_FIND_STR(d->steps[step].prepared, f->name, noted);
	if (noted || !f->saved || !leat_rule_produced(d, f->rule) ||
	    leat_stream_state(d->stream, f->name) != LEAT_FILE_COMMITTED ||
	    !leat_tree_has_ours(d->tree, f->name, &root, &p.st))
		return;
	p.st.st_dev = f->on_disk.dev;
	p.st.st_ino = f->on_disk.ino;
	p.st.st_mtim = f->saved_mtime;
	/* When it was given its name is not known. */
	if (leat_tree_has(d->tree, LEAT_ROOT_DISK, f->name, &now))
		p.st.st_ctim = now.st_ctim;
	judge(d, step, &p);
}

void leat_prepared_judge(struct leat_daemon *d, int step)
{
	const struct leat_prepared *p;
	struct leat_file *f, *next;

	HASH_SORT(d->steps[step].prepared, by_depth);
	for (p = d->steps[step].prepared; p; p = p->hh.next)
		judge(d, step, p);
	if (d->steps[step].unseen)
		HASH_ITER(hh, d->files->by_name, f, next)
		{
			judge_saved(d, step, f);
		}
}

/* ---- directories ---- */

static bool has_other_rights(const struct stat *a, const struct stat *b)
{
	return a->st_mode != b->st_mode || a->st_uid != b->st_uid || a->st_gid != b->st_gid;
}

/* What is made in it sets both. */
static bool is_dated(const struct leat_prepared *p, const struct stat *now)
{
	return !leat_timespec_is_same(p->st.st_mtim, now->st_mtim) &&
	       !leat_timespec_is_same(now->st_mtim, now->st_ctim);
}

/* The half in the store becomes like that on disk. */
static int make_alike(int store, int disk, const struct leat_prepared *p, const struct stat *now)
{
	struct stat ours;
	int rc = fstat(store, &ours) < 0 ? -errno : 0;

	if (!rc && (ours.st_uid != now->st_uid || ours.st_gid != now->st_gid))
		rc = leat_beneath_chown(store, now->st_uid, now->st_gid);
	if (!rc)
		rc = leat_copy_attributes(disk, store, true);
	if (!rc && has_other_rights(&p->st, now))
		rc = leat_beneath_chmod(store, now->st_mode & 07777);
	if (!rc && is_dated(p, now))
		rc = leat_beneath_set_times(store, (struct timespec[]){now->st_atim, now->st_mtim});
	return rc;
}

static void finish_directory(struct leat_daemon *d, int step, const struct leat_prepared *p)
{
	int top = leat_tree_fd(d->tree, LEAT_ROOT_STORE), store, disk, rc = 0;
	struct stat now;

	disk = leat_beneath_open(d->disk_fd, p->name, O_PATH | O_DIRECTORY, 0);
	store = leat_beneath_open(top, p->name, O_PATH | O_DIRECTORY, 0);
	if (disk >= 0 && store >= 0) {
		rc = fstat(disk, &now) < 0 ? -errno : 0;
		if (!rc && (has_other_rights(&p->st, &now) || is_dated(p, &now)))
			rc = make_alike(store, disk, p, &now);
	}
	if (rc)
		cannot_give(d, step, p->name, rc);
	if (disk >= 0)
		leat_close(&disk);
	if (store >= 0)
		leat_close(&store);
}

void leat_prepared_finish(struct leat_daemon *d, int step)
{
	const struct leat_prepared *p;

	for (p = d->steps[step].prepared; p; p = p->hh.next)
		if (S_ISDIR(p->st.st_mode))
			finish_directory(d, step, p);
	leat_prepared_free(d, step);
}

void leat_prepared_free(struct leat_daemon *d, int step)
{
	struct leat_prepared *p, *next;

	HASH_ITER(hh, d->steps[step].prepared, p, next)
	{
		HASH_DEL(d->steps[step].prepared, p);
		forget(p);
	}
}
