/* Where everybody is, what that means for the files, and what is possible next. */
#ifndef LEAT_STREAM_VERIFY_STATE_H
#define LEAT_STREAM_VERIFY_STATE_H

#include "stream/verify/model.h"

enum verify_phase {
	VERIFY_TO_COME, /* staged: not launched yet */
	VERIFY_RUNNING,
	VERIFY_DYING,  /* killed, or its program gives up: open files are closed one by one */
	VERIFY_EXITED, /* its process is gone, its end not reported */
	VERIFY_ENDED,
	VERIFY_FAILED,
};

/* Plain bytes: two states are the same if these are and the rules' are. */
struct verify_state {
	uint8_t at[VERIFY_TASKS];      /* how far each task is; see verify_stage */
	uint8_t shown[VERIFY_TASKS];   /* LIST: names that the step has been given */
	uint8_t closed[VERIFY_TASKS];  /* WRITE: closes with data, or as good as such */
	uint8_t pending[VERIFY_TASKS]; /* WRITE: closed empty, and may be opened again */
	uint8_t open[VERIFY_TASKS];    /* WRITE: it has the file open */
	uint8_t phase[VERIFY_STEPS];
	uint8_t waits[VERIFY_STEPS]; /* 1 + the task whose call waits, or 0: verify_waits */
	uint8_t woken[VERIFY_STEPS];
	uint8_t meaning[VERIFY_FILES]; /* enum leat_file_state by what was declared */
	uint8_t exists[VERIFY_FILES];
	uint8_t put[VERIFY_FILES];   /* so many times something was written to it */
	uint8_t cut[VERIFY_FILES];   /* the last close was an abnormal death */
	uint8_t failures;            /* by chance */
	uint8_t stuck[VERIFY_STEPS]; /* was found in a deadlock */
};

/* The task whose call waits, or -1. */
static inline int verify_waits(const struct verify_state *st, int step)
{
	return (int)st->waits[step] - 1;
}

enum verify_verb {
	VERIFY_DO,    /* the next call of a task */
	VERIFY_RETRY, /* a call that was woken asks again */
	VERIFY_EXIT,  /* the process ends normally (and the step, unless `full`) */
	VERIFY_END,
	VERIFY_FAIL,  /* the step is killed */
	VERIFY_ABORT, /* the kernel closes a dead step's file; at last the end is reported */
};

struct verify_action {
	enum verify_verb verb;
	int step;
	int task;
};

/* Stages of a task by its `at`. */
enum verify_stage {
	VERIFY_DONE,
	VERIFY_ASK_LAUNCH,
	VERIFY_ASK_LIST,
	VERIFY_LOOK,     /* stat */
	VERIFY_OPEN,     /* for reading, and read what is there */
	VERIFY_READ_END, /* of a file that was still growing */
	VERIFY_CREATE,   /* open for writing */
	VERIFY_PUT,      /* write */
	VERIFY_CLOSE,
	VERIFY_NAME, /* rename the temporary file */
};

struct verify_stage_of {
	enum verify_stage stage;
	unsigned round; /* of a WRITE task; with LEAT_VERIFY_TWICE the first is empty */
	bool empty;     /* the round writes nothing */
};

struct verify_stage_of leat_verify_stage(const struct verify_model *model, int task, unsigned at);

void leat_verify_state_init(const struct verify_model *model, struct verify_state *st);
/* Bring `meaning` up to date. */
void leat_verify_state_settle(const struct verify_model *model, struct verify_state *st);
static inline bool leat_verify_state_over(const struct verify_state *st, int step)
{
	return st->phase[step] == VERIFY_ENDED || st->phase[step] == VERIFY_FAILED;
}
bool leat_verify_state_all_over(const struct verify_model *model, const struct verify_state *st);

/* Actions possible, with space for VERIFY_ACTIONS of them. Unless `full`, fewer where the others
 * lead to nothing else. */
enum { VERIFY_ACTIONS = VERIFY_TASKS + 2 * VERIFY_STEPS };
int leat_verify_state_next(const struct verify_model *model, const struct verify_state *st,
			   struct verify_action *out);

/* What the rules may answer to the call of `task` at `stage`: a bit for each enum leat_answer. */
unsigned leat_verify_state_answers(const struct verify_model *model, const struct verify_state *st,
				   int task, enum verify_stage stage);

#endif
