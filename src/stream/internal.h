/* What the files of this room share; others use stream/stream.h.
 *
 * A *name* (struct leat_name_state) is what consumers wait for and what rules
 * speak of. The *content* behind it is what producers open, write and move:
 * rename and link change which names show a content, and the closes counted
 * travel with it.
 *
 * Facts change contents and steps and `touch` the names concerned; leat_settle
 * then brings all states up to date and wakes whoever can go on. Nothing else
 * changes a state. */
#ifndef LEAT_STREAM_INTERNAL_H
#define LEAT_STREAM_INTERNAL_H

#include "stream/extents.h"
#include "stream/heap.h"
#include "stream/stream.h"

/* A failed addition leaves hh.tbl NULL instead of ending the process. */
#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) leat_heap_alloc(1, size)
#define uthash_free(p, size) leat_heap_free(p)
#include <uthash.h>
#include <utlist.h>

struct leat_name_state;
struct leat_flow_link;
struct leat_series;
struct leat_flow_port;
struct leat_sequence;
struct leat_take;
struct leat_rank;
struct leat_used;
struct leat_shown_to;

/* What one step did with one content. */
struct leat_part {
	int step;
	unsigned writers;     /* its open descriptions */
	unsigned pending;     /* its empty closes that do not count yet */
	unsigned closes;      /* normal closes, empty ones too */
	unsigned data_closes; /* normal closes that count without a given number */
	bool published;       /* it gave the finished content its name */
	bool cut;             /* it has truncated it, */
	uint64_t cut_to;      /* the last time to that length */
	unsigned opened, did; /* how its descriptions write, and how it wrote: see shared.c */
	struct leat_extents written; /* where, if several steps write it */
};

/* An empty close, waiting for its process to end without opening the file again. */
struct leat_pending {
	struct leat_content *content;
	struct leat_process *process;
	int step;
	struct leat_pending *prev, *next;                 /* of the content */
	struct leat_pending *process_prev, *process_next; /* of the process */
};

/* A process with empty closes pending; key {node, pid}. */
struct leat_process {
	struct leat_process_key {
		int node;
		int pid;
	} key;
	struct leat_pending *pending;
	UT_hash_handle hh;
};

/* A file or directory itself. Lives while a name or an open description refers to it. */
struct leat_content {
	bool is_dir;
	bool old;    /* no producer of its name touched it: it was there before, or is foreign */
	bool broken; /* the last close came from an abnormal death */
	bool held;   /* until the actions of who wrote it pass it on */
	bool shared; /* several steps write it, and tell where */
	bool warned; /* that lines of theirs may come in another order */
	int lost;    /* step that was over when a process of it was killed in writing; -1: none */
	int creator; /* step, -1 unknown */
	unsigned writers;
	struct leat_part *parts;
	size_t n_parts;
	struct leat_pending *pending;
	struct leat_extents extents;
	uint64_t size_bytes;
	struct leat_name_state *names; /* linked by same_prev, same_next */
};

/* An open description; key id. */
struct leat_ofd {
	uint64_t id;
	struct leat_content *content;
	int step;
	int node;
	int pid;
	bool late;   /* opened after the commit: already reported */
	bool exited; /* the process that opened it is gone, */
	bool killed; /* by abnormal death */
	bool intact; /* nothing was changed by it so far: then its close is none, */
	bool undid;  /* but it undid an empty one */
	bool appends;
	UT_hash_handle hh;
};

/* Element of a list of names that somebody else's change concerns. */
struct leat_link {
	struct leat_name_state *name;
	struct leat_link *next;
};

struct leat_question {
	int step;
	enum leat_call call;
	uint64_t offset;
	uint64_t length;
};

/* What a waiting call waits for beside its own name; at most one is set. */
struct leat_blocker {
	struct leat_name_state *name;
	int step; /* -1 none */
};

/* A call that was told to wait; key id. */
struct leat_waiter {
	uint64_t id;
	struct leat_question question;
	struct leat_name_state *on;
	struct leat_blocker blocker;
	bool woken;                          /* its wake was sent; it will ask again */
	struct leat_waiter *prev, *next;     /* of `on` */
	struct leat_waiter *b_prev, *b_next; /* of the blocker */
	UT_hash_handle hh;
};

