/* Open file descriptions for writing, of versions, and of steps before a producer. Event loop only.
 */
#ifndef LEAT_DAEMON_FILES_DESCRIPTIONS_H
#define LEAT_DAEMON_FILES_DESCRIPTIONS_H

#include "daemon/core/state.h"

struct leat_description {
	UT_hash_handle hh; /* by id */
	uint64_t id;
	int step;
	int pid;
	int behind; /* pid is the server of a mount: who opened it, as that knows it; else 0 */
	struct leat_file *file;
	struct leat_conn *opener; /* until it has spoken again; then NULL */
	int probe;                /* descriptor on the same inode, -1: not yet needed */
	bool counted;             /* the rules know it */
	bool reads;               /* a version, to read it; of the file's readers_open */
	bool holds;               /* of those, too: its step comes before the producers */
	unsigned rank;            /* of a step with actions, */
	char *name;               /* and what that calls it; owned */
	bool handed_on;           /* open still when the process that opened it had closed it */
	bool foreign;             /* its step is no producer */
	bool intact;              /* opened for writing, and nothing was changed by it yet */
	bool read;                /* of a version: who had it open has read it */
	bool ended, abnormal;     /* it is closed, perhaps by abnormal death, */
	bool is_due;              /* and its close is now to be handled */
	bool unreported;          /* no OPENED came for it, and it has no lock */
	bool doubted;             /* it could not be looked at, which was reported */
	struct timespec mtime;    /* of a foreign one, when it was opened */
	uint64_t vanished_ns;     /* first seen without its lock, 0: never */
	uint64_t closing_ns;      /* when the killed process behind a mount closed it; 0: never */
	struct leat_description *prev, *next;
};

/* Once for the daemon's loop. 0 or -errno. */
int leat_descriptions_init(struct leat_daemon *d);
/* A new open description. NULL when out of memory. */
struct leat_description *leat_description_new(struct leat_daemon *d, struct leat_file *f,
					      struct leat_conn *c);
/* The same of a version that is opened to be read. */
struct leat_description *leat_description_new_reader(struct leat_daemon *d, struct leat_file *f,
						     struct leat_conn *c);
/* The same of an output that a step before its producers opens, which these wait for. */
struct leat_description *leat_description_new_holder(struct leat_daemon *d, struct leat_file *f,
						     struct leat_conn *c, bool writes);
/* One of a file whose writers did not report themselves, if there is any: in all, who has the file
 * behind `fd` (O_RDONLY, taken over) open for writing. NULL: nobody has, or out of memory. */
struct leat_description *leat_description_unreported(struct leat_daemon *d, struct leat_file *f,
						     struct leat_conn *c, int fd);
/* Before it is decided what a name stands for: what was closed is, with all that was reported of it
 * before by any connection. */
void leat_descriptions_close_ended(struct leat_daemon *d);
/* Have descriptors on their inodes, before names change. */
void leat_descriptions_hold(struct leat_daemon *d, struct leat_file *f);
/* The opener said that its open failed. */
void leat_description_failed(struct leat_daemon *d, struct leat_description *l);
/* The opener has spoken again: the lock is there if the file is open. */
void leat_description_confirm(struct leat_description *l);
/* A descriptor of the file was closed by `c`: see which descriptions are gone. `id` 0: any. */
void leat_descriptions_hint(struct leat_conn *c, struct leat_file *f, uint64_t id, bool abnormal);
/* Behind the mount of `c` a process that had it open is killed: its close is on its way. */
void leat_description_closing(struct leat_conn *c, struct leat_file *f, uint64_t id);
/* A process of `step` has ended: the same for all it may have held. */
void leat_descriptions_after_exit(struct leat_daemon *d, const struct leat_proc *p);
/* An instance of the step has ended: the same, without delay. */
void leat_descriptions_after_step(struct leat_daemon *d, int step);
/* By the clock: those nobody gave a hint about. */
void leat_descriptions_sweep(struct leat_daemon *d);
/* Does some process of the step hold a file open for writing? */
bool leat_descriptions_of_step(const struct leat_daemon *d, int step);
/* Of those, is the close of one on its way? */
bool leat_descriptions_any_closing(const struct leat_daemon *d, int step);
void leat_descriptions_free(struct leat_daemon *d);
/* True if no client is just about to open it for writing. */
bool leat_descriptions_settled(struct leat_daemon *d, struct leat_file *f);
/* Its inode is another one. */
void leat_descriptions_moved(struct leat_file *f);

#endif
