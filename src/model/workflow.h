/* The workflow model: what every front end produces and everything behind it
 * reads. Nothing here knows which syntax a workflow was written in.
 *
 * Paths and patterns are relative to the workflow's directory, normalised
 * (no ".", "..", "//", leading or trailing "/"). Wildcards: "*" any run of
 * characters, also across "/"; "?" one character; "[...]" a set.
 * Sources: CAPIO (2023) Sec. IV-B, CAPIO-CL (2025) Sec. 3-4. */
#ifndef LEAT_MODEL_WORKFLOW_H
#define LEAT_MODEL_WORKFLOW_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>

enum leat_commit {
	LEAT_COMMIT_ON_TERMINATION, /* count: how many producers must end; 0 = all */
	LEAT_COMMIT_ON_CLOSE,       /* count: how many closes; 0 = each producer that opened it */
	LEAT_COMMIT_ON_FILE,        /* deps */
	LEAT_COMMIT_N_FILES,        /* directories only; count files */
};

enum leat_fire {
	LEAT_FIRE_ON_COMMIT, /* "update" */
	LEAT_FIRE_NO_UPDATE, /* "no_update" */
};

enum leat_storage { LEAT_STORAGE_MEMORY, LEAT_STORAGE_FS };

/* A declared name or pattern and where it was written. Owns `text`. */
struct leat_name {
	char *text;
	struct leat_pos pos;
};

struct leat_names {
	struct leat_name *v; /* owned */
	size_t n;
};

/* One `streaming` entry of one step, for one name. */
struct leat_rule {
	struct leat_name name;
	bool is_dir; /* written as `dirname` */
	enum leat_commit commit;
	unsigned count; /* see enum leat_commit */
	enum leat_fire fire;
	struct leat_names deps; /* on_file */
	unsigned n_files;       /* directory complete at N files, beside on_close; 0 = not given */
	bool drop;              /* retain: false: what was read may go */
};

/* A step: one node of the graph. `argv` is NULL where the file gives no command
 * (CAPIO-CL); then the step is started by somebody else under `leat exec`. */
struct leat_step {
	char *name;
	struct leat_pos pos;
	char **argv;        /* NULL-terminated, owned */
	bool staged;        /* runs outside interception, as a batch step */
	unsigned instances; /* 1 today */
	struct leat_names inputs;
	struct leat_names outputs;
	struct leat_rule *rules; /* owned */
	size_t n_rules;
};

struct leat_alias {
	struct leat_name name;
	struct leat_names files;
};

/* home_node_policy manual: these files live where process `process` of step
 * `step` runs. `step` is an index into steps. */
struct leat_home_manual {
	struct leat_names files;
	int step;
	unsigned process;
	struct leat_pos pos;
};

struct leat_workflow {
	char *name;
	char *path; /* the file it was read from */
	char *dir;  /* the workflow's directory as written, or NULL */
	struct leat_step *steps;
	size_t n_steps;
	struct leat_alias *aliases; /* kept for canonical output; names elsewhere are expanded */
	size_t n_aliases;
	struct leat_names permanent;
	struct leat_names exclude;
	struct leat_names store_memory;
	struct leat_names store_fs;
	struct leat_names home_create;
	struct leat_names home_hashing;
	struct leat_home_manual *home_manual;
	size_t n_home_manual;
	bool permanent_unless_consumed; /* leat YAML: an output no step consumes is permanent */
};

/* Empty workflow, or NULL when out of memory. */
struct leat_workflow *leat_workflow_new(void);

/* Free it and all it owns; NULL is allowed; errno is preserved. */
void leat_workflow_free(struct leat_workflow *wf);

/* Append a zeroed element (a step has its name and one instance) and return it;
 * it moves when the next one is appended. NULL when out of memory. */
struct leat_step *leat_workflow_add_step(struct leat_workflow *wf, const char *name,
					 struct leat_pos pos);
struct leat_rule *leat_step_add_rule(struct leat_step *step, const char *name, struct leat_pos pos);
struct leat_alias *leat_workflow_add_alias(struct leat_workflow *wf, const char *name,
					   struct leat_pos pos);
struct leat_home_manual *leat_workflow_add_home(struct leat_workflow *wf, int step,
						unsigned process, struct leat_pos pos);

/* Index of the step of that name, or -1. */
int leat_workflow_find_step(const struct leat_workflow *wf, const char *name);

/* True if both say the same: everything but the file read from and positions. */
bool leat_workflow_equal(const struct leat_workflow *a, const struct leat_workflow *b);

/* True if both rules ask for the same behaviour (their names aside). */
bool leat_rule_agrees(const struct leat_rule *a, const struct leat_rule *b);

/* Append a copy of `text`. 0 or -ENOMEM. */
int leat_names_add(struct leat_names *names, const char *text, struct leat_pos pos);
void leat_names_release(struct leat_names *names);

/* The `committed` and `mode` values of CAPIO-CL (2025), e.g. "on_close:3";
 * constants but for the number, which goes into `buffer`. Any thread. */
const char *leat_commit_text(enum leat_commit commit, unsigned count, char buffer[32]);
const char *leat_fire_text(enum leat_fire fire);

#endif
