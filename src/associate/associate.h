/* Which task caused what a trace tells (docs/reference/association.md).
 *
 * Logs of workflow managers say which tasks there were; the records of a trace, taken in order, say
 * which process did what. What belongs to a task is resolved when both have been taken. Memory
 * grows with processes, cgroups and tasks, not with calls.
 *
 *	m = leat_associate_new(&options);
 *	leat_associate_read_log(m, ".nextflow.log", NULL);
 *	while (leat_trace_read(reader, &record) > 0)
 *		leat_associate_add(m, &record, &image);
 *	leat_associate_resolve(m);
 *	leat_associate_answer(m, image, &answer);
 *
 * Who has to know a call's task while he looks at it reads the trace twice and asks
 * leat_associate_find in the second pass; a caller that can keep its sums by image until the end
 *reads it once. One thread at a time for all of a map; after leat_associate_resolve any number may
 *ask. */
#ifndef LEAT_ASSOCIATE_H
#define LEAT_ASSOCIATE_H

#include "associate/format.h"
#include "iotrace/trace.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What shows that an image is a task's; the first of these that applies. */
enum leat_associate_evidence {
	LEAT_ASSOCIATE_BY_NOTHING,
	LEAT_ASSOCIATE_BY_LABEL,     /* environment of the program */
	LEAT_ASSOCIATE_BY_DIRECTORY, /* the task's own files in its work directory, or its outputs
				      */
	LEAT_ASSOCIATE_BY_PID,       /* pid and time window, as the log gives them */
	LEAT_ASSOCIATE_BY_CGROUP,    /* it is in a cgroup that is the task's alone */
	LEAT_ASSOCIATE_BY_TREE,      /* a process that is the task's has made it */
	LEAT_ASSOCIATE_EVIDENCES
};

/* Why an image is unattributed. */
enum leat_associate_reason {
	LEAT_ASSOCIATE_FOUND,    /* it is one's */
	LEAT_ASSOCIATE_NO_TASKS, /* no log and no label names any task */
	LEAT_ASSOCIATE_MANAGER,  /* of the workflow manager: it touches several tasks' own files */
	LEAT_ASSOCIATE_CONTRADICTS, /* evidence of equal weight for several tasks */
	LEAT_ASSOCIATE_AMBIGUOUS,   /* several logs tell of it, and nothing shows which one is the
				     * trace's
				     */
	LEAT_ASSOCIATE_OUTSIDE,     /* evidence for a task, at a time when that did not run */
	LEAT_ASSOCIATE_ABOVE,       /* an ancestor of tasks: started them, belongs to none */
	LEAT_ASSOCIATE_UNSEEN,      /* it began before the trace, and nothing shows whose it is */
	LEAT_ASSOCIATE_UNRELATED,   /* neither it nor its ancestors or cgroup touch a task's */
	LEAT_ASSOCIATE_REASONS
};

/* One execution of a task. Strings are the map's. */
struct leat_associate_task {
	size_t number;              /* from 0, without gaps */
	const char *manager;        /* "nextflow", "airflow"... */
	const char *workflow;       /* its run; "" unknown */
	const char *logical;        /* the task as the workflow's text has it */
	const char *physical;       /* this execution of it; unique with manager and workflow */
	const char *dir;            /* its work directory; NULL unknown */
	const char *status;         /* in the manager's word; "" unknown */
	int64_t began_ns, ended_ns; /* CLOCK_REALTIME of the log; 0 unknown */
};

struct leat_associate_answer {
	const struct leat_associate_task *task; /* NULL: unattributed */
	enum leat_associate_evidence evidence;  /* with a task */
	enum leat_associate_reason reason;      /* without */
};

struct leat_associate_options {
	bool slurm;       /* Slurm's job steps are tasks where no other manager claims a process */
	int64_t slack_ns; /* how far clocks may differ; 0: 5 s */
	/* What log times without a zone are off UTC, east positive; INT_MIN: estimated from the
	 * trace, or else this machine's. */
	int zone_s;
	/* Called for every problem of a log: one line, without its end. May be NULL. */
	void (*report)(void *ctx, const char *text);
	void *ctx;
};

struct leat_associate_map;

/* NULL and errno. `options` may be NULL: zone_s is then INT_MIN, and all else 0. */
struct leat_associate_map *leat_associate_new(const struct leat_associate_options *options);
void leat_associate_free(struct leat_associate_map *m);

/* *format: what the file is, by its first lines; NULL: nothing known. 0 or -errno. */
int leat_associate_detect(const char *path, const struct leat_associate_format **format);

/* Take the tasks of a log; `format` NULL: as its first lines show. 0; -EBADMSG: some of it was
 * malformed and is left out, as was said; -EINVAL: it is no such log, as was said; other -errno,
 * unsaid. */
int leat_associate_read_log(struct leat_associate_map *m, const char *path,
			    const struct leat_associate_format *format);

/* Take a record, in the order of the trace. Of a CALL, EXEC, or EXIT, *image (may be NULL) is the
 * number, from 0, of its process's image: the process from one exec to the next; that of a FORK is
 * the child's; else SIZE_MAX. 0 or -ENOMEM. */
int leat_associate_add(struct leat_associate_map *m, const struct leat_trace_record *record,
		       size_t *image);

/* What a node is called, where tasks are known by it. 0 or -ENOMEM. */
int leat_associate_host(struct leat_associate_map *m, unsigned node, const char *host);

/* Decide what belongs to whom. 0 or -ENOMEM. No log and
 * no record may be taken afterwards. */
int leat_associate_resolve(struct leat_associate_map *m);

/* How many images there are, and whose one is. */
size_t leat_associate_images(const struct leat_associate_map *m);
void leat_associate_answer(const struct leat_associate_map *m, size_t image,
			   struct leat_associate_answer *answer);

/* The image of process `pid` of that node at that time, and whose it is; SIZE_MAX: none is known,
 * the answer is then LEAT_ASSOCIATE_UNSEEN. */
size_t leat_associate_find(const struct leat_associate_map *m, unsigned node, int32_t pid,
			   int64_t time_ns, struct leat_associate_answer *answer);

/* The program that an image runs, by its path; NULL unknown. */
const char *leat_associate_program(const struct leat_associate_map *m, size_t image);

size_t leat_associate_tasks(const struct leat_associate_map *m);
const struct leat_associate_task *leat_associate_task(const struct leat_associate_map *m,
						      size_t number);

/* Is something of a log or its tasks missing? */
bool leat_associate_is_partial(const struct leat_associate_map *m);

/* After leat_associate_resolve: false if logs were read and none of them is of the trace, as was
 * said. */
bool leat_associate_is_believed(const struct leat_associate_map *m);

/* "work directory", "process tree"..., and what the reason means. */
const char *leat_associate_evidence_name(enum leat_associate_evidence evidence);
const char *leat_associate_reason_name(enum leat_associate_reason reason);
#endif
