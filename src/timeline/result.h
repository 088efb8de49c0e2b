/* What became of a run: filled while it goes, printed at its end. */
#ifndef LEAT_TIMELINE_RESULT_H
#define LEAT_TIMELINE_RESULT_H

#include "timeline/learned.h"
#include "timeline/timeline.h"
#include "model/workflow.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Counters of one step, as its processes keep them. */
struct leat_counters {
	uint64_t bytes_in;
	uint64_t bytes_out;
	uint64_t wait_ns;      /* summed over threads */
	uint64_t waiting;      /* threads waiting now */
	uint64_t throttled_ns; /* slept for its limit, summed over threads */
	uint64_t limit_mbps;   /* 0: none */
};

struct leat_step_result {
	const char *name;  /* borrowed from the model */
	uint64_t start_ns; /* CLOCK_MONOTONIC; 0: never started */
	uint64_t end_ns;   /* 0: not ended */
	int status;        /* as from waitpid */
	bool spoiled;      /* it has failed, whatever its status says */
	bool refused;      /* it will not be started, or could not be */
	bool skipped;      /* it need not run: the last run has completed it */
	bool settled; /* at the run's end all its files were final and, if permanent, on disk */
	const char *resume; /* why it was skipped or run again; borrowed, NULL: nobody asked */
	char *log;          /* the path of the file of what it printed and failed; owned,
			     * NULL: none */
	char *cause;        /* why it failed, was stopped or did not run, if its status does not say
			     * so; owned, may be NULL */
	struct leat_counters counters;
	uint64_t shared_ns; /* time it was kept from running by too few CPUs, estimated */
};

/* A file that the run was to make, and that is not whole. */
struct leat_lost_file {
	char *name; /* owned; a pattern, if no name is known */
	char *step; /* whose failure it is to blame on; owned, "" unknown */
	char *why;  /* owned */
};

/* An output that a step spells out and, having ended well, has not made. */
struct leat_unmade_file {
	char *name;    /* owned */
	char *step;    /* owned */
	char *remover; /* the step that has removed it, which another had made; owned, "" none */
	bool error;
};

struct leat_result {
	struct leat_step_result *steps; /* owned */
	size_t n_steps;
	struct leat_lost_file *lost; /* owned */
	size_t n_lost;
	struct leat_unmade_file *unmade; /* owned; each step's together */
	size_t n_unmade;
	char **problems; /* owned, each of them too: what was reported of the run, a line each */
	size_t n_problems;
	int exit_status;   /* of leat run */
	char why[128];     /* what went wrong first; "" nothing */
	bool streamed;     /* counters are known */
	bool enforced;     /* steps could use only what they declare, */
	bool sealed;       /* by mounts */
	unsigned cpus;     /* that the steps share; 0: not known */
	unsigned runnable; /* threads that want to run now, of anybody; 0: not known */
	/* CPU time that the allowed CPUs had from the run's start to its end, that all processes of
	 * the machine used of it, and the run's own. 0: not known. */
	uint64_t cpu_ns, cpu_used_ns, cpu_own_ns;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t sample_ns; /* distance of two samples */
	uint8_t *samples;   /* owned; n_samples rows of n_steps: 1 = the step waits */
	size_t n_samples;
	size_t samples_space;   /* rows allocated */
	unsigned looks;         /* since the last sample that was kept */
	unsigned looks_skipped; /* between two that are */
	struct leat_timeline timeline;
	struct leat_learned *learned; /* owned; NULL: steps were not scheduled by what they need */
};

/* 0 or -ENOMEM. `wf` is borrowed: names point into it. */
int leat_result_init(struct leat_result *r, const struct leat_workflow *wf);
void leat_result_release(struct leat_result *r);

/* Say why a step failed, was stopped or did not run; the first word stands. */
void leat_result_blame(struct leat_step_result *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Add a file that is not whole. 0 or -ENOMEM. */
int leat_result_lose(struct leat_result *r, const char *name, const char *step, const char *why);

/* Add an output that was not made, or that step `remover`, if it is not "", has removed, unless the
 * list has it. 0 or -ENOMEM. */
int leat_result_miss(struct leat_result *r, const char *name, const char *step, const char *remover,
		     bool error);
/* The first one that the step has not made; NULL: none. */
const struct leat_unmade_file *leat_result_unmade(const struct leat_result *r, const char *step);

/* Say of each that it was not made, and keep the lines. The first one that is an error; NULL:
 * none. */
const struct leat_unmade_file *leat_result_report_unmade(struct leat_result *r);

/* Keep a line that was reported. When memory runs out it is not kept. */
void leat_result_note(struct leat_result *r, const char *text);

/* Has it run to a good end, now or before? */
bool leat_step_is_good(const struct leat_step_result *s);

/* "ok", "failed", "running", "skipped", "not run" or "not started". */
const char *leat_step_word(const struct leat_step_result *s);

/* At most so many samples are kept, however long the run. */
enum { LEAT_MAX_SAMPLES = 8192 };

/* Look at the steps' counters, first every sample_ns; that distance doubles whenever there are too
 * many samples. When memory runs out the chart ends there; nothing else suffers. */
void leat_result_sample(struct leat_result *r);

/* How long the step ran; if it has not ended, until the run did. */
uint64_t leat_step_wall_ns(const struct leat_result *r, const struct leat_step_result *s);

/* Time the step has spent waiting for its inputs, never more than it ran. */
uint64_t leat_step_wait_ns(const struct leat_step_result *s);

/* Time it would about have taken alone, on files that are there. */
uint64_t leat_step_own_ns(const struct leat_step_result *s);

/* Did other programs take so much CPU time from the run that this time says nothing? */
bool leat_result_is_disturbed(const struct leat_result *r);

/* Table of the steps, and the totals in words. */
void leat_summary_print(const struct leat_result *r, FILE *out);

/* All of it as JSON (docs/reference/commands.md), for the workflow `wf` in `dir`. 0 or -errno of
 * `out`. */
int leat_result_write_json(const struct leat_result *r, const struct leat_workflow *wf,
			   const char *dir, FILE *out);

/* Bar chart, a line per step: running, and waiting shaded. `width` in
 * characters; `utf8` selects block characters. */
void leat_chart_print(const struct leat_result *r, FILE *out, int width, bool utf8);

/* "12.3 s" into buf; returns buf. */
const char *leat_format_seconds(uint64_t ns, char buf[24]);

/* The word, or how it ended if there is more to say of that: "exit 3", "killed by SIGKILL", "exit
 * 0" of one that was stopped. Into buf; returns buf. */
const char *leat_format_status(const struct leat_step_result *s, char buf[48]);

#endif
