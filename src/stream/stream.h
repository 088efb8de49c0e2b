/* The state of every file of a run, as pure logic: events in, state and
 * wake-ups out; no I/O, no clock, no threads. Every commit and firing decision
 * of leat is taken here and nowhere else; unit tests, the model checker and the
 * replay of real runs drive this same module.
 *
 * Each of these folders uses only those before it: state (what is known), flow (versions: who is
 * given which) and conflicts (steps that use the same name), rules (which state a file is in, what
 * a call is answered), facts (what an event changes), verify (the model checker).
 *
 * The unit is a token {file, object}; object is always 0 today.
 * Sources: CAPIO (2023) Sec. III-IV, CAPIO-CL (2025) Sec. 3, docs/explanation/semantics.md. */
#ifndef LEAT_STREAM_STREAM_H
#define LEAT_STREAM_STREAM_H

#include "model/match.h"
#include "eventlog/call.h"
#include "eventlog/event.h"

#include <limits.h>

enum leat_file_state {
	LEAT_FILE_ABSENT,    /* not created yet */
	LEAT_FILE_PRODUCED,  /* created, not complete */
	LEAT_FILE_COMMITTED, /* complete */
	LEAT_FILE_FAILED,    /* a producer failed before the commit */
	LEAT_FILE_GONE,      /* all producers ended and none created it */
};

enum leat_answer {
	LEAT_GO,        /* go on; the file is final, or the caller sees plain POSIX */
	LEAT_GO_STREAM, /* go on, but the file still grows: reads must be covered */
	LEAT_WAIT,      /* wait until the name is woken, then ask again */
	LEAT_NOENT,     /* it will never exist */
	LEAT_FAILED,    /* EIO: its producer failed */
};

enum leat_role {
	LEAT_ROLE_PLAIN, /* undeclared, excluded, or the step is upstream: plain POSIX */
	LEAT_ROLE_PRODUCER,
	LEAT_ROLE_CONSUMER,
	LEAT_ROLE_BOTH, /* producer and consumer */
};

/* What the module reports to its owner while it handles one event. All strings are
 * borrowed for the call. None of them may call back into the stream. */
struct leat_stream_ops {
	/* `name` changed state; called before the wake it causes. */
	void (*state)(void *ctx, const char *name, enum leat_file_state state);
	/* everybody waiting on `name` must look again */
	void (*wake)(void *ctx, const char *name);
	/* step < 0: unknown. `text` says it in words for a person. */
	void (*violation)(void *ctx, enum leat_violation kind, const char *name, int step,
			  const char *text);
	/* why `name` failed, in words: producer and cause */
	void (*failed)(void *ctx, const char *name, const char *why);
	/* nobody will read version `name` any more */
	void (*unwanted)(void *ctx, const char *name);
	/* `step` used `name` as in a batch it would not have, since `other` did so before.
	 * `harmless`: both appended to it. `text` says it in words. */
	void (*conflict)(void *ctx, const char *name, int step, int other, bool harmless,
			 const char *text);
};

struct leat_stream;

/* `m` is borrowed, `ops` copied. NULL when out of memory. */
struct leat_stream *leat_stream_new(struct leat_matcher *m, const struct leat_workflow *wf,
				    const struct leat_stream_ops *ops, void *ctx);
void leat_stream_free(struct leat_stream *s);

