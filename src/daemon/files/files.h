/* Names and the files behind them. */
#ifndef LEAT_DAEMON_FILES_FILES_H
#define LEAT_DAEMON_FILES_FILES_H

#include "base/beneath.h"
#include "base/recent.h"
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
	uint32_t milestones_number; /* of its name, among the milestones; 0: it has none yet */
	const struct leat_file_rule *rule;
	bool retired;
	bool reported;      /* the rules know that it exists */
	bool made;          /* came to exist in this run */
	bool listed;        /* the rules know what was in it before the run */
	bool adopted;       /* stays where it is, whatever its name asks for */
	bool keep;          /* in the store, though its name belongs on disk */
	bool staged;        /* put on disk for a staged step only */
	bool publishes;     /* the frontier in shared memory is to be watched */
	bool warned;        /* of being undeclared */
	bool nudged;        /* somebody waits until it is there, which nobody will tell of */
	bool held_reported; /* that a step waits, since an earlier one has it open */
	bool mode_reported; /* that it is given another one than was seen */
	bool violated;
	bool watched;    /* read by somebody who is no consumer, and must find its end */
	bool rewritable; /* opened for writing by a step that is not its producer or consumer */
	uint64_t reported_frontier;
	uint32_t table;    /* in which clients see its written parts (shm/extents.h); 0: none */
	uint64_t size;     /* at the commit */
	bool measured;     /* `size` was just looked at */
	char *why;         /* it failed; owned */
	uint64_t *hidden;  /* steps that removed it for themselves, and those after them, for whom
			      it is gone in a batch; owned, NULL: none */
	int hidden_by;     /* the first of those that removed it, -1 */
	uint64_t *readers; /* steps that read it while it grew; owned, NULL: none */
	uint64_t *opened;  /* consumers that opened it; owned, NULL: none */
	struct leat_early *early;
	struct leat_file *early_next; /* in the daemon's list */
	bool early_due;
	const struct leat_conn *maker; /* is just making it: its `making` */
	struct leat_description *descriptions;
	struct leat_description *readers_open; /* those who read a version, or hold an output */
	bool versioned;                        /* it is a version of something */
	uint64_t touched_ns;        /* last used by a path call, or closed after writing */
	enum leat_root complete_in; /* of which of the daemon's lists it is; NONE: of none */
	struct leat_file *complete_prev, *complete_next;
	struct leat_move *move;     /* it is being moved, or NULL */
	struct leat_former *former; /* where it was before, if somebody still has that open */
	uint64_t drop_seen;         /* up to where it had gone when space was asked for */
	uint64_t drop_ns;           /* and when that was found; 0: never */
	uint64_t tried_ns;          /* when it was last tried to move it while open */
	bool stuck;                 /* and could not be, since somebody had it open */
	uint64_t moved_ns;          /* when it was moved to another place last; 0: never */
	bool dated;                 /* came from outside, changed there after it was written */
	bool cramped;               /* a client got the answer that there is no space for it */
	int unseen_step;            /* that writes it unseen, if `unseen_why`: */
	int unseen_why;             /* why it cannot go to disk meanwhile, -errno; 0: it can */
	bool copying;               /* into the store, in the background */
	int copy_error;
	int drop_fd; /* to give memory back by; -1: none */
	/* permanence */
	struct leat_job *job; /* that is at it, if `saving`, or is to be; NULL: none */
	bool saving;
	bool dirty;                /* is to be brought to disk (again) */
	bool saved;                /* a whole copy is on disk */
	int save_error;            /* errno */
	struct leat_inode on_disk; /* what leat put there, or adopted */
	struct leat_user
		*remover; /* of those for whom it is hidden, the last; NULL: leat's; owned */
	struct timespec saved_mtime, saved_ctime;
};

/* Where files are that steps have for themselves (private.h). */
struct leat_private {
	int fd;                             /* of the directory, -1: not made yet */
	char name[NAME_MAX + 1];            /* its name in the workflow's directory */
	struct leat_private_hidden *hidden; /* owned */
};

