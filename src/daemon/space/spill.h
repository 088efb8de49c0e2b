/* The memory budget: files that the store has no room for go to the spill
 * directory, coldest first, and come back when there is room (docs/explanation/how-it-works.md). */
#ifndef LEAT_DAEMON_SPACE_SPILL_H
#define LEAT_DAEMON_SPACE_SPILL_H

#include "daemon/core/connections.h"
#include "daemon/files/files.h"

struct leat_cgroup;

/* A directory that was asked for is made at once, the default one when it is needed.
 * 0, or -errno and one line for a person. */
int leat_spill_init(struct leat_daemon *d, char *error, size_t error_size);
/* When no move runs any more. */
void leat_spill_release(struct leat_daemon *d);

/* Where a new file of `size_bytes` goes that belongs to the store: there, or to the
 * spill directory if the store is nearly full. */
enum leat_root leat_spill_home(struct leat_daemon *d, uint64_t size_bytes);
/* The name of a spilled file for clients: below the workflow's directory, or
 * absolute. 0 or -ENAMETOOLONG. */
int leat_spill_name(const struct leat_daemon *d, const char *name, char out[PATH_MAX]);
/* A process that writes files has come: before it writes any, the store fits its limits, too.
 * Returns its control group, for the caller to close; NULL: not known. */
struct leat_cgroup *leat_spill_meet(struct leat_daemon *d, pid_t pid);
/* A file that cannot be moved just now is tried again so often. */
#define LEAT_SPILL_ATTEMPTS 200u
/* How full the store is, into `d->spill`; looked at now and then only, unless `looked_ns` is 0. */
void leat_spill_look(struct leat_daemon *d);
/* By the clock: move out what is cold, bring back what will be read. */
void leat_spill_tick(struct leat_daemon *d);
/* Before `length` bytes are added to `f` in a store that is larger than the budget: 0 or -ENOSPC.
 */
int leat_spill_has_room(struct leat_daemon *d, const struct leat_file *f, uint64_t length);
/* A write to `f` found no room. 0: try again; -EAGAIN: wait on `f`; -ENOSPC: there is
 * none, which a person was told. `attempt` counts from 0. */
int leat_spill_room(struct leat_conn *c, struct leat_file *f, uint64_t length, uint64_t attempt);
/* A message of the connection has come: what was noted of its last one is over. */
void leat_spill_spoken(struct leat_conn *c);
/* Is there room for `size` bytes more on the other side of `from`? */
bool leat_spill_may_move(struct leat_daemon *d, enum leat_root from, uint64_t size);
/* Move the file itself, which somebody is writing: 0 it has begun, -EBUSY not now, or why not.
 * Process `pid`, if not 0, follows. Who has asked often gets no other try: each may take so long
 * that the next is due. */
int leat_spill_move_itself(struct leat_daemon *d, struct leat_file *f, bool asked_often, pid_t pid);

/* ---- aside.c ---- */

/* Before anybody writes: process `pid`, which has `f` open, is about to do it unseen. 0: it
 * lies on disk, or has to stay; -EAGAIN: wait on `f`. */
int leat_spill_aside(struct leat_daemon *d, struct leat_file *f, pid_t pid, uint64_t attempt);

/* ---- fit.c ---- */

/* Look at the limits, and make the store larger or smaller. */
void leat_spill_fit(struct leat_daemon *d);

/* ---- move.c ---- */

/* Calls of clients that hold a file where it is (shm/state.h) are waited for so long. */
#define LEAT_HOLD_NS UINT64_C(1000000000)

/* Does anybody but the caller have the file behind `fd` open? (In doubt yes.) */
bool leat_is_open_elsewhere(int fd);
/* Begin to move a file between store and spill directory. `live`: although it is open;
 * else it must not be; process `pid`, if not 0, follows. 0; -EBUSY: not now; -ENOTSUP: it cannot be
 * moved; -errno. */
int leat_move_start(struct leat_daemon *d, struct leat_file *f, bool live, pid_t pid);
/* Is it being moved although it is open? */
bool leat_move_is_live(const struct leat_file *f);
/* A file that is being moved and is called `path`, or lies in it; or NULL. */
struct leat_file *leat_move_below(struct leat_daemon *d, const char *path);
/* Its name goes, or somebody wants to use it: it stays where it is. */
void leat_move_forget(struct leat_file *f);

/* ---- switch.c: files that were moved while they were open ---- */

/* `f`, whose home was `home`, lies elsewhere now: `probe` is its former inode, `fresh`
 * the new one (open for reading and writing). Takes both over. 0 or -ENOMEM, and then
 * nothing is taken. */
int leat_old_add(struct leat_daemon *d, struct leat_file *f, int probe, int fresh, uint32_t home);
/* It has not moved after all: both descriptors are the caller's again. */
void leat_old_cancel(struct leat_file *f);
/* The one whose former inode that is, or NULL. */
const struct leat_old *leat_old_find(const struct leat_daemon *d, uint64_t dev, uint64_t ino);
struct leat_file *leat_old_file(const struct leat_old *o);
uint32_t leat_old_home(const struct leat_old *o);
/* Does some description of the former inode hold the lock of `ofd`? 1, 0 or -errno. */
int leat_old_has_lock(struct leat_file *f, uint64_t ofd);
/* By the clock: forget what nobody has open any more. */
void leat_olds_settle(struct leat_daemon *d);
void leat_olds_free(struct leat_daemon *d);

/* ---- holders.c ---- */

/* True if all processes that have the inode open, but for this one, use the library, or are among
 * the `n` servers of mounts, and will follow it. Any thread. */
bool leat_holders_follow(dev_t dev, ino_t ino, const pid_t *servers, size_t n);

/* ---- lives.c ---- */

/* True if no client is just about to open it for writing. */
bool leat_lives_settled(struct leat_daemon *d, struct leat_file *f);
/* Its inode is another one. */
void leat_lives_moved(struct leat_file *f);

#endif
