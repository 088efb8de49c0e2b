/* RESOLVE: may this path call go on, and where. */
#include "daemon/ops/resolve.h"

#include "base/clock.h"
#include "daemon/run/actions.h"
#include "daemon/ops/enforce.h"
#include "daemon/core/events.h"
#include "daemon/files/persist.h"
#include "daemon/ops/links.h"
#include "daemon/ops/own.h"
#include "daemon/space/spill.h"
#include "daemon/run/steps.h"
#include "daemon/core/user.h"
#include "daemon/ops/uses.h"
#include "daemon/ops/versions.h"
#include "store/times.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int reply(struct leat_conn *c, const struct leat_msg_resolved *fields, const char *path)
{
	struct leat_msg_resolved *m = leat_wire_begin(c->d->out, LEAT_MSG_RESOLVED, sizeof(*m));
	struct leat_msg h = m->h;

	*m = *fields;
	m->h = h;
	if (leat_wire_put(m, path) == 0)
		leat_conn_send(c, m);
	return 0;
}

/* Where clients find a spilled file; its name goes to `out`. */
static enum leat_place spilled(struct leat_daemon *d, const char *name, char out[PATH_MAX], int *rc)
{
	*rc = leat_spill_name(d, name, out);
	return d->spill.below ? LEAT_PLACE_DISK : LEAT_PLACE_SPILL;
}

/* The file must stay where it is until the client has made its call, unless that is made
 * again when the file has moved. */
static void hold(struct leat_request *r)
{
	r->file->touched_ns = r->c->held_ns = leat_clock_ns();
	if (r->c->steady ||
	    (r->in->op != LEAT_OP_LOOK && (r->in->op != LEAT_OP_OPEN || r->in->flags & O_CREAT)))
		r->c->held = r->file;
}

/* One that cannot be found by the name that the client knows. */
static bool is_growing_version(const struct leat_request *r)
{
	return *r->seen && (r->found.root == LEAT_ROOT_STORE || r->found.root == LEAT_ROOT_DISK) &&
	       leat_stream_state(r->d->stream, r->found.path) == LEAT_FILE_PRODUCED;
}

static const struct leat_msg_resolved *place_of_version(const struct leat_request *r,
							struct leat_msg_resolved *m)
{
	m->place = r->found.root == LEAT_ROOT_STORE ? LEAT_PLACE_STORE : LEAT_PLACE_DISK;
	return m;
}

int leat_request_fail(struct leat_request *r, int error)
{
	struct leat_msg_resolved m = {.error = error, .place = LEAT_PLACE_ASIS};
	char path[PATH_MAX] = "";
	int rc;

	if (r->file) {
		m.slot = r->file->slot;
		m.seq = leat_shm_seq(leat_file_shm(r->d, r->file));
	}
	/* Who must not wait shows it as it is. */
	if (r->in->op == LEAT_OP_OPEN)
		leat_acts_resolved(r->c, error);
	if (error == -EAGAIN && r->c->steady && r->found.root == LEAT_ROOT_SPILL)
		m.place = spilled(r->d, r->found.path, path, &rc);
	else if (error == -EAGAIN && r->c->steady && is_growing_version(r))
		return reply(r->c, place_of_version(r, &m), r->found.path);
	return reply(r->c, &m, path);
}

/* Will each later call of the step that only looks or reads get the same answer? Of a
 * committed file nobody writes, by its own name: a symlink may change its target, and of
 * what happens to a file by another link this record is not told. */
static bool is_lasting(const struct leat_request *r)
{
	const struct leat_file *f = r->file;

	if (!f || r->found.root != LEAT_ROOT_STORE || r->kind != LEAT_KIND_COUNTED ||
	    (r->in->op != LEAT_OP_LOOK && r->in->op != LEAT_OP_ACCESS &&
	     (r->in->op != LEAT_OP_OPEN || (r->in->flags & O_ACCMODE) != O_RDONLY)))
		return false;
	if (r->in->op == LEAT_OP_OPEN && leat_acts_of(r->d, r->c->step))
		return false;
	/* Who uses it otherwise is to be known. */
	if (!leat_rule_produced(r->d, f->rule))
		return false;
	return leat_shm_flags(leat_file_shm(r->d, f)) & LEAT_SHM_COMMITTED && !f->retired &&
	       !f->lives && !f->hidden && !f->rewritable && !f->versioned && !f->rule->drop &&
	       r->c->step >= 0 && S_ISREG(r->found.st.st_mode) && r->found.st.st_nlink == 1 &&
	       strcmp(r->path, r->found.path) == 0;
}

