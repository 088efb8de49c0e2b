/* RESOLVE for open and truncate. */
#include "daemon/ops/open.h"

#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/processes.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/drop.h"
#include "daemon/files/files.h"
#include "daemon/files/sizes.h"
#include "daemon/files/states.h"
#include "daemon/ops/copy_up.h"
#include "daemon/ops/request.h"
#include "daemon/ops/shared.h"
#include "daemon/ops/versions.h"
#include "daemon/run/actions.h"
#include "daemon/run/milestones.h"
#include "daemon/run/ranks.h"
#include "daemon/space/spill.h"
#include "store/times.h"

#include <errno.h>
#include <fcntl.h>

static void violation(struct leat_request *r, enum leat_violation kind, uint64_t offset)
{
	leat_events_apply(r->d, (struct leat_event){.kind = LEAT_EV_VIOLATION,
						    .step = r->c->step,
						    .pid = r->c->pid,
						    .name = r->found.path,
						    .code = kind,
						    .flags = LEAT_EVF_RANGE,
						    .offset = offset});
}

/* Of the whole file; 0 or -EIO. */
static int violation_of_names(struct leat_request *r, enum leat_violation kind, const char *name)
{
	unsigned violations = r->d->n_violations;

	leat_events_apply(r->d, (struct leat_event){.kind = LEAT_EV_VIOLATION,
						    .step = r->c->step,
						    .pid = r->c->pid,
						    .name = name,
						    .code = kind});
	return leat_request_is_violation(r, violations) ? -EIO : 0;
}

/* A producer is to change what was there before the run. By its other names, which may be anywhere,
 * the old bytes would be read: in a batch there are none. 0 or -EIO. */
static int check_old_names(struct leat_request *r)
{
	if (r->found.root != LEAT_ROOT_DISK || r->found.st.st_nlink < 2 || r->file->made ||
	    r->file->adopted)
		return 0;
	return violation_of_names(r, LEAT_VIOLATION_LINKED, r->found.path);
}

/* The rules get no OPEN of a file that nobody declared, but it may have been passed on by
 * another name. 0 or -EIO. */
static int check_new_names(struct leat_request *r)
{
	const char *other = r->exists && r->found.st.st_nlink > 1
				    ? leat_stream_passed_on(r->d->stream, r->c->step, r->found.path)
				    : NULL;

	return other ? violation_of_names(r, LEAT_VIOLATION_AFTER_COMMIT, other) : 0;
}

/* What consumers have read of a growing file is about to go. */
static void cut(struct leat_request *r, uint64_t length)
{
	struct leat_shm_file *s = leat_file_shm(r->d, r->file);

	if (r->file->publishes && leat_shm_was_consumed(s, length, UINT64_MAX - length))
		violation(r, LEAT_VIOLATION_REWRITE, length);
	leat_shm_file_cut(s, length);
	if (r->file->reported_frontier > length)
		r->file->reported_frontier = length;
}

/* The parts that the rules know of now. */
static void show_cut(struct leat_request *r, uint64_t length)
{
	if (r->file->table)
		leat_file_show_extents(r->d, r->file, &(struct leat_range){length, UINT64_MAX});
}

/* The open is refused after its OPEN was applied to the rules. */
static int take_back(struct leat_request *r, struct leat_description *l)
{
	leat_description_failed(r->d, l);
	return leat_request_fail(r, -EIO);
}

static int report_open(struct leat_request *r, struct leat_description *l, bool made)
{
	unsigned flags =
		(r->in->flags & O_TRUNC ? LEAT_EVF_TRUNC : 0) | (made ? LEAT_EVF_CREAT : 0);
	bool behind = r->in->pid && r->c->proc && r->c->proc->mount;
	int rc;

	l->intact = !flags;
	if (l->intact)
		flags = LEAT_EVF_INTACT;
	if (r->in->flags & O_APPEND)
		flags |= LEAT_EVF_APPEND;
	l->behind = behind ? (int)r->in->pid : 0;
	rc = leat_events_apply(r->d,
			       (struct leat_event){.kind = LEAT_EV_OPEN,
						   .step = r->c->step,
						   .node = behind ? r->c->pid : 0,
						   .pid = behind ? (int)r->in->pid : r->c->pid,
						   .ofd = l->id,
						   .flags = flags,
						   .length = leat_shared_length(r),
						   .name = r->found.path});

	l->counted = rc == 0;
	return rc;
}

