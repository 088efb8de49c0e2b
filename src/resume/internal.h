/* What the files of this layer share; others use resume/resume.h. */
#ifndef LEAT_RESUME_INTERNAL_H
#define LEAT_RESUME_INTERNAL_H

#include "resume/resume.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

/* ---- stamp.c: how a file looks ---- */

/* Files up to this size have their contents hashed, so that a touched or copied file is found to
 * be the same. See docs/adr/0018 for the measurement. */
#define LEAT_STAMP_HASH_BYTES ((uint64_t)1 << 20)

struct leat_stamp {
	uint64_t size_bytes;
	int64_t mtime_ns; /* since the epoch */
	uint64_t inode;
	uint64_t hash; /* XXH3 of the contents */
	bool hashed;
};

/* Look at `name` below the directory `dir_fd`, at the file a symbolic link leads to if there is
 * one. Does not hash. 0 or -errno; -EISDIR for a directory, which has no stamp. */
int leat_stamp_take(int dir_fd, const char *name, struct leat_stamp *out);
/* Hash the contents as well, if the file is small enough and has not changed since the stamp was
 * taken; else the stamp stays without. */
void leat_stamp_hash(int dir_fd, const char *name, struct leat_stamp *stamp);
/* Is the file, which looks like `now`, the one that looked like `then`? Reads it if only its
 * inode or time is another, and `then` is hashed. */
bool leat_stamp_same(int dir_fd, const char *name, const struct leat_stamp *then,
		     const struct leat_stamp *now);

/* ---- files.c: lists of files, ordered by name ---- */

struct leat_stamped {
	char *name; /* owned */
	struct leat_stamp stamp;
};

struct leat_stamped_list {
	struct leat_stamped *v; /* owned */
	size_t n, capacity;
};

/* Append a copy of the name. 0 or -ENOMEM. */
int leat_stamped_add(struct leat_stamped_list *list, const char *name,
		     const struct leat_stamp *stamp);
/* Order by name, each name once. */
void leat_stamped_sort(struct leat_stamped_list *list);
/* In an ordered list; NULL: not there. */
const struct leat_stamped *leat_stamped_find(const struct leat_stamped_list *list,
					     const char *name);
void leat_stamped_release(struct leat_stamped_list *list);

/* ---- look.c: which files a step has ---- */

enum leat_side {
	LEAT_SIDE_INPUTS,
	LEAT_SIDE_OUTPUTS,
	LEAT_SIDE_GIVEN, /* inputs that no step makes */
	LEAT_SIDE_MADE,  /* the other inputs */
};

/* Does a step make it? */
bool leat_is_made(const struct leat_workflow *wf, const struct leat_file_rule *rule);

/* Add the files on disk that the step has declared, and order the list. Of files that steps make
 * only those that are permanent: others do not outlive a run. 0 or -errno. */
int leat_look(int dir_fd, const struct leat_workflow *wf, struct leat_matcher *m, size_t step,
	      enum leat_side side, struct leat_stamped_list *out);

/* ---- lends.c ---- */

/* An output of step `up` that step `down` reads and that is not permanent, or may not be: the name
 * or pattern, borrowed from the workflow; NULL: there is none. */
const char *leat_lends(const struct leat_workflow *wf, struct leat_matcher *m, size_t up,
		       size_t down);
/* The same of one that step `down` makes, too: on disk it is as `down` has left it. */
const char *leat_updates(const struct leat_workflow *wf, size_t up, size_t down);

/* ---- the record ---- */

enum leat_entry_state {
	LEAT_ENTRY_NONE,     /* the step was not in the run */
	LEAT_ENTRY_BEGUN,    /* it was to run; nothing else is known */
	LEAT_ENTRY_STOPPED,  /* it was not complete at the end: `why` */
	LEAT_ENTRY_COMPLETE, /* what follows is set */
};

/* What the record says of one step. */
struct leat_entry_of_step {
	enum leat_entry_state state;
	char *why;         /* owned */
	char *command;     /* the arguments, each encoded, with tabs between them; owned */
	uint64_t declared; /* hash of what the workflow file says of it */
	struct leat_stamped_list inputs, outputs;
};

void leat_entry_release(struct leat_entry_of_step *e);

/* The step's arguments as in an entry; the caller frees it. NULL when out of memory. */
char *leat_entry_command(const struct leat_step *step);
/* Hash of its declared inputs, outputs and rules. */
uint64_t leat_entry_declared(const struct leat_step *step);

/* write.c */

/* Name of the record of that workflow. */
void leat_record_name(const struct leat_workflow *wf, char out[NAME_MAX + 1]);
/* And as earlier versions had it in the workflow's directory. */
void leat_record_old_name(const struct leat_workflow *wf, char out[NAME_MAX + 1]);
void leat_record_put_header(FILE *out, const struct leat_workflow *wf);
/* Everything about one step, to be taken as a whole or not at all. */
void leat_record_put_entry(FILE *out, const char *step, const struct leat_entry_of_step *e);

/* read.c */

/* Read the entries of the workflow's steps, `entries` having space for all of them, from the whole
 * `text` of a record, which is changed; later entries replace earlier ones, one that was cut off
 * at the end of the text never was. Steps the workflow does not have are left out. 0, -ENOMEM, or
 * -EBADMSG, *line the number of the bad line and *what is wrong with it (static). */
int leat_record_parse(char *text, size_t size, const struct leat_workflow *wf,
		      struct leat_entry_of_step *entries, long *line, const char **what);

/* ---- decide.c: pure ---- */

/* What is known of a step before anything is decided. All strings are borrowed. */
struct leat_finding {
	enum leat_entry_state state;
	const char *why;    /* STOPPED */
	bool other_command; /* than in the record */
	bool other_declared;
	const char *input;    /* the first input that is not what it was, or NULL */
	const char *input_is; /* "changed", "missing", "new" */
	const char *output;   /* the same of its outputs */
	const char *output_is;
	size_t n_inputs, n_outputs; /* recorded */
};

/* How steps hang together. */
struct leat_ties {
	void *ctx;
	/* Does `up` make an input of `down`, itself or through others? */
	bool (*is_upstream)(void *ctx, size_t up, size_t down);
	/* A file `up` makes for `down` that is not permanent: its name or pattern, or NULL. */
	const char *(*lends)(void *ctx, size_t up, size_t down);
	/* One that `down` reads and changes, or NULL. */
	const char *(*updates)(void *ctx, size_t up, size_t down);
	/* Name of a step. */
	const char *(*name)(void *ctx, size_t step);
};

struct leat_resume_verdict {
	bool run;
	char *why; /* owned */
};

/* Decide for `n` steps, verdicts being zeroed. 0 or -ENOMEM. */
int leat_decide_resume(const struct leat_finding *findings, size_t n, const struct leat_ties *ties,
		       struct leat_resume_verdict *verdicts);

#endif
