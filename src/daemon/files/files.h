/* Names and the files behind them. */
#ifndef LEAT_DAEMON_FILES_FILES_H
#define LEAT_DAEMON_FILES_FILES_H

#include "base/beneath.h"
#include "daemon/core/state.h"

/* A consumer that relied on a size before the commit. */
struct leat_early {
	int step;
	uint64_t size;     /* what it saw */
	uint64_t read_end; /* how far it read */
	struct leat_early *next;
};

/* A file the rules know of. Clients hold its slot as long as they like: a file
 * whose name was removed or taken over is `retired`, but never freed before the
 * daemon ends. */
struct leat_file {
	UT_hash_handle hh;
	char *name; /* owned; the last one it had */
	uint32_t slot;
	const struct leat_file_rule *rule;
	bool retired;
	bool told;      /* the rules know that it exists */
	bool made;      /* came to exist in this run */
	bool listed;    /* the rules know what was in it before the run */
	bool adopted;   /* stays where it is, whatever its name asks for */
	bool keep;      /* in the store, though its name belongs on disk */
	bool staged;    /* put on disk for a staged step only */
	bool publishes; /* the frontier in shared memory is to be watched */
	bool warned;    /* of being undeclared */
	bool violated;
	bool watched;    /* read by somebody who is no consumer, and must find its end */
	bool rewritable; /* opened for writing by a step that is not its producer or consumer */
	uint64_t told_frontier;
	uint32_t table;    /* in which clients see its written parts (shm/extents.h); 0: none */
	uint64_t size;     /* at the commit */
	bool measured;     /* `size` was just looked at */
	char *why;         /* it failed; owned */
	uint64_t *hidden;  /* steps that removed it for themselves; owned, NULL: none */
	uint64_t *readers; /* steps that read it while it grew; owned, NULL: none */
	uint64_t *opened;  /* consumers that opened it; owned, NULL: none */
	struct leat_early *early;
	struct leat_file *early_next; /* in the daemon's list */
	bool early_due;
	struct leat_live *lives;
	struct leat_live *readers_open; /* of a version: those who read it */
	bool versioned;                 /* it is a version of something */
	uint64_t touched_ns;            /* last used by a path call, or closed after writing */
	struct leat_move *move;         /* it is being moved, or NULL */
	struct leat_old *old;           /* where it was before, if somebody still has that open */
	uint64_t drop_seen;             /* up to where it had gone when room was asked for */
	uint64_t drop_ns;               /* and when that was found; 0: never */
	uint64_t tried_ns;              /* when it was last tried to move it while open */
	bool stuck;                     /* and could not be, since somebody had it open */
	bool cramped;                   /* somebody was told that there is no room for it */
	bool copying;                   /* into the store, in the background */
	int copy_error;
	int drop_fd; /* to give memory back by; -1: none */
	/* permanence */
	struct leat_job *job; /* that is at it, if `saving` */
	bool saving;
	bool dirty;                /* is to be brought to disk (again) */
	bool saved;                /* a whole copy is on disk */
	int save_error;            /* errno */
	struct leat_inode on_disk; /* what leat put there, or adopted */
	struct leat_user
		*remover; /* of those for whom it is hidden, the last; NULL: leat's; owned */
	struct timespec saved_mtime, saved_ctime;
};

static inline struct leat_shm_file *leat_file_shm(struct leat_daemon *d, const struct leat_file *f)
{
	return &d->shm->files[f->slot];
}

/* The file of that name, or NULL. */
struct leat_file *leat_file_find(struct leat_daemon *d, const char *name);
/* The same, made if need be. NULL: out of memory or slots. */
struct leat_file *leat_file_get(struct leat_daemon *d, const char *name);
/* Has the step declared that it reads it, and may it still do so? */
bool leat_file_awaits(const struct leat_daemon *d, const struct leat_file *f, int step);

/* Let clients find a committed file by its name without asking, if nothing is special about it;
 * `st` is what it is in the store. */