/* Apply one fact (any kind before LEAT_EV_ANSWER but ASK). 0, -EINVAL for an
 * event that contradicts the state (unknown ofd...), -ENOMEM.
 *
 * What the owner must see to:
 * - PRESENT (with DIR for directories, length for files) comes before anything
 *   else about a name that exists on disk.
 * - OPEN, CLOSE and CREATE are applied for undeclared names, too: closes travel with
 *   a rename onto a declared name, and the creator is remembered.
 * - The CLOSE of a description that dies with its process comes before that
 *   process's PROC_EXIT where possible; status < 0 means an abnormal end.
 * - CLOSE does not add extents: apply EXTENT [0, length) before it where all of
 *   the file is known to be written. EXTENT and TRUNCATE go by ofd if it is not 0.
 * - OPEN: length is the size before, which what has been written since it became shared
 *   (leat_stream_is_shared) may exceed.
 * - STEP_START: code is the number of instances announced by the launcher, 0 if
 *   unknown. STEP_END with a status but without a start: it could not be started.
 * - CREATE of a hard link: `to` is the existing name. Of symlinks and
 *   directories: NULL.
 * - TAKE when rank `code` of a consumer (0 if it is no MPI job) is given a version that it may
 *   read, READ once it has read of it, RETURN at the last close of that description.
 * - PROC_EXIT of the server of a mount ends all processes behind it whose own PROC_EXIT has not
 * come.
 * - PROC_EXIT: code is 1 + the rank of which it was the last process, 0: of none.
 * - LAUNCH with code 0 when a launch of a step has ended, well, before MORE is
 *   asked; with 1 when the next begins, between STEP_START and STEP_END.
 * - RIGHTS comes before the change, of files only: it may still be kept from happening.
 * - HOLD comes when the name is known (PRESENT, CREATE), LET_GO once for each.
 * - LEAT_EV_VIOLATION is passed on to ops->violation with a text. */
int leat_stream_apply(struct leat_stream *s, const struct leat_event *ev);

/* Decide one call: a LEAT_EV_ASK event. With LEAT_WAIT the waiter (ev->waiter,
 * 0: nobody, just asking) is remembered as waiting on ev->name until the same
 * waiter asks again or is cancelled.
 *
 * LIST: LEAT_GO says that what there is now is all: after it comes the end.
 * LEAT_GO_STREAM says that there may be new names: list those visible, then ask
 * again, with offset = leat_stream_shown as it was *before* the names were
 * listed (0 at first). LAUNCH, MORE: name may be "" or any name to be woken by.
 * MORE: may the step be launched for a further version? LEAT_NOENT: never again.
 * A step that the workflow has not, a call that is none: LEAT_FAILED. */
enum leat_answer leat_stream_ask(struct leat_stream *s, const struct leat_event *ev);

/* Whether there is a name for what a step means. */
enum leat_version_answer {
	LEAT_VERSION_NAMED,
	LEAT_VERSION_NONE, /* it is a version that the step is not given */
	LEAT_VERSION_GONE, /* the one that the rank would have to be given has gone */
	LEAT_VERSION_NAME_TOO_LONG,
	LEAT_VERSION_NO_MEMORY,
};

/* By which name the rules know what `step` calls `path`, in a call of this kind (WRITE: one that
 * makes it anew): `path` itself, the name by which another step makes it, or a version
 * (model/version.h). All other functions go by that name. `rank` is that of the caller in an MPI
 * job. `out` is set if it is LEAT_VERSION_NAMED. */
enum leat_version_answer leat_stream_version(struct leat_stream *s, int step, unsigned rank,
					     enum leat_call call, const char *path,
					     char out[PATH_MAX]);

/* The last version of what `step` sees as `path` that has gone; borrowed, NULL: none. */
const char *leat_stream_missed(const struct leat_stream *s, int step, const char *path);

/* Does some step's output spell `name` out, rather than match it by a pattern? */
bool leat_stream_spells_out(const struct leat_stream *s, const char *name);

/* Is `name` a version of something? Its readers are then reported by TAKE, READ and RETURN. */
bool leat_stream_has_versions(const struct leat_stream *s, const char *name);

/* Walk the names that `step` sees in versions, and of which a rank of it now has, or may have,
 * one: `seen`, by which name and `made`, which one. 0 or what `fn` returned, if not 0; -ENOMEM. */
int leat_stream_each_version(struct leat_stream *s, int step, unsigned rank,
			     int (*fn)(void *ctx, const char *seen, const char *made), void *ctx);