static int produce(struct leat_request *r)
{
	unsigned violations = r->d->n_violations;
	bool made = !r->exists;
	struct leat_description *l;
	int rc = leat_rank_check(r->c, r->found.path, "for writing");

	if (!rc)
		rc = leat_request_file(r);
	if (!rc && r->exists)
		rc = check_old_names(r);
	if (!rc && r->exists)
		rc = leat_request_copy_up(r, r->in->flags & O_TRUNC);
	if (!rc && made) {
		r->found.root = leat_rule_root(r->d, r->rule);
		/* Another user than the daemon's cannot go into the spill directory. */
		if (r->found.root == LEAT_ROOT_STORE && !r->c->user)
			r->found.root = leat_spill_choose_root(r->d, 0);
		rc = leat_tree_make_parents(r->d->tree, r->found.root, r->found.path);
		if (!rc)
			leat_tree_touch(r->d->tree, r->found.root, r->found.path);
	}
	if (rc)
		return leat_request_fail(r, rc);
	leat_shared_begin(r);
	/* Two writers go by the kernel's size, and so does who has it open to read. */
	if ((r->file->descriptions || r->file->watched) && !leat_file_settle(r->d, r->file, true))
		return leat_request_fail(r, -EAGAIN);
	l = leat_description_new(r->d, r->file, r->c);
	if (!l)
		return leat_request_fail(r, -ENOMEM);
	r->file->reported = true;
	r->file->made |= made;
	if (r->exists && r->in->flags & O_TRUNC)
		cut(r, 0);
	rc = leat_actions_opens(r->c, leat_request_seen(r), l);
	if (!rc)
		rc = report_open(r, l, made);
	if (r->in->flags & O_TRUNC)
		show_cut(r, 0);
	if (rc || leat_request_is_violation(r, violations))
		return take_back(r, l);
	r->file->publishes = leat_stream_publishes(r->d->stream, r->found.path);
	r->kind = r->file->publishes ? LEAT_KIND_PUBLISHER : LEAT_KIND_PRODUCER;
	/* What was in the version before is not written yet in this one. */
	if (r->carried && r->file->publishes)
		leat_shm_mark_sparse(leat_file_shm(r->d, r->file));
	leat_file_sync_frontier(r->d, r->file);
	return leat_request_go_open(r, l->id);
}

/* A consumer opens a file for writing that is complete: no harm before it writes. */
static int write_foreign(struct leat_request *r)
{
	unsigned violations = r->d->n_violations;
	struct leat_description *l;
	int rc = leat_request_file(r);

	if (rc)
		return leat_request_fail(r, rc);
	l = leat_description_new(r->d, r->file, r->c);
	if (!l)
		return leat_request_fail(r, -ENOMEM);
	l->foreign = true;
	l->mtime = r->found.st.st_mtim;
	l->intact = true;
	if (r->in->flags & O_TRUNC && r->found.st.st_size > 0) {
		l->foreign = l->intact = false; /* reported now, not at the close */
		violation(r, LEAT_VIOLATION_UNDECLARED, 0);
	}
	if (leat_actions_opens(r->c, leat_request_seen(r), l) ||
	    leat_request_is_violation(r, violations))
		return take_back(r, l);
	r->kind = LEAT_KIND_PRODUCER;
	return leat_request_go_open(r, l->id);
}

/* A step that comes before the producers of the file opens it: they are to wait for the close, as
 * what is done by the descriptor is not seen. 0 or -errno. */
static int hold(struct leat_request *r, uint64_t *ofd)
{
	struct leat_description *l;
	int rc;

	if (r->role != LEAT_ROLE_PLAIN || r->c->step < 0 || r->rule->excluded || *r->seen ||
	    !leat_rule_produced(r->d, r->rule) || (r->exists && !S_ISREG(r->found.st.st_mode)) ||
	    leat_stream_has_versions(r->d->stream, r->found.path))
		return 0;
	rc = leat_request_file(r);
	l = rc ? NULL : leat_description_new_holder(r->d, r->file, r->c, leat_request_writes(r));
	if (!l)
		return rc ? rc : -ENOMEM;
	*ofd = l->id;
	return 0;
}

static int create(struct leat_request *r, enum leat_root root)
{
	uint64_t ofd = 0;
	int rc = leat_request_create(r, root);

	r->kind = LEAT_KIND_COUNTED;
	if (!rc)
		rc = hold(r, &ofd);
	return rc ? leat_request_fail(r, rc) : leat_request_go_open(r, ofd);
}

/* Nobody but the steps after it must know of a file that nobody declared. */
static int write_plain(struct leat_request *r)
{
	uint64_t ofd = 0;
	int rc = check_new_names(r);

	if (rc)
		return leat_request_fail(r, rc);
	if (!r->exists)
		return create(r, leat_rule_root(r->d, r->rule));
	if (r->file) { /* no CLOSED will come for it */
		r->file->rewritable = true;
		leat_shm_file_changed(leat_file_shm(r->d, r->file));
	}
	if (r->in->flags & O_TRUNC && !r->rule->excluded && !r->rule->declared)
		return create(r, r->found.root);
	rc = hold(r, &ofd);
	return rc ? leat_request_fail(r, rc) : leat_request_go_open(r, ofd);
}

