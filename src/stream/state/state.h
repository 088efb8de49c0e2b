/* What is known of a run; others use stream/stream.h.
 *
 * A *name* (struct leat_name_state) is what consumers wait for and what rules
 * speak of. The *content* behind it is what producers open, write and move:
 * rename and link change which names show a content, and the closes counted
 * travel with it.
 *
 * Facts change contents and steps and `touch` the names concerned; leat_settle
 * then brings all states up to date and wakes whoever can go on. Nothing else
 * changes a state. */
#ifndef LEAT_STREAM_STATE_STATE_H
#define LEAT_STREAM_STATE_STATE_H

#include "base/recent.h"
#include "stream/state/extents.h"
#include "stream/state/heap.h"
#include "stream/stream.h"

/* A failed addition leaves hh.tbl NULL instead of ending the process. */
#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) leat_heap_alloc(1, size)
#define uthash_free(p, size) leat_heap_free(p)
#include "base/tables.h"
#include <utlist.h>

struct leat_name_state;
struct leat_flow_link;
struct leat_series;
struct leat_flow_port;
struct leat_sequence;
struct leat_take;
struct leat_rank;
struct leat_used;
struct leat_hold;
struct leat_shown_to;

/* What one step did with one content. */
struct leat_part {
	int step;
	unsigned writers;            /* its open descriptions */
	unsigned pending;            /* its empty closes that do not count yet */
	unsigned closes;             /* normal closes, empty ones too */
	unsigned data_closes;        /* normal closes that count without a given number */
	bool published;              /* it gave the finished content its name */
	bool cut;                    /* it has truncated it, */
	uint64_t cut_to;             /* the last time to that length */
	unsigned opened;             /* how its descriptions write, */
	unsigned did;                /* and how it wrote (conflicts/shared.c) */
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
	bool old;       /* no producer of its name touched it: it was there before, or is foreign */
	bool left_over; /* a directory from before the run; no step has made anything in it */
	bool broken;    /* the last close came from an abnormal death */
	bool held;      /* until the actions of who wrote it pass it on */
	bool shared;    /* several steps write it, and report where */
	bool warned;    /* that lines of theirs may come in another order */
	bool linked;    /* it was given a second name */
	bool alias_reported; /* that steps get in each other's way by two of its names */
	int lost;    /* step that was over when a process of it was killed in writing; -1: none */
	int creator; /* step, -1 unknown */
	unsigned writers;
	unsigned holds; /* open descriptions of steps before its producers */
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
	struct leat_name_state *by; /* the name by which it was opened */
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

/* A call that was answered WAIT; key id. */
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

/* Of more than 64 steps some share one. */
static inline uint64_t leat_seen_bit(int step)
{
	return UINT64_C(1) << step % 64;
}

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
	uint64_t seen;    /* consumers that were let at it since it was created: leat_seen_bit */
	uint64_t readers; /* steps that were let at its bytes, consumers or not, likewise */
	bool looked;      /* at what is known of it beside its bytes */
	bool counted;     /* included in committed_below of the directories above */
	bool busy;        /* included in writers_below of the directories above */
	bool shown;       /* a listing by a consumer may show it */
	unsigned amender; /* 1 + the step, both producer and consumer, that was let at it
			     before it was complete */
	unsigned taken;   /* 1 + the consumer that removed it or moved it away */
	/* For messages: 1 + the step that removed it or moved it away last, and 1 + the step that
	 * had made that. */
	unsigned remover, removed_maker;
	bool taken_below;             /* that has been so of a name in this directory */
	bool relied;                  /* of a directory: a consumer went on as it was complete */
	bool dirty;                   /* in the queue of leat_settle */
	bool wake;                    /* in the list of names to wake */
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

/* Where a step stands; what changes that, and into what, is in steps.h. */
enum leat_step_phase {
	LEAT_PHASE_COMING, /* no instance runs, and one is to start */
	LEAT_PHASE_RUNNING,
	LEAT_PHASE_RESTING, /* the launch that ran has ended, and there may be another */
	LEAT_PHASE_OVER,    /* all instances have ended, and none is to start */
	LEAT_PHASE_RESTED,  /* the same, when its last launch had ended before */
	LEAT_PHASES,
};

struct leat_step_state {
	enum leat_step_phase phase;
	unsigned expected; /* instances that will start, as far as known */
	unsigned started;
	unsigned ended;
	unsigned failures;
	bool closed;
	bool staged;                  /* it is to be started when its turn has come */
	unsigned launches;            /* after the first */
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
	struct leat_recent *recent;    /* of `names`; owned */
	struct leat_ofd *ofds;
	struct leat_waiter *waiters;
	struct leat_process *processes;
	struct leat_flow_link *links;
	struct leat_series *series;
	struct leat_flow_port *ports;
	struct leat_sequence *sequences;
	struct leat_take *takes;
	struct leat_used *used;  /* names, by steps; see state/used.h */
	struct leat_hold *holds; /* see conflicts/held.c */
	bool staged;             /* some step is to be started when its turn has come */
	bool moved;              /* some directory was moved by a step */
	bool mistaken;           /* some step looked for a directory too early, or too late */
	bool guessed;            /* some step looked for what it produces, perhaps to make it */
	bool linked;             /* some file was given a second name */
	unsigned reported;       /* violations that this event was */
	struct leat_name_state *dirty, *dirty_tail;
	int dirty_step;
	struct leat_name_state *wake, *wake_tail;
	bool broad; /* something happened that concerns all listings and launches */
	int error;  /* -ENOMEM met where nothing could be returned */
};

#endif
