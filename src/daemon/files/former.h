/* Files that were moved while they were open: who has the former inode open is given the new one.
 * Event loop only. */
#ifndef LEAT_DAEMON_FILES_FORMER_H
#define LEAT_DAEMON_FILES_FORMER_H

#include "daemon/core/state.h"

/* Calls of clients that hold a file where it is (shm/state.h) are waited for so long. */
#define LEAT_HOLD_NS UINT64_C(1000000000)

/* `f`, whose generation was `generation`, lies elsewhere now: `probe` is its former inode, `fresh`
 * the new one (open for reading and writing). Takes both over. 0 or -ENOMEM, and then
 * nothing is taken. */
int leat_former_add(struct leat_daemon *d, struct leat_file *f, int probe, int fresh,
		    uint32_t generation);
/* It has not moved after all: both descriptors are the caller's again. */
void leat_former_cancel(struct leat_file *f);
/* The one whose former inode that is, or NULL. */
const struct leat_former *leat_former_find(const struct leat_daemon *d, uint64_t dev, uint64_t ino);
struct leat_file *leat_former_file(const struct leat_former *o);
uint32_t leat_former_generation(const struct leat_former *o);
/* Does some description of the former inode hold the lock of `ofd`? 1, 0 or -errno. */
int leat_former_has_lock(struct leat_file *f, uint64_t ofd);
/* By the clock: forget what nobody has open any more. */
void leat_formers_settle(struct leat_daemon *d);
void leat_formers_free(struct leat_daemon *d);

/* Is `fd` of the former inode; of the new one? */
bool leat_former_is(const struct leat_file *f, int fd);
bool leat_former_is_followed(const struct leat_file *f, int fd);
/* Of a descriptor of the former inode: one of the new inode, which all that share its description
 * are given, and which stays the list's. 0, -EAGAIN not yet, or -errno. */
int leat_former_exchange(struct leat_file *f, int fd, int *fresh);

#endif