static int open_for_writing(struct leat_request *r)
{
	bool producer = r->role == LEAT_ROLE_PRODUCER || r->role == LEAT_ROLE_BOTH;
	int rc = leat_request_ask(r, LEAT_CALL_WRITE);

	if ((!rc || rc == -ENOENT) && producer && *r->seen)
		rc = leat_versions_carry_over(r);
	if (rc && rc != -ENOENT)
		return leat_request_fail(r, rc);
	if (r->exists && r->in->flags & O_CREAT && r->in->flags & O_EXCL)
		return leat_request_fail(r, -EEXIST);
	if (r->is_dir)
		return leat_request_fail(r, -EISDIR);
	if (!r->exists && (!(r->in->flags & O_CREAT) || r->found.parent_missing))
		return leat_request_fail(r, -ENOENT);
	if (!r->exists && r->found.dir_wanted)
		return leat_request_fail(r, -EISDIR);
	if (r->exists && !S_ISREG(r->found.st.st_mode))
		return leat_request_go(r);
	if (producer && leat_request_writes(r))
		return produce(r);
	if (r->role == LEAT_ROLE_CONSUMER && r->exists)
		return write_foreign(r);
	return producer ? create(r, leat_rule_root(r->d, r->rule)) : write_plain(r);
}

/* A file without a name belongs to nobody until it is linked. */
static int open_unnamed(struct leat_request *r)
{
	if (!r->exists)
		return leat_request_fail(r, -ENOENT);
	r->kind = LEAT_KIND_NONE;
	return leat_request_go(r);
}

/* For steps with actions the closes are reported, too. `ofd`: the description, or 0: there is none
 * yet. Its id. */
static uint64_t note_reader(struct leat_request *r, uint64_t ofd)
{
	struct leat_description *l = r->c->pending;

	if (!r->file || !leat_actions_of(r->d, r->c->step) || !leat_request_is_declared(r))
		return ofd;
	if (!ofd)
		l = leat_description_new_reader(r->d, r->file, r->c);
	return l && leat_actions_opens(r->c, leat_request_seen(r), l) == 0 ? l->id : ofd;
}

static int open_for_reading(struct leat_request *r)
{
	uint64_t ofd = 0;
	int rc = leat_request_ask(r, LEAT_CALL_OPEN);

	if (!rc && !r->exists)
		rc = -ENOENT;
	if (!rc && (r->in->flags & O_DIRECTORY) && !r->is_dir)
		rc = -ENOTDIR;
	if (rc)
		return leat_request_fail(r, rc);
	if (r->is_dir)
		r->kind = LEAT_KIND_DIR;
	if (r->file && r->file->rule->drop) {
		if (r->role == LEAT_ROLE_CONSUMER &&
		    !leat_shm_dropped(leat_file_shm(r->d, r->file)))
			r->kind = LEAT_KIND_CONSUMER;
		else if ((rc = leat_file_retain(r->d, r->file)))
			return leat_request_fail(r, rc);
	}
	/* Who may read a file that is being written, and is no consumer, must find its end. */
	if (r->file && r->role != LEAT_ROLE_CONSUMER) {
		r->file->watched = true;
		if (r->file->descriptions && !leat_file_settle(r->d, r->file, true))
			return leat_request_fail(r, -EAGAIN);
	}
	if (r->file && !r->is_dir && r->role == LEAT_ROLE_CONSUMER)
		leat_milestones_read(r->d, r->file, r->c->step);
	rc = hold(r, &ofd);
	if (rc)
		return leat_request_fail(r, rc);
	return leat_request_go_open(r, ofd ? ofd : note_reader(r, leat_versions_take(r)));
}

int leat_request_open(struct leat_request *r)
{
	if ((r->in->flags & O_TMPFILE) == O_TMPFILE)
		return open_unnamed(r);
	if (leat_request_makes(r))
		return open_for_writing(r);
	return open_for_reading(r);
}

int leat_request_truncate(struct leat_request *r)
{
	unsigned violations = r->d->n_violations;
	bool producer = r->role == LEAT_ROLE_PRODUCER || r->role == LEAT_ROLE_BOTH;
	int rc = leat_request_ask(r, LEAT_CALL_WRITE);

	if (!rc && producer && *r->seen)
		rc = leat_versions_carry_over(r);
	if (!rc && !r->exists)
		rc = -ENOENT;
	if (!rc && r->is_dir)
		rc = -EISDIR;
	if (rc)
		return leat_request_fail(r, rc);
	if (r->rule->excluded || !leat_rule_produced(r->d, r->rule)) {
		rc = check_new_names(r);
		return rc ? leat_request_fail(r, rc) : leat_request_go(r);
	}
	rc = leat_request_file(r);
	if (!rc && r->role != LEAT_ROLE_CONSUMER)
		rc = check_old_names(r);
	if (!rc && r->role != LEAT_ROLE_CONSUMER)
		rc = leat_request_copy_up(r, false);
	if (!rc && !leat_file_settle(r->d, r->file, false))
		rc = -EAGAIN;
	if (rc)
		return leat_request_fail(r, rc);
	cut(r, r->in->length);
	/* An offset may now lie beyond the end, or a hole is left. */
	if (r->file->publishes && r->in->length != (uint64_t)r->found.st.st_size)
		leat_shm_mark_sparse(leat_file_shm(r->d, r->file));
	leat_events_apply(r->d, (struct leat_event){.kind = LEAT_EV_TRUNCATE,
						    .step = r->c->step,
						    .pid = r->c->pid,
						    .name = r->found.path,
						    .length = r->in->length});
	show_cut(r, r->in->length);
	if (leat_request_is_violation(r, violations))
		return leat_request_fail(r, -EIO);
	return leat_request_go(r);
}
