#include "daemon/ops/copy_up.h"

#include "base/fault.h"
#include "base/fd.h"
#include "daemon/core/connections.h"
#include "daemon/core/steps.h"
#include "daemon/core/user.h"
#include "daemon/files/files.h"
#include "daemon/ops/request.h"
#include "daemon/space/spill.h"
#include "store/persist.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* What is on disk only, and is to be written, is copied into the store first. */

/* More than this is not copied while all clients wait for their answers. */
#define LARGE_BYTES (4 << 20)

/* A file on its way into the store. It takes its name there when it is whole. */
struct copy {
	uv_work_t work;
	struct leat_daemon *d;
	struct leat_file *f;
	char *path;             /* owned */
	struct leat_beneath to; /* the copy takes it over */
	int in;
	struct leat_persist made; /* if rc is 0 */
	int rc;
};

static void work(uv_work_t *w)
{
	struct copy *c = w->data;

	c->rc = leat_persist_make_file(&c->made, &c->to, c->in, LEAT_LIST_GOES,
				       leat_steps_persist_by(c->d), c->path);
	c->to.owned = false;
}

static void free_copy(struct copy *c)
{
	leat_close(&c->in);
	leat_beneath_release(&c->to);
	free(c->path);
	free(c);
}

static int take(struct copy *c)
{
	struct leat_file *f = c->f;

	if (c->rc)
		return c->rc;
	if (!f->retired && strcmp(f->name, c->path) == 0)
		return leat_persist_take(&c->made);
	/* It was renamed or removed meanwhile: the name is another's, or nobody's. */
	leat_persist_drop(&c->made);
	return 0;
}

static void done(uv_work_t *w, int status)
{
	struct copy *c = w->data;
	struct leat_file *f = c->f;

	LEAT_FAULT("copy_up.done");
	f->copying = false;
	c->d->files->n_copies--;
	f->copy_error = status ? -ECANCELED : take(c);
	leat_shm_file_update(leat_file_shm(c->d, f), 0, 0);
	free_copy(c);
}

static int start(struct leat_daemon *d, struct leat_file *f, struct copy *c, int from,
		 enum leat_root to)
{
	struct stat st;
	int rc;

	if (fstat(from, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	rc = leat_tree_make_parents(d->tree, to, f->name);
	if (rc)
		return rc;
	c->d = d;
	c->f = f;
	c->path = strdup(f->name);
	if (!c->path)
		return -ENOMEM;
	rc = leat_tree_hold_parent(d->tree, to, c->path, &c->to);
	if (rc)
		return rc;
	c->in = leat_beneath_reopen(from, O_RDONLY);
	if (c->in < 0)
		return c->in;
	c->work.data = c;
	return uv_queue_work(&d->loop, &c->work, work, done);
}

/* Copies in the background: -EAGAIN until its waiters are woken, then the error of the last
 * attempt, if it failed. */
static int copy_behind(struct leat_daemon *d, struct leat_file *f, int from, enum leat_root to)
{
	struct copy *c;
	int rc = f->copy_error;

	f->copy_error = 0;
	if (rc)
		return rc;
	if (f->copying)
		return -EAGAIN;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->in = -1;
	rc = start(d, f, c, from, to);
	if (rc) {
		free_copy(c);
		return rc;
	}
	f->copying = true;
	d->files->n_copies++;
	return -EAGAIN;
}

/* Where a copy goes. Another user than the daemon's cannot go into the spill directory. */
static enum leat_root root_of_copy(const struct leat_request *r, bool empty)
{
	if (r->c->user)
		return LEAT_ROOT_STORE;
	return leat_spill_choose_root(r->d, empty ? 0 : (uint64_t)r->found.st.st_size);
}

int leat_request_copy_up(struct leat_request *r, bool empty)
{
	const enum leat_root to = root_of_copy(r, empty);
	int from, rc;

	if (r->found.root != LEAT_ROOT_DISK || r->file->adopted ||
	    leat_rule_root(r->d, r->rule) != LEAT_ROOT_STORE)
		return 0;
	/* What the asking user reaches by that name, now: it may have become another's. */
	from = leat_user_hold(r->c->user, r->d->disk_fd, r->found.path);
	if (from < 0)
		return from;
	/* Who wants it empty waits, too: the copy that is on its way would come after. */
	if (r->file->copying ||
	    (!empty && r->found.st.st_size > LARGE_BYTES && S_ISREG(r->found.st.st_mode))) {
		rc = copy_behind(r->d, r->file, from, to);
	} else {
		rc = leat_tree_copy(r->d->tree, from, to, r->found.path, empty);
		if (!rc)
			r->found.root = to;
	}
	leat_close(&from);
	return rc;
}