/* One name (token). Names live as long as the stream; key text. */
struct leat_name_state {
	char *text;
	const struct leat_file_rule *rule;
	enum leat_file_state state;
	bool governed;    /* declared, some step produces it, not excluded */
	bool exact;       /* some output entry spells it out */
	bool versioned;   /* it is a version of something */
	bool dropped;     /* that nobody wants any more */
	unsigned wanted;  /* so many links and steps still need this version */
	bool seen;        /* a consumer was let at it since it was created */
	bool looked;      /* at what is known of it beside its bytes */
	bool counted;     /* included in committed_below of the directories above */
	bool busy;        /* included in writers_below of the directories above */
	bool shown;       /* a listing by a consumer may show it */
	unsigned amender; /* 1 + the step, both producer and consumer, that was let at it
			     before it was complete */
	unsigned taken;   /* 1 + the consumer that removed it or moved it away */
	bool taken_below; /* that has been so of a name in this directory */
	bool relied;      /* of a directory: a consumer went on as it was complete */
	bool dirty;       /* in the queue of leat_settle */
	bool wake;        /* in the list of names to wake */
	struct leat_content *content; /* NULL: does not exist */
	struct leat_name_state *same_prev, *same_next;
	struct leat_name_state *parent;                 /* NULL for "" */
	struct leat_name_state *children, *prev, *next; /* those shown last in the order of that */
	struct leat_name_state *dirty_next, *wake_next;
	unsigned committed_below;       /* committed files, at any depth */
	unsigned writers_below;         /* files open for writing, at any depth */
	uint64_t n_shown;               /* names ever shown in this directory */
	uint64_t shown_at;              /* number among those, when it was shown last; 0: never */
	struct leat_shown_to *listings; /* steps that were given names of this directory */
	struct leat_waiter *waiters;    /* calls on this name */
	struct leat_waiter *blocked;    /* calls on other names that need this one */
	struct leat_link *dependents;   /* names whose on_file rule needs this one */
	UT_hash_handle hh;
};

/* One entry of a step's input_stream, seen with the steps that may make what it names. */
struct leat_input {
	const char *text;
	bool wild;
	bool no_update;
	bool versions;    /* it comes in versions: nobody waits for all of them */
	uint64_t *makers; /* other steps whose outputs it can match, or that write below it */
};

struct leat_step_state {
	unsigned expected; /* instances that will start, as far as known */
	unsigned started;
	unsigned ended;
	unsigned failures;
	bool closed;
	unsigned launches;            /* after the first */
	bool resting;                 /* the one that ran has ended */
	struct leat_rank *ranks_over; /* of an MPI job: those that have ended */
	bool ends_count;              /* some file counts how many of its instances ended */
	bool dirty;                   /* in the queue of leat_settle */
	bool dirty_names;             /* with all its names */
	unsigned writers;             /* its open descriptions of any file */
	char *why;                    /* why it failed */
	struct leat_link *names;      /* it may produce, or created */
	struct leat_link *dependents; /* names whose on_file rule needs its end */
	struct leat_waiter *blocked;
	struct leat_input *inputs; /* one for each of the model's; compiled at first use */
	int dirty_next;
};

/* A name some output entry spells out. */
struct leat_exact {
	const char *text; /* borrowed from the workflow */
	UT_hash_handle hh;
};

struct leat_stream {
	struct leat_matcher *m;         /* borrowed */
	const struct leat_workflow *wf; /* borrowed */
	struct leat_stream_ops ops;
	void *ctx;
	int n_steps;
	struct leat_step_state *steps;
	struct leat_exact *exact;
	struct leat_name_state *names; /* in order of first mention */
	struct leat_ofd *ofds;
	struct leat_waiter *waiters;
	struct leat_process *processes;
	struct leat_flow_link *links;
	struct leat_series *series;
	struct leat_flow_port *ports;
	struct leat_sequence *sequences;
	struct leat_take *takes;
	struct leat_used *used; /* names, by steps; see uses.c */
	bool moved;             /* some directory was moved by a step */
	unsigned told;          /* violations that this event was */
	struct leat_name_state *dirty, *dirty_tail;
	int dirty_step;
	struct leat_name_state *wake, *wake_tail;
	bool broad; /* something happened that concerns all listings and launches */
	int error;  /* -ENOMEM met where nothing could be returned */
};

/* ---- names.c ---- */

/* The state of `text`, or NULL if it was never mentioned. */
struct leat_name_state *leat_name_find(const struct leat_stream *s, const char *text);
/* The same, made if need be with the directories above and what its rule depends
 * on. NULL when out of memory (s->error is set). */
struct leat_name_state *leat_name_get(struct leat_stream *s, const char *text);
void leat_names_free(struct leat_stream *s);
bool leat_name_is_dir(const struct leat_name_state *n);
/* Append a link. False when out of memory (s->error is set). */
bool leat_link_add(struct leat_stream *s, struct leat_link **list, struct leat_name_state *n);
void leat_links_free(struct leat_link *list);
/* True if a listing by a consumer may show it: committed and there, or growing
 * under no_update. */