/* The file, as `step` sees it, that its next launch is for. False: there is none. */
bool leat_stream_next(struct leat_stream *s, int step, char out[PATH_MAX]);

/* How step `step` stands to `name`. */
enum leat_role leat_stream_role(struct leat_stream *s, int step, const char *name);

/* State of a name; LEAT_FILE_ABSENT if never heard of. */
enum leat_file_state leat_stream_state(const struct leat_stream *s, const char *name);

/* The name of an output that is complete and the same file as `name`, which is not complete, by a
 * link, so that `step` may not change it; borrowed, NULL: there is none. */
const char *leat_stream_passed_on(const struct leat_stream *s, int step, const char *name);

/* Has a producer made `name`, or a version of it, in this run, and not taken it back? */
bool leat_stream_made(const struct leat_stream *s, const char *name);

/* The step that removed what was there by `name`, or moved it away, last in this run; -1: none, or
 * nobody knows which. */
int leat_stream_remover(const struct leat_stream *s, const char *name);
/* The producer of `name` that had made what the remover took; -1: it was no declared producer. */
int leat_stream_removed_maker(const struct leat_stream *s, const char *name);

/* True if bytes must be published as they are written: no_update, not yet
 * committed, and some step other than its producers may read it. */
bool leat_stream_publishes(struct leat_stream *s, const char *name);

/* Is `step` one of several producers of `name`, of which it does not wait for the others? */
bool leat_stream_is_one_of_several(struct leat_stream *s, int step, const char *name);

/* Do steps beside `step` write `name`, too, as declared, so that each has to report where it writes
 * (LEAT_EV_WRITTEN)? Of a name that only patterns match that is known once two have opened it. */
bool leat_stream_is_shared(struct leat_stream *s, int step, const char *name);

/* Bytes [0, n) of `name` that are known to exist without a gap. */
uint64_t leat_stream_frontier(const struct leat_stream *s, const char *name);

/* The `*n` ranges of `name` that are known to exist, sorted and merged; valid until the next event.
 */
const struct leat_range *leat_stream_extents(const struct leat_stream *s, const char *name,
					     size_t *n);

/* May `name` appear in a listing made by `step`? (declared and not yet visible
 * to it: no). */
bool leat_stream_visible(struct leat_stream *s, int step, const char *name);

/* Names that ever became visible to consumers in directory `dir`; see LIST. */
uint64_t leat_stream_shown(const struct leat_stream *s, const char *dir);

/* Of those the ones that came after the first `shown` and have not been hidden since, in the order
 * of their coming: `*names` is the caller's to free, the names in it live as long as the stream.
 * How many, or -ENOMEM. */
ssize_t leat_stream_shown_since(const struct leat_stream *s, const char *dir, uint64_t shown,
				const char ***names);

/* Has `step` made the file that has the name now, or opened it to write? */
bool leat_stream_has_made(const struct leat_stream *s, int step, const char *name);

/* Who made an undeclared file, or -1. */
int leat_stream_creator(const struct leat_stream *s, const char *name);

/* Do the rules have to hear (LEAT_EV_USE) that `step` uses `name` so? What it did before, or is
 * declared to do, is no news. */
bool leat_stream_use_is_news(struct leat_stream *s, int step, const char *name, enum leat_use use,
			     bool is_dir);
/* Has `step` looked for the undeclared directory `name`, or one above, and got another answer than
 * in a batch, so that it is to be told (USE, MKDIR, INTACT) when it then tries to make it? */
bool leat_stream_is_mistaken(const struct leat_stream *s, int step, const char *name);

/* May `step` in a batch find `name` otherwise than it is: has a step changed it, or is it declared
 * to, that has no order with `step`, or comes after it? */
bool leat_stream_use_is_early(const struct leat_stream *s, int step, const char *name);

