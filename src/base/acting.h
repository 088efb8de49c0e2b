/* The calling thread acts as another user: files are opened, made and removed with that user's
 * rights, and belong to that user. Other threads go on as they are. Any thread. */
#ifndef LEAT_BASE_ACTING_H
#define LEAT_BASE_ACTING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct leat_ids {
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* borrowed */
	size_t n;
};

/* What leat_acting_end gives back. */
struct leat_acting {
	gid_t *groups; /* owned */
	int n;
	int death_signal;
};

/* 0, -ENOMEM or -EPERM: only root can. `override`: what the user makes belongs to the user, but may
 * be made in any directory. */
int leat_acting_begin(const struct leat_ids *as, bool override, struct leat_acting *own);
/* errno is preserved. */
void leat_acting_end(struct leat_acting *own);

#endif
