#include "daemon/ops/uses.h"

#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/problems.h"
#include "daemon/core/processes.h"
#include "daemon/files/files.h"
#include "daemon/files/states.h"
#include "daemon/ops/change_request.h"
#include "daemon/ops/dir_waits.h"
#include "daemon/ops/earlier.h"
#include "daemon/ops/request.h"
#include "daemon/ops/rules.h"
#include "daemon/run/glimpses.h"
#include "store/list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Is the name left to the kernel, or the caller no step? */
static bool is_nobodys(const struct leat_conn *c, const char *name)
{
	return c->step < 0 || !*name;
}

static bool is_fatal(const struct leat_daemon *d, unsigned before)
{
	return d->n_violations != before && !d->options.warn_violations;
}

static bool is_news(const struct leat_conn *c, const char *name, enum leat_use use, unsigned flags)
{
	return leat_stream_use_is_news(c->d->stream, c->step, name, use, flags & LEAT_EVF_DIR) ||
	       (flags & LEAT_EVF_SYMLINK &&
		leat_stream_private_owner(c->d->stream, c->step, name) >= 0);
}

int leat_uses_report(struct leat_conn *c, const struct leat_use_report *report, bool anyway)
{
	const unsigned violations = c->d->n_violations;
	int rc = leat_glimpses_note(c->d, c->step, report->name);

	if (!rc && (anyway || is_news(c, report->name, report->use, report->flags)))
		rc = leat_events_apply(c->d, (struct leat_event){.kind = LEAT_EV_USE,
								 .step = c->step,
								 .pid = c->pid,
								 .name = report->name,
								 .to = report->other,
								 .code = report->use,
								 .flags = report->flags});
	/* what is not noted would not be found */
	return rc ? rc : is_fatal(c->d, violations) ? -EIO : 0;
}

/* The kernel asks a mount for a name before it has that open or make the file. */
static bool guesses(const struct leat_conn *c, enum leat_use use)
{
	return c->proc && c->proc->mount && use < LEAT_USE_NEED;
}

/* `type`, as in a mode: what is there, or is made. `other`: the name of the same file that LINK is
 * given. 0 or -EIO. */
static int report_use(struct leat_conn *c, const char *name, enum leat_use use, mode_t type,
		      const char *other)
{
	const unsigned flags =
		leat_event_use_flags(use, type) | (guesses(c, use) ? LEAT_EVF_INTACT : 0);

	if (is_nobodys(c, name))
		return 0;
	return leat_uses_report(
		c,
		&(struct leat_use_report){.name = name, .use = use, .flags = flags, .other = other},
		false);
}

int leat_uses_links(struct leat_conn *c, const struct leat_found *found)
{
	int rc = 0;

	for (size_t at = 0; !rc && at < found->links_size; at += strlen(found->links + at) + 1) {
		rc = report_use(c, found->links + at, LEAT_USE_READ, 0, NULL);
		at += strlen(found->links + at) + 1;
	}
	return rc;
}

int leat_uses_met(struct leat_conn *c, const struct leat_found *found)
{
	return report_use(c, found->path, LEAT_USE_READ, found->st.st_mode, NULL);
}

/* The directory of `found`, or, if that does not exist, the topmost one that is missing, goes to
 * `dir`. False: it is the workflow's. */
static bool find_parent(const struct leat_conn *c, const struct leat_found *found,
			char dir[PATH_MAX])
{
	char above[PATH_MAX];
	char *slash;

	snprintf(dir, PATH_MAX, "%s", found->path);
	slash = strrchr(dir, '/');
	if (!slash)
		return false;
	*slash = 0;
	while (found->parent_missing && (slash = strrchr(dir, '/'))) {
		snprintf(above, sizeof(above), "%.*s", (int)(slash - dir), dir);
		if (leat_tree_look(c->d->tree, above, &(enum leat_root){0}, NULL) == 0)
			break;
		*slash = 0;
	}
	return true;
}

int leat_uses_parent(struct leat_conn *c, const struct leat_found *found)
{
	char dir[PATH_MAX];

	return find_parent(c, found, dir) ? report_use(c, dir, LEAT_USE_NEED, S_IFDIR, NULL) : 0;
}

/* Does the step wait for others only where they have used the name? So it does for one that is
 * nobody's output, or one of a later step's. */
static bool goes_by_uses(const struct leat_conn *c, const char *name,
			 const struct leat_file_rule *rule)
{
	return !leat_rule_produced(c->d, rule) ||
	       leat_stream_role(c->d->stream, c->step, name) == LEAT_ROLE_PLAIN;
}