void leat_file_announce(struct leat_daemon *d, struct leat_file *f, const struct stat *st);
/* Before the name is changed: nobody finds it without asking any more, and the rules learn that
 * somebody did. */
void leat_file_withdraw(struct leat_daemon *d, struct leat_file *f);

/* The file of a slot a client names, or NULL: any number may come. */
struct leat_file *leat_file_at(struct leat_daemon *d, uint32_t slot);

/* Open it in the store: a descriptor the caller closes, or -1 with errno. */
int leat_file_open(struct leat_daemon *d, const struct leat_file *f, int access);
void leat_files_free(struct leat_daemon *d);

/* True if the workflow says something of the path, or of what may be in it. */
bool leat_rule_matters(const struct leat_file_rule *rule);
/* True if some step has it as output. */
bool leat_rule_produced(const struct leat_daemon *d, const struct leat_file_rule *rule);
/* Where a new file of that rule belongs. */
enum leat_root leat_rule_home(const struct leat_daemon *d, const struct leat_file_rule *rule);

/* Tell the rules that it was there before the run, if they do not know it yet. */
void leat_file_tell_present(struct leat_daemon *d, struct leat_file *f);
/* Bring shared memory into line with the rules' state; wakes its waiters. */
void leat_file_refresh(struct leat_daemon *d, struct leat_file *f, enum leat_file_state state);
/* Tell the rules how far the frontier has come, and clients what the rules know. */
void leat_file_sync_frontier(struct leat_daemon *d, struct leat_file *f);

/* Show clients which parts of it are written; `changed` are, or are no more. */
void leat_file_show_extents(struct leat_daemon *d, struct leat_file *f,
			    const struct leat_range *changed);
/* Whoever read a file that has been renamed, and has a name nobody produces now, sees it as final
 * when nobody writes it any more. */
void leat_file_finish_loose(struct leat_daemon *d, struct leat_file *f);
/* The name is gone or taken over: clients that hold the file see it as final. */
void leat_file_retire(struct leat_daemon *d, struct leat_file *f);
/* Now it is called `name` (whose file was retired before). 0 or -ENOMEM. */
int leat_file_rename(struct leat_daemon *d, struct leat_file *f, const char *name);
/* Whether `step` removed it for itself. */
bool leat_file_is_hidden(const struct leat_file *f, int step);
/* `step` reads it while it grows. */
int leat_file_note_reader(struct leat_daemon *d, struct leat_file *f, int step);
/* A consumer opens it. True if that is its first time. */
bool leat_file_note_open(struct leat_daemon *d, struct leat_file *f, int step);
int leat_file_hide(struct leat_daemon *d, struct leat_file *f, int step);
/* When all are done with what is hidden it is removed as `user` (NULL: as leat). 0 or -ENOMEM. */
int leat_file_note_remover(struct leat_file *f, const struct leat_user *user);
/* The file is in `root`: remember whether that is where its name belongs. */
void leat_file_note_place(struct leat_daemon *d, struct leat_file *f, enum leat_root root);
/* False: something else than what leat knows to be on disk by that name has taken its place. */
bool leat_file_is_on_disk(const struct leat_daemon *d, const struct leat_file *f);

/* ---- sizes.c: the kernel's size may be ahead of a file's length ---- */

/* What the kernel says of it, by `probe` or, if that is -1, by its name; its length becomes
 * f->size. `root` may be NULL. 0 or -errno. */
int leat_file_measure(struct leat_daemon *d, struct leat_file *f, int probe, struct stat *st,
		      enum leat_root *root);
/* Make the kernel's size the length; `shut`: and have it stay so. 0, or -EAGAIN: a client is
 * in the middle of a write and does not get on. */
int leat_file_settle(struct leat_daemon *d, const struct leat_file *f, bool shut);
/* The same when nobody has it open for writing any more; `probe`: a descriptor of it, or -1. */
void leat_file_settle_closed(struct leat_daemon *d, const struct leat_file *f, int probe);

/* ---- drop.c: files that are not retained ---- */

