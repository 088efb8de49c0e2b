/* Files that are being moved between store and spill directory, which space/move.c does. Event loop
 * only. */
#ifndef LEAT_DAEMON_FILES_MOVING_H
#define LEAT_DAEMON_FILES_MOVING_H

#include "daemon/core/state.h"
#include "store/copy.h"

struct leat_move {
	uv_work_t work;
	struct leat_daemon *d;
	struct leat_file *f; /* NULL: it was forgotten, and what is made is not wanted */
	enum leat_root from, to;
	char temporary[32]; /* in the top of `to` */
	int in, out;
	struct stat st; /* of `in` when the move began */
	bool live;      /* although it is open */
	pid_t *servers; /* owned; of mounts, when it began: they follow */
	size_t n_servers;
	enum leat_copy how;
	struct leat_shm_file *shared;
	uint32_t generation; /* live: where it was, by the shared record */
	int rc;
	void (*moved)(struct leat_daemon *d); /* when it is over, whatever came of it */
	struct leat_move *prev, *next;
};

/* It is not being moved any more. Clients that had to wait look where it is. */
void leat_move_end(struct leat_file *f);
/* Its name goes, or somebody wants to use it: it stays where it is. */
void leat_move_forget(struct leat_file *f);
/* Is it being moved although it is open? */
bool leat_move_is_live(const struct leat_file *f);
/* A file that is being moved and is called `path`, or lies in it; or NULL. */
struct leat_file *leat_move_below(struct leat_daemon *d, const char *path);

#endif