/* All of them. */
struct leat_daemon_files {
	struct leat_file *by_name;
	struct leat_recent recent;  /* of `by_name` */
	struct leat_file **by_slot; /* [0] unused; never shrinks */
	uint32_t n_slots, max_slots;
	unsigned n_hidden; /* files some consumer removed for itself */
	/* By their place, complete files that have bytes, which may be moved to another; who looks
	 * at one of them puts it last. */
	struct leat_file *complete[LEAT_ROOT_DISK];
	size_t n_complete[LEAT_ROOT_DISK];
	struct leat_private private;
	struct timespec *newest; /* complete input of each step; owned, NULL: none yet */

	struct leat_description *descriptions; /* by id */
	uint64_t last_ofd;
	uv_check_t ended; /* while descriptions are to be looked at that have ended */

	const struct leat_file_rule *published_rule; /* of whose files these are the consumers */
	uint64_t published_consumers;

	int aside;             /* a directory on disk that no step lists; -1: none; borrowed */
	struct leat_job *jobs; /* of persist.c, queued */
	struct leat_job *running_jobs; /* libuv's; `n_jobs` of them */
	unsigned n_jobs;
	struct leat_dirty_dir *dirty_dirs; /* with renames that are not yet synced */
	struct leat_shut_dir *shut_dirs;   /* open while jobs run; owned */

	struct leat_move *moves; /* running */
	unsigned n_moves;
	unsigned n_copies;           /* of files that go to where they are written, running */
	struct leat_former *formers; /* what files were before they were moved, still open */
	uint64_t last_byte;          /* see former.c */
};

static inline struct leat_shm_file *leat_file_shm(struct leat_daemon *d, const struct leat_file *f)
{
	return &d->shm->files[f->slot];
}

/* The slot by which clients know it; 0: none. */
static inline uint32_t leat_file_slot(const struct leat_file *f)
{
	return f ? f->slot : 0;
}

/* The file of that name, or NULL. */
struct leat_file *leat_file_find(struct leat_daemon *d, const char *name);
/* A new one, of which nothing is known yet (leat_file_get). NULL: out of memory or slots. */
struct leat_file *leat_file_add(struct leat_daemon *d, const char *name);
/* The files of `dir` and of all names below it that the rules know; the caller frees the array.
 * NULL: out of memory. */
struct leat_file **leat_files_below(struct leat_daemon *d, const char *dir, size_t *n);
/* Has the step declared that it reads it, and may it still do so? */
bool leat_file_awaits(const struct leat_daemon *d, const struct leat_file *f, int step);

/* The file of a slot a client names, or NULL: any number may come. */
struct leat_file *leat_file_at(struct leat_daemon *d, uint32_t slot);

/* Put it last in the list of complete files in `root` (not DISK), or, NONE, in no list. */
void leat_file_list_complete(struct leat_daemon *d, struct leat_file *f, enum leat_root root);

/* Open it in the store: a descriptor the caller closes, or -1 with errno. */
int leat_file_open(struct leat_daemon *d, const struct leat_file *f, int access);
void leat_files_free(struct leat_daemon *d);

/* True if the workflow says something of the path, or of what may be in it. */
bool leat_rule_matters(const struct leat_file_rule *rule);
/* True if some step has it as output. */
bool leat_rule_produced(const struct leat_daemon *d, const struct leat_file_rule *rule);
/* Is it such an output, and an input that `step` has declared? */
bool leat_rule_is_input(const struct leat_daemon *d, const struct leat_file_rule *rule, int step);
/* Where a new file of that rule belongs. */
enum leat_root leat_rule_root(const struct leat_daemon *d, const struct leat_file_rule *rule);

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
void leat_file_note_root(struct leat_daemon *d, struct leat_file *f, enum leat_root root);
/* False: something else than what leat knows to be on disk by that name has taken its place. */
bool leat_file_is_on_disk(const struct leat_daemon *d, const struct leat_file *f);

#endif
