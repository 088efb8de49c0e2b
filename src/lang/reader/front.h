/* One run of a front end: what it knows of the file, and the model that it builds. */
#ifndef LEAT_LANG_READER_FRONT_H
#define LEAT_LANG_READER_FRONT_H

#include "lang/syntax/value.h"
#include "model/lookup.h"
#include "model/workflow.h"

#include <stdbool.h>

/* One run of a front end. The functions below report what they find wrong and
 * go on; they return -ENOMEM only (0 otherwise), so that one run finds all. */
struct leat_front {
	struct leat_diags *diags;   /* borrowed */
	struct leat_workflow *wf;   /* being built; owned by the caller */
	int file;                   /* number of the file being read among the diagnostics */
	const char *given_dir;      /* by the command line; borrowed, may be NULL */
	char *dir;                  /* workflow's directory, absolute; owned */
	char *real_dir;             /* the same with symbolic links resolved, or NULL; owned */
	bool json;                  /* numbers are no strings */
	struct leat_lookup *groups; /* wf->aliases by name; owned */
	struct leat_lookup *steps;  /* wf->steps by name; owned */
};

/* A key found, with its value; both NULL when absent. Borrowed from the tree. */
struct leat_pair {
	const struct leat_value *key;
	const struct leat_value *value;
};

/* Find the workflow's directory, when wf->path and wf->dir are set. */
int leat_front_find_dir(struct leat_front *front);

/* Free what the run owns, not the model. */
void leat_front_release(struct leat_front *front);

/* Set wf->name from `entry`, or, if it is absent, from the file's name. */
int leat_read_workflow_name(struct leat_front *front, const struct leat_pair *entry);

/* Add a step of the name in `entry`; *step is its index, or -1 if there is no
 * usable name (reported). */
int leat_read_step_name(struct leat_front *front, const struct leat_pair *entry, int *step);

/* Report that no step has this name, with the one that was probably meant. */
void leat_step_unknown(struct leat_front *front, const char *name, struct leat_pos pos);

#endif
