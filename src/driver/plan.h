/* What has to be known before anything starts: the order of the steps, and
 * that each of them can run. */
#ifndef LEAT_DRIVER_PLAN_H
#define LEAT_DRIVER_PLAN_H

#include "model/match.h"

#include <stdbool.h>

/* What a step's container is made by, and of. */
struct leat_plan_container {
	struct leat_image image; /* its path is absolute; without a name: there is none */
	enum leat_engine engine;
};

struct leat_plan {
	const struct leat_workflow *wf; /* borrowed */
	struct leat_matcher *matcher;   /* owned */
	size_t *order;                  /* owned; producers before their consumers */
	size_t *launches;               /* owned; the same, instances of ensembles side by side */
	char **programs;                /* owned; the path of each step's program, absolute if the
					 * step has a directory of its own */
	const char **mounted;           /* owned; why it sees its files through a mount, a static
					 * text; NULL: it does not */
	char **launcher;                /* owned; of MPI, if a step needs one; see driver/mpi.h */
	char **boxed_launcher;          /* owned; the same of steps in containers, as it is named
					 * there */
	struct leat_plan_container *containers; /* owned; of each step */
};

/* How programs can be reached. */
struct leat_plan_reach {
	bool sealed;      /* each must have a mount */
	bool intercepted; /* by the library; else they run on plain files, whatever they are */
	/* Can those that the library cannot follow have a mount; `ranged`: engines that want
	 * the subordinate ids of an ordinary user? False sets *why to a static text. NULL: they
	 * cannot. Asked when there is such a program. */
	bool (*can_mount)(bool ranged, const char **why);
};

/* Order the steps. Steps on a common cycle stay in the order of the file. 0 or -ENOMEM. */
int leat_plan_init(struct leat_plan *plan, const struct leat_workflow *wf);
void leat_plan_release(struct leat_plan *plan);

enum { LEAT_PLAN_NO_MEMORY = 125, LEAT_PLAN_CANNOT_EXECUTE = 126, LEAT_PLAN_NOT_FOUND = 127 };

/* Find the MPI launcher, if there is a step that needs one: `named`, or what is there if that is
 * NULL. 0 or LEAT_PLAN_NOT_FOUND, which has been logged. */
int leat_plan_launcher(struct leat_plan *plan, const char *named);

/* Find the program of each step. 0, else the LEAT_PLAN_* of the first that
 * cannot run; all are logged, a line each. */
int leat_plan_programs(struct leat_plan *plan, const char *dir,
		       const struct leat_plan_reach *reach);

/* Find the program argv[0] of step `step`, as a shell in the directory `dir` (NULL: this
 * process's) would. 0, *path (freed by the caller) and *mounted (as in the plan), else
 * LEAT_PLAN_* after one line. */
int leat_plan_program(const char *step, char *const argv[], const char *dir,
		      const struct leat_plan_reach *reach, char **path, const char **mounted);

/* Find a program as a shell in `dir` (NULL: this process's) would. 0 and *path (freed by the
 * caller), -ENOENT, -EACCES or -ENOMEM. */
int leat_plan_find(const char *name, const char *dir, char **path);

/* Choose the engine of step `step`, which has a container, for a run in `dir`. 0, and
 * plan->programs and plan->containers have it; else LEAT_PLAN_* after one line. One that is named
 * is taken, whether it can be reached or not. */
int leat_plan_engine(struct leat_plan *plan, size_t step, const char *dir,
		     const struct leat_plan_reach *reach);

/* True, after logging it, if steps wait for each other's ends: no batch order. */
bool leat_plan_is_cyclic(const struct leat_plan *plan);

#endif
