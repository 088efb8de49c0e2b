/* Small traces, as scripts, against logs.
 *
 * A script has a line for each record, a millisecond after the one before:
 *	at SECONDS			of what follows, since the beginning
 *	node N				of what follows
 *	cgroup ID PATH | mount SPACE AT FROM
 *	fork PARENT PID [CGROUP] | exit PID
 *	exec PID [dir=D] [cgroup=C] [mounts=S] [LABEL=VALUE...]
 *	read PID PATH | write PID PATH | create PID PATH | fails PID PATH | rename PID FROM TO
 *	call PID			on no name
 *	? PID [SECONDS]			whose is it? to be asked at the end
 */
#ifndef ASSOCIATE_PLAY_H
#define ASSOCIATE_PLAY_H

#include "associate_text.h"

#include <stdbool.h>

/* 2022-09-22 15:14:00 */
#define BEGIN_NS (INT64_C(1663859640) * MAP_SECOND)

#define AIRFLOW_TASK(TASK, FROM, TO, PID)                                                          \
	"{scheduler_job.py:1} INFO - TaskInstance Finished: dag_id=d, task_id=" TASK               \
	", run_id=r, map_index=-1, run_start_date=2022-09-22 15:" FROM                             \
	"+00:00, run_end_date=2022-09-22 15:" TO "+00:00, state=success, try_number=1, pid=" PID   \
	"\n"

struct play {
	struct leat_associate_map *m;
	struct leat_trace_record record;
	int64_t now_ns;
	FILE *out;
};

/* A record, with the time that `p` has; the next comes a millisecond later. */
void play_take(struct play *p);
void play_process(struct play *p, enum leat_trace_change change, int32_t ppid, int32_t pid,
		  uint64_t cgroup);
void play_exec(struct play *p, char *words);
void play_call(struct play *p, const char *verb, char *words);
/* The records of a script, or, when all have been taken, its questions. */
void play(struct play *p, const char *script, bool questions);
/* Are the parts of `wanted`, between bars, said one after the other? "": nothing is. */
bool says(const char *said, const char *wanted);

#endif
