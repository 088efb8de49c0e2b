/* What may happen in a workflow, within bounds: the files there are, and what each step does
 * with each of them. */
#ifndef LEAT_STREAM_VERIFY_MODEL_H
#define LEAT_STREAM_VERIFY_MODEL_H

#include "stream/verify/verify.h"

enum { VERIFY_STEPS = 32, VERIFY_FILES = 48, VERIFY_TASKS = 80 };

struct verify_file {
	char *name;      /* owned */
	char *temporary; /* owned; where LEAT_VERIFY_TEMPORARY writes it, else NULL */
	const struct leat_file_rule *rule;
	bool governed;
	bool is_dir;
	bool sampled;        /* of many names that a pattern or directory allows, one */
	bool private;        /* nobody but its one producer has to do with it */
	uint64_t below;      /* directories: the files in it, at any depth */
	uint64_t deps;       /* on_file: files it depends on, */
	uint64_t dep_makers; /* or steps, where a dependency is no declared file */
	bool dep_nobody;     /* some dependency is made by nobody */
	uint32_t producers;  /* steps */
	uint32_t consumers;  /* steps that read it here */
	int twin;            /* an equal file before it, or -1 */
};

enum verify_task_kind { VERIFY_LAUNCH, VERIFY_LIST, VERIFY_READ, VERIFY_WRITE };

/* What one step does with one file. */
struct verify_task {
	enum verify_task_kind kind;
	int step;
	int file;         /* LAUNCH: -1 */
	unsigned rounds;  /* WRITE: times it opens, writes and closes */
	bool empty_first; /* WRITE: but does not write the first time */
	bool many;        /* LAUNCH: patterns or directories are among the inputs */
	int after;        /* another task of the step that comes first, or -1 */
};

struct verify_model {
	struct leat_matcher *m;
	const struct leat_workflow *wf;
	struct leat_verify_bounds bounds;
	int n_steps, n_files, n_tasks;
	struct verify_file files[VERIFY_FILES];
	struct verify_task tasks[VERIFY_TASKS];
	bool eager;   /* take what nobody notices first; not while shortest ways are looked for */
	bool by_name; /* nobody lists or is launched: steps' ends concern only their files */
};

/* 0, -ENOMEM, -E2BIG. Release it in any case. */
int leat_verify_model_init(struct verify_model *model, struct leat_matcher *m,
			   const struct leat_workflow *wf, const struct leat_verify_bounds *bounds);
void leat_verify_model_release(struct verify_model *model);

/* Index of the file of that name, or -1. */
int leat_verify_model_find(const struct verify_model *model, const char *name);

#endif