int leat_request_go_open(struct leat_request *r, uint64_t ofd)
{
	struct leat_msg_resolved m = {.place = LEAT_PLACE_DISK,
				      .kind = r->kind,
				      .flags = r->in->flags,
				      .ofd = ofd,
				      .intact = ofd && r->c->pending && r->c->pending->intact,
				      .input = r->role == LEAT_ROLE_CONSUMER};
	char path[PATH_MAX];
	const char *name = r->found.path;
	int rc = 0;

	if (r->found.root == LEAT_ROOT_STORE)
		m.place = LEAT_PLACE_STORE;
	if (r->found.root == LEAT_ROOT_SPILL) {
		m.place = spilled(r->d, name, path, &rc);
		name = path;
	}
	if (rc)
		return leat_request_fail(r, rc);
	if (r->in->op == LEAT_OP_OPEN)
		leat_acts_resolved(r->c, 0);
	if (r->file) {
		m.slot = r->file->slot;
		m.seq = leat_shm_home(leat_file_shm(r->d, r->file));
		m.lasting = is_lasting(r);
		if (m.lasting)
			leat_file_announce(r->d, r->file, &r->found.st);
		m.changes = leat_shm_file_changes(leat_file_shm(r->d, r->file));
		hold(r);
	}
	return reply(r->c, &m, name);
}

int leat_request_go(struct leat_request *r)
{
	return leat_request_go_open(r, 0);
}

int leat_request_file(struct leat_request *r)
{
	if (!r->file)
		r->file = leat_file_get(r->d, r->found.path);
	if (!r->file)
		return -ENFILE;
	if (r->exists)
		leat_file_tell_present(r->d, r->file);
	return 0;
}

/* Names that nothing is known of are not worth a record. */
static bool is_of_interest(const struct leat_request *r)
{
	return !r->rule->excluded && (r->rule->declared || r->rule->dir_declared || r->file ||
				      (!r->exists && r->rule->holds_outputs));
}

static void note_found(struct leat_request *r)
{
	r->exists = r->found.root != LEAT_ROOT_NONE;
	r->is_dir = r->exists && S_ISDIR(r->found.st.st_mode);
	if (r->exists && !r->is_dir && !S_ISREG(r->found.st.st_mode))
		r->kind = LEAT_KIND_NONE;
}

/* Its producer may have made it between the look for the name and the look at its frontier. */
static int look_again(struct leat_request *r)
{
	enum leat_root root;
	struct stat st;
	int rc = leat_tree_look(r->d->tree, r->found.path, &root, &st);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	r->found.root = root;
	r->found.st = st;
	note_found(r);
	return 0;
}

int leat_request_ask(struct leat_request *r, enum leat_call call)
{
	bool begins = call == LEAT_CALL_WRITE && !r->exists && r->d->has_views &&
		      leat_stream_has_versions(r->d->stream, r->found.path);
	bool streams = false;
	int rc;

	if (r->is_dir || (r->role == LEAT_ROLE_PRODUCER && !begins) || r->c->step < 0 ||
	    !is_of_interest(r))
		return 0;
	rc = leat_request_file(r);
	if (rc)
		return rc;
	if (leat_file_is_hidden(r->file, r->c->step))
		return -ENOENT;
	rc = leat_ask_rules(r->c, r->file, call, 0, 0, &streams);
	if (!rc && !r->exists)
		rc = look_again(r);
	if (streams)
		r->kind = LEAT_KIND_CONSUMER;
	return rc;
}

bool leat_request_is_violation(const struct leat_request *r, unsigned violations_before)
{
	return r->d->n_violations != violations_before && !r->d->options.warn_violations;
}

/* Make room for a new name in `root`; r->file is its record unless it is excluded. */
static int place_new(struct leat_request *r, enum leat_root root)
{
	int rc = leat_tree_make_parents(r->d->tree, root, r->found.path);

	if (rc)
		return rc;
	leat_tree_touch(r->d->tree, root, r->found.path);
	r->found.root = root;
	return r->rule->excluded ? 0 : leat_request_file(r);
}

int leat_request_create(struct leat_request *r, enum leat_root root)
{
	unsigned violations = r->d->n_violations;
	int rc = place_new(r, root);

	if (rc)
		return leat_request_fail(r, rc);
	if (r->rule->excluded)
		return leat_request_go(r);
	r->file->told = r->file->made = true;
	leat_events_apply(r->d, (struct leat_event){.kind = LEAT_EV_CREATE,
						    .step = r->c->step,
						    .pid = r->c->pid,
						    .name = r->found.path});
	if (leat_request_is_violation(r, violations))
		return leat_request_fail(r, -EIO);
	return leat_request_go(r);
}

