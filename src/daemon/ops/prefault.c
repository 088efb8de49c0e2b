/* Memory for what a client is going to write next, cleared by another thread while the client is
 * busy with what comes before. */
#include "base/fd.h"
#include "daemon/core/connections.h"
#include "daemon/files/files.h"
#include "daemon/ops/enforce.h"
#include "daemon/ops/handlers.h"
#include "daemon/ops/ops.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_AT_ONCE = 2 };
#define MAX_LENGTH (UINT64_C(8) << 20)

struct prefault {
	uv_work_t work;
	struct leat_daemon *d;
	int fd;
	off_t offset;
	size_t length;
};

/* A page beyond the size, or a store that is full: then the client finds out for itself. */
static void work(uv_work_t *w)
{
	const struct prefault *a = w->data;
	void *at = mmap(NULL, a->length, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, a->offset);

	if (at == MAP_FAILED)
		return;
	madvise(at, a->length, MADV_POPULATE_WRITE);
	munmap(at, a->length);
}

static void free_prefault(struct prefault *a)
{
	leat_close(&a->fd);
	free(a);
}

static void done(uv_work_t *w, int status)
{
	struct prefault *a = w->data;

	(void)status;
	a->d->ops->n_prefaults--;
	free_prefault(a);
}

static bool is_sane(const struct leat_msg_range *in, const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size, page = (uint64_t)sysconf(_SC_PAGESIZE);

	return S_ISREG(st->st_mode) && in->length && in->length <= MAX_LENGTH &&
	       in->offset <= size && in->length <= size - in->offset && in->offset % page == 0;
}

int leat_handle_prefault(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_range *in = msg;
	struct leat_daemon *d = c->d;
	struct leat_file *f = leat_file_at(d, in->slot);
	struct prefault *a;
	struct stat st;

	if (!f || f->retired || !f->descriptions || d->ops->n_prefaults >= MAX_AT_ONCE ||
	    !leat_enforce_fact(c, f, true))
		return 0;
	a = calloc(1, sizeof(*a));
	if (!a)
		return 0; /* only speed is lost */
	a->d = d;
	a->work.data = a;
	a->offset = (off_t)in->offset;
	a->length = in->length;
	a->fd = leat_file_open(d, f, O_RDWR);
	if (a->fd < 0 || fstat(a->fd, &st) < 0 || !is_sane(in, &st) ||
	    uv_queue_work(&d->loop, &a->work, work, done)) {
		free_prefault(a);
		return 0;
	}
	d->ops->n_prefaults++;
	return 0;
}
