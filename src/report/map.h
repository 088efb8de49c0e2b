/* Which task caused what a trace tells (docs/association.md).
 *
 * Logs of workflow managers say which tasks there were; the records of a trace, taken in order, say
 * which process did what. What belongs to a task is settled when both have been taken. Memory
 * grows with processes, cgroups and tasks, not with calls.
 *
 *	m = leat_map_new(&options);
 *	leat_map_read_log(m, ".nextflow.log", LEAT_MAP_ANY);
 *	while (leat_trace_read(reader, &record) > 0)
 *		leat_map_take(m, &record, &life);
 *	leat_map_settle(m);
 *	leat_map_answer(m, life, &answer);
 *
 * Who has to know a call's task while he looks at it reads the trace twice and asks
 * leat_map_find in the second pass; who can keep his figures by life until the end reads it once.
 * One thread at a time for all of a map; after leat_map_settle any number may ask.
 */
#ifndef LEAT_REPORT_MAP_H
#define LEAT_REPORT_MAP_H

#include "record/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a log is of. */
enum leat_map_log {
	LEAT_MAP_ANY, /* to be found out by what it contains */
	LEAT_MAP_NEXTFLOW,
	LEAT_MAP_AIRFLOW,
	LEAT_MAP_KUBERNETES, /* kubectl get events or pods, text or JSON */
	LEAT_MAP_SNAKEMAKE,
	LEAT_MAP_LEAT, /* event log of leat run */
	LEAT_MAP_LOGS
};

/* What shows that a life is a task's; the first of these that applies. */
enum leat_map_evidence {
	LEAT_MAP_BY_NOTHING,
	LEAT_MAP_BY_LABEL,     /* environment of the program */
	LEAT_MAP_BY_DIRECTORY, /* the task's own files in its work directory, or its outputs */
	LEAT_MAP_BY_PID,       /* pid and time window, as the log gives them */
	LEAT_MAP_BY_CGROUP,    /* it is in a cgroup that is the task's alone */
	LEAT_MAP_BY_TREE,      /* a process that is the task's has made it */
	LEAT_MAP_EVIDENCES
};

/* Why a life is no task's. */
enum leat_map_reason {
	LEAT_MAP_FOUND,       /* it is one's */
	LEAT_MAP_NO_TASKS,    /* no log and no label names any task */
	LEAT_MAP_MANAGER,     /* of the workflow manager: it touches several tasks' own files */
	LEAT_MAP_CONTRADICTS, /* evidence of equal weight for several tasks */
	LEAT_MAP_AMBIGUOUS,   /* several logs tell of it, and nothing shows which one is the trace's
			       */
	LEAT_MAP_OUTSIDE,     /* evidence for a task, at a time when that did not run */
	LEAT_MAP_ABOVE,       /* an ancestor of tasks: started them, belongs to none */
	LEAT_MAP_UNSEEN,      /* it began before the trace, and nothing shows whose it is */
	LEAT_MAP_UNRELATED,   /* neither it nor its ancestors or cgroup touch a task's */
	LEAT_MAP_REASONS
};

/* One execution of a task. Strings are the map's. */
struct leat_map_task {
	size_t number;              /* from 0, without gaps */
	const char *manager;        /* "nextflow", "airflow"... */
	const char *workflow;       /* its run; "" unknown */
	const char *logical;        /* the task as the workflow's text has it */
	const char *physical;       /* this execution of it; unique with manager and workflow */
	const char *dir;            /* its work directory; NULL unknown */
	const char *status;         /* in the manager's word; "" unknown */
	int64_t began_ns, ended_ns; /* CLOCK_REALTIME of the log; 0 unknown */
};

struct leat_map_answer {
	const struct leat_map_task *task; /* NULL: nobody's */
	enum leat_map_evidence evidence;  /* with a task */
	enum leat_map_reason reason;      /* without */
};

struct leat_map_options {
	bool slurm;       /* Slurm's job steps are tasks where no other manager claims a process */
	int64_t slack_ns; /* how far clocks may differ; 0: 5 s */
	/* What log times without a zone are off UTC, east positive; INT_MIN: estimated from the
	 * trace, or else this machine's. */
	int zone_s;
	/* Called for every problem of a log: one line, without its end. May be NULL. */
	void (*say)(void *ctx, const char *text);
	void *ctx;
};

struct leat_map;

/* NULL and errno. `options` may be NULL: zone_s is then INT_MIN, and all else 0. */
struct leat_map *leat_map_new(const struct leat_map_options *options);
void leat_map_free(struct leat_map *m);

/* What is in the file, by its first lines; LEAT_MAP_ANY: nothing known. -errno. */
int leat_map_look(const char *path);

/* Take the tasks of a log. 0; -EBADMSG: some of it was malformed and is left out, as was said;
 * -EINVAL: it is no such log, as was said; other -errno, unsaid. */
int leat_map_read_log(struct leat_map *m, const char *path, enum leat_map_log kind);

/* Take a record, in the order of the trace. Of a CALL, EXEC, or EXIT, *life (may be NULL) is the
 * number, from 0, of the stretch of its process's life, from one exec to the next; that of a FORK
 * is the child's; else SIZE_MAX. 0 or -ENOMEM. */
int leat_map_take(struct leat_map *m, const struct leat_trace_record *record, size_t *life);

/* What a node is called, where tasks are known by it. 0 or -ENOMEM. */
int leat_map_host(struct leat_map *m, unsigned node, const char *host);

/* Decide what belongs to whom. 0 or -ENOMEM. No log and
 * no record may be taken afterwards. */
int leat_map_settle(struct leat_map *m);

/* How many lives there are, and whose one is. */
size_t leat_map_lives(const struct leat_map *m);
void leat_map_answer(const struct leat_map *m, size_t life, struct leat_map_answer *answer);

/* The life of process `pid` of that node at that time, and whose it is; SIZE_MAX: none is known,
 * the answer is then LEAT_MAP_UNSEEN. */
size_t leat_map_find(const struct leat_map *m, unsigned node, int32_t pid, int64_t time_ns,
		     struct leat_map_answer *answer);

/* The program that a life runs, by its path; NULL unknown. */
const char *leat_map_program(const struct leat_map *m, size_t life);

size_t leat_map_tasks(const struct leat_map *m);
const struct leat_map_task *leat_map_task(const struct leat_map *m, size_t number);

/* Is something of a log or its tasks missing? */
bool leat_map_is_partial(const struct leat_map *m);

/* After leat_map_settle: false if logs were read and none of them is of the trace, as was said. */
bool leat_map_is_believed(const struct leat_map *m);

/* "work directory", "process tree"..., and what the reason means. */
const char *leat_map_evidence_name(enum leat_map_evidence evidence);
const char *leat_map_reason_name(enum leat_map_reason reason);
const char *leat_map_log_name(enum leat_map_log kind);

#endif