static int look(struct leat_request *r, enum leat_call call)
{
	int rc = leat_request_ask(r, call);

	if (!rc && !r->exists)
		rc = -ENOENT;
	return rc ? leat_request_fail(r, rc) : leat_request_go(r);
}

static int op_look(struct leat_request *r)
{
	return look(r, LEAT_CALL_LOOK);
}

/* Directories may have another half, which is to be changed, too. */
static int op_meta(struct leat_request *r)
{
	int rc = leat_request_check_rights(r);

	if (rc)
		return leat_request_fail(r, rc);
	if (r->is_dir)
		r->kind = LEAT_KIND_DIR;
	return look(r, LEAT_CALL_LOOK);
}

static int op_access(struct leat_request *r)
{
	if (r->is_dir) /* names may be looked up from an O_PATH descriptor */
		r->kind = LEAT_KIND_DIR;
	/* Whether it may be run is known when it is complete. */
	return look(r, r->in->mode & X_OK && !r->is_dir ? LEAT_CALL_LOOK : LEAT_CALL_OPEN);
}

static int op_exec(struct leat_request *r)
{
	return leat_request_is_passing(r) ? leat_request_fail(r, -ENOENT) : op_look(r);
}

static int op_chdir(struct leat_request *r)
{
	if (r->exists && !r->is_dir)
		return leat_request_fail(r, -ENOTDIR);
	r->kind = LEAT_KIND_DIR;
	return look(r, LEAT_CALL_OPEN);
}

static int new_name(struct leat_request *r, enum leat_root root, unsigned event_flags)
{
	int rc;

	if (r->exists)
		return leat_request_fail(r, -EEXIST);
	if (r->found.parent_missing)
		return leat_request_fail(r, -ENOENT);
	r->kind = LEAT_KIND_NONE;
	rc = place_new(r, root);
	if (rc)
		return leat_request_fail(r, rc);
	/* Told once it is there: whoever the news wakes looks for it at once. */
	r->c->making = r->file;
	r->c->making_flags = event_flags;
	return leat_request_go(r);
}

static int op_mkdir(struct leat_request *r)
{
	bool ours = !r->rule->excluded && r->rule->storage == LEAT_STORAGE_MEMORY &&
		    (r->rule->holds_outputs || leat_rule_produced(r->d, r->rule));

	return new_name(r, ours ? LEAT_ROOT_STORE : LEAT_ROOT_DISK, LEAT_EVF_DIR);
}

/* A FIFO, socket or device holds no data, and is as good on disk, where a socket is found by the
 * address that the program gave it. */
static bool is_special(mode_t mode)
{
	return mode & S_IFMT && !S_ISREG(mode) && !S_ISLNK(mode);
}

static int op_make(struct leat_request *r)
{
	if (r->found.dir_wanted)
		return leat_request_fail(r, r->exists ? -EEXIST : -ENOENT);
	return new_name(r, is_special(r->in->mode) ? LEAT_ROOT_DISK : leat_rule_home(r->d, r->rule),
			0);
}

static int (*const operations[])(struct leat_request *r) = {
	[LEAT_OP_OPEN] = leat_request_open, [LEAT_OP_LOOK] = op_look,
	[LEAT_OP_CHDIR] = op_chdir,         [LEAT_OP_EXEC] = op_exec,
	[LEAT_OP_MKDIR] = op_mkdir,         [LEAT_OP_MAKE] = op_make,
	[LEAT_OP_META] = op_meta,           [LEAT_OP_TRUNCATE] = leat_request_truncate,
	[LEAT_OP_ACCESS] = op_access,
};

enum leat_find leat_request_how(const struct leat_request *r)
{
	const struct leat_msg_resolve *in = r->in;
	bool follow = true;

	switch (in->op) {
	case LEAT_OP_OPEN:
		follow = !(in->flags & O_NOFOLLOW) &&
			 (in->flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
		break;
	case LEAT_OP_LOOK:
	case LEAT_OP_META:
	case LEAT_OP_ACCESS:
		follow = !(in->flags & AT_SYMLINK_NOFOLLOW);
		break;
	case LEAT_OP_MKDIR:
	case LEAT_OP_MAKE:
		return LEAT_FIND_NAME;
	default:
		break;
	}
	return follow ? LEAT_FIND_FOLLOW : LEAT_FIND_NOFOLLOW;
}

/* What kind of a call it is, to find which version is meant. */
static enum leat_call call_of(const struct leat_request *r)
{
	static const enum leat_call calls[] = {
		[LEAT_OP_ACCESS] = LEAT_CALL_OPEN,    [LEAT_OP_CHDIR] = LEAT_CALL_OPEN,
		[LEAT_OP_MKDIR] = LEAT_CALL_WRITE,    [LEAT_OP_MAKE] = LEAT_CALL_WRITE,
		[LEAT_OP_TRUNCATE] = LEAT_CALL_WRITE, [LEAT_OP_LOOK] = LEAT_CALL_LOOK,
		[LEAT_OP_EXEC] = LEAT_CALL_LOOK,      [LEAT_OP_META] = LEAT_CALL_LOOK};

