#include "daemon/ops/request.h"

#include "base/clock.h"
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/user.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/publish_name.h"
#include "daemon/files/states.h"
#include "daemon/ops/rules.h"
#include "daemon/run/actions.h"
#include "daemon/space/space.h"
#include "daemon/space/spill_dir.h"
#include "store/times.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

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
static enum leat_location spilled(struct leat_daemon *d, const char *name, char out[PATH_MAX],
				  int *rc)
{
	*rc = leat_spill_name(d, name, out);
	return d->space->below ? LEAT_LOCATION_DISK : LEAT_LOCATION_SPILL;
}

/* The file must stay where it is until the client has made its call, unless that is made
 * again when the file has moved. */
static void hold(struct leat_request *r)
{
	r->file->touched_ns = r->c->held_ns = leat_clock_ns();
	if (r->c->steady ||
	    (r->in->op != LEAT_OP_STAT && (r->in->op != LEAT_OP_OPEN || r->in->flags & O_CREAT)))
		r->c->held = r->file;
}

/* One that cannot be found by the name that the client knows. */
static bool is_growing_version(const struct leat_request *r)
{
	return *r->seen && (r->found.root == LEAT_ROOT_STORE || r->found.root == LEAT_ROOT_DISK) &&
	       leat_stream_state(r->d->stream, r->found.path) == LEAT_FILE_PRODUCED;
}

static const struct leat_msg_resolved *location_of_version(const struct leat_request *r,
							   struct leat_msg_resolved *m)
{
	m->location = r->found.root == LEAT_ROOT_STORE ? LEAT_LOCATION_STORE : LEAT_LOCATION_DISK;
	return m;
}

int leat_request_fail(struct leat_request *r, int error)
{
	struct leat_msg_resolved m = {.error = error, .location = LEAT_LOCATION_ASIS};
	char path[PATH_MAX];
	int rc;

	*path = 0;
	if (r->file) {
		m.slot = r->file->slot;
		m.seq = r->c->waiting ? leat_file_seq(r->d, r->file)
				      : leat_shm_seq(leat_file_shm(r->d, r->file));
	}
	/* A client whose call is not to wait (a stat, say) makes it on the file as it is. */
	if (r->in->op == LEAT_OP_OPEN)
		leat_actions_resolved(r->c, error == -EAGAIN);
	if (error == -EAGAIN && r->c->steady && r->found.root == LEAT_ROOT_SPILL)
		m.location = spilled(r->d, r->found.path, path, &rc);
	else if (error == -EAGAIN && r->c->steady && is_growing_version(r))
		return reply(r->c, location_of_version(r, &m), r->found.path);
	return reply(r->c, &m, path);
}

/* Will each later call of the step that only looks or reads get the same answer? Of a
 * committed file nobody writes, by its own name: a symlink may change its target, and of
 * what happens to a file by another link this record does not hear. */
static bool is_lasting(const struct leat_request *r)
{
	const struct leat_file *f = r->file;

	if (!f || r->found.root != LEAT_ROOT_STORE || r->kind != LEAT_KIND_COUNTED ||
	    (r->in->op != LEAT_OP_STAT && r->in->op != LEAT_OP_ACCESS &&
	     (r->in->op != LEAT_OP_OPEN || (r->in->flags & O_ACCMODE) != O_RDONLY)))
		return false;
	if (r->in->op == LEAT_OP_OPEN && leat_actions_of(r->d, r->c->step))
		return false;
	/* Who uses it otherwise is to be known. */
	if (!leat_rule_produced(r->d, f->rule))
		return false;
	return leat_shm_flags(leat_file_shm(r->d, f)) & LEAT_SHM_COMMITTED && !f->retired &&
	       !f->descriptions && !f->hidden && !f->rewritable && !f->versioned &&
	       !f->rule->drop && r->c->step >= 0 && S_ISREG(r->found.st.st_mode) &&
	       r->found.st.st_nlink == 1 && strcmp(r->path, r->found.path) == 0;
}

int leat_request_go_open(struct leat_request *r, uint64_t ofd)
{
	struct leat_msg_resolved m = {.location = LEAT_LOCATION_DISK,
				      .kind = r->kind,
				      .flags = r->in->flags,
				      .ofd = ofd,
				      .intact = ofd && r->c->pending && r->c->pending->intact,
				      .input = r->role == LEAT_ROLE_CONSUMER};
	char path[PATH_MAX];
	const char *name = r->found.path;
	int rc = 0;

	m.mistaken = r->is_dir && leat_stream_is_mistaken(r->d->stream, r->c->step, name);
	if (r->found.root == LEAT_ROOT_STORE)
		m.location = LEAT_LOCATION_STORE;
	if (r->found.root == LEAT_ROOT_SPILL) {
		m.location = spilled(r->d, name, path, &rc);
		name = path;
	}
	if (rc)
		return leat_request_fail(r, rc);
	if (r->in->op == LEAT_OP_OPEN)
		leat_actions_resolved(r->c, false);
	if (r->file) {
		m.slot = r->file->slot;
		m.generation = leat_shm_generation(leat_file_shm(r->d, r->file));
		m.lasting = is_lasting(r);
		if (m.lasting)
			leat_file_publish_name(r->d, r->file, &r->found.st);
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
		leat_file_report_present(r->d, r->file);
	return 0;
}

/* Names that nothing is known of are not worth a record. */
static bool is_of_interest(const struct leat_request *r)
{
	return !r->rule->excluded && (r->rule->declared || r->rule->dir_declared || r->file ||
				      (!r->exists && r->rule->holds_outputs));
}

void leat_request_note_found(struct leat_request *r)
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
	leat_request_note_found(r);
	return 0;
}