/* Somebody needs the whole file: nothing of it may go from now on. 0, or -EIO: something has,
 * which is reported. */
int leat_file_retain(struct leat_daemon *d, struct leat_file *f);

/* ---- lives.c: open file descriptions for writing, and of versions ---- */

struct leat_live {
	UT_hash_handle hh; /* by id */
	uint64_t id;
	int step;
	int pid;
	struct leat_file *file;
	struct leat_conn *opener; /* until it has spoken again; then NULL */
	int probe;                /* descriptor on the same inode, -1: not yet needed */
	bool counted;             /* the rules know it */
	bool reads;               /* a version, to read it; of the file's readers_open */
	unsigned rank;            /* of a step with actions, */
	char *name;               /* and what that calls it; owned */
	bool handed_on;           /* open still when the process that opened it had closed it */
	bool foreign;             /* its step is no producer */
	bool intact;              /* opened for writing, and nothing was changed by it yet */
	bool read;                /* of a version: who had it open has read it */
	bool ended, abnormal;     /* it is closed, perhaps by abnormal death, */
	bool heard;               /* and what was told of it before has been heard */
	bool untold;              /* nobody told of its open, and it has no lock */
	bool doubted;             /* it could not be looked at, which was told */
	struct timespec mtime;    /* of a foreign one, when it was opened */
	uint64_t vanished_ns;     /* first seen without its lock, 0: never */
	struct leat_live *prev, *next;
};

/* Open a file that may have been created without the right to read it, for
 * looking at only. The descriptor, or -errno (-EINVAL: no regular file). */
int leat_open_hard(int top, const char *path);

/* The same of what was just seen there to be a regular file. In a store that only who runs leat
 * writes to nobody puts anything else in its place, and there are no devices: it is not held before
 * it is opened. */
int leat_open_seen(struct leat_daemon *d, enum leat_root root, int dir, const char *name);
/* Seen through `fd`, does another description have the byte locked? 1, 0 or -errno. */
int leat_is_locked(int fd, uint64_t byte);
/* Once for the daemon's loop. 0 or -errno. */
int leat_lives_init(struct leat_daemon *d);
/* A new open description. NULL when out of memory. */
struct leat_live *leat_live_new(struct leat_daemon *d, struct leat_file *f, struct leat_conn *c);
/* The same of a version that is opened to be read. */
struct leat_live *leat_live_new_reader(struct leat_daemon *d, struct leat_file *f,
				       struct leat_conn *c);
/* One of a file whose writers nobody told of, if there is any: in all, who has the file behind
 * `fd` (O_RDONLY, taken over) open for writing. NULL: nobody has, or out of memory. */
struct leat_live *leat_live_untold(struct leat_daemon *d, struct leat_file *f, struct leat_conn *c,
				   int fd);
/* Before it is decided what a name stands for: what was closed is, with all that was told of it
 * before by any connection. */
void leat_lives_hear(struct leat_daemon *d);
/* Have descriptors on their inodes, before names change. */
void leat_lives_hold(struct leat_daemon *d, struct leat_file *f);
/* The opener said that its open failed. */
void leat_live_failed(struct leat_daemon *d, struct leat_live *l);
/* The opener has spoken again: the lock is there if the file is open. */
void leat_live_confirm(struct leat_live *l);
/* A descriptor of the file was closed by `c`: see which descriptions are gone. `id` 0: any. */
void leat_lives_hint(struct leat_conn *c, struct leat_file *f, uint64_t id, bool abnormal);
/* A process of `step` has ended: the same for all it may have held. */
void leat_lives_after_exit(struct leat_daemon *d, const struct leat_proc *p);
/* An instance of the step has ended: the same, without delay. */
void leat_lives_after_step(struct leat_daemon *d, int step);
/* By the clock: those nobody gave a hint about. */
void leat_lives_sweep(struct leat_daemon *d);
/* Does some process of the step hold a file open for writing? */
bool leat_lives_of_step(const struct leat_daemon *d, int step);
void leat_lives_free(struct leat_daemon *d);

#endif