/* A staged step that in the batch ends before `step` begins, and has not ended: what it does with
 * the undeclared `name` is not seen. -1: none. */
int leat_stream_unseen(const struct leat_stream *s, int step, const char *name);

/* The step that used undeclared `name` before, or may do so unseen, or is to change the same file
 * by another name, so that `step` has to wait for its end to read it (`writes`: to change it); -1:
 * none. */
int leat_stream_holder(const struct leat_stream *s, int step, const char *name, bool writes);

/* A step that has made a file of its own by `name`, which is private to it, and in a batch finds
 * there what `step` makes; -1: none. */
int leat_stream_private_owner(const struct leat_stream *s, int step, const char *name);

/* A step before `step` that has `name`, an output of a step after it, open, so that `step` has to
 * wait for the close to read it (`changes`: to change it); -1: none. */
int leat_stream_held(const struct leat_stream *s, int step, const char *name, bool changes);

/* How many steps wait for each other, or for somebody who does: none of their calls that
 * wait can be released by a step that still acts, whatever that does. 0: no deadlock is
 * certain. A step is taken to do nothing while one of its calls waits, unless `busy`
 * (NULL: none) says that it may act all the same. `stuck`, if not NULL, has space for every
 * step and says which. On `out`, if not NULL, it is written what blocks whom, one line each
 * ("step B waits for x (not complete; on_close), which needs step A (waiting itself)"), and a
 * cycle. -ENOMEM. */
int leat_stream_deadlock(struct leat_stream *s, const bool *busy, bool *stuck, FILE *out);

/* Was the waiter answered WAIT, and not woken since? */
bool leat_stream_waits(const struct leat_stream *s, uint64_t waiter);

/* A number for all that answers to come depend on: two streams with the same have, but for
 * chance, the same future. For the model checker, which must not go twice where it has been. */
uint64_t leat_stream_fingerprint(const struct leat_stream *s);

/* Walk `dir` and all names known below it. `fn` must not bring up new names. */
void leat_stream_each_below(const struct leat_stream *s, const char *dir,
			    void (*fn)(void *ctx, const char *name), void *ctx);

/* Is `name` a directory, as far as was reported? */
bool leat_stream_is_dir(const struct leat_stream *s, const char *name);
/* Has a step given a file a second name? */
bool leat_stream_has_links(const struct leat_stream *s);
/* Another producer for which the producer `step` waits, since it comes before it, and is still at
 * the file; -1: none. `looks`: it goes by what it finds there. */
int leat_stream_maker_before(const struct leat_stream *s, int step, const char *name, bool looks);

/* If there is no `dir` yet: is it one that a step before `step` is still to make, for files that
 * `step` reads, or so that `step`, which `looks` whether it is there, finds it? */
bool leat_stream_awaits_directory(const struct leat_stream *s, int step, const char *dir,
				  bool looks);

/* Is the directory, which is there, from before the run, and a step before `step` is still to make
 * something in it that `step` reads? As where there is none yet, that is waited for. */
bool leat_stream_is_left_over(const struct leat_stream *s, int step, const char *dir);

/* Has a consumer asked for what is known of the complete file `name` beside its bytes, and a step
 * been let at it that in a batch begins after `step` has ended? */
bool leat_stream_is_examined(const struct leat_stream *s, int step, const char *name);

/* Is it a directory in the place of an output: one that a step has made that is no producer of
 * that, while these have still to make theirs? */
bool leat_stream_is_replaced(const struct leat_stream *s, const char *name);

/* Walk the names known that `step` may make, or has made, as long as `fn` returns true. */
void leat_stream_each_output(const struct leat_stream *s, int step,
			     bool (*fn)(void *ctx, const char *name, enum leat_file_state state),
			     void *ctx);

/* Walk all names known, in order of first mention. */
void leat_stream_each(struct leat_stream *s,
		      void (*fn)(void *ctx, const char *name, enum leat_file_state state),
		      void *ctx);

#endif