/* A directory that the step does not wait for. It waits for one that it has declared as an input,
 * and, as a consumer of a file, for one that stands where a producer is still to make that. */
static bool is_passing_directory(const struct leat_request *r)
{
	if (!r->is_dir)
		return false;
	return !leat_rule_is_input(r->d, r->rule, r->c->step) &&
	       !(r->role == LEAT_ROLE_CONSUMER &&
		 leat_stream_is_replaced(r->d->stream, r->found.path));
}

/* It goes on, but for the beginning of a version, and for what a producer before it is still at. */
static bool is_free_producer(const struct leat_request *r, bool begins)
{
	/* For one that it only looks at it has waited already (leat_earlier_await). */
	return r->role == LEAT_ROLE_PRODUCER && !begins &&
	       (!r->exists ||
		leat_stream_maker_before(r->d->stream, r->c->step, r->found.path, false) < 0);
}

int leat_request_ask(struct leat_request *r, enum leat_call call)
{
	bool begins = call == LEAT_CALL_WRITE && !r->exists && r->d->has_views &&
		      leat_stream_has_versions(r->d->stream, r->found.path);
	bool streams = false;
	int rc;

	if (is_passing_directory(r) || is_free_producer(r, begins) || r->c->step < 0 ||
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

/* Make the parent directories of a new name in `root`; r->file is its record unless it is excluded.
 */
int leat_request_make_parents(struct leat_request *r, enum leat_root root)
{
	int rc = leat_tree_make_parents(r->d->tree, root, r->found.path);

	if (rc)
		return rc;
	leat_tree_touch(r->d->tree, root, r->found.path);
	r->found.root = root;
	return r->rule->excluded ? 0 : leat_request_file(r);
}

/* Is it a violation to make it? Not if the kernel will refuse that. */
static int check_stranger(const struct leat_request *r, enum leat_root root)
{
	int rc;

	if (!leat_rule_produced(r->d, r->rule) || leat_steps_has(r->rule->producers, r->c->step))
		return 0;
	rc = leat_user_may_make_in(r->c->user, r->d->tree, root, r->found.path);
	return rc == -EACCES ? rc : 0;
}

int leat_request_create(struct leat_request *r, enum leat_root root)
{
	unsigned violations = r->d->n_violations;
	int rc = check_stranger(r, root);

	if (!rc)
		rc = leat_request_make_parents(r, root);
	if (rc || r->rule->excluded)
		return rc;
	r->file->reported = r->file->made = true;
	leat_events_apply(r->d, (struct leat_event){.kind = LEAT_EV_CREATE,
						    .step = r->c->step,
						    .pid = r->c->pid,
						    .name = r->found.path});
	return leat_request_is_violation(r, violations) ? -EIO : 0;
}

enum leat_find leat_request_how(const struct leat_request *r)
{
	const struct leat_msg_resolve *in = r->in;
	bool follow = true;

	switch (in->op) {
	case LEAT_OP_OPEN:
		follow = !(in->flags & O_NOFOLLOW) &&
			 (in->flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
		break;
	case LEAT_OP_STAT:
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

bool leat_request_writes(const struct leat_request *r)
{
	unsigned mode = r->in->flags & O_ACCMODE;

	return mode == O_WRONLY || mode == O_RDWR || r->in->flags & O_TRUNC;
}

bool leat_request_is_passing(const struct leat_request *r)
{
	return r->in->op == LEAT_OP_EXEC && r->in->no_wait && !r->exists &&
	       !leat_stream_spells_out(r->d->stream, r->found.path);
}

bool leat_request_makes(const struct leat_request *r)
{
	return leat_request_writes(r) ||
	       (r->in->flags & O_CREAT && (!r->exists || r->in->flags & O_EXCL));
}

int leat_request_go_outside(const struct leat_request *r)
{
	struct leat_msg_resolved m = {.location = LEAT_LOCATION_ASIS, .flags = r->in->flags};

	return reply(r->c, &m, r->found.path);
}

bool leat_request_is_declared(const struct leat_request *r)
{
	return !r->is_dir && !r->rule->excluded &&
	       (leat_steps_has(r->rule->producers, r->c->step) ||
		leat_steps_has(r->rule->consumers, r->c->step));
}

const char *leat_request_seen(const struct leat_request *r)
{
	return *r->seen ? r->seen : r->found.path;
}
