/* The life cycle of a file: its states (enum leat_file_state), what changes them, and into what. */
#ifndef LEAT_STREAM_STATE_LIFECYCLE_H
#define LEAT_STREAM_STATE_LIFECYCLE_H

#include "stream/state/state.h"

enum leat_file_event {
	/* what the commit rules find */
	LEAT_FILE_EVENT_NOTHING,  /* no producer has made anything of it */
	LEAT_FILE_EVENT_BEGUN,    /* one has */
	LEAT_FILE_EVENT_COMPLETE, /* its rule is met */
	LEAT_FILE_EVENT_FAILURE,  /* a producer failed, or who wrote it was killed */
	LEAT_FILE_EVENT_NEVER,    /* all producers ended, and none has made it */
	/* what events report later */
	LEAT_FILE_EVENT_TAKEN_BACK, /* its name goes, and no consumer has gone by it */
	LEAT_FILE_EVENT_FOUND,      /* it was there, after all */
	LEAT_FILE_EVENT_ONE_FEWER,  /* of a directory: it lost one of the files that complete it */
	LEAT_FILE_EVENTS
};

/* The state after `event`. */
enum leat_file_state leat_file_next(enum leat_file_state state, enum leat_file_event event);

/* Do the commit rules leave it as it is? */
bool leat_state_is_final(enum leat_file_state state);

#endif
