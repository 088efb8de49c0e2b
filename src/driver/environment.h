/* The environment of a step. */
#ifndef LEAT_DRIVER_ENVIRONMENT_H
#define LEAT_DRIVER_ENVIRONMENT_H

#include <stdbool.h>

struct leat_environment_spec {
	const char *dir; /* LEAT_DIR, a real path, */
	/* But unset, and LEAT_TRACE_BUFFER_ONLY: a leat that the step runs must not take it for its
	 * own, and a library that is there to trace it must not take it for a step of a session. */
	bool plain;
	const char *within; /* PWD: where below `dir` it starts, "" `dir` itself; NULL: as it is */
	const char *step;   /* LEAT_APP_NAME */
	const char *workflow; /* LEAT_WORKFLOW_NAME */
	const char *task;     /* LEAT_TASK, with the next two; NULL: of no ensemble */
	unsigned instance;    /* LEAT_INSTANCE */
	unsigned instances;   /* LEAT_INSTANCES */
	bool named;           /* USER, where it is not set: the name of the user, or his number */
	bool mpi;             /* what MPI launchers need, driver/mpi.h */
	const char *runtime_dir; /* LEAT_RUNTIME_DIR; NULL: unset */
	const char *library;     /* put in front of LD_PRELOAD, LEAT_SITES set; NULL: as it is */
	const char *tracer;      /* the same library, for the trace of a plain step; NULL */
	bool sealed;             /* LEAT_SEAL=1: nothing but its mount is left to the program */
	const char *key;         /* LEAT_KEY, see base/confine.h; NULL: unset */
	const char *mount;       /* LEAT_MOUNT, the path of leat; NULL: unset */
};

/* This process's environment with the above set. Freed with
 * leat_environment_free; NULL when out of memory. */
char **leat_environment_new(const struct leat_environment_spec *spec);

/* The same without what this process has in its own: what is set, "NAME=value" each. */
char **leat_environment_added(const struct leat_environment_spec *spec);
void leat_environment_free(char **envp);

#endif
