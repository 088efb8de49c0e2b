/* Files that are not retained (retain: false): the memory of what their consumer has read is given
 * back while it goes on. */
#include "daemon/files/drop.h"

#include "daemon/core/connections.h"
#include "daemon/core/problems.h"
#include "daemon/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Programs look back a little, and read the first bytes twice. */
#define BEHIND (UINT64_C(4) << 20)
/* A huge page. */
#define STEP (UINT64_C(2) << 20)

static bool may_drop(const struct leat_conn *c, const struct leat_file *f)
{
	return f && !f->retired && f->rule->drop && leat_steps_has(f->rule->consumers, c->step);
}

static int open_to_drop(struct leat_daemon *d, struct leat_file *f)
{
	if (f->drop_fd < 0)
		f->drop_fd = leat_file_open(d, f, O_WRONLY);
	return f->drop_fd;
}

/* Up to where bytes may go when everything below `read` was read. */
static uint64_t end_of_drop(struct leat_shm_file *s, uint64_t read)
{
	uint64_t there = leat_shm_frontier(s);

	if (leat_shm_flags(s) & LEAT_SHM_COMMITTED)
		there = leat_shm_size(s);
	if (read > there)
		read = there; /* client memory is hostile */
	return read > BEHIND ? (read - BEHIND) / STEP * STEP : 0;
}

int leat_handle_drop(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_drop *in = msg;
	struct leat_daemon *d = c->d;
	struct leat_file *f = leat_file_at(d, in->slot);
	struct leat_shm_file *s;
	uint64_t from, to;

	if (!may_drop(c, f))
		return 0;
	s = leat_file_shm(d, f);
	from = leat_shm_dropped(s);
	to = end_of_drop(s, in->read_end);
	if (to <= from || open_to_drop(d, f) < 0 || !leat_shm_drop(s, to))
		return 0;
	if (fallocate(f->drop_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
		      (off_t)(to - from)) < 0)
		leat_problem_add(d, -errno, "cannot give back the memory of %s", f->name);
	return 0;
}

int leat_file_retain(struct leat_daemon *d, struct leat_file *f)
{
	struct leat_shm_file *s = leat_file_shm(d, f);

	if (leat_shm_retain(s))
		return 0;
	if (!f->warned)
		leat_problem_add(
			d, -EIO,
			"%s is not retained, and was read up to byte %llu: nobody can have "
			"it from the start any more",
			f->name, (unsigned long long)leat_shm_dropped(s));
	f->warned = true;
	return -EIO;
}
