/* Actions: what is to happen when the programs of a step open and close its files.
 *
 * `actions: ["my.so", "setup"]` in a workflow file names a shared object and a function in it, of
 * type leat_action_setup. leat loads it into a process of its own, one for each rank of the step
 * (one in all for what is no MPI job), and calls `setup` once. Whatever that asks for by
 * leat_action_on is called while the program waits in its open or close. The process runs in the
 * step's directory; what it opens itself is on disk, and no file of the run. One thread.
 *
 * A close that the actions hear of does not pass the file on to those who wait for it:
 * leat_action_serve_all does. (After Wilkins; Yildiz et al. 2024, Sec. 3.5.)
 *
 *     cc -shared -fPIC $(pkg-config --cflags leat) my.c -o my.so */
#ifndef LEAT_ACTION_H
#define LEAT_ACTION_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct leat_action;

enum leat_action_event {
	LEAT_ACTION_BEFORE_LAUNCH = 1, /* of the step's program; of rank 0 */
	LEAT_ACTION_BEFORE_FILE_OPEN,  /* of an input or output of the step */
	LEAT_ACTION_AFTER_FILE_OPEN,   /* it has succeeded */
	LEAT_ACTION_AFTER_FILE_CLOSE,  /* the last close of what one open had opened */
	LEAT_ACTION_ON_COMMIT,         /* an output is complete; nobody waits. Of rank 0 */
	LEAT_ACTION_AFTER_EXIT,        /* the program has ended; of rank 0 */
};

/* One event. Borrowed for the call. */
struct leat_action_info {
	enum leat_action_event event;
	const char *file; /* as the step calls it, relative to its directory; "" without one */
	bool writes;      /* it is opened for writing, or was */
	int status;       /* AFTER_EXIT: as a shell reports it, 0 or 1..255 */
};

/* 0; anything else fails the step: leat_action_fail says why. */
typedef int leat_action_callback(struct leat_action *action, const struct leat_action_info *info,
				 void *data);

/* What the shared object defines by the name given in the workflow file. The same results. */
typedef int leat_action_setup(struct leat_action *action, int rank);

/* Call `fn` with `data` for each such event; NULL: no more. One for each event. */
void leat_action_on(struct leat_action *action, enum leat_action_event event,
		    leat_action_callback *fn, void *data);

/* When the callback returns, all that this rank has written and closed is passed on. A file of an
 * MPI step is passed on when all ranks that do I/O (`nwriters`, else all) have opened it and done
 * so. */
void leat_action_serve_all(struct leat_action *action);

/* Files are seen by all ranks of a step at once; this keeps their order. Rank 0 goes on at once;
 * the n-th call of another rank waits until rank 0 has called it n times. 0, or -1: the run ends.
 */
int leat_action_broadcast_files(struct leat_action *action);

/* How many descriptions of files this rank has closed, this one included. */
unsigned leat_action_file_close_counter(const struct leat_action *action);

/* Remember why the step fails, in one line. Returns -1. */
int leat_action_fail(struct leat_action *action, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif
