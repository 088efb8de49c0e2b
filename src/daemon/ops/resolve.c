/* RESOLVE: may this path call go on, and where. */
#include "daemon/core/connections.h"
#include "daemon/core/user.h"
#include "daemon/files/files.h"
#include "daemon/files/moving.h"
#include "daemon/ops/dir_looks.h"
#include "daemon/ops/dir_rights.h"
#include "daemon/ops/earlier.h"
#include "daemon/ops/enforce.h"
#include "daemon/ops/handlers.h"
#include "daemon/ops/links.h"
#include "daemon/ops/open.h"
#include "daemon/ops/private.h"
#include "daemon/ops/request.h"
#include "daemon/ops/rights.h"
#include "daemon/ops/uses.h"
#include "daemon/ops/versions.h"
#include "daemon/run/actions.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static int answer(struct leat_request *r, int rc)
{
	if (!rc && !r->exists)
		rc = -ENOENT;
	return rc ? leat_request_fail(r, rc) : leat_request_go(r);
}

static int look(struct leat_request *r, enum leat_call call)
{
	return answer(r, leat_request_ask(r, call));
}

static int op_stat(struct leat_request *r)
{
	int rc = leat_request_ask(r, LEAT_CALL_LOOK);

	if (!rc && r->is_dir) {
		leat_dir_looks_note(r->d, r->c->step, r->found.path);
		leat_dir_rights_note(r);
	}
	return answer(r, rc);
}

/* Directories may have another half, which is to be changed, too. */
static int op_meta(struct leat_request *r)
{
	int rc = leat_request_check_rights(r);

	if (rc)
		return leat_request_fail(r, rc);
	if (r->is_dir) {
		r->kind = LEAT_KIND_DIR;
		leat_dir_rights_change(r);
	}
	return look(r, LEAT_CALL_LOOK);
}

static int op_access(struct leat_request *r)
{
	bool runs = r->in->mode & X_OK && !r->is_dir;
	/* Whether it may be run is known when it is complete. */
	int rc = leat_request_ask(r, runs ? LEAT_CALL_LOOK : LEAT_CALL_OPEN);

	if (r->is_dir) /* names may be looked up from an O_PATH descriptor */
		r->kind = LEAT_KIND_DIR;
	if (!rc && r->is_dir)
		leat_dir_rights_note(r);
	return answer(r, rc);
}

static int op_exec(struct leat_request *r)
{
	return leat_request_is_passing(r) ? leat_request_fail(r, -ENOENT) : op_stat(r);
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
	rc = leat_request_make_parents(r, root);
	if (rc)
		return leat_request_fail(r, rc);
	/* Told once it is there: whoever the news wakes looks for it at once. */
	r->c->making = r->file;
	if (r->file)
		r->file->maker = r->c;
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
	return new_name(r, is_special(r->in->mode) ? LEAT_ROOT_DISK : leat_rule_root(r->d, r->rule),
			0);
}

static int (*const operations[])(struct leat_request *r) = {
	[LEAT_OP_OPEN] = leat_request_open, [LEAT_OP_STAT] = op_stat,
	[LEAT_OP_CHDIR] = op_chdir,         [LEAT_OP_EXEC] = op_exec,
	[LEAT_OP_MKDIR] = op_mkdir,         [LEAT_OP_MAKE] = op_make,
	[LEAT_OP_META] = op_meta,           [LEAT_OP_TRUNCATE] = leat_request_truncate,
	[LEAT_OP_ACCESS] = op_access,       [LEAT_OP_LOOK] = op_access,
};

/* What kind of a call it is, to find which version is meant. */
static enum leat_call call_of(const struct leat_request *r)
{
	static const enum leat_call calls[] = {
		[LEAT_OP_ACCESS] = LEAT_CALL_OPEN, [LEAT_OP_LOOK] = LEAT_CALL_OPEN,
		[LEAT_OP_CHDIR] = LEAT_CALL_OPEN,  [LEAT_OP_MKDIR] = LEAT_CALL_WRITE,
		[LEAT_OP_MAKE] = LEAT_CALL_WRITE,  [LEAT_OP_TRUNCATE] = LEAT_CALL_WRITE,
		[LEAT_OP_STAT] = LEAT_CALL_LOOK,   [LEAT_OP_EXEC] = LEAT_CALL_LOOK,
		[LEAT_OP_META] = LEAT_CALL_LOOK};

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

/* The client is about to open a file that its step has declared: what it gets if it cannot go on
 * now. -EAGAIN: the actions are called, r->file is set to wait on. */
static int call_actions(struct leat_request *r)
{
	const char *name = leat_request_seen(r);
	enum leat_actions_answer answer;
	int rc;

	if (r->in->op != LEAT_OP_OPEN || !leat_actions_of(r->d, r->c->step) ||
	    !leat_request_is_declared(r))
		return 0;
	answer = leat_actions_before_open(r->c, name, &r->file);
	if (answer != LEAT_ACTIONS_DUE)
		return leat_actions_error(answer);
	rc = leat_request_file(r);
	if (rc)
		return rc;
	answer = leat_actions_call_before(r->c, name, r->file, leat_request_makes(r));
	return leat_actions_error(answer);
}

/* Of the texts only the ends: they are so large that clearing them would be felt. */
static void begin(struct leat_request *r, struct leat_conn *c, const struct leat_msg_resolve *in)
{
	memset(r, 0, offsetof(struct leat_request, seen));
	r->c = c;
	r->d = c->d;
	r->in = in;
	r->kind = LEAT_KIND_COUNTED;
	r->seen[0] = 0;
	leat_found_init(&r->found);
}

/* Nothing is found or made by a path that goes up from what is not there. It is looked for, as the
 * kernel would, and may be waited for. */
static int look_before_up(struct leat_request *r, const void *msg)
{
	int rc = leat_uses_resolve(r);

	if (!rc)
		rc = leat_request_ask(r, LEAT_CALL_OPEN);
	if (!rc && r->exists)
		return leat_handle_resolve(r->c, msg);
	return leat_request_fail(r, rc ? rc : -ENOENT);
}

int leat_handle_resolve(struct leat_conn *c, const void *msg)
{
	struct leat_request r;
	struct leat_msg_resolve look;
	const char *path = leat_wire_string(msg, sizeof(*r.in), 0);
	int rc;

	begin(&r, c, msg);

	if (!path || r.in->op >= sizeof(operations) / sizeof(*operations) || !operations[r.in->op])
		return -EPROTO;
	rc = leat_private_find(c, path, leat_request_how(&r), &r.found);
	if ((!rc || rc == -ENOTDIR || rc == -ELOOP) && !r.found.outside && makes_directory(&r))
		return leat_request_fail(&r, -EISDIR);
	if (r.found.before_up) {
		look = (struct leat_msg_resolve){
			.h = r.in->h, .op = LEAT_OP_ACCESS, .no_wait = r.in->no_wait};
		r.in = &look;
	}
	rc = leat_links_ask(c, &r.found, rc, &r.file);
	if (rc)
		return leat_request_fail(&r, rc);
	if (r.found.outside)
		return leat_request_go_outside(&r);
	rc = leat_private_resolve(&r);
	if (rc)
		return leat_request_fail(&r, rc);
	r.exists = r.found.root != LEAT_ROOT_NONE;
	rc = leat_versions_resolve(&r, call_of(&r));
	if (!rc && *r.seen)
		rc = leat_links_ask(c, &r.found, 0, &r.file);
	if (rc)
		return leat_request_fail(&r, rc);
	if (r.found.outside) /* what all instances have in the workflow's directory */
		return leat_request_go_outside(&r);
	r.path = path;
	r.rule = leat_match(r.d->matcher, r.found.path);
	if (!r.rule)
		return leat_request_fail(&r, -ENOMEM);
	r.role = leat_stream_role(r.d->stream, c->step, r.found.path);
	r.file = leat_file_find(r.d, r.found.path);
	leat_request_note_found(&r);
	rc = leat_enforce_resolve(&r);
	if (!rc)
		rc = check_user(&r);
	if (!rc)
		rc = call_actions(&r);
	if (rc)
		return leat_request_fail(&r, rc);
	if (r.file && (leat_move_is_live(r.file) || leat_earlier_is_making(c, r.file, r.exists)))
		return leat_request_fail(&r, -EAGAIN);
	if (r.file)
		leat_move_forget(r.file);
	if (r.found.before_up)
		return look_before_up(&r, msg);
	rc = leat_uses_resolve(&r);
	if (rc)
		return leat_request_fail(&r, rc);
	return operations[r.in->op](&r);
}