bool leat_name_is_shown(const struct leat_name_state *n);
/* Bring the counters of the directories above and `shown` up to date. Due at
 * once when a content or its names change: a directory is looked at only when
 * the event is over, and must not see a file that moves within it twice, or not
 * at all. */
void leat_name_account(struct leat_stream *s, struct leat_name_state *n);

/* ---- content.c ---- */

/* A new content shown by `n` (which had none). NULL when out of memory. */
struct leat_content *leat_content_new(struct leat_stream *s, struct leat_name_state *n, int creator,
				      bool is_dir);
void leat_content_attach(struct leat_stream *s, struct leat_content *c, struct leat_name_state *n);
/* Take the content away from its name; freed if nothing refers to it any more. */
void leat_content_detach(struct leat_stream *s, struct leat_name_state *n);
void leat_content_release(struct leat_stream *s, struct leat_content *c);
/* The part of step `step`, or NULL if it did nothing. */
struct leat_part *leat_content_find_part(const struct leat_content *c, int step);
/* The same, made if need be. NULL when out of memory. */
struct leat_part *leat_content_part(struct leat_stream *s, struct leat_content *c, int step);
/* Touch all names that show `c`. */
void leat_content_touch(struct leat_stream *s, struct leat_content *c);
/* Remember an empty close / let one count or not / drop all of a content. */
void leat_pending_add(struct leat_stream *s, struct leat_content *c, const struct leat_ofd *o);
void leat_pending_drop(struct leat_stream *s, struct leat_content *c);
/* The same for all processes behind the mount of this server (eventlog/event.h). */
void leat_pending_exit_behind(struct leat_stream *s, int server, bool normally);
/* Process {node, pid} ended: its empty closes count if it ended normally. */
void leat_pending_exit(struct leat_stream *s, int node, int pid, bool normally);

/* ---- facts.c, rename.c ---- */