	if (r->in->op == LEAT_OP_OPEN)
		return leat_request_makes(r) ? LEAT_CALL_WRITE : LEAT_CALL_OPEN;
	return calls[r->in->op];
}

/* No file can be made by a name that ends in a slash. */
static bool makes_directory(const struct leat_request *r)
{
	return r->in->op == LEAT_OP_OPEN && r->in->flags & O_CREAT && r->found.name_slash;
}

/* The client makes its calls itself, and the kernel looks at its user then. But the rules are
 * told before, and the store is made ready: not for what the kernel will refuse. */
static int check_user(const struct leat_request *r)
{
	const struct leat_msg_resolve *in = r->in;
	int access =
		in->op != LEAT_OP_OPEN || (in->flags & O_ACCMODE) == O_WRONLY ? W_OK : R_OK | W_OK;
	bool makes = in->op == LEAT_OP_MKDIR || in->op == LEAT_OP_MAKE ||
		     (in->op == LEAT_OP_OPEN && in->flags & O_CREAT);
	bool writes = in->op == LEAT_OP_TRUNCATE ||
		      (in->op == LEAT_OP_OPEN &&
		       (in->flags & O_TRUNC || (in->flags & O_ACCMODE) != O_RDONLY));

	if (!r->c->user)
		return 0;
	if (!r->exists)
		return makes && !r->found.parent_missing
			       ? leat_user_may_make(r->c->user, r->d->tree, r->found.path)
			       : 0;
	if (!writes || !S_ISREG(r->found.st.st_mode))
		return 0;
	return leat_user_access(r->c->user, leat_tree_fd(r->d->tree, r->found.root), r->found.path,
				access);
}

static int go_outside(const struct leat_request *r)
{
	struct leat_msg_resolved m = {.place = LEAT_PLACE_ASIS, .flags = r->in->flags};

	return reply(r->c, &m, r->found.path);
}

int leat_handle_resolve(struct leat_conn *c, const void *msg)
{
	struct leat_request r = {.c = c, .d = c->d, .in = msg, .kind = LEAT_KIND_COUNTED};
	const char *path = leat_wire_string(msg, sizeof(*r.in), 0);
	int rc;

	if (!path || r.in->op >= sizeof(operations) / sizeof(*operations) || !operations[r.in->op])
		return -EPROTO;
	rc = leat_user_find(c->user, r.d->tree, path, leat_request_how(&r), &r.found);
	if ((!rc || rc == -ENOTDIR || rc == -ELOOP) && !r.found.outside && makes_directory(&r))
		return leat_request_fail(&r, -EISDIR);
	if (rc)
		return leat_request_fail(&r, rc);
	rc = leat_links_ask(c, &r.found, &r.file);
	if (rc)
		return leat_request_fail(&r, rc);
	if (r.found.outside)
		return go_outside(&r);
	rc = leat_own_resolve(&r);
	if (rc)
		return leat_request_fail(&r, rc);
	r.exists = r.found.root != LEAT_ROOT_NONE;
	rc = leat_versions_resolve(&r, call_of(&r));
	if (!rc && *r.seen)
		rc = leat_links_ask(c, &r.found, &r.file);
	if (rc)
		return leat_request_fail(&r, rc);
	if (r.found.outside) /* what all instances have in the workflow's directory */
		return go_outside(&r);
	r.path = path;
	r.rule = leat_match(r.d->matcher, r.found.path);
	if (!r.rule)
		return leat_request_fail(&r, -ENOMEM);
	r.role = leat_stream_role(r.d->stream, c->step, r.found.path);
	r.file = leat_file_find(r.d, r.found.path);
	note_found(&r);
	rc = leat_enforce_resolve(&r);
	if (!rc)
		rc = check_user(&r);
	if (!rc)
		rc = leat_acts_before_open(&r);
	if (rc)
		return leat_request_fail(&r, rc);
	if (r.file && leat_move_is_live(r.file))
		return leat_request_fail(&r, -EAGAIN);
	if (r.file)
		leat_move_forget(r.file);
	rc = leat_uses_resolve(&r);
	if (rc)
		return leat_request_fail(&r, rc);
	return operations[r.in->op](&r);
}
