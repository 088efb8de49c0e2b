/* REPLACE_FD: a descriptor of a file that was moved while it was open is exchanged. */
#include "daemon/core/connections.h"
#include "daemon/files/files.h"
#include "daemon/files/former.h"
#include "daemon/files/moving.h"
#include "daemon/ops/handlers.h"

#include <errno.h>
#include <sys/stat.h>

static bool is_in_place(struct leat_daemon *d, const struct leat_file *f, int fd)
{
	struct stat a, b;

	return !f->retired && fstat(fd, &a) == 0 &&
	       leat_tree_look(d->tree, f->name, &(enum leat_root){0}, &b) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

int leat_handle_replace_fd(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_replace_fd *in = msg;
	struct leat_daemon *d = c->d;
	struct leat_file *f = leat_file_at(d, in->slot);
	struct leat_msg_replaced_fd *m = leat_wire_begin(d->out, LEAT_MSG_REPLACED_FD, sizeof(*m));
	int new = -1;

	if (!f || c->passed < 0)
		return -EPROTO;
	m->seq = leat_shm_seq(leat_file_shm(d, f));
	m->generation = leat_shm_generation(leat_file_shm(d, f));
	if (leat_move_is_live(f))
		m->error = -EAGAIN;
	else if (leat_former_is(f, c->passed))
		m->error = leat_former_exchange(f, c->passed, &new);
	else if (!leat_former_is_followed(f, c->passed) && !is_in_place(d, f, c->passed))
		m->error = -ESTALE;
	if (new >= 0)
		leat_conn_send_fd(c, m, new);
	else
		leat_conn_send(c, m);
	return 0;
}
