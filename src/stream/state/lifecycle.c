/* The life cycle of a file. */
#include "stream/state/lifecycle.h"

/* For the table. */
#define ABSENT LEAT_FILE_ABSENT
#define PRODUCED LEAT_FILE_PRODUCED
#define COMMITTED LEAT_FILE_COMMITTED
#define FAILED LEAT_FILE_FAILED
#define GONE LEAT_FILE_GONE

/* A consumer that got the answer that a file is complete, failed or will never be has gone on by
 * that: no rule changes it any more. */
static const enum leat_file_state next[LEAT_FILE_EVENTS][GONE + 1] = {
	/* from ABSENT, PRODUCED, COMMITTED, FAILED, GONE */
	[LEAT_FILE_EVENT_NOTHING] = {ABSENT, ABSENT, COMMITTED, FAILED, GONE},
	[LEAT_FILE_EVENT_BEGUN] = {PRODUCED, PRODUCED, COMMITTED, FAILED, GONE},
	[LEAT_FILE_EVENT_COMPLETE] = {COMMITTED, COMMITTED, COMMITTED, FAILED, GONE},
	[LEAT_FILE_EVENT_FAILURE] = {FAILED, FAILED, COMMITTED, FAILED, GONE},
	[LEAT_FILE_EVENT_NEVER] = {GONE, GONE, COMMITTED, FAILED, GONE},
	[LEAT_FILE_EVENT_TAKEN_BACK] = {ABSENT, ABSENT, ABSENT, FAILED, GONE},
	[LEAT_FILE_EVENT_FOUND] = {ABSENT, PRODUCED, COMMITTED, FAILED, ABSENT},
	[LEAT_FILE_EVENT_ONE_FEWER] = {ABSENT, PRODUCED, PRODUCED, FAILED, GONE},
};

enum leat_file_state leat_file_next(enum leat_file_state state, enum leat_file_event event)
{
	return next[event][state];
}

bool leat_state_is_final(enum leat_file_state state)
{
	return state == LEAT_FILE_COMMITTED || state == LEAT_FILE_FAILED || state == LEAT_FILE_GONE;
}
