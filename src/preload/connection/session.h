/* Which workflow this process belongs to. */
#ifndef LEAT_PRELOAD_CONNECTION_SESSION_H
#define LEAT_PRELOAD_CONNECTION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fixed when the process starts. */
struct leat_preload_session {
	const char *given; /* the workflow's directory as spelt in the environment */
	const char *real;  /* resolved */
	size_t given_length, real_length;
	bool same_spelling; /* of the two */
	const char *base;   /* last component of `real` */
	const char *step;
	const char *workflow;
	const char *key; /* by which the daemon knows processes of this step; "": it does not ask */
	char socket[108];
	uint64_t dev, ino; /* which directory it is; 0: nobody has said */
	bool is_run;       /* by leat, so that there is a daemon */
};

extern struct leat_preload_session leat_session;

/* Nothing may go past the daemon, not even what it need not know. Any time. */
static inline bool leat_is_enforced(void)
{
	return *leat_session.key;
}

/* Is this process somewhere from where programs may lose sight of the daemon? Any time. */
bool leat_session_is_confined(void);
void leat_session_confine(void);

/* --- find.c --- */

/* Find the session in the environment. False: there is none. Init only. */
bool leat_session_find(char **envp);

/* False: the workflow's directory is not where it was when the run began, or it is another one. */
bool leat_session_is_there(void);

/* Could a program that is started now reach the workflow's directory and the session's? Where it
 * could not it would run unseen. */
bool leat_session_in_sight(void);

#endif