int leat_fact_open(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_write(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_close(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_serve(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_exit(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_create(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_present(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_extent(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_truncate(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_rename(struct leat_stream *s, const struct leat_event *ev);
int leat_fact_unlink(struct leat_stream *s, const struct leat_event *ev);
/* The content that an event on open files or names speaks of, or NULL. */
struct leat_content *leat_content_of(const struct leat_stream *s, const struct leat_event *ev);
/* True if `step` is a declared producer of `n`. */
bool leat_name_produced_by(const struct leat_name_state *n, int step);
/* Report a change of `n` by a step that may not make it (now): as its producer
 * after the commit, or, with `changes`, as a consumer. */
void leat_fact_check_change(struct leat_stream *s, const struct leat_name_state *n, int step,
			    bool changes, const char *what);
/* Report it if `step` changes what a step that goes on from it was told is all. */
void leat_fact_check_amended(struct leat_stream *s, const struct leat_name_state *n, int step,
			     const char *what);
/* `step`, a consumer, removes it or moves it away, as a batch would do after its producers. */
void leat_fact_take_away(const struct leat_stream *s, struct leat_name_state *n, int step);
/* Directories above `n` exist, `step` having made what is missing. */
void leat_fact_parents(struct leat_stream *s, struct leat_name_state *n, int step);
/* `step` made `n` show a finished content (rename, link, symlink). */
void leat_fact_publish(struct leat_stream *s, struct leat_name_state *n, int step);

/* ---- commit.c ---- */

/* The state `n` must be in now. */
enum leat_file_state leat_commit_evaluate(const struct leat_stream *s,
					  const struct leat_name_state *n);
/* True if for `step`, itself a producer, all *other* producers are done with `n`. */
bool leat_commit_others_done(const struct leat_stream *s, const struct leat_name_state *n,
			     int step);
/* How many closes count for `n`, which has a content. */
unsigned leat_commit_closes(const struct leat_name_state *n);
bool leat_state_is_final(enum leat_file_state state);
/* Why `n` failed; the caller frees it. */
char *leat_commit_why(const struct leat_stream *s, const struct leat_name_state *n);

/* ---- steps.c ---- */

int leat_step_start(struct leat_stream *s, const struct leat_event *ev);
int leat_step_end(struct leat_stream *s, const struct leat_event *ev);
int leat_step_closed(struct leat_stream *s, const struct leat_event *ev);
/* True if all its instances ended (well or not) and none will start. */
bool leat_step_is_over(const struct leat_step_state *st);
/* True if it is over, did not fail and none of its processes holds a file open for writing. */
bool leat_step_is_quiet(const struct leat_step_state *st);

/* ---- settle.c ---- */

void leat_touch(struct leat_stream *s, struct leat_name_state *n);
/* Back to `state`, which is told at once. */
void leat_name_reset(struct leat_stream *s, struct leat_name_state *n, enum leat_file_state state);
/* What waits for step `step` looks again; with `names`, so does each name it may produce. */
void leat_touch_step(struct leat_stream *s, int step, bool names);
void leat_touch_links(struct leat_stream *s, const struct leat_link *list);
/* Bring states up to date, then wake. */
void leat_settle(struct leat_stream *s);
/* Let `w` be looked at again when `b` changes. */
void leat_waiter_block(struct leat_stream *s, struct leat_waiter *w, const struct leat_blocker *b);
void leat_waiter_free(struct leat_stream *s, struct leat_waiter *w);
/* It is to look again, whatever for. */
void leat_waiter_wake(struct leat_stream *s, struct leat_waiter *w);

/* ---- shown.c ---- */

/* `step` is about to be given the names in `dir`. 0 or -ENOMEM. */
int leat_shown_list(const struct leat_stream *s, struct leat_name_state *dir, int step);
void leat_shown_free(struct leat_name_state *n);
/* For the fingerprint. */
uint64_t leat_shown_digest(const struct leat_name_state *n);
/* `step` is about to remove `n`, or to rename it to `to`: a violation if a consumer has found it in
 * a listing, or used it when it was complete. */
void leat_shown_check_loss(struct leat_stream *s, const struct leat_name_state *n, int step,
			   const char *to);
/* `step` is about to change rights: a violation if a consumer has gone by what they were. */
int leat_fact_rights(struct leat_stream *s, const struct leat_event *ev);
/* `step` has removed or renamed `n`: directories above that are complete by the number of their
 * files may lack one; they are not complete any more, or, if a consumer has gone by it, it is a
 * violation. */
void leat_shown_recount(struct leat_stream *s, const struct leat_name_state *n, int step);

/* ---- violation.c ---- */

/* Report it; `what` says what was done to the name ("truncated"), NULL for the usual. */
void leat_violation_report(struct leat_stream *s, enum leat_violation kind, const char *name,
			   int step, const char *what);
/* What a client tells of. */
int leat_fact_violation(struct leat_stream *s, const struct leat_event *ev);

/* ---- uses.c ---- */

int leat_fact_use(struct leat_stream *s, const struct leat_event *ev);
void leat_uses_free(struct leat_stream *s);

/* ---- shared.c ---- */

/* It is opened for writing by `ev->step`; the descriptions' part has been made. 0 or -ENOMEM. */
int leat_share_open(struct leat_stream *s, const struct leat_name_state *n,
		    const struct leat_event *ev);
/* A description of the step begins to write. */
void leat_share_begin(struct leat_content *c, int step, bool appends);
/* `step` gives `c` the length, by that name. 0 or -ENOMEM. */
int leat_share_cut(struct leat_stream *s, const struct leat_name_state *n, struct leat_content *c,
		   int step, uint64_t length);
/* Is there a name that both steps spell out as their output? */
bool leat_share_spelled(const struct leat_stream *s, int a, int b);
/* What a staged step has made by that name is found on disk: before it takes the place of what is
 * there (tell if another step has made that), and after. Of other steps: nothing. 0 or -ENOMEM. */
int leat_share_adopt(struct leat_stream *s, const struct leat_name_state *n, int step);
int leat_share_adopted(struct leat_stream *s, struct leat_content *c, int step, uint64_t length);
int leat_fact_written(struct leat_stream *s, const struct leat_event *ev);

/* ---- ask.c, inputs.c ---- */

/* How `step` stands to what `rule` governs. */
enum leat_role leat_rule_role(const struct leat_stream *s, int step,
			      const struct leat_file_rule *rule);
bool leat_rule_governs(const struct leat_stream *s, const struct leat_file_rule *rule);
/* Decide; with LEAT_WAIT `blocker` says for what, beside `n`. */
enum leat_answer leat_decide(struct leat_stream *s, struct leat_name_state *n,
			     const struct leat_question *q, struct leat_blocker *blocker);
enum leat_answer leat_decide_list(struct leat_stream *s, struct leat_name_state *n,
				  const struct leat_question *q, struct leat_blocker *blocker);
enum leat_answer leat_decide_launch(struct leat_stream *s, const struct leat_question *q,
				    struct leat_blocker *blocker);
/* The compiled inputs of a step, as many as the model has; NULL when out of memory. */
struct leat_input *leat_inputs(struct leat_stream *s, int step);
void leat_inputs_free(struct leat_stream *s, int step);
/* True if an output of `step` may match what `text` (a name, directory or pattern)
 * stands for, or lie below it, or contain it. */
bool leat_step_may_make(const struct leat_stream *s, int step, const char *text);

#endif
