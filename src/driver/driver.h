/* Running a workflow: all steps at once under the daemon, or, without one, one
 * after another on plain files. Single-threaded; takes over SIGCHLD, SIGINT,
 * SIGTERM, SIGHUP and SIGQUIT while it runs. */
#ifndef LEAT_DRIVER_DRIVER_H
#define LEAT_DRIVER_DRIVER_H

#include "control/control.h"
#include "driver/plan.h"
#include "timeline/result.h"
#include "resume/resume.h"

/* Seconds an action may take for one event, if nothing else is said. */
#define LEAT_ACTION_TIMEOUT_S 60u

struct leat_driver_config {
	const struct leat_plan *plan;
	const char *dir;              /* the workflow's directory, a real path */
	const char *runtime_dir;      /* for the steps' environment; NULL: unset */
	const char *library;          /* libleat.so; NULL without interception */
	const char *tracer;           /* the same, to record what staged steps do; NULL */
	const char *mount_command;    /* leat, for programs to be mounted; NULL: no mount here */
	struct leat_control *control; /* borrowed; NULL: plain files, in order */
	pid_t daemon_pid;             /* 0: none */
	bool enforce;                 /* steps are recognised, and kept apart */
	bool sealed;                  /* they are left nothing but their mount */
	bool timeline;                /* is wanted in the result */
	bool quiet;                   /* no output of steps, no progress */
	bool strict;                  /* every output that a step spells out is to be made */
	bool warn_violations;         /* broken promises do not fail the run */
	/* Which steps need not run, and the record of what became of the others; borrowed, NULL:
	 * all run, and no record is kept. */
	struct leat_resume *resume;
	unsigned jobs; /* instances of ensembles that run at once, those that wait not counted;
			* 0: by the CPUs */
	/* This machine, to start steps by what they need of it; borrowed, NULL: as soon as they
	 * can. */
	const struct leat_resources *resources;
	const char *action_command; /* leat-action; NULL: no step has actions */
	unsigned action_timeout_s;  /* they may take so long for one event */
	bool pin;                   /* each running step to CPUs of its own */
	bool keep_going;            /* when a step has failed, the others run to their ends */
	/* Fill in the counters of a step; NULL: there are none. */
	void (*counters)(void *ctx, size_t step, struct leat_counters *out);
	void *counters_ctx;
};

/* May so many processes be started as run at a time? If not, that has been logged. */
bool leat_launch_is_possible(const struct leat_driver_config *config);

/* Run to the end. Every process started is gone when it returns. The exit
 * status for leat run: 0; that of the first step that failed; 128+n after signal n;
 * 125 when leat itself could not do its part, which has been logged. */
int leat_driver_run(const struct leat_driver_config *config, struct leat_result *result);

/* This machine as it is: its CPUs as computing units, and no devices; the caller frees it. NULL
 * when out of memory. */
struct leat_resources *leat_driver_machine(void);

#endif
