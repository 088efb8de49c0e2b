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
#include "model/bandwidth.h"
#include "model/container.h"
#include "model/resources.h"

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
	unsigned count;             /* see enum leat_commit */
	struct leat_pos commit_pos; /* line 0: no commit rule was given */
	enum leat_fire fire;
	struct leat_names deps; /* on_file */
	unsigned n_files;       /* directory complete at N files, beside on_close; 0 = not given */
	bool drop;              /* retain: false: what was read may go */
};

/* How much of what a producer makes over and over a consumer gets (Wilkins (2024) Sec. 3.6). */
enum leat_flow {
	LEAT_FLOW_BATCH,  /* no versions: one file */
	LEAT_FLOW_ALL,    /* each version; the producer waits until the one before is taken */
	LEAT_FLOW_SOME,   /* the same for versions n, 2n, 3n ... only */
	LEAT_FLOW_LATEST, /* the newest that is complete; the producer never waits */
};

/* Where what an inport shows comes from: a step, and the name or pattern as that makes it. */
struct leat_source {
	int step;
	char *made; /* owned; "freeze.3/plt*.h5": one of the step's `inputs` */
};

/* An input whose step sees it under another name than it is made by, or in versions. All inputs
 * are in `inputs`, by the names they are made by; what has no inport is seen so, and whole.
 *
 * `seen` is the step's `dir`, if it has one, and the name or pattern of its port; `made` is the
 * producer's `dir`, if it has one, and the narrower of the names or patterns of the two ports. A
 * file is of the inport if its whole name matches `made`, and what follows the producer's `dir` in
 * it matches what follows the consumer's `dir` in `seen` (or lies below that, if it names a
 * directory): that rest is the same on both sides. Without a source, `inputs` has the rest alone,
 * a name in the workflow's directory. */
struct leat_inport {
	struct leat_name seen;       /* "detector.1/plt*.h5" */
	enum leat_flow flow;         /* BATCH: of one source, or of none */
	unsigned every;              /* of LEAT_FLOW_SOME: at least 2; else 0 */
	struct leat_source *sources; /* owned; in the order of tasks, then of instances */
	size_t n_sources;            /* 0: it is in the workflow's directory */
};

/* A data set of a port, by names or patterns. */
struct leat_dset {
	struct leat_name port; /* the input or output it is in, as written: without `dir` */
	struct leat_name name; /* "/group1/grid" */
	bool in;               /* of an inport */
	bool file;             /* is written to a real file */
	bool memory;           /* goes through memory */
};

enum leat_relaunch {
	LEAT_RELAUNCH_FOUND_OUT, /* if the launch before took one version of each and succeeded */
	LEAT_RELAUNCH_ALWAYS,    /* a launch for each version */
	LEAT_RELAUNCH_NEVER,
};

/* What a step asks of the machine while it runs. Source: I/O-aware PyCOMPSs, Sec. 4.2. */
struct leat_needs {
	unsigned computing_units;        /* 0: not said */
	bool io;                         /* an I/O step: no computing units, but an I/O executor */
	struct leat_bandwidth bandwidth; /* of an I/O step */
	char *device;                    /* owned; by name; NULL: the one its files lie on */
	unsigned limit_mbps; /* its reads and writes are held to so many MB/s; 0: they are not */
	struct leat_pos units_pos, io_pos, bandwidth_pos, device_pos,
		limit_pos; /* line 0: not given */
};

/* What a run can have, instances counted. */
enum { LEAT_MAX_STEPS = 1024 };

/* A step: one node of the graph; an ensemble is as many steps as it has instances. `argv` is NULL
 * where the file gives no command (CAPIO-CL); then the step is started by somebody else under
 * `leat exec`. In a word of it "{filename}" stands for the file a launch is for. */