/* A step that reads and writes the file waits until the others are done, and uses it then. */
static bool awaits_others(const struct leat_conn *c, const char *name,
			  const struct leat_file_rule *rule)
{
	return leat_steps_has(rule->producers, c->step) &&
	       leat_steps_has(rule->consumers, c->step) &&
	       leat_stream_role(c->d->stream, c->step, name) == LEAT_ROLE_BOTH &&
	       !leat_stream_visible(c->d->stream, c->step, name);
}

/* ---- RESOLVE ---- */

/* Does the call make a file, or would it? */
static bool makes(const struct leat_request *r)
{
	return !r->exists && (r->in->op == LEAT_OP_MAKE || r->in->op == LEAT_OP_MKDIR ||
			      (r->in->op == LEAT_OP_OPEN && r->in->flags & O_CREAT));
}

static enum leat_use use_of_open(const struct leat_request *r)
{
	unsigned flags = r->in->flags;

	if (!r->exists && (!(flags & O_CREAT) || r->found.parent_missing || r->found.dir_wanted))
		return LEAT_USE_SEEK;
	/* Whoever makes it meanwhile loses it. */
	if (!r->exists && flags & O_TRUNC && leat_steps_has(r->rule->producers, r->c->step))
		return LEAT_USE_TRUNCATE;
	if (!r->exists)
		return flags & O_APPEND ? LEAT_USE_APPEND : LEAT_USE_CREATE;
	if (!leat_request_makes(r) || !S_ISREG(r->found.st.st_mode) ||
	    (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return LEAT_USE_READ;
	if (flags & O_TRUNC)
		return LEAT_USE_TRUNCATE;
	return flags & O_APPEND ? LEAT_USE_APPEND : LEAT_USE_WRITE;
}

/* Nobody writes a part of what a producer makes so. */
static enum leat_use use_of_make(const struct leat_request *r)
{
	if (!leat_steps_has(r->rule->producers, r->c->step))
		return LEAT_USE_CREATE;
	return S_ISLNK(r->in->mode) ? LEAT_USE_LINK : LEAT_USE_REPLACE;
}

static enum leat_use use_of(const struct leat_request *r)
{
	bool missing = r->found.parent_missing;

	switch (r->in->op) {
	case LEAT_OP_OPEN:
		return use_of_open(r);
	case LEAT_OP_MKDIR:
		return r->exists ? LEAT_USE_READ : missing ? LEAT_USE_SEEK : LEAT_USE_MKDIR;
	case LEAT_OP_MAKE:
		return r->exists ? LEAT_USE_READ : missing ? LEAT_USE_SEEK : use_of_make(r);
	case LEAT_OP_TRUNCATE:
		return r->exists && !r->is_dir ? LEAT_USE_TRUNCATE : LEAT_USE_SEEK;
	case LEAT_OP_CHDIR:
		return LEAT_USE_NEED;
	default:
		return r->exists ? LEAT_USE_READ : LEAT_USE_SEEK;
	}
}

/* Files without a name, and the name itself of what has another (versions, views). */
static bool is_unnamed(const struct leat_request *r)
{
	return r->in->op == LEAT_OP_OPEN && (r->in->flags & O_TMPFILE) == O_TMPFILE;
}

/* Directories that are there in a batch: to look for something in, or to make something in. One
 * that is made once more is then that of the step that comes first, with the mode that it gives. */
static int await_place(struct leat_request *r, enum leat_use use)
{
	char parent[PATH_MAX];
	bool is_below;
	int rc = 0;

	if (r->is_dir)
		return leat_dir_await_left_over(r);
	if (!makes(r) && use == LEAT_USE_SEEK)
		return leat_dir_await(r->c, r->found.path, LEAT_DIR_LOOKS_FOR_IT, &r->file);
	if (!makes(r))
		return use == LEAT_USE_NEED && !r->exists
			       ? leat_dir_await(r->c, r->found.path, LEAT_DIR_MAKES_IN, &r->file)
			       : 0;
	is_below = find_parent(r->c, &r->found, parent);
	if (is_below)
		rc = leat_dir_await(r->c, parent,
				    r->found.parent_missing ? LEAT_DIR_MAKES_IN : LEAT_DIR_ENTERS,
				    &r->file);
	if (!rc && use == LEAT_USE_MKDIR)
		rc = leat_dir_await(r->c, r->found.path, LEAT_DIR_MAKES_IN, &r->file);
	return rc || !is_below ? rc : report_use(r->c, parent, LEAT_USE_NEED, S_IFDIR, NULL);
}

/* A directory is there that perhaps is not in a batch. A step that makes it is prepared for that;
 * and one that looks at it behind a mount has done more than to pass through it. */
static int report_mistaken(const struct leat_request *r)
{
	const bool makes_it = r->in->op == LEAT_OP_MKDIR;
	const struct leat_use_report report = {.name = r->found.path,
					       .use = makes_it ? LEAT_USE_MKDIR : LEAT_USE_READ,
					       .flags = LEAT_EVF_DIR |
							(makes_it ? LEAT_EVF_INTACT : 0)};

	if (!r->is_dir || (!makes_it && r->in->op != LEAT_OP_LOOK) ||
	    !leat_stream_is_mistaken(r->d->stream, r->c->step, report.name))
		return 0;
	return leat_uses_report(r->c, &report, true);
}

static mode_t type_of(const struct leat_request *r)
{
	if (r->exists)
		return r->found.st.st_mode;
	if (r->in->op == LEAT_OP_MKDIR)
		return S_IFDIR;
	return r->in->op == LEAT_OP_MAKE ? (mode_t)r->in->mode : 0;
}

static int report_found(const struct leat_request *r, enum leat_use use)
{
	/* Who opens a file to read it, or a directory, means that, behind a mount, too. */
	const bool reads = r->in->op == LEAT_OP_OPEN && use == LEAT_USE_READ &&
			   (r->is_dir || S_ISREG(r->found.st.st_mode)) &&
			   (r->in->flags & O_ACCMODE) == O_RDONLY;
	const struct leat_use_report report = {
		.name = r->found.path,
		.use = use,
		.flags = leat_event_use_flags(use, type_of(r)) |
			 (guesses(r->c, use) && !reads ? LEAT_EVF_INTACT : 0)};

	return leat_uses_report(r->c, &report, false);
}

int leat_uses_resolve(struct leat_request *r)
{
	enum leat_use use = use_of(r);
	const char *name = r->found.path;
	int rc;

	if (is_nobodys(r->c, name) || r->rule->excluded || is_unnamed(r))
		return 0;
	rc = leat_earlier_await(r, use);
	if (!rc)
		rc = await_place(r, use);
	if (rc)
		return rc;
	if (awaits_others(r->c, name, r->rule))
		return leat_request_file(r); /* the rules will have it wait */
	if (r->exists && goes_by_uses(r->c, name, r->rule) &&
	    leat_stream_holder(r->d->stream, r->c->step, name, use >= LEAT_USE_APPEND) >= 0)
		return leat_request_file(r); /* the rules will have it wait */
	rc = report_found(r, use);
	return rc ? rc : report_mistaken(r);
}

/* ---- CHANGE ---- */

/* Is there somebody upstream whose end has to be waited for? */
static int ask(struct leat_change_request *r, const char *name, const struct leat_file_rule *rule)
{
	struct leat_daemon *d = r->d;

	if (!awaits_others(r->c, name, rule) &&
	    (!goes_by_uses(r->c, name, rule) ||
	     leat_stream_holder(d->stream, r->c->step, name, true) < 0))
		return 0;
	if (!leat_file_get(d, name))
		return -ENFILE;
	return leat_change_ask(r, name, LEAT_CALL_WRITE);
}

/* What becomes of one of the names. */
static int change_name(struct leat_change_request *r, const struct leat_found *found,
		       enum leat_use use, mode_t type, const char *other)
{
	const struct leat_file_rule *rule;
	int rc = 0;

	if (found->outside || is_nobodys(r->c, found->path))
		return 0;
	rule = leat_match(r->d->matcher, found->path);
	if (rule && !rule->excluded)
		rc = leat_earlier_await_change(r, found->path, use);
	if (!rc && rule && !rule->excluded && use >= LEAT_USE_APPEND)
		rc = ask(r, found->path, rule);
	return rc ? rc : report_use(r->c, found->path, use, type, other);
}

static int rename_names(struct leat_change_request *r, mode_t type)
{
	int rc = r->to.outside ? 0 : leat_uses_parent(r->c, &r->to);

	if (rc || r->flags & (unsigned)~1u || r->to.parent_missing)
		return rc; /* or refused */
	rc = change_name(r, &r->from, LEAT_USE_MOVE, type, NULL);
	return rc ? rc : change_name(r, &r->to, LEAT_USE_REPLACE, type, NULL);
}

static int link_names(struct leat_change_request *r)
{
	int rc = r->to.outside ? 0 : leat_uses_parent(r->c, &r->to);

	if (!rc)
		rc = change_name(r, &r->from, LEAT_USE_READ, 0, NULL);
	if (rc || r->to.parent_missing)
		return rc;
	return change_name(r, &r->to, LEAT_USE_LINK, r->from.st.st_mode,
			   r->from.outside ? NULL : r->from.path);
}

/* What shows that the directory is not empty: an entry which should be there in a batch, too, if
 * there is one. False: nothing, or it may not be read, and the kernel looks itself. */
static bool find_entry(struct leat_change_request *r, char entry[PATH_MAX], mode_t *type)
{
	struct leat_listing l = {0};
	char path[PATH_MAX];
	bool any = false, early = true;
	int rc = leat_tree_list(r->d->tree, r->from.path, &l);

	for (size_t i = 0; !rc && early && i < l.n; i++) {
		if (leat_is_dots(l.v[i].name) || !leat_path_put(path, r->from.path, l.v[i].name))
			continue;
		early = leat_stream_use_is_early(r->d->stream, r->c->step, path);
		if (any && early)
			continue;
		memcpy(entry, path, sizeof(path));
		*type = DTTOIF(l.v[i].type);
		any = true;
	}
	leat_listing_release(&l);
	return any;
}

/* One that is not empty stays: its entry has been found, as if by a look. */
static int use_removed_directory(struct leat_change_request *r)
{
	char entry[PATH_MAX];
	mode_t type;

	if (is_nobodys(r->c, r->from.path))
		return 0;
	if (find_entry(r, entry, &type))
		return report_use(r->c, entry, LEAT_USE_READ, type, NULL);
	return change_name(r, &r->from, LEAT_USE_REMOVE, S_IFDIR, NULL);
}

/* The kernel will do no more than find out that they are there. */
static bool is_vain_rename(const struct leat_change_request *r, bool is_dir)
{
	bool to_there = r->to.outside || r->to.root != LEAT_ROOT_NONE;

	return to_there && (r->flags & RENAME_NOREPLACE ||
			    (!r->to.outside && S_ISDIR(r->to.st.st_mode) != is_dir));
}

static int look_at_both(struct leat_change_request *r)
{
	int rc = change_name(r, &r->from, LEAT_USE_READ, r->from.st.st_mode, NULL);

	return rc ? rc : change_name(r, &r->to, LEAT_USE_READ, r->to.st.st_mode, NULL);
}

/* What a change finds there, or not, in a batch. */
static int await_source(struct leat_change_request *r, bool there, bool is_dir)
{
	int rc;

	if (r->c->step < 0 || r->from.outside || (there && !is_dir))
		return 0;
	rc = leat_dir_await(r->c, r->from.path, there ? LEAT_DIR_ENTERS : LEAT_DIR_LOOKS_FOR_IT,
			    &r->on);
	/* All files in it, of which the step has declared some as its inputs. */
	if (!rc && there && leat_step_reads_below(r->d->matcher, r->c->step, r->from.path))
		rc = leat_ask_name(r->c, r->from.path, LEAT_CALL_LIST, &r->on);
	return rc;
}

int leat_uses_change(struct leat_change_request *r, uint32_t change)
{
	bool there = r->from.outside || r->from.root != LEAT_ROOT_NONE;
	bool is_dir = there && !r->from.outside && S_ISDIR(r->from.st.st_mode);
	int rc = await_source(r, there, is_dir);

	if (rc)
		return rc;
	if (!there)
		return change_name(r, &r->from, LEAT_USE_SEEK, 0, NULL);
	switch (change) {
	case LEAT_CHANGE_RENAME:
		return is_vain_rename(r, is_dir) ? look_at_both(r)
						 : rename_names(r, r->from.st.st_mode);
	case LEAT_CHANGE_LINK:
		if (!r->to.outside && r->to.root != LEAT_ROOT_NONE)
			return change_name(r, &r->to, LEAT_USE_READ, 0, NULL);
		return link_names(r);
	case LEAT_CHANGE_UNLINK:
		return change_name(r, &r->from, is_dir ? LEAT_USE_READ : LEAT_USE_REMOVE,
				   r->from.st.st_mode, NULL);
	default:
		return is_dir ? use_removed_directory(r)
			      : change_name(r, &r->from, LEAT_USE_READ, 0, NULL);
	}
}
