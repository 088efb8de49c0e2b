#include "base/fault.h"
#include "base/fd.h"
#include "daemon/files.h"
#include "daemon/keep.h"
#include "daemon/spill.h"
#include "store/persist.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file on its way into the store. It takes its name there when it is whole. */
struct copy {
	uv_work_t work;
	struct leat_daemon *d;
	struct leat_file *f;
	char *path; /* owned */
	int in;
	int to_fd;
	struct leat_persist made; /* if rc is 0 */
	int rc;
};

static void work(uv_work_t *w)
{
	struct copy *c = w->data;

	c->rc = leat_persist_make_file(&c->made, c->to_fd, c->path, c->in);
}

static void free_copy(struct copy *c)
{
	leat_close(&c->in);
	free(c->path);
	free(c);
}

static int take(struct copy *c)
{
	struct leat_file *f = c->f;

	if (c->rc)
		return c->rc;
	if (!f->retired && strcmp(f->name, c->path) == 0)
		return leat_persist_take(&c->made, c->path);
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
	f->copy_error = status ? -ECANCELED : take(c);
	leat_shm_file_update(leat_file_shm(c->d, f), 0, 0);
	free_copy(c);
}

static int start(struct leat_daemon *d, struct leat_file *f, struct copy *c)
{
	enum leat_root to;
	struct stat st;
	int rc;

	if (!leat_tree_has(d->tree, LEAT_ROOT_DISK, f->name, &st))
		return -errno;
	to = leat_spill_home(d, (uint64_t)st.st_size);
	rc = leat_tree_make_parents(d->tree, to, f->name);
	if (rc)
		return rc;
	c->d = d;
	c->f = f;
	c->to_fd = leat_tree_fd(d->tree, to);
	c->path = strdup(f->name);
	if (!c->path)
		return -ENOMEM;
	c->in = openat(d->disk_fd, f->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (c->in < 0)
		return -errno;
	c->work.data = c;
	return uv_queue_work(&d->loop, &c->work, work, done);
}

int leat_copy_up(struct leat_daemon *d, struct leat_file *f)
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
	rc = start(d, f, c);
	if (rc) {
		free_copy(c);
		return rc;
	}
	f->copying = true;
	return -EAGAIN;
}