struct leat_step {
	char *name;        /* "freeze", or "freeze.3" of an ensemble */
	char *task;        /* owned; "freeze" */
	unsigned instance; /* 0 ... ensemble - 1 */
	unsigned ensemble; /* taskCount; 1: none, and the step runs in the workflow's directory */
	char *dir;         /* owned; of an instance, below the workflow's: "freeze.3"; else NULL */
	struct leat_pos pos;
	unsigned nprocs;   /* above 1: started by an MPI launcher */
	unsigned nwriters; /* so many of them, from rank 0 on, do I/O; 0: all */
	/* Owned, or both NULL. The file is relative to the workflow file, "actions.py". */
	char *action_file, *action_function;
	struct leat_pos action_pos;
	enum leat_relaunch relaunch;
	char *container;         /* owned; the image as written; NULL: it runs in none */
	enum leat_engine engine; /* of `container` */
	struct leat_pos container_pos, engine_pos; /* line 0: not given for it */
	struct leat_needs needs;
	struct leat_inport *inports; /* owned */
	size_t n_inports;
	struct leat_dset *dsets; /* owned */
	size_t n_dsets;
	char **argv;        /* NULL-terminated, owned */
	bool staged;        /* runs outside interception, as a batch step, */
	bool concurrent;    /* while others run: it shares no names with them */
	unsigned instances; /* 1 today */
	struct leat_names inputs;
	struct leat_names outputs;
	struct leat_names private; /* names of which it has a file of its own; see leat_step_keeps
				    */
	struct leat_rule *rules;   /* owned */
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
	struct leat_resources *resources; /* owned; NULL: not described */
	bool permanent_unless_consumed;   /* leat YAML: an output no step consumes is permanent */
};

/* Empty workflow, or NULL when out of memory. */
struct leat_workflow *leat_workflow_new(void);

/* Free it and all it owns; NULL is allowed; errno is preserved. */
void leat_workflow_free(struct leat_workflow *wf);

/* Append a zeroed element (a step has its name, also as task, one instance and one process) and
 * return it; it moves when the next one is appended. NULL when out of memory. */
struct leat_step *leat_workflow_add_step(struct leat_workflow *wf, const char *name,
					 struct leat_pos pos);
struct leat_rule *leat_step_add_rule(struct leat_step *step, const char *name, struct leat_pos pos);
struct leat_inport *leat_step_add_inport(struct leat_step *step, const char *seen,
					 struct leat_pos pos);
struct leat_dset *leat_step_add_dset(struct leat_step *step, const struct leat_name *port,
				     const char *name, struct leat_pos pos);
struct leat_alias *leat_workflow_add_alias(struct leat_workflow *wf, const char *name,
					   struct leat_pos pos);
struct leat_home_manual *leat_workflow_add_home(struct leat_workflow *wf, int step,
						unsigned process, struct leat_pos pos);

/* `name`, which is relative to the workflow file, "images/tool.sif", from where that was named; the
 * caller frees it. NULL when out of memory. Any thread. */
char *leat_workflow_beside(const struct leat_workflow *wf, const char *name);

/* The image of a step that has a container, its paths as leat_workflow_beside has them. As
 * leat_image_init. */
int leat_step_image(const struct leat_workflow *wf, const struct leat_step *step,
		    struct leat_image *image, const char **why);

/* Append a source. 0 or -ENOMEM. */
int leat_inport_add_source(struct leat_inport *inport, int step, const char *made);

/* Index of the step of that name, or -1. */
int leat_workflow_find_step(const struct leat_workflow *wf, const char *name);

/* True if both say the same: everything but the file read from and positions. */
bool leat_workflow_equal(const struct leat_workflow *a, const struct leat_workflow *b);

/* True if the step says anything about what it needs. Any thread. */
bool leat_step_has_needs(const struct leat_step *step);

/* Let `step` need the same. 0 or -ENOMEM. */
int leat_step_copy_needs(struct leat_step *step, const struct leat_needs *needs);

/* The device of `host` (an index) that an I/O step uses if it names none: that of its first output,
 * else of its first input, else of `dir`, the workflow's directory as an absolute path. *device
 * is NULL when that is on none that is described. 0 or -ENOMEM. Any thread. */
int leat_step_find_device(const struct leat_step *step, const char *dir,
			  const struct leat_resources *res, size_t host,
			  const struct leat_device **device);

/* Let `to` ask for the same behaviour as `from` (names and dependencies aside). */
void leat_rule_copy(struct leat_rule *to, const struct leat_rule *from);

/* True if both rules ask for the same behaviour (their names aside). */
bool leat_rule_agrees(const struct leat_rule *a, const struct leat_rule *b);

/* Append a copy of `text`. 0 or -ENOMEM. */
int leat_names_add(struct leat_names *names, const char *text, struct leat_pos pos);
/* Append a copy of each of `from`. 0 or -ENOMEM. */
int leat_names_append(struct leat_names *names, const struct leat_names *from);
/* Is the text one of them? */
bool leat_names_has(const struct leat_names *names, const char *text);
void leat_names_release(struct leat_names *names);

/* The `committed` and `mode` values of CAPIO-CL (2025), e.g. "on_close:3";
 * constants but for the number, which goes into `buffer`. Any thread. */
const char *leat_commit_text(enum leat_commit commit, unsigned count, char buffer[32]);
const char *leat_fire_text(enum leat_fire fire);

#endif
